/* canaries: requests with known answers (canary/canary.h), without any data.
 *
 * --input-tokens draws the length of the context in which a fact is to be recalled; the other kinds are short.
 */
#include "draft/canary_maker.h"
#include "sources/source.h"

struct state {
	struct canary_maker maker;
	const struct distribution *input;
	bool completion;
};

static int open_state(void *made, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = made;
	(void)err;
	s->maker = (struct canary_maker){.tokens = settings->tokens, .seed = settings->seed};
	s->input = settings->input;
	s->completion = settings->completion;
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct draft *d = &sink->draft;
	struct rng rng;
	rng_init(&rng, s->maker.seed, "input-tokens", (uint64_t)record->number);
	if (canary_maker_next(&s->maker, s->completion, distribution_draw(s->input, &rng), err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->id = draft_format(d, "canary-%lld", (long long)s->maker.number);
	draft_message(d, ROLE_USER, draft_keep(d, s->maker.prompt));
	r->output_tokens = s->maker.output_tokens;
	r->tags = draft_keep(d, s->maker.tags);
	r->body = draft_keep(d, s->maker.body);
	return sink->take(sink, d, err);
}

static void close_state(void *opened)
{
	struct state *s = opened;
	canary_maker_release(&s->maker);
}

const struct source_format source_canaries = {
	.name = "canaries",
	.about = "requests with known answers, without any data",
	.kind = SOURCE_GENERATED,
	.unit = UNIT_NONE,
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.close = close_state,
};
