#ifndef URLCACHE_ADMIN_CFILES_SHIM_H
#define URLCACHE_ADMIN_CFILES_SHIM_H

/* Swift's view of the C library is that of POSIX, and these are extensions. */

#ifdef __linux__

#include <stdint.h>
#include <sys/syscall.h>

long syscall(long number, ...);

/// Renames a file of the working folder or an absolute path, unless something has the new name already
/// (`renameat2` with `RENAME_NOREPLACE`).
///
/// It calls the kernel, as not every C library has the function. The numbers are those of the kernel.
static inline int cfiles_rename_new(const char *from, const char *to) {
  const int working_folder = -100;
  const unsigned int no_replace = 1;
  return (int)syscall(SYS_renameat2, working_folder, from, working_folder, to, no_replace);
}

/// Waits until all that was written to the file system of a descriptor is on the disk.
int syncfs(int descriptor);

int sync_file_range(int descriptor, int64_t offset, int64_t count, unsigned int flags);

/// Has the system begin to put a part of a file onto the disk (`SYNC_FILE_RANGE_WRITE`), without
/// waiting for it; a file system that cannot do that is no error.
static inline void cfiles_begin_writing(int descriptor, int64_t offset, int64_t count) {
  (void)sync_file_range(descriptor, offset, count, 2);
}

/// Allocates room for `count` bytes of a file from `offset` on, without making it longer (`fallocate` with
/// `FALLOC_FL_KEEP_SIZE`).
int fallocate(int descriptor, int mode, int64_t offset, int64_t count);
static inline int cfiles_allocate(int descriptor, int64_t offset, int64_t count) {
  const int keep_size = 1;
  return fallocate(descriptor, keep_size, offset, count);
}

#endif

#endif
