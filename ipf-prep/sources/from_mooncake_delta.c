/* mooncake-delta: Mooncake traces whose rows have the additions of each turn to its session.
 *
 * Origin: github.com/ai-dynamo/dynamo, its trace format mooncake-delta (lib/mocker/src/loadgen). The members are those
 * of Mooncake traces (mooncake_row.h), with session_id:
 *
 *     input_length   tokens that the turn adds to the session's prompts and answers
 *     hash_ids       an id for each block of what it adds (optional)
 *     output_length  length of the answer, which the next turn's prompt contains
 *
 * Rows look like those of Mooncake traces, whose prompts are whole: `auto` never picks this format. Prompts are
 * synthetic: equal ids give equal text. A row without session_id is a request of its own.
 */
#include "absent.h"
#include "array.h"
#include "sources/mooncake_row.h"
#include "sources/name_numbers.h"
#include "sources/prompt_pieces.h"

#include <stdlib.h>

#define TURNS_MAX 1000 /* a request has the pieces of all turns before it */

struct session {
	struct prompt_pieces context; /* prompts and answers so far */
	int turns;
	uint64_t pieces; /* how many without an id were made */
};

struct state {
	struct mooncake_blocks blocks;
	struct name_set ids;
	struct name_numbers names; /* the sessions' */
	struct session *sessions;
	size_t count, cap;
};

static void close_state(void *opened)
{
	struct state *s = opened;
	for (size_t i = 0; i < s->count; i++)
		prompt_pieces_release(&s->sessions[i].context);
	free(s->sessions);
	name_numbers_release(&s->names);
	name_set_release(&s->ids);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	(void)csv;
	(void)err;
	((struct state *)opened)->blocks.tokens = 0;
	return 0;
}

/* NULL when out of memory. */
static struct session *find_session(struct state *s, struct slice name)
{
	size_t number = name_number(&s->names, name);
	if (number < s->count)
		return &s->sessions[number];
	if (number != NO_NUMBER && !array_room(s->sessions, s->cap, s->count + 1))
		return NULL;
	if (number == NO_NUMBER)
		return NULL;
	s->sessions[s->count] = (struct session){0};
	return &s->sessions[s->count++];
}

/* Adds a turn's blocks, or one piece for all of it, to the session. */
static void add_turn(struct session *session, struct slice name, const struct draft_request *r)
{
	struct prompt_pieces *context = &session->context;
	int64_t end = context->tokens + r->input_tokens;
	for (size_t i = 0; i < r->blocks.count && !context->failed; i++)
		prompt_pieces_add(context, r->blocks.ids[i], r->blocks.tokens);
	prompt_pieces_truncate(context, end); /* the last block may be partial */
	prompt_pieces_add(context, prompt_piece_id(name, session->pieces++), end - context->tokens);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || mooncake_times(j, r, err) < 0 ||
	    mooncake_names(record, d, &s->ids, err) < 0 || mooncake_lengths(d, j, r, &s->blocks, err) < 0 ||
	    draft_check_names(d, err) < 0 || draft_check_lengths(d, err) < 0)
		return -1;
	struct slice name = d->session.data ? name_in_file(d, record->file_index, d->session)
	                                    : draft_format(d, "row %lld", (long long)d->number);
	struct session *session = d->failed ? NULL : find_session(s, name);
	if (!session)
		return ipf_error_memory(err);
	if (session->turns == TURNS_MAX)
		return ipf_error_set(err, IPF_INPUT, "session_id: expected at most %d turns", TURNS_MAX);
	session->turns++;
	add_turn(session, name, r);
	r->input_tokens = session->context.tokens;
	prompt_pieces_to_blocks(&session->context, d, &r->blocks);
	prompt_pieces_add(&session->context, prompt_piece_id(name, session->pieces++), r->output_tokens);
	d->failed |= session->context.failed;
	if (d->session.data)
		d->session = name;
	if (r->input_tokens == 0) {
		sink->unusable(sink, "no input token");
		return 0;
	}
	r->tags = mooncake_tags(d, j, (struct slice){0}, (struct slice){0});
	return sink->take(sink, d, err);
}

const struct source_format source_mooncake_delta = {
	.name = "mooncake-delta",
	.about = "Mooncake traces whose rows have each turn's addition to its session (JSON Lines; NVIDIA Dynamo)",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length, block by block from its hash; a turn has all before it",
	.state_size = sizeof(struct state),
	.begin_file = begin_file,
	.read_record = read_record,
	.close = close_state,
};
