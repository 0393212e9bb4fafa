/* sonnet: prompts made of a poem's lines, by the rule of vLLM's benchmark.
 *
 * Origin: sonnet.txt of github.com/vllm-project/vllm (benchmarks) and of github.com/ray-project/llmperf (src/llmperf);
 * any text will do. A prompt is an instruction to pick lines, the first lines of the file up to 200 tokens with the
 * instruction (the same for all prompts), and random lines up to 550 tokens. Answers are to have 150 tokens.
 */
#include "absent.h"
#include "sources/sniff.h"
#include "sources/source.h"
#include "stats/rng.h"

#include <strings.h>

#define INSTRUCTION     "Pick as many lines as you can from these poem lines:\n"
#define PROMPTS_DEFAULT 1000

enum { PREFIX_TOKENS = 200, INPUT_TOKENS = 550, OUTPUT_TOKENS = 150 };

struct state {
	struct draft lines; /* one request with a message for each line */
	const struct token_counter *tokens;
	uint64_t seed;
	int64_t n;
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = opened;
	(void)err;
	s->tokens = settings->tokens;
	s->seed = settings->seed;
	s->n = settings->n == IPF_ABSENT ? PROMPTS_DEFAULT : settings->n;
	draft_request(&s->lines);
	return 0;
}

static void close_state(void *opened)
{
	draft_release(&((struct state *)opened)->lines);
}

static int read_line(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct draft *lines = &((struct state *)opened)->lines;
	(void)err;
	draft_message(lines, ROLE_USER, draft_join(lines, record->text, "", slice_of("\n")));
	sink->draft.failed |= lines->failed;
	return 0;
}

/* Adds the line if the prompt then has at most `most` tokens. */
static bool add_line(const struct state *s, struct buffer *prompt, struct slice line, int64_t most)
{
	size_t before = prompt->len;
	buffer_slice(prompt, line);
	if (prompt->failed || token_counter_count(s->tokens, prompt->data, prompt->len) > most) {
		prompt->len = prompt->failed ? 0 : before;
		return false;
	}
	return true;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct draft *lines = &s->lines;
	struct buffer prefix = {0}, prompt = {0};
	struct draft *d = &sink->draft;
	int status = 0;
	size_t first = 0;
	buffer_text(&prefix, INSTRUCTION);
	while (first < lines->message_count && add_line(s, &prefix, lines->messages[first].text, PREFIX_TOKENS))
		first++;
	for (int64_t i = 0; i < s->n && lines->message_count > 0 && status == 0 && !sink->full; i++) {
		struct rng rng;
		rng_init(&rng, s->seed, "sonnet", (uint64_t)i);
		buffer_clear(&prompt);
		buffer_slice(&prompt, buffer_all(&prefix));
		while (add_line(s, &prompt, lines->messages[rng_below(&rng, lines->message_count)].text, INPUT_TOKENS))
			;
		draft_begin(d, i + 1, 0);
		struct draft_request *r = draft_request(d);
		if (r)
			r->output_tokens = OUTPUT_TOKENS;
		draft_message(d, ROLE_USER, draft_keep(d, buffer_all(&prompt)));
		d->failed |= prompt.failed || prefix.failed;
		status = d->failed ? 0 : sink->take(sink, d, err);
	}
	buffer_release(&prefix);
	buffer_release(&prompt);
	return status;
}

/* By the beginnings of the two files of benchmarks. */
static bool recognises(const struct sniff *sniff)
{
	static const char *const firsts[] = {"FROM fairest creatures we desire increase",
	                                     "Shall I compare thee to a summer's day"};
	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
		if (sniff->head.len > 50 && strncasecmp(sniff->head.data, firsts[i], 38) == 0)
			return true;
	return false;
}

const struct source_format source_sonnet = {
	.name = "sonnet",
	.about = "prompts made of lines of a poem, with a shared prefix, as in vLLM's sonnet benchmark",
	.kind = SOURCE_DATASET,
	.unit = UNIT_LINE,
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_line,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
