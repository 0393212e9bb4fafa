/* The formats the requests of a trace ask for (response_format): each different one compiled once.
 *
 *     struct format_list formats = {0};
 *     if (format_list_read(&formats, "chat.trace", &err) < 0) …
 *     struct json_schema *schema = format_list_get(&formats, row.req);    // NULL: it asks for no JSON
 *     format_list_release(&formats);
 */
#ifndef COLLECT_FORMAT_LIST_H
#define COLLECT_FORMAT_LIST_H

#include "json_schema/json_schema.h"

#include <stdint.h>

struct trace_format {
	uint64_t hash;
	char *text; /* as in the trace */
	size_t len;
	struct json_schema *schema; /* NULL: a format of other texts than JSON */
};

/* Zero-initialise. */
struct format_list {
	char sha256[65]; /* the trace's */

	/* private */
	struct trace_format *formats;
	uint32_t count, cap;
	uint32_t *slots; /* a table of hashes: index + 1; 0: free */
	uint32_t *of_request;
	size_t requests, requests_cap;
};

/* -1: the trace cannot be read, a schema in it is none, or no request has a format. */
int format_list_read(struct format_list *list, const char *trace, struct ipf_error *err);
/* The schema for the answer to a request of the trace, which may be any number. */
struct json_schema *format_list_get(const struct format_list *list, int64_t request);
void format_list_release(struct format_list *list);

#endif
