#ifndef URLCACHE_ADMIN_CSQLITE_SHIM_H
#define URLCACHE_ADMIN_CSQLITE_SHIM_H

#include <sqlite3.h>

/* Swift imports neither variadic functions nor macros with casts. */

/// Switches one boolean setting of a connection: `sqlite3_db_config(connection, option, value, 0)`.
static inline int csqlite_db_config(sqlite3 *connection, int option, int value) {
  return sqlite3_db_config(connection, option, value, (int *)0);
}

/// Has SQLite count the memory that it takes, before it is used for the first time: without that, it has no limit.
static inline int csqlite_count_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1); }

/// Binds bytes as text, which SQLite copies. No bytes are an empty text, and not `NULL`.
static inline int csqlite_bind_text(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, (const char *)(bytes ? bytes : ""), count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds bytes as a BLOB, which SQLite copies.
static inline int csqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
