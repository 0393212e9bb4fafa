/* A response coming in one read, and its descriptor: for tests of ipf-collect's row for one response. Include cmocka.h
 * first.
 */
#ifndef COLLECT_RECORD_H
#define COLLECT_RECORD_H

#include "api/api.h"
#include "stream/record.h"

/* A request that started at 0 and was answered with status 200: all of `body` came at 100 ns. `read` must live as long
 * as the record. */
static inline void record_of_body(struct record *record, struct slice body, struct record_read *read)
{
	*read = (struct record_read){.t_ns = 100, .bytes = (int64_t)body.len, .own_ns = 100};
	record_init(record);
	record->n = record->stage = record->start_ns = 0;
	record->end_ns = 100;
	record->status = 200;
	record->streamed = true;
	record->body = body;
	record->reads = read;
	record->reads_count = 1;
}

/* The caller closes the API and releases *json, in this order. */
static inline struct api *api_of_text(const char *descriptor, json_t **json)
{
	struct ipf_error err = {0};
	struct api *api = NULL;
	*json = json_loads(descriptor, 0, NULL);
	assert_non_null(*json);
	if (api_from_json(&api, *json, "test", &err) < 0)
		fail_msg("%s", err.text);
	return api;
}

#endif
