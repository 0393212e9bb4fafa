/* trie: workloads of Applied Compute's trie (trace replay inference evaluation).
 *
 * Origin: github.com/Applied-Compute/trie, README.md and src/trie/types.py; NVIDIA Dynamo reads them too (its trace
 * format applied_compute_agentic). JSON Lines, a line for each trace:
 *
 *     num_turns                        turns with tools
 *     input_prompt_length              length of the first prompt, in tokens
 *     assistant_response_length        list of num_turns lengths: of the answer in each of these turns
 *     tool_call_output_length          list of num_turns lengths: of what the tools add after it
 *     tool_call_latency                list of num_turns seconds: until they have done so
 *     final_assistant_response_length  length of the last answer
 *
 * A trace is a session of num_turns + 1 requests, whose prompts have all earlier answers and results. Prompts are
 * synthetic, and traces share no text. There are no arrivals.
 */
#include "absent.h"
#include "clock.h"
#include "sources/prompt_pieces.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#define TURNS_MAX 1000 /* a request has the pieces of all turns before it */

/* The lists of a trace. */
struct turn_lists {
	jdoc_id answers, results, waits;
	uint32_t count; /* turns */
};

static const char answers_key[] = "assistant_response_length", results_key[] = "tool_call_output_length",
				  waits_key[] = "tool_call_latency";

static int need_turns(const struct jdoc *j, const char *key, uint32_t count, jdoc_id *list, struct ipf_error *err)
{
	if (need_list(j, JDOC_ROOT, key, list, err) < 0)
		return -1;
	return jdoc_count(j, *list) == count ? 0
	                                     : ipf_error_set(err, IPF_INPUT, "%s: expected length %u as num_turns, got %u",
	                                                     key, count, jdoc_count(j, *list));
}

static int read_lists(const struct jdoc *j, struct turn_lists *lists, struct ipf_error *err)
{
	int64_t count = 0;
	if (need_uint(j, JDOC_ROOT, "num_turns", &count, err) < 0)
		return -1;
	if (count > TURNS_MAX)
		return ipf_error_set(err, IPF_INPUT, "num_turns: expected at most %d, got %lld", TURNS_MAX, (long long)count);
	lists->count = (uint32_t)count;
	return need_turns(j, answers_key, lists->count, &lists->answers, err) < 0 ||
	               need_turns(j, results_key, lists->count, &lists->results, err) < 0 ||
	               need_turns(j, waits_key, lists->count, &lists->waits, err) < 0
	           ? -1
	           : 0;
}

/* Seconds, at most a year. */
static int read_wait(const struct jdoc *j, jdoc_id list, uint32_t i, int64_t *ns, struct ipf_error *err)
{
	double seconds;
	jdoc_id node = jdoc_at(j, list, i);
	if (!jdoc_to_double(j, node, &seconds) || seconds < 0 || seconds * NS_PER_S > (double)NS_PER_YEAR)
		return jdoc_expected(j, node, waits_key, "seconds, 0 to a year", err);
	*ns = (int64_t)(seconds * NS_PER_S + 0.5);
	return 0;
}

static int read_turns(const struct jdoc *j, const struct turn_lists *lists, struct prompt_pieces *context,
                      struct draft *d, struct ipf_error *err)
{
	int64_t answer, result, wait_ns = IPF_ABSENT;
	for (uint32_t i = 0; i <= lists->count && !d->failed; i++) {
		bool final = i == lists->count;
		int64_t next_ns = IPF_ABSENT;
		result = answer = 0;
		if (final ? need_tokens(j, JDOC_ROOT, "final_assistant_response_length", &answer, err) < 0
		          : element_tokens(j, lists->answers, i, answers_key, &answer, err) < 0 ||
		                element_tokens(j, lists->results, i, results_key, &result, err) < 0 ||
		                read_wait(j, lists->waits, i, &next_ns, err) < 0)
			return -1;
		struct draft_request *r = prompt_pieces_turn(context, d, answer, result);
		if (r)
			r->wait_ns = wait_ns;
		wait_ns = next_ns;
	}
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct turn_lists lists;
	struct prompt_pieces context = {0};
	int64_t prompt_tokens = 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "input_prompt_length", &prompt_tokens, err) < 0 || read_lists(j, &lists, err) < 0)
		return -1;
	if (prompt_tokens < 1)
		return jdoc_expected(j, jdoc_get(j, JDOC_ROOT, "input_prompt_length"), "input_prompt_length",
		                     "at least 1 token", err);
	d->session = draft_format(d, "%lld", (long long)d->number);
	prompt_pieces_add(&context, prompt_piece_id(d->session, 0), prompt_tokens);
	int status = read_turns(j, &lists, &context, d, err);
	prompt_pieces_release(&context);
	return status < 0 || d->failed ? status : sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "num_turns input_prompt_length assistant_response_length");
}

const struct source_format source_trie = {
	.name = "trie",
	.about = "workloads of Applied Compute's trie (JSON Lines): agents' turns by lengths, with the times of tools",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_SESSIONS | MAKES_TEXT,
	.filled = "prose of the recorded length; a prompt has all before it in its trace",
	.read_record = read_record,
	.recognises = recognises,
};
