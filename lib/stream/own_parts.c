#include "stream/own_parts.h"

#include "header_field.h"
#include "redact.h"
#include "safe_text.h"

#include <string.h>
#include <strings.h>

/* Those that frame the message, choose the connection or its target, or change how the answer is encoded. */
bool own_header_is_of_transport(const char *name)
{
	static const char *const names[] = {
		"host",    "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
		"trailer", "expect",         "accept-encoding",   "forwarded"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return strncasecmp(name, "proxy-", 6) == 0;
}

static int check_header(const struct jdoc *doc, const struct jdoc_each *e, const char *name, size_t len,
                        struct ipf_error *err)
{
	struct buffer value = {0};
	if (strlen(name) != len || !header_name_is_valid(name, len))
		return ipf_error_set(err, IPF_INPUT, "headers: expected names of headers, got \"%s\"", shown(name).text);
	if (own_header_is_of_transport(name))
		return ipf_error_set(err, IPF_INPUT, "headers: %s: a request of the trace cannot set this header", name);
	if (redact_header_is_credential(name, len))
		return ipf_error_set(err, IPF_INPUT,
		                     "headers: %s: a trace has no credentials; use ipf-fire --key-env or --header", name);
	if (jdoc_type_of(doc, e->value) != JDOC_TEXT)
		return ipf_error_set(err, IPF_INPUT, "headers: %s: expected a text", name);
	jdoc_text(doc, e->value, &value);
	bool good = !value.len || (strlen(value.data) == value.len && header_value_is_valid(value.data));
	bool failed = value.failed;
	buffer_release(&value);
	if (failed)
		return ipf_error_memory(err);
	return good ? 0
	            : ipf_error_set(err, IPF_INPUT, "headers: %s: expected a value of one line without control characters",
	                            name);
}

static int each_name(const struct jdoc *doc, jdoc_id node,
                     int (*check)(const struct jdoc *doc, const struct jdoc_each *e, const char *name, size_t len,
                                  struct ipf_error *err),
                     struct ipf_error *err)
{
	struct buffer name = {0};
	int result = 0;
	for (struct jdoc_each e = jdoc_each(doc, node); result == 0 && jdoc_step(&e);) {
		buffer_clear(&name);
		jdoc_text(doc, e.key, &name);
		result = name.failed ? ipf_error_memory(err) : check(doc, &e, name.data ? name.data : "", name.len, err);
	}
	buffer_release(&name);
	return result;
}

int own_headers_check(const struct jdoc *doc, jdoc_id node, struct ipf_error *err)
{
	return each_name(doc, node, check_header, err);
}

static int check_member(const struct jdoc *doc, const struct jdoc_each *e, const char *name, size_t len,
                        struct ipf_error *err)
{
	(void)doc, (void)e;
	if (!len)
		return ipf_error_set(err, IPF_INPUT, "body: expected names of members, got \"\"");
	if (strcmp(name, "stream") == 0)
		return ipf_error_set(err, IPF_INPUT,
		                     "body: stream: a request of the trace cannot set it; see ipf-fire --no-stream");
	return 0;
}

int own_body_check(const struct jdoc *doc, jdoc_id node, struct ipf_error *err)
{
	return each_name(doc, node, check_member, err);
}
