#ifndef URLCACHE_ADMIN_CFILES_SHIM_H
#define URLCACHE_ADMIN_CFILES_SHIM_H

/* Swift's view of the C library is that of POSIX, and these are extensions. */

#ifdef __linux__

#include <stdint.h>

/// Waits until all that was written to the file system of a descriptor is on the disk.
int syncfs(int descriptor);

int sync_file_range(int descriptor, int64_t offset, int64_t count, unsigned int flags);

/// Has the system begin to put a part of a file onto the disk (`SYNC_FILE_RANGE_WRITE`), without
/// waiting for it; a file system that cannot do that is no error.
static inline void cfiles_begin_writing(int descriptor, int64_t offset, int64_t count) {
  (void)sync_file_range(descriptor, offset, count, 2);
}

#endif

#endif
