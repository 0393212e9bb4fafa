/* The built-in descriptors. The table is generated at build time from lib/api/apis/ by json/embed.sh. */
#ifndef IPF_API_BUILTIN_H
#define IPF_API_BUILTIN_H

#include "json/builtin_text.h"

extern const struct builtin_text api_builtins[];

#endif
