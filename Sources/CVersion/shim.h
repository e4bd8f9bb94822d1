#ifndef URLCACHE_ADMIN_CVERSION_SHIM_H
#define URLCACHE_ADMIN_CVERSION_SHIM_H

// The source that a program is built from. 'build-binaries.sh' writes it to a file for a build of packages, and
// 'git archive' fills it in here; any other build does not know it.
#if __has_include("built.h")
#include "built.h"
#else
#define SOURCE_COMMIT "$Format:%H$"
#define SOURCE_DATE "$Format:%cs$"
#endif

#endif
