/* Makes the SQLite of this system behave as Apple's where that matters to whoever shares a cache with it: a library to be preloaded
   (LD_PRELOAD). Apple's is built with SQLITE_DEFAULT_MEMSTATUS=0 and SQLITE_DEFAULT_JOURNAL_SIZE_LIMIT=32768, and keeps the write-ahead log and
   its index when the last connection closes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sqlite3.h>

__attribute__((constructor)) static void count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

int sqlite3_open_v2(const char *name, sqlite3 **connection, int flags, const char *system) {
  int (*open)(const char *, sqlite3 **, int, const char *) = dlsym(RTLD_NEXT, "sqlite3_open_v2");
  int code = open(name, connection, flags, system), yes = 1;
  if (code == SQLITE_OK) {
    sqlite3_exec(*connection, "PRAGMA journal_size_limit = 32768", 0, 0, 0);
    sqlite3_file_control(*connection, "main", SQLITE_FCNTL_PERSIST_WAL, &yes);
  }
  return code;
}
