#include "output/format_list.h"

#include "absent.h"
#include "array.h"
#include "output/output_check.h"
#include "safe_text.h"
#include "stream/trace.h"
#include "text_hash.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 32768 }; /* a power of two, and more than twice OUTPUT_FORMATS_MAX */

#define NO_FORMAT UINT32_MAX

/* Where the format is in the table, or would be. */
static uint32_t *find_slot(const struct format_list *list, uint64_t hash, struct slice text)
{
	uint32_t at = (uint32_t)hash & (SLOTS - 1);
	for (;; at = (at + 1) & (SLOTS - 1)) {
		const struct trace_format *f = list->slots[at] ? &list->formats[list->slots[at] - 1] : NULL;
		if (!f || (f->hash == hash && f->len == text.len && memcmp(f->text, text.data, text.len) == 0))
			return &list->slots[at];
	}
}

/* {"type":"json_schema","json_schema":{"schema":{…}}}, or {"type":"json_schema","schema":{…}}. */
static int compile_schema(struct json_schema **schema, const struct jdoc *doc, struct ipf_error *err)
{
	struct ipf_error why = {0};
	jdoc_id at = jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, "json_schema"), "schema");
	at = at == JDOC_NONE ? jdoc_get(doc, JDOC_ROOT, "schema") : at;
	if (at == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "response_format: json_schema.schema: missing");
	if (json_schema_new(schema, jdoc_raw(doc, at), &why) == 0)
		return 0;
	return why.kind == IPF_SYSTEM ? ipf_error_memory(err)
	                              : ipf_error_set(err, IPF_INPUT, "response_format: schema: %s", why.text);
}

/* *schema stays NULL for texts and for grammars, which describe no JSON. */
static int compile_format(struct json_schema **schema, struct slice text, struct ipf_error *err)
{
	struct jdoc doc = {0};
	int status = jdoc_parse(&doc, text.data, text.len, err);
	jdoc_id type = status == 0 ? jdoc_get(&doc, JDOC_ROOT, "type") : JDOC_NONE;
	if (jdoc_text_is(&doc, type, "json_object"))
		status = json_schema_new(schema, slice_of("{\"type\":\"object\"}"), err);
	else if (jdoc_text_is(&doc, type, "json_schema"))
		status = compile_schema(schema, &doc, err);
	jdoc_release(&doc);
	return status;
}

static int add_format(struct format_list *list, struct slice text, uint32_t *index, struct ipf_error *err)
{
	uint64_t hash = text_hash_mixed(text);
	uint32_t *slot = find_slot(list, hash, text);
	*index = *slot - 1;
	if (*slot)
		return 0;
	if (list->count == OUTPUT_FORMATS_MAX)
		return ipf_error_set(err, IPF_INPUT, "response_format: expected at most %d different ones in a trace",
		                     OUTPUT_FORMATS_MAX);
	if (!array_room(list->formats, list->cap, list->count + 1))
		return ipf_error_memory(err);
	struct trace_format f = {.hash = hash, .text = slice_dup(text), .len = text.len};
	if (!f.text)
		return ipf_error_memory(err);
	if (compile_format(&f.schema, text, err) < 0) {
		free(f.text);
		return -1;
	}
	list->formats[list->count++] = f;
	*slot = list->count;
	*index = list->count - 1;
	return 0;
}

static int add_request(struct format_list *list, const struct trace_request *request, struct ipf_error *err)
{
	uint32_t index = NO_FORMAT;
	if (request->response_format.data && add_format(list, request->response_format, &index, err) < 0)
		return -1;
	if (!array_room(list->of_request, list->requests_cap, list->requests + 1))
		return ipf_error_memory(err);
	list->of_request[list->requests++] = index;
	return 0;
}

static bool has_schema(const struct format_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->formats[i].schema)
			return true;
	return false;
}

int format_list_read(struct format_list *list, const char *path, struct ipf_error *err)
{
	struct trace_reader *reader;
	struct trace_request request;
	int got;
	list->slots = calloc(SLOTS, sizeof *list->slots);
	if (!list->slots)
		return ipf_error_memory(err);
	if (trace_reader_open(&reader, path, err) < 0)
		return -1;
	struct stream_reader *stream = trace_reader_stream(reader);
	while ((got = trace_reader_next(reader, &request, err)) == 1)
		if (add_request(list, &request, err) < 0) {
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
			got = -1;
			break;
		}
	if (got == 0 && !has_schema(list))
		got = ipf_error_at(err, IPF_INPUT, stream_reader_name(stream), 0,
		                   "no request has a response_format of JSON, by which --check-output format checks");
	if (got == 0)
		snprintf(list->sha256, sizeof list->sha256, "%s", stream_reader_sha256(stream));
	trace_reader_close(reader);
	return got;
}

struct json_schema *format_list_get(const struct format_list *list, int64_t request)
{
	if (request < 0 || (uint64_t)request >= list->requests || list->of_request[request] == NO_FORMAT)
		return NULL;
	return list->formats[list->of_request[request]].schema;
}

void format_list_release(struct format_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		free(list->formats[i].text);
		json_schema_free(list->formats[i].schema);
	}
	free(list->formats);
	free(list->slots);
	free(list->of_request);
	*list = (struct format_list){.count = 0};
}
