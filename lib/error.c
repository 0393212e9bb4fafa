#include "error.h"

#include "redact.h"
#include "memory.h"
#include "safe_text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

const char *ipf_error_denied;

struct error_place {
	const char *file; /* NULL: none */
	int64_t line;
};

static void set_file(struct ipf_error *err, const char *file)
{
	char raw[2 * sizeof err->file];
	snprintf(raw, sizeof raw, "%s", file ? file : "");
	redact_message(raw, sizeof raw);
	safe_text(err->file, sizeof err->file, slice_of(raw));
}

static void set(struct ipf_error *err, enum ipf_error_kind kind, int errno_value, struct error_place place,
                const char *format, va_list args) __attribute__((format(printf, 5, 0)));

static void set(struct ipf_error *err, enum ipf_error_kind kind, int errno_value, struct error_place place,
                const char *format, va_list args)
{
	if (!err || err->kind != IPF_OK)
		return;
	if (memory_ran_out() && kind != IPF_CLOSED) { /* the message about an input is not true then */
		*err = (struct ipf_error){.kind = IPF_SYSTEM, .text = "out of memory"};
		return;
	}
	err->kind = kind;
	err->errno_value = errno_value;
	err->line = place.line;
	set_file(err, place.file);
	char raw[2 * sizeof err->text];
	int len = vsnprintf(raw, sizeof raw, format, args);
	redact_message(raw, sizeof raw);
	/* a text cut exceeds the room: safe_text cuts it again, at the end of a character */
	size_t used = safe_text(err->text, sizeof err->text, len < 0 ? slice_of(format) : slice_of(raw));
	const char *denied = errno_value == EPERM || errno_value == EACCES ? ipf_error_denied : NULL;
	if (errno_value && used < sizeof err->text - 1)
		snprintf(err->text + used, sizeof err->text - used, ": %s%s%s", strerror(errno_value), denied ? ": " : "",
		         denied ? denied : "");
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
	if (errno_value == ENOMEM && err && err->kind == IPF_OK)
		memory_note_failure();
	set(err, errno_value == EPIPE ? IPF_CLOSED : IPF_SYSTEM, errno_value, (struct error_place){file, 0}, format, args);
	va_end(args);
	return -1;
}

int ipf_error_memory(struct ipf_error *err)
{
	if (err && err->kind == IPF_OK) /* else something else failed first, and a caller knows no better reason */
		memory_note_failure();
	return ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

void ipf_error_place(struct ipf_error *err, const char *file, int64_t line)
{
	if (!err || err->kind == IPF_OK || err->file[0])
		return;
	set_file(err, file);
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
	case IPF_UNFED:
		return 3;
	case IPF_INVALID:
		return 4;
	case IPF_HOPELESS:
		return 5;
	}
	return 1;
}

int ipf_error_report(const struct ipf_error *err, FILE *to, const char *prog)
{
	if (err->kind != IPF_SYSTEM && memory_ran_out()) {
		fprintf(to, "%s: out of memory\n", prog);
		return 1;
	}
	if (err->kind == IPF_OK || err->kind == IPF_CLOSED || err->kind == IPF_UNFED)
		return ipf_error_status(err);
	if (err->file[0] && err->line > 0)
		fprintf(to, "%s: %s:%lld: %s\n", prog, err->file, (long long)err->line, err->text);
	else
		fprintf(to, "%s: %s%s%s\n", prog, err->file, err->file[0] ? ": " : "", err->text);
	return ipf_error_status(err);
}
