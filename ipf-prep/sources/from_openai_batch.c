/* openai-batch: input files of OpenAI's Batch API.
 *
 * Origin: the Batch API's reference; the examples of vllm-project/vllm and vllm-project/production-stack. JSON Lines:
 *
 *     custom_id  id of the request; each occurs once
 *     body       the request as it would be posted to the chat, completions, Responses or embeddings API
 *     url        tells embeddings apart
 *
 * `method` is ignored.
 */
#include "sources/api_bodies.h"
#include "sources/sniff.h"
#include "name_set.h"
#include "sources/record_fields.h"

#include <string.h>

static void close_state(void *opened)
{
	name_set_release(opened);
}

/* Adds a request with the texts of `input`, a string or a list of strings: 1, 0 if there is none, or -1. */
static int read_embeddings(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err)
{
	jdoc_id input = jdoc_get(j, body, "input");
	struct draft_request *r = draft_request(d);
	if (!r || field_text(d, j, body, "model", &r->model, err) < 0)
		return r ? -1 : 1;
	r->batch = true;
	if (jdoc_type_of(j, input) == JDOC_TEXT)
		draft_message(d, ROLE_USER, draft_text(d, j, input));
	for (struct jdoc_each e = jdoc_each(j, input); jdoc_step(&e);) {
		if (jdoc_type_of(j, e.value) != JDOC_TEXT)
			return jdoc_expected(j, e.value, "input", "a string, or a list of strings", err);
		draft_message(d, ROLE_USER, draft_text(d, j, e.value));
	}
	return d->message_count > 0;
}

static bool is_of_embeddings(const struct jdoc *j)
{
	struct slice url = jdoc_raw(j, jdoc_get(j, JDOC_ROOT, "url"));
	return url.len > 0 && memmem(url.data, url.len, "/embeddings", strlen("/embeddings"));
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct name_set *ids = opened;
	struct slice id;
	jdoc_id body = jdoc_get(j, JDOC_ROOT, "body");
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_text(d, j, JDOC_ROOT, "custom_id", &id, err) < 0 ||
	    need_object(j, body, "body", err) < 0)
		return -1;
	if (name_set_add(ids, id) == 0)
		return ipf_error_set(err, IPF_INPUT, "custom_id: expected a unique id, got \"%.*s\" again",
		                     (int)(id.len > 40 ? 40 : id.len), id.data);
	d->failed |= ids->failed;
	int got = is_of_embeddings(j) ? read_embeddings(d, j, body, err) : api_request_body(d, j, body, err);
	if (got < 0)
		return -1;
	if (got == 0) {
		sink->unusable(sink, "neither messages nor a prompt");
		return 0;
	}
	if (d->failed)
		return 0;
	d->requests[0].id = id;
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "custom_id method url body");
}

const struct source_format source_openai_batch = {
	.name = "openai-batch",
	.about = "input files of the OpenAI Batch API",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.state_size = sizeof(struct name_set),
	.read_record = read_record,
	.recognises = recognises,
	.close = close_state,
};
