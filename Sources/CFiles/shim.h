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

/// Closes all descriptors from `first` on (`close_range`, whose number is the same on all machines).
static inline int cfiles_close_from(unsigned int first) {
  return (int)syscall(436, first, ~0U, 0U);
}

int setgroups(__SIZE_TYPE__ count, const unsigned int *groups);
int setresgid(unsigned int real, unsigned int effective, unsigned int saved);
int setresuid(unsigned int real, unsigned int effective, unsigned int saved);
int getresgid(unsigned int *real, unsigned int *effective, unsigned int *saved);
int getresuid(unsigned int *real, unsigned int *effective, unsigned int *saved);

/// The operations `PR_SET_PDEATHSIG`, `PR_SET_DUMPABLE` and `PR_SET_NO_NEW_PRIVS` of `prctl`.
static const int cfiles_parent_death_signal = 1, cfiles_set_dumpable = 4, cfiles_no_new_privileges = 38;
int prctl(int operation, ...);
static inline int cfiles_control(int operation, unsigned long value) {
  return prctl(operation, value, 0UL, 0UL, 0UL);
}

/// The sets of capabilities of this process: version 3 of `capset` and `capget`, which has two words of each set.
struct cfiles_capabilities { uint32_t effective, permitted, inheritable; };
static const uint32_t cfiles_capability_version = 0x20080522;

/// Gives up all capabilities.
static inline int cfiles_clear_capabilities(void) {
  struct { uint32_t version; int process; } header = {cfiles_capability_version, 0};
  struct cfiles_capabilities none[2] = {{0, 0, 0}, {0, 0, 0}};
  return (int)syscall(SYS_capset, &header, none);
}

/// Whether this process has any capabilities, or that is not known.
static inline int cfiles_has_capabilities(void) {
  struct { uint32_t version; int process; } header = {cfiles_capability_version, 0};
  struct cfiles_capabilities sets[2] = {{1, 1, 1}, {1, 1, 1}};
  if (syscall(SYS_capget, &header, sets) != 0) return 1;
  return (sets[0].effective | sets[0].permitted | sets[0].inheritable
          | sets[1].effective | sets[1].permitted | sets[1].inheritable) != 0;
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
