#ifndef URLCACHE_ADMIN_CARCHIVE_SHIM_H
#define URLCACHE_ADMIN_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

/* Swift imports neither macros with casts nor variadic functions. */

/// The mode bits of a regular file.
static const unsigned int CArchiveRegularFile = AE_IFREG;

/// Says why a callback failed: `archive_set_error(archive, EIO, "%s", reason)`.
#ifdef __APPLE__
static inline void carchive_set_error(struct archive *archive, const char *reason) {
  archive_set_error(archive, EIO, "%s", reason);
}
#else
static inline void carchive_set_error(void *function, struct archive *archive, const char *reason) {
  ((void (*)(struct archive *, int, const char *, ...))function)(archive, EIO, "%s", reason);
}
#endif

/* The types of the functions that Swift looks up when it first needs libarchive. */

#define CARCHIVE_TYPE(function) typedef __typeof__(function) *function##_f

CARCHIVE_TYPE(archive_entry_filetype);
CARCHIVE_TYPE(archive_entry_free);
CARCHIVE_TYPE(archive_entry_hardlink);
CARCHIVE_TYPE(archive_entry_is_encrypted);
CARCHIVE_TYPE(archive_entry_new);
CARCHIVE_TYPE(archive_entry_pathname);
CARCHIVE_TYPE(archive_entry_set_filetype);
CARCHIVE_TYPE(archive_entry_set_mtime);
CARCHIVE_TYPE(archive_entry_set_pathname);
CARCHIVE_TYPE(archive_entry_set_perm);
CARCHIVE_TYPE(archive_entry_set_size);
CARCHIVE_TYPE(archive_entry_size);
CARCHIVE_TYPE(archive_entry_size_is_set);
CARCHIVE_TYPE(archive_entry_sparse_count);
CARCHIVE_TYPE(archive_entry_symlink);
CARCHIVE_TYPE(archive_error_string);
CARCHIVE_TYPE(archive_filter_bytes);
CARCHIVE_TYPE(archive_read_append_filter);
CARCHIVE_TYPE(archive_read_data);
CARCHIVE_TYPE(archive_read_free);
CARCHIVE_TYPE(archive_read_new);
CARCHIVE_TYPE(archive_read_next_header);
CARCHIVE_TYPE(archive_read_open1);
CARCHIVE_TYPE(archive_read_open2);
CARCHIVE_TYPE(archive_read_set_callback_data);
CARCHIVE_TYPE(archive_read_set_read_callback);
CARCHIVE_TYPE(archive_read_set_seek_callback);
CARCHIVE_TYPE(archive_read_support_format_empty);
CARCHIVE_TYPE(archive_read_support_format_raw);
CARCHIVE_TYPE(archive_read_support_format_tar);
CARCHIVE_TYPE(archive_read_support_format_zip_seekable);
CARCHIVE_TYPE(archive_write_add_filter_gzip);
CARCHIVE_TYPE(archive_write_add_filter_none);
CARCHIVE_TYPE(archive_write_add_filter_zstd);
CARCHIVE_TYPE(archive_version_string);
CARCHIVE_TYPE(archive_write_close);
CARCHIVE_TYPE(archive_write_data);
CARCHIVE_TYPE(archive_write_free);
CARCHIVE_TYPE(archive_write_header);
CARCHIVE_TYPE(archive_write_new);
CARCHIVE_TYPE(archive_write_open2);
CARCHIVE_TYPE(archive_write_set_bytes_in_last_block);
CARCHIVE_TYPE(archive_write_set_bytes_per_block);
CARCHIVE_TYPE(archive_write_set_filter_option);
CARCHIVE_TYPE(archive_write_set_format_raw);
CARCHIVE_TYPE(archive_write_set_format_ustar);

#undef CARCHIVE_TYPE

#endif
