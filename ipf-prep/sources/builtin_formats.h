/* The descriptions of ipf-prep/formats. The table is generated at build time by json/embed.sh. */
#ifndef PREP_BUILTIN_FORMATS_H
#define PREP_BUILTIN_FORMATS_H

#include "json/builtin_text.h"

extern const struct builtin_text format_builtins[];

#endif
