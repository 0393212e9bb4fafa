#include "output/output_check.h"

#include "json/jout.h"
#include "output/format_list.h"
#include "safe_text.h"
#include "stream/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output_check {
	bool by_format;
	const char *trace;          /* path */
	char sha256[65];            /* the schema file's; "": none */
	struct json_schema *schema; /* for all answers; NULL: any JSON, or by_format */
	struct format_list formats;
	struct jdoc doc;
	struct buffer kind, reason;
};

int output_check_usage(const struct output_check_options *o, struct ipf_error *err)
{
	bool by_format = o->rule && !strcmp(o->rule, "format");
	if (o->trace && !by_format)
		return ipf_error_set(err, IPF_USAGE, "--trace needs --check-output format");
	if (by_format && !o->trace)
		return ipf_error_set(err, IPF_USAGE,
		                     "--check-output format needs --trace FILE, whose requests have the formats");
	return 0;
}

/* ---- opening ---- */

static int read_file(const char *path, struct buffer *text, struct ipf_error *err)
{
	FILE *file = fopen(path, "rb");
	size_t got = 0;
	if (!file)
		return ipf_error_errno(err, errno, path, "cannot open the JSON Schema");
	do {
		char *to = buffer_reserve(text, 65536);
		got = to ? fread(to, 1, 65536, file) : 0;
		text->len += got;
	} while (got && text->len <= JSON_SCHEMA_BYTES_MAX); /* longer lines are refused */
	int status = text->failed   ? ipf_error_memory(err)
	             : ferror(file) ? ipf_error_errno(err, errno, path, "cannot read the JSON Schema")
	                            : 0;
	fclose(file);
	return status;
}

static int describe_file(struct output_check *c, const struct buffer *text, struct ipf_error *err)
{
	struct digest *digest = digest_new();
	if (!digest)
		return ipf_error_memory(err);
	digest_update(digest, text->data ? text->data : "", text->len);
	digest_hex(digest, c->sha256);
	digest_free(digest);
	return 0;
}

static int read_schema(struct output_check *c, const char *path, struct ipf_error *err)
{
	struct buffer text = {0};
	int status = read_file(path, &text, err);
	if (status == 0 && json_schema_new(&c->schema, buffer_all(&text), err) < 0) {
		ipf_error_place(err, path, 0);
		status = -1;
	}
	if (status == 0)
		status = describe_file(c, &text, err);
	buffer_release(&text);
	return status;
}

int output_check_open(struct output_check **check, const struct output_check_options *o, struct ipf_error *err)
{
	*check = NULL;
	if (!o->rule)
		return 0;
	struct output_check *c = *check = calloc(1, sizeof *c);
	if (!c)
		return ipf_error_memory(err);
	c->by_format = !strcmp(o->rule, "format");
	c->trace = o->trace;
	if (c->by_format)
		return format_list_read(&c->formats, o->trace, err);
	return strcmp(o->rule, "json") ? read_schema(c, o->rule, err) : 0;
}

json_t *output_check_json(const struct output_check *c)
{
	if (!c)
		return NULL;
	const char *sha256 = c->by_format ? c->formats.sha256 : c->sha256;
	json_t *json = json_pack("{s:s}", "rule", c->by_format ? "format" : c->schema ? "schema" : "json");
	if (json && *sha256)
		json_object_set_new(json, "sha256", json_string(sha256));
	return json;
}

int output_check_begin(const struct output_check *c, const char *sha256, struct ipf_error *err)
{
	if (!c || !c->by_format || !sha256[0] || !strcmp(sha256, c->formats.sha256))
		return 0;
	return ipf_error_at(
		err, IPF_INPUT, c->trace, 0,
		"is not the trace of this run: the schedule was made for one with the digest %.12s…, this has %.12s…", sha256,
		c->formats.sha256);
}

/* ---- checking ---- */

static struct slice trim(struct slice text)
{
	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]) && text.data[text.len - 1])
		text.len--;
	while (text.len && strchr(" \t\r\n", *text.data) && *text.data)
		text = (struct slice){text.data + 1, text.len - 1};
	return text;
}

/* The text between a line beginning with ``` and a last ```, as Markdown has it; absent: it has another form. */
static struct slice inside_fence(struct slice text)
{
	text = trim(text);
	if (text.len < 7 || memcmp(text.data, "```", 3) != 0 || memcmp(text.data + text.len - 3, "```", 3) != 0)
		return (struct slice){0};
	const char *line = memchr(text.data, '\n', text.len - 3);
	if (!line)
		return (struct slice){0};
	return (struct slice){line + 1, (size_t)(text.data + text.len - 3 - line - 1)};
}

static void set(struct buffer *to, struct slice *member, const char *text)
{
	struct jout w = {.out = to};
	buffer_clear(to);
	jout_string(&w, slice_of(text));
	*member = buffer_all(to);
}

static void judge(struct output_check *c, struct result *row, enum result_output kind, const char *reason)
{
	set(&c->kind, &row->output_check, result_output_names[kind]);
	if (*reason)
		set(&c->reason, &row->output_invalid, reason);
}

/* The texts of two answers failing in the same way are the same, wherever they do. */
static void shorten_place(char *text)
{
	char *at = strstr(text, " at byte ");
	if (at)
		*at = '\0';
}

static int check_text(struct output_check *c, struct json_schema *schema, struct slice text, struct result *row,
                      struct ipf_error *err)
{
	struct ipf_error why = {0};
	struct json_schema_finding finding = {.validity = JSON_VALID};
	struct slice fenced = inside_fence(text);
	if (!trim(text).len)
		return judge(c, row, OUTPUT_EMPTY, "no text"), 0;
	if (text.len > OUTPUT_BYTES_MAX)
		return judge(c, row, OUTPUT_UNDECIDED, "longer than 8 MiB"), 0;
	if (jdoc_parse(&c->doc, text.data, text.len, &why) < 0) {
		struct ipf_error ignored = {0};
		if (why.kind != IPF_INPUT)
			return ipf_error_memory(err);
		shorten_place(why.text);
		if (fenced.data && jdoc_parse(&c->doc, fenced.data, fenced.len, &ignored) == 0)
			return judge(c, row, OUTPUT_FENCED, "JSON in a Markdown fence"), 0;
		return judge(c, row, OUTPUT_NOT_JSON, why.text), 0;
	}
	if (schema)
		json_schema_check(schema, &c->doc, &finding);
	if (finding.validity == JSON_CHECK_NO_MEMORY)
		return ipf_error_memory(err);
	judge(c, row,
	      finding.validity == JSON_VALID       ? OUTPUT_VALID
	      : finding.validity == JSON_UNDECIDED ? OUTPUT_UNDECIDED
	                                           : OUTPUT_SCHEMA,
	      finding.reason);
	return 0;
}

/* An answer calling a tool instead has no possible JSON. */
static bool calls_tool(const struct response *r)
{
	for (size_t i = 0; !r->text.len && i < r->events_count; i++)
		if (r->events[i].kind == EVENT_TOOL)
			return true;
	return false;
}

int output_check_row(struct output_check *c, const struct response *r, struct result *row, struct ipf_error *err)
{
	if (!c || !row->ok || r->no_text || r->includes_prompt || calls_tool(r))
		return 0;
	struct json_schema *schema = c->by_format ? format_list_get(&c->formats, row->req) : c->schema;
	if (c->by_format && !schema)
		return 0;
	if (check_text(c, schema, buffer_all(&r->text), row, err) < 0)
		return -1;
	return c->kind.failed || c->reason.failed ? ipf_error_memory(err) : 0;
}

void output_check_close(struct output_check *c)
{
	if (!c)
		return;
	json_schema_free(c->schema);
	format_list_release(&c->formats);
	jdoc_release(&c->doc);
	buffer_release(&c->kind);
	buffer_release(&c->reason);
	free(c);
}
