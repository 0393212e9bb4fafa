#include "formats/report_format.h"

#include <stddef.h>

#define POINTER(id_, name_) &format_##id_,
#define NAME(id_, name_)    name_,

const struct report_format *const report_formats[] = {REPORT_FORMATS(POINTER)};
const char *const report_format_names[] = {REPORT_FORMATS(NAME) NULL};
const char *const report_own_names[] = {REPORT_FORMATS_READ(NAME) REPORT_FORMATS_OWN(NAME) NULL};
const char *const report_export_names[] = {REPORT_FORMATS_OWN(NAME) REPORT_FORMATS_OF_TOOLS(NAME) NULL};
