/* The input of OpenAI's Batch API: {"custom_id", "method", "url", "body"}, the body being the request as it would be
 * posted. */
#include "sources/detect_format.h"
#include "sources/record_fields.h"
#include "sources/name_set.h"

#include <stdlib.h>

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	*opened = calloc(1, sizeof(struct name_set));
	return *opened ? 0 : ipf_error_memory(err);
}

static void close_source(void *opened)
{
	if (opened)
		name_set_release(opened);
	free(opened);
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct name_set *ids = opened;
	struct slice id;
	jdoc_id body = jdoc_get(j, JDOC_ROOT, "body");
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_text(d, j, JDOC_ROOT, "custom_id", &id, err) < 0 ||
	    need_map(j, body, "body", err) < 0)
		return -1;
	if (name_set_add(ids, id) == 0)
		return ipf_error_set(err, IPF_INPUT, "custom_id: twice the same, \"%.*s\"", (int)(id.len > 40 ? 40 : id.len),
		                     id.data);
	d->failed |= ids->failed;
	int got = record_fields_body(d, j, body, err);
	if (got < 0)
		return -1;
	if (got == 0) {
		sink->unusable(sink, "neither messages nor a prompt");
		return 0;
	}
	d->requests[0].id = id;
	return d->failed ? 0 : sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "custom_id method url body");
}

const struct source_format source_openai_batch = {
	.name = "openai-batch",
	.about = "input files of OpenAI's Batch API",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = close_source,
};
