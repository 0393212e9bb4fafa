/* sglang-agentic: agents' conversations for the dataset agentic-trace of SGLang's benchmark.
 *
 * Origin: github.com/sgl-project/sglang, python/sglang/benchmark/datasets/agentic_trace.py. One JSON object:
 *
 *     conversations  list of conversations, each a list of turns:
 *         messages       the new messages of the turn, none of them the assistant's
 *         prompt_tokens  the length of the whole prompt as recorded; becomes a tag (optional)
 *
 * The answers are those that the server gives: the lengths asked for are 220 tokens each, as in SGLang. A conversation
 * is a session, named by its place in the list, after the number of its object if there are several. Turns without
 * messages are left out, as they are there. There are no times.
 */
#include "absent.h"
#include "json/jout.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#define ANSWER_TOKENS 220

static struct slice prompt_tag(struct draft *d, int64_t tokens)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	if (tokens == IPF_ABSENT)
		return (struct slice){0};
	jout_begin_map(&w);
	jout_member_int(&w, "prompt_tokens", tokens);
	jout_end_map(&w);
	return draft_take_buffer(d, &out);
}

static int read_turn(struct draft *d, const struct jdoc *j, jdoc_id turn, struct ipf_error *err)
{
	int64_t tokens = IPF_ABSENT;
	jdoc_id messages = jdoc_get(j, turn, "messages");
	if (need_object(j, turn, "turn", err) < 0 || field_tokens(j, turn, "prompt_tokens", &tokens, err) < 0)
		return -1;
	if (jdoc_is_null(j, messages) || (jdoc_type_of(j, messages) == JDOC_LIST && jdoc_count(j, messages) == 0))
		return 0;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->output_tokens = ANSWER_TOKENS;
	r->tags = prompt_tag(d, tokens);
	return chat_prompt(d, j, messages, err);
}

static int read_conversation(struct draft *d, const struct jdoc *j, jdoc_id turns, struct ipf_error *err)
{
	if (jdoc_type_of(j, turns) != JDOC_LIST)
		return jdoc_expected(j, turns, "turns", "a list", err);
	for (struct jdoc_each e = jdoc_each(j, turns); jdoc_step(&e) && !d->failed;)
		if (read_turn(d, j, e.value, err) < 0)
			return -1;
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct ipf_error wrong = {0};
	int64_t part = 0;
	jdoc_id list;
	(void)state;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_list(j, JDOC_ROOT, "conversations", &list, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e) && !sink->full && !d->failed; part++) {
		draft_begin(d, record->number, part);
		if (read_conversation(d, j, e.value, &wrong) < 0)
			return ipf_error_set(err, IPF_INPUT, "conversations/%lld: %s", (long long)part, wrong.text);
		if (d->count == 0 && !d->failed)
			sink->unusable(sink, "empty conversation");
		if (d->count == 0 || d->failed)
			continue;
		d->chain = true;
		d->session = record->number == 1 ? draft_format(d, "%lld", (long long)part)
		                                 : draft_format(d, "%lld:%lld", (long long)record->number, (long long)part);
		if (sink->take(sink, d, err) < 0)
			return -1;
	}
	return 0;
}

static bool recognises(const struct sniff *sniff)
{
	const struct jdoc *j = sniff->json;
	if (j) /* of a conversation's first turn */
		return jdoc_type_of(j, jdoc_get(j, jdoc_at(j, jdoc_at(j, jdoc_get(j, JDOC_ROOT, "conversations"), 0), 0),
		                                "messages")) == JDOC_LIST;
	return !sniff->csv && sniff_text(sniff, "\"conversations\"") && sniff_text(sniff, "\"prompt_tokens\"") &&
	       sniff_text(sniff, "\"messages\"");
}

const struct source_format source_sglang_agentic = {
	.name = "sglang-agentic",
	.about = "agents' conversations for SGLang's benchmark (JSON, agentic-trace): the new messages of each turn",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_SESSIONS,
	.read_record = read_record,
	.recognises = recognises,
};
