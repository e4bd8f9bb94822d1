#ifndef URLCACHE_ADMIN_CARCHIVE_SHIM_H
#define URLCACHE_ADMIN_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

#endif
