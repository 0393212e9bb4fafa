/* ragpulse: RAGPulse, requests of a retrieval service.
 *
 * Origin: github.com/flashserve/RAGPulse, data. JSON Lines: a trace, not in time order, and tables of the lengths of
 * the prompts' components; in any order, or the folder of them. The trace has
 *
 *     timestamp      arrival, in seconds from noon of the first day, as a string
 *     input_length   length of the prompt, in tokens
 *     output_length  length of the answer, in tokens
 *     hash_ids       the prompt's components in their order, as lists of ids: {"sys_prompt", "passages_ids",
 *                    "history", "web_search", "user_input"}
 *     session_id     requests of the same session are its turns
 *
 * and the tables have
 *
 *     sys_prompt_id, passage_id, history_id, user_input_id or web_search_id  the component's id
 *     token_length   its length, in tokens
 *
 * Prompts are synthetic: equal ids give equal text, as far as their lengths are known. The rest of a prompt beyond its
 * components, the tokens of the template, is text no other prompt has.
 */
#include "clock.h"
#include "array.h"
#include "draft/draft_sorter.h"
#include "sources/sniff.h"
#include "sources/prompt_pieces.h"
#include "sources/record_fields.h"

#include <stdlib.h>
#include <string.h>

#define ID_MAX (1 << 26)

struct state {
	struct draft_sorter requests; /* in the order of the data; their blocks are their components, until `finish` */
	int32_t *lengths;             /* the components', by id; 0: not known */
	size_t length_cap;
};

static void close_state(void *opened)
{
	struct state *s = opened;
	draft_sorter_release(&s->requests);
	free(s->lengths);
}

/* ---- a component's length ---- */

static int read_length(struct state *s, const struct jdoc *j, struct sink *sink, struct ipf_error *err)
{
	static const char *const names[] = {"sys_prompt_id", "passage_id", "history_id", "user_input_id", "web_search_id"};
	int64_t id = -1, length;
	for (size_t i = 0; i < sizeof names / sizeof *names && id < 0; i++)
		if (jdoc_get_uint(j, JDOC_ROOT, names[i], &id, err) < 0)
			return -1;
	if (need_tokens(j, JDOC_ROOT, "token_length", &length, err) < 0)
		return -1;
	if (id < 0)
		return ipf_error_set(err, IPF_INPUT,
		                     "sys_prompt_id: missing (also as passage_id, history_id, user_input_id, web_search_id)");
	if (id > ID_MAX || length > INT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "expected an id up to %d of up to %d tokens, got id %lld of %lld", ID_MAX,
		                     INT32_MAX, (long long)id, (long long)length);
	if (!array_reach(s->lengths, s->length_cap, id)) {
		sink->draft.failed = true;
		return 0;
	}
	s->lengths[id] = (int32_t)length;
	return 0;
}

/* ---- a request ---- */

static int read_components(const struct jdoc *j, struct draft *d, struct draft_request *r, struct ipf_error *err)
{
	static const char *const kinds[] = {"sys_prompt", "passages_ids", "history", "web_search", "user_input"};
	jdoc_id map = jdoc_get(j, JDOC_ROOT, "hash_ids");
	size_t count = 0;
	if (need_object(j, map, "hash_ids", err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		count += jdoc_count(j, jdoc_get(j, map, kinds[i]));
	uint64_t *ids = draft_ids(d, count);
	if (!ids)
		return 0;
	r->blocks.ids = ids;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, map, kinds[i])); jdoc_step(&e);) {
			int64_t id;
			if (!jdoc_to_int(j, e.value, &id) || id < 0)
				return jdoc_expected(j, e.value, kinds[i], "ids of 0 or more", err);
			ids[r->blocks.count++] = (uint64_t)id;
		}
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (jdoc_get(j, JDOC_ROOT, "token_length") != JDOC_NONE)
		return read_length(s, j, sink, err);
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_time(j, JDOC_ROOT, "timestamp", NS_PER_S, &r->at_ns, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "input_length", &r->input_tokens, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "output_length", &r->output_tokens, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0 || read_components(j, d, r, err) < 0)
		return -1;
	return d->failed ? 0 : draft_sorter_add(&s->requests, NULL, 0, d, err);
}

/* ---- all requests ---- */

static int32_t length_of(const struct state *s, uint64_t id)
{
	return id < s->length_cap ? s->lengths[id] : 0;
}

/* The components, as far as their lengths are known and within the prompt's length. */
static void join_components(const struct state *s, const struct draft_blocks *components, int64_t input_tokens,
                            struct prompt_pieces *pieces)
{
	prompt_pieces_truncate(pieces, 0);
	for (size_t i = 0; i < components->count; i++) {
		int64_t length = length_of(s, components->ids[i]);
		if (length == 0 || pieces->tokens + length > input_tokens)
			return;
		prompt_pieces_add(pieces, components->ids[i], length);
	}
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct prompt_pieces pieces = {0};
	struct draft d = {0};
	int got = draft_sorter_begin(&s->requests, err);
	while (got == 0 && (got = draft_sorter_next(&s->requests, NULL, 0, &d, err)) > 0) {
		struct draft_request *r = &d.requests[0];
		join_components(s, &r->blocks, r->input_tokens, &pieces);
		r->blocks = (struct draft_blocks){0};
		prompt_pieces_to_blocks(&pieces, &d, &r->blocks);
		got = d.failed ? ipf_error_memory(err) : sink->take(sink, &d, err);
	}
	draft_release(&d);
	prompt_pieces_release(&pieces);
	return got;
}

static bool recognises(const struct sniff *sniff)
{
	return (sniff_members(sniff, "hash_ids session_id timestamp") && sniff_text(sniff, "\"sys_prompt\"")) ||
	       sniff_members(sniff, "token_length");
}

const struct source_format source_ragpulse = {
	.name = "ragpulse",
	.about = "RAGPulse: requests of a retrieval service, with tables of the lengths of their components",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled =
		"prose of the recorded length, component by component where their lengths are given: equal ids give equal text",
	.state_size = sizeof(struct state),
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
