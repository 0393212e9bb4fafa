/* rl-rollout: rollouts of reinforcement learning, as tpu-inference replays them.
 *
 * Origin: github.com/vllm-project/tpu-inference, scripts/vllm/benchmarking/agentic_benchmark (--trace-file). JSON
 * Lines, a line for each trajectory:
 *
 *     group       the problem; its trajectories have the same first prompt
 *     stream      number within the group
 *     prompt_len  length of the first prompt, in tokens
 *     out_lens    lengths of the answers; one for each turn
 *     obs_lens    lengths of what the environment adds after each answer; 0 if there are fewer
 *     reward      becomes a tag (optional)
 *
 * A trajectory is a session, whose prompts have all earlier answers and observations. Prompts are synthetic. There are
 * no times. Other members are ignored.
 */
#include "json/jout.h"
#include "sources/prompt_pieces.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#define TURNS_MAX 1000 /* a request has the pieces of all turns before it */

static struct slice reward_tag(struct draft *d, const struct jdoc *j)
{
	jdoc_id reward = jdoc_get(j, JDOC_ROOT, "reward");
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	if (jdoc_type_of(j, reward) == JDOC_NUMBER)
		jout_member_value(&w, "reward", jdoc_raw(j, reward));
	jout_end_map(&w);
	return tags_written(d, &out);
}

static int read_turns(const struct jdoc *j, struct slice group, int64_t prompt_tokens, struct sink *sink,
                      struct prompt_pieces *context, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	jdoc_id answers, observations = jdoc_get(j, JDOC_ROOT, "obs_lens");
	if (need_list(j, JDOC_ROOT, "out_lens", &answers, err) < 0)
		return -1;
	if (!jdoc_is_null(j, observations) && jdoc_type_of(j, observations) != JDOC_LIST)
		return jdoc_expected(j, observations, "obs_lens", "a list", err);
	if (jdoc_count(j, answers) > TURNS_MAX)
		return ipf_error_set(err, IPF_INPUT, "out_lens: expected at most %d turns, got %u", TURNS_MAX,
		                     jdoc_count(j, answers));
	struct slice tags = reward_tag(d, j);
	prompt_pieces_add(context, prompt_piece_id(group, 0), prompt_tokens);
	for (uint32_t i = 0; i < jdoc_count(j, answers) && !d->failed; i++) {
		int64_t answer, observation;
		if (element_tokens(j, answers, i, "out_lens", &answer, err) < 0 ||
		    element_tokens(j, observations, i, "obs_lens", &observation, err) < 0)
			return -1;
		struct draft_request *r = prompt_pieces_turn(context, d, answer, observation);
		if (r)
			r->tags = tags;
	}
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice group, stream;
	struct prompt_pieces context = {0};
	int64_t prompt_tokens = 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_name(d, j, JDOC_ROOT, "group", &group, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "stream", &stream, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "prompt_len", &prompt_tokens, err) < 0)
		return -1;
	if (prompt_tokens < 1 || prompt_tokens > INT32_MAX)
		return jdoc_expected(j, jdoc_get(j, JDOC_ROOT, "prompt_len"), "prompt_len", "1 to 2147483647 tokens", err);
	group = name_in_file(d, record->file_index, group);
	d->session = draft_join(d, group, "/", stream.data ? stream : draft_format(d, "%lld", (long long)d->number));
	int status = read_turns(j, group, prompt_tokens, sink, &context, err);
	prompt_pieces_release(&context);
	if (status < 0 || d->failed)
		return status;
	if (d->count == 0) {
		sink->unusable(sink, "no turn");
		return 0;
	}
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "group prompt_len out_lens");
}

const struct source_format source_rl_rollout = {
	.name = "rl-rollout",
	.about =
		"rollouts of reinforcement learning (JSON Lines, tpu-inference): groups with a common prompt, lengths of turns",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ignored = "turns",
	.traits = HAS_SESSIONS | MAKES_TEXT,
	.filled = "prose of the recorded length; trajectories of a group share the first prompt, turns all before them",
	.read_record = read_record,
	.recognises = recognises,
};
