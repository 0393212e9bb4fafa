#include <ipf/values.h>

#include "error.h"
#include "version.h"

const char *ipf_error_describe(const struct ipf_error *err, char *text, size_t size)
{
	if (err->file[0] && err->line > 0)
		snprintf(text, size, "%s:%lld: %s", err->file, (long long)err->line, err->text);
	else
		snprintf(text, size, "%s%s%s", err->file, err->file[0] ? ": " : "", err->text);
	return text;
}

const char *ipf_version(void)
{
	return IPF_VERSION;
}
