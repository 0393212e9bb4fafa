#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

struct error_place {
	const char *file; /* NULL: none */
	int64_t line;
};

static void set(struct ipf_error *err, enum ipf_error_kind kind, int errno_value, struct error_place place,
                const char *format, va_list args) __attribute__((format(printf, 5, 0)));

static void set(struct ipf_error *err, enum ipf_error_kind kind, int errno_value, struct error_place place,
                const char *format, va_list args)
{
	if (!err || err->kind != IPF_OK)
		return;
	err->kind = kind;
	err->errno_value = errno_value;
	err->line = place.line;
	snprintf(err->file, sizeof err->file, "%s", place.file ? place.file : "");
	int used = vsnprintf(err->text, sizeof err->text, format, args);
	if (errno_value && used >= 0 && (size_t)used < sizeof err->text)
		snprintf(err->text + used, sizeof err->text - (size_t)used, ": %s", strerror(errno_value));
}

int ipf_error_set(struct ipf_error *err, enum ipf_error_kind kind, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	set(err, kind, 0, (struct error_place){0}, format, args);
	va_end(args);
	return -1;
}

int ipf_error_at(struct ipf_error *err, enum ipf_error_kind kind, const char *file, int64_t line, const char *format,
                 ...)
{
	va_list args;
	va_start(args, format);
	set(err, kind, 0, (struct error_place){file, line}, format, args);
	va_end(args);
	return -1;
}

int ipf_error_errno(struct ipf_error *err, int errno_value, const char *file, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	set(err, errno_value == EPIPE ? IPF_CLOSED : IPF_SYSTEM, errno_value, (struct error_place){file, 0}, format, args);
	va_end(args);
	return -1;
}

int ipf_error_memory(struct ipf_error *err)
{
	return ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

void ipf_error_place(struct ipf_error *err, const char *file, int64_t line)
{
	if (!err || err->kind == IPF_OK || err->file[0])
		return;
	snprintf(err->file, sizeof err->file, "%s", file);
	err->line = line;
}

void ipf_error_clear(struct ipf_error *err)
{
	*err = (struct ipf_error){.kind = IPF_OK};
}

int ipf_error_status(const struct ipf_error *err)
{
	switch (err->kind) {
	case IPF_OK:
	case IPF_CLOSED:
		return 0;
	case IPF_SYSTEM:
		return 1;
	case IPF_USAGE:
		return 2;
	case IPF_INPUT:
	case IPF_CUT:
		return 3;
	case IPF_INVALID:
		return 4;
	}
	return 1;
}

int ipf_error_report(const struct ipf_error *err, FILE *to, const char *prog)
{
	char line[sizeof err->file + sizeof err->text + 128];

	if (err->kind == IPF_OK || err->kind == IPF_CLOSED)
		return ipf_error_status(err);
	if (err->file[0] && err->line > 0)
		snprintf(line, sizeof line, "%s: %s:%lld: %s", prog, err->file, (long long)err->line, err->text);
	else
		snprintf(line, sizeof line, "%s: %s%s%s", prog, err->file, err->file[0] ? ": " : "", err->text);
	/* A file's name or a server's text may contain line ends or a terminal's control sequences. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	fprintf(to, "%s\n", line);
	return ipf_error_status(err);
}
