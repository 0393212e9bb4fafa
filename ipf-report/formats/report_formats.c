#include "formats/report_format.h"

#include <stddef.h>

#define POINTER(name_) &format_##name_,
#define NAME(name_)    #name_,

const struct report_format *const report_formats[] = {REPORT_FORMATS(POINTER, )};
const char *const report_format_names[] = {REPORT_FORMATS(NAME, ) NULL};
