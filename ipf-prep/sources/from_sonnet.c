/* Poems as a benchmark's prompts, after vLLM's rule: a request to pick lines, the first lines of the file (the same for
 * all: 200 tokens with the request), and lines at random until there are 550 tokens; answers of 150 are asked for.
 */
#include "absent.h"
#include "sources/detect_format.h"
#include "stats/rng.h"
#include "sources/record_fields.h"

#include <stdlib.h>
#include <strings.h>

#define ASKS            "Pick as many lines as you can from these poem lines:\n"
#define PROMPTS_DEFAULT 1000

enum { PREFIX_TOKENS = 200, INPUT_TOKENS = 550, OUTPUT_TOKENS = 150 };

struct state {
	struct draft lines; /* a message each */
	const struct token_counter *tokens;
	uint64_t seed;
	int64_t n;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	s->tokens = settings->tokens;
	s->seed = settings->seed;
	s->n = settings->n == IPF_ABSENT ? PROMPTS_DEFAULT : settings->n;
	draft_request(&s->lines);
	*opened = s;
	return 0;
}

static void close_source(void *opened)
{
	if (opened)
		draft_release(&((struct state *)opened)->lines);
	free(opened);
}

static int one_line(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct draft *lines = &((struct state *)opened)->lines;
	(void)err;
	draft_message(lines, ROLE_USER, draft_join(lines, record->text, "", slice_of("\n")));
	sink->draft.failed |= lines->failed;
	return 0;
}

/* Adds the line where the whole stays within `most` tokens. */
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

static int end_source(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct draft *lines = &s->lines;
	struct buffer prefix = {0}, prompt = {0};
	struct draft *d = &sink->draft;
	int status = 0;
	size_t first = 0;
	buffer_text(&prefix, ASKS);
	while (first < lines->message_count && add_line(s, &prefix, lines->messages[first].text, PREFIX_TOKENS))
		first++;
	for (int64_t i = 0; i < s->n && lines->message_count > 0 && status == 0 && !sink->full; i++) {
		struct rng rng;
		rng_init(&rng, s->seed, "sonnet", (uint64_t)i);
		buffer_clear(&prompt);
		buffer_slice(&prompt, buffer_all(&prefix));
		while (add_line(s, &prompt, lines->messages[rng_below(&rng, lines->message_count)].text, INPUT_TOKENS))
			;
		draft_reset(d);
		d->number = i + 1;
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

/* What the two files that benchmarks use begin with. */
static bool knows(const struct sniff *sniff)
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
	.about = "prompts made of a poem's lines, with a shared beginning (vLLM's rule)",
	.kind = SOURCE_DATASET,
	.unit = UNIT_LINE,
	.open = open_source,
	.knows = knows,
	.record = one_line,
	.end = end_source,
	.close = close_source,
};
