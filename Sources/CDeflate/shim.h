#ifndef URLCACHE_ADMIN_CDEFLATE_SHIM_H
#define URLCACHE_ADMIN_CDEFLATE_SHIM_H

#include <libdeflate.h>

#endif
