#ifndef URLCACHE_ADMIN_CARCHIVE_SHIM_H
#define URLCACHE_ADMIN_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

/* Swift imports neither macros with casts nor variadic functions. */

/// The mode bits of a regular file.
static const unsigned int CArchiveRegularFile = AE_IFREG;

/// Says why a callback failed: `archive_set_error(archive, EIO, "%s", reason)`.
static inline void carchive_set_error(struct archive *archive, const char *reason) {
  archive_set_error(archive, EIO, "%s", reason);
}

#endif
