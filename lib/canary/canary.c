#include "canary/canary.h"

#include "canary/phrases.h"
#include "json/jout.h"

const char *const canary_kind_names[CANARY_KINDS] = {"copy", "recall", "arithmetic", "json", "list"};

void canary_release(struct canary *c)
{
	buffer_release(&c->prompt);
	buffer_release(&c->answer);
	buffer_release(&c->example);
}

/* ---- names ---- */

enum { NAMES = CANARY_WORDS * CANARY_WORDS };

/* Distinct names without a list of those used: each is an odd number of places after the one before. */
struct names {
	unsigned at, step;
};

static struct names names_begin(struct rng *rng)
{
	return (struct names){(unsigned)rng_below(rng, NAMES), 2 * (unsigned)rng_below(rng, NAMES / 2) + 1};
}

static void next_name(struct names *n, struct buffer *out)
{
	buffer_format(out, "%s %s", canary_first_words[n->at / CANARY_WORDS], canary_second_words[n->at % CANARY_WORDS]);
	n->at = (n->at + n->step) % NAMES;
}

/* ---- the kinds ---- */

static void draw_code(const struct canary *c, struct rng *rng, char code[CANARY_MARK + 1])
{
	if (c->decoys)
		canary_decoy(rng, code);
	else
		canary_mark(rng, code);
}

static void make_copy(struct canary *c, struct rng *rng)
{
	char mark[CANARY_MARK + 1];
	draw_code(c, rng, mark);
	buffer_format(&c->prompt, COPY_BEGIN "%s", mark);
	buffer_text(&c->answer, mark);
}

static void make_recall(struct canary *c, struct rng *rng, int64_t context_tokens)
{
	struct names names = names_begin(rng);
	struct buffer needle = {0};
	char code[CANARY_MARK + 1];
	int64_t lines = context_tokens / CANARY_LINE_TOKENS;
	lines = lines < CANARY_LINES_LEAST ? CANARY_LINES_LEAST : lines > CANARY_LINES_MOST ? CANARY_LINES_MOST : lines;
	int64_t place = lines / 4 + (int64_t)rng_below(rng, (uint64_t)(lines - 2 * (lines / 4)));

	buffer_text(&c->prompt, RECALL_BEGIN);
	for (int64_t i = 0; i < lines; i++) {
		buffer_text(&c->prompt, RECALL_LINE);
		size_t name = c->prompt.len;
		next_name(&names, &c->prompt);
		if (i == place) {
			draw_code(c, rng, code);
			buffer_text(&c->answer, code);
			if (!c->prompt.failed)
				buffer_append(&needle, c->prompt.data + name, c->prompt.len - name);
		} else {
			canary_decoy(rng, code);
		}
		buffer_format(&c->prompt, RECALL_IS "%s.\n", code);
	}
	buffer_text(&c->prompt, RECALL_QUESTION);
	buffer_slice(&c->prompt, buffer_all(&needle));
	buffer_text(&c->prompt, RECALL_END);
	c->prompt.failed |= needle.failed;
	buffer_release(&needle);
}

static void make_arithmetic(struct canary *c, struct rng *rng)
{
	bool sum = rng_below(rng, 2) == 0;
	int least = sum ? 10 : 2, most = sum ? 99 : 12;
	int a = least + (int)rng_below(rng, (uint64_t)(most - least + 1));
	int b = least + (int)rng_below(rng, (uint64_t)(most - least + 1));
	buffer_format(&c->prompt, ARITHMETIC_BEGIN "%d %s %d" ARITHMETIC_END, a, sum ? "+" : "*", b);
	buffer_format(&c->answer, "%d", sum ? a + b : a * b);
}

/* The prompt shows each member as it has to be written, so nothing depends on how a model understands "the text". */
static void make_json(struct canary *c, struct rng *rng)
{
	struct names names = names_begin(rng);
	struct buffer name = {0};
	struct jout w = {.out = &c->answer};
	char mark[CANARY_MARK + 1];
	int64_t count = 1 + (int64_t)rng_below(rng, 999);
	bool ready = rng_below(rng, 2) == 0;

	draw_code(c, rng, mark);
	next_name(&names, &name);
	buffer_format(&c->prompt,
	              JSON_BEGIN "\"code\": \"%s\"" JSON_AND "\"count\": %d" JSON_AND "\"ready\": %s" JSON_AND
	                         "\"name\": \"%s\"",
	              mark, (int)count, ready ? "true" : "false", name.failed ? "" : name.data);
	jout_begin_map(&w);
	jout_key(&w, "code");
	jout_string0(&w, mark);
	jout_key(&w, "count");
	jout_int(&w, count);
	jout_key(&w, "ready");
	jout_bool(&w, ready);
	jout_key(&w, "name");
	jout_string(&w, buffer_all(&name));
	jout_end_map(&w);
	c->prompt.failed |= name.failed;
	buffer_release(&name);
}

static void make_list(struct canary *c, struct rng *rng)
{
	struct names names = names_begin(rng);
	char mark[CANARY_MARK + 1];
	int items = 4 + (int)rng_below(rng, 5), place = (int)rng_below(rng, (uint64_t)items);

	draw_code(c, rng, mark);
	buffer_text(&c->prompt, LIST_BEGIN);
	for (int i = 0; i < items; i++) {
		size_t from = c->answer.len + (i ? 2 : 0);
		buffer_text(&c->answer, i ? ", " : "");
		if (i == place)
			buffer_text(&c->answer, mark);
		else
			next_name(&names, &c->answer);
		buffer_text(&c->prompt, i ? "\n" : "");
		if (!c->answer.failed)
			buffer_append(&c->prompt, c->answer.data + from, c->answer.len - from);
	}
}

static void make_task(struct canary *c, struct rng *rng, int64_t context_tokens)
{
	switch (c->kind) {
	case CANARY_COPY:
		make_copy(c, rng);
		break;
	case CANARY_RECALL:
		make_recall(c, rng, context_tokens);
		break;
	case CANARY_ARITHMETIC:
		make_arithmetic(c, rng);
		break;
	case CANARY_JSON:
		make_json(c, rng);
		break;
	case CANARY_LIST:
	case CANARY_KINDS:
		make_list(c, rng);
		break;
	}
}

int canary_make(struct canary *c, enum canary_kind kind, struct rng *rng, int64_t context_tokens, struct ipf_error *err)
{
	struct canary example = {.kind = kind, .decoys = true};
	buffer_clear(&c->prompt);
	buffer_clear(&c->answer);
	buffer_clear(&c->example);
	c->kind = kind;
	make_task(c, rng, context_tokens);
	make_task(&example, rng, 0);
	buffer_text(&c->example, COMPLETION_BEGIN);
	buffer_slice(&c->example, buffer_all(&example.prompt));
	buffer_text(&c->example, COMPLETION_END " ");
	buffer_slice(&c->example, buffer_all(&example.answer));
	bool failed = example.prompt.failed || example.answer.failed || c->prompt.failed || c->answer.failed;
	canary_release(&example);
	return failed || c->example.failed ? ipf_error_memory(err) : 0;
}

void canary_completion(const struct canary *c, struct buffer *prompt)
{
	buffer_slice(prompt, buffer_all(&c->example));
	buffer_text(prompt, COMPLETION_NEXT COMPLETION_BEGIN);
	buffer_slice(prompt, buffer_all(&c->prompt));
	buffer_text(prompt, COMPLETION_END);
}
