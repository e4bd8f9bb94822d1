#ifndef URLCACHE_ADMIN_CPCRE2_SHIM_H
#define URLCACHE_ADMIN_CPCRE2_SHIM_H

/* Swift does not see the macros that choose a width, but the functions `…_8` themselves. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <pcre2.h>

#endif
