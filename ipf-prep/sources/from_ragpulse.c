/* RAGPulse: requests of a retrieval service, {"timestamp": "82" (seconds), "input_length", "output_length", "hash_ids":
 * {"sys_prompt", "passages_ids", "history", "web_search", "user_input": lists of ids}, "session_id"}, not in the order
 * of time; and beside them tables of how long each component is, {"passage_id": 7, "token_length": 241}. Trace and
 * tables may be given in any order (or the folder of them). A prompt is its components in this order, and some tokens
 * of the template.
 */
#include "sources/detect_format.h"
#include "sources/prompt_pieces.h"
#include "sources/record_fields.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

#define ID_MAX (1 << 26)

struct row {
	struct draft *draft;
	size_t first, count; /* its components */
};

struct state {
	struct row *rows;
	size_t count, cap;
	int64_t *components;
	size_t component_count, component_cap;
	int32_t *lengths; /* by id; 0: not known */
	size_t length_cap;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	return source_state(opened, sizeof(struct state), err);
}

static void close_source(void *opened)
{
	struct state *s = opened;
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->rows[i].draft);
	free(s->rows);
	free(s->components);
	free(s->lengths);
	free(s);
}

/* ---- a component's length ---- */

static int take_length(struct state *s, const struct jdoc *j, struct sink *sink, struct ipf_error *err)
{
	static const char *const names[] = {"sys_prompt_id", "passage_id", "history_id", "user_input_id", "web_search_id"};
	int64_t id = -1, length;
	for (size_t i = 0; i < sizeof names / sizeof *names && id < 0; i++)
		if (jdoc_get_uint(j, JDOC_ROOT, names[i], &id, err) < 0)
			return -1;
	if (need_uint(j, JDOC_ROOT, "token_length", &length, err) < 0)
		return -1;
	if (id < 0 || id > ID_MAX || length > INT32_MAX)
		return ipf_error_set(err, IPF_INPUT,
		                     id < 0 ? "none of sys_prompt_id, passage_id, history_id, user_input_id and web_search_id"
		                            : "out of range");
	if ((size_t)id >= s->length_cap) {
		size_t cap = s->length_cap ? s->length_cap : 4096;
		while (cap <= (size_t)id)
			cap *= 2;
		int32_t *lengths = reallocarray(s->lengths, cap, sizeof *lengths);
		if (!lengths) {
			sink->draft.failed = true;
			return 0;
		}
		memset(lengths + s->length_cap, 0, (cap - s->length_cap) * sizeof *lengths);
		s->lengths = lengths;
		s->length_cap = cap;
	}
	s->lengths[id] = (int32_t)length;
	return 0;
}

/* ---- a request ---- */

static bool keep_component(struct state *s, int64_t id)
{
	if (s->component_count == s->component_cap) {
		size_t cap = s->component_cap ? s->component_cap * 2 : 4096;
		int64_t *components = reallocarray(s->components, cap, sizeof *components);
		if (!components)
			return false;
		s->components = components;
		s->component_cap = cap;
	}
	s->components[s->component_count++] = id;
	return true;
}

static int take_components(struct state *s, const struct jdoc *j, struct sink *sink, struct ipf_error *err)
{
	static const char *const kinds[] = {"sys_prompt", "passages_ids", "history", "web_search", "user_input"};
	jdoc_id map = jdoc_get(j, JDOC_ROOT, "hash_ids");
	if (need_map(j, map, "hash_ids", err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, map, kinds[i])); jdoc_step(&e);) {
			int64_t id;
			if (!jdoc_to_int(j, e.value, &id) || id < 0)
				return jdoc_expected(j, e.value, kinds[i], "ids of 0 or more", err);
			sink->draft.failed |= !keep_component(s, id);
		}
	return 0;
}

static bool keep_row(struct state *s, const struct draft *d, size_t first)
{
	if (s->count == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 1024;
		struct row *rows = reallocarray(s->rows, cap, sizeof *rows);
		if (!rows)
			return false;
		s->rows = rows;
		s->cap = cap;
	}
	struct draft *copy = draft_clone(d);
	if (copy)
		s->rows[s->count++] = (struct row){copy, first, s->component_count - first};
	return copy != NULL;
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	size_t first = s->component_count;
	if (need_map(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (jdoc_get(j, JDOC_ROOT, "token_length") != JDOC_NONE)
		return take_length(s, j, sink, err);
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	int timed = record_fields_time(d, j, JDOC_ROOT, "timestamp", NS_PER_S, &r->at_ns, err);
	if (timed <= 0)
		return timed < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "timestamp: missing");
	if (need_uint(j, JDOC_ROOT, "input_length", &r->input_tokens, err) < 0 ||
	    need_uint(j, JDOC_ROOT, "output_length", &r->output_tokens, err) < 0 ||
	    record_fields_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0 ||
	    take_components(s, j, sink, err) < 0) {
		s->component_count = first;
		return -1;
	}
	d->failed |= !d->failed && !keep_row(s, d, first);
	return 0;
}

/* ---- all of them ---- */

static int32_t length_of(const struct state *s, int64_t id)
{
	return id < (int64_t)s->length_cap ? s->lengths[id] : 0;
}

/* The components as far as their lengths are known, and fit. */
static void put_together(const struct state *s, const struct row *row, struct prompt_pieces *pieces)
{
	int64_t wanted = row->draft->requests[0].input_tokens;
	prompt_pieces_cut(pieces, 0);
	for (size_t i = 0; i < row->count; i++) {
		int64_t id = s->components[row->first + i], length = length_of(s, id);
		if (length == 0 || pieces->tokens + length > wanted)
			return;
		prompt_pieces_add(pieces, (uint64_t)id, length);
	}
}

static int end_source(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct prompt_pieces pieces = {0};
	int status = 0;
	for (size_t i = 0; i < s->count && status == 0; i++) {
		struct row *row = &s->rows[i];
		struct draft *d = row->draft;
		put_together(s, row, &pieces);
		prompt_pieces_give(&pieces, &sink->draft, &d->requests[0].blocks);
		status = sink->draft.failed ? 0 : sink->take(sink, d, err);
		d->requests[0].blocks = (struct draft_blocks){0};
		draft_reset(&sink->draft);
	}
	prompt_pieces_release(&pieces);
	return status;
}

static bool knows(const struct sniff *sniff)
{
	return (sniff_has(sniff, "hash_ids session_id timestamp") && sniff_text(sniff, "\"sys_prompt\"")) ||
	       sniff_has(sniff, "token_length");
}

const struct source_format source_ragpulse = {
	.name = "ragpulse",
	.about = "RAGPulse: requests of a retrieval service, and the tables of their components' lengths",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled =
		"prose of the recorded length, component by component where their lengths are given: equal ids give equal text",
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.end = end_source,
	.close = close_source,
};
