#ifndef URLCACHE_ADMIN_CFILES_SHIM_H
#define URLCACHE_ADMIN_CFILES_SHIM_H

/* Swift's view of the C library is that of POSIX, and this is an extension. */

#ifdef __linux__
/// Waits until all that was written to the file system of a descriptor is on the disk.
int syncfs(int descriptor);
#endif

#endif
