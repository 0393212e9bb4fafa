/* ShareGPT: conversations as lists of turns, {"conversations": [{"from": "human", "value": "…"}, …]}, also with the
 * keys of the chat API (messages, role, content). A flattened variant of the same data, {"input": "…", "output_length":
 * n}, is taken for what it is: a prompt and the length of its answer.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include <stdio.h>
#include <stdlib.h>

struct state {
	bool lone, answers_optional, first_two;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *state = calloc(1, sizeof *state);
	if (!state)
		return ipf_error_memory(err);
	state->lone = settings->lone;
	state->answers_optional = settings->answers_optional;
	state->first_two = settings->first_two;
	*opened = state;
	return 0;
}

/* Whoever calls a function speaks for the model; what the function said comes back as if the user had said it, since a
 * "tool" message needs a call's id, which these data don't have. */
static const struct {
	const char *name;
	enum role role;
} roles[] = {
	{"human", ROLE_USER},          {"gpt", ROLE_ASSISTANT},
	{"user", ROLE_USER},           {"assistant", ROLE_ASSISTANT},
	{"system", ROLE_SYSTEM},       {"chatgpt", ROLE_ASSISTANT},
	{"bing", ROLE_ASSISTANT},      {"bard", ROLE_ASSISTANT},
	{"model", ROLE_ASSISTANT},     {"function_call", ROLE_ASSISTANT},
	{"tool_call", ROLE_ASSISTANT}, {"observation", ROLE_USER},
	{"tool", ROLE_USER},           {"function", ROLE_USER},
	{"tool_response", ROLE_USER},  {"function_response", ROLE_USER},
};

/* A turn: who speaks, and the text's node. */
struct turn {
	enum role role;
	jdoc_id text;
};

/* Names the field in an error: conversations[3].from */
static int wrong_turn(const struct jdoc *j, const char *list, unsigned at, const char *key, jdoc_id node,
                      const char *wanted, struct ipf_error *err)
{
	char name[96];
	snprintf(name, sizeof name, "%s[%u].%s", list, at, key);
	if (node == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "%s: missing", name);
	return jdoc_expected(j, node, name, wanted, err);
}

static int read_turn(const struct jdoc *j, jdoc_id node, const char *list, unsigned at, struct turn *turn,
                     struct ipf_error *err)
{
	if (jdoc_type_of(j, node) != JDOC_MAP) {
		char name[96];
		snprintf(name, sizeof name, "%s[%u]", list, at);
		return jdoc_expected(j, node, name, "an object", err);
	}
	const char *role_key = "from", *text_key = "value";
	jdoc_id role = jdoc_get(j, node, role_key);
	if (role == JDOC_NONE && (role = jdoc_get(j, node, "role")) != JDOC_NONE)
		role_key = "role";
	turn->text = jdoc_get(j, node, text_key);
	if (turn->text == JDOC_NONE && (turn->text = jdoc_get(j, node, "content")) != JDOC_NONE)
		text_key = "content";
	if (jdoc_type_of(j, role) != JDOC_TEXT)
		return wrong_turn(j, list, at, role_key, role, "a string", err);
	if (turn->text == JDOC_NONE || (jdoc_type_of(j, turn->text) != JDOC_TEXT && !jdoc_is_null(j, turn->text)))
		return wrong_turn(j, list, at, text_key, turn->text, "a string", err);
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (jdoc_text_is(j, role, roles[i].name)) {
			turn->role = roles[i].role;
			return 0;
		}
	return wrong_turn(j, list, at, role_key, role, "the name of a role (human, gpt, system, …)", err);
}

/* The conversation being taken in. An exchange is what the user says and what is answered; an empty side, or none, ends
 * the conversation before it: what comes later answers to something that is not there. */
struct taking {
	const struct state *state;
	const struct jdoc *j;
	struct draft *draft;
	jdoc_id system; /* waits for the next request */
	bool started;   /* a user has spoken */
	bool answering; /* the last request has an answer, at least in part */
	bool ended;
	const char *why; /* it ended */
};

static void end_taking(struct taking *t, const char *why)
{
	t->ended = true;
	t->why = why;
}

/* Is the exchange before this point whole? */
static bool exchange_whole(const struct taking *t)
{
	const struct draft *d = t->draft;
	return d->count == 0 || t->state->answers_optional || d->requests[d->count - 1].answer.len > 0;
}

static void user_speaks(struct taking *t, jdoc_id text)
{
	struct draft *d = t->draft;
	if (jdoc_text_empty(t->j, text)) {
		end_taking(t, "empty user turn");
		return;
	}
	if (!t->started || t->answering) {
		if (!exchange_whole(t)) {
			end_taking(t, "empty answer");
			return;
		}
		if (t->state->lone && d->count == 1) {
			end_taking(t, NULL);
			return;
		}
		if (!draft_request(d))
			return;
		if (!jdoc_text_empty(t->j, t->system))
			draft_message(d, ROLE_SYSTEM, draft_text(d, t->j, t->system));
		t->system = JDOC_NONE;
		t->started = true;
		t->answering = false;
	}
	draft_message(d, ROLE_USER, draft_text(d, t->j, text));
}

static void model_speaks(struct taking *t, jdoc_id text)
{
	if (!t->started)
		return; /* the conversation begins in the middle: the answer to nothing is left out */
	struct draft *d = t->draft;
	struct draft_request *r = &d->requests[d->count - 1];
	struct slice said = draft_text(d, t->j, text);
	t->answering = true;
	r->answer = r->answer.len > 0 && said.len > 0 ? draft_join(d, r->answer, "\n\n", said)
	            : said.len > 0                    ? said
	                                              : r->answer;
}

/* Takes the turns in. What a conversation is left with may be nothing; then t->why says why. */
static int take_turns(struct taking *t, const char *name, jdoc_id list, struct ipf_error *err)
{
	unsigned at = 0;
	for (struct jdoc_each e = jdoc_each(t->j, list); jdoc_step(&e); at++) {
		struct turn turn = {ROLE_USER, JDOC_NONE};
		if (read_turn(t->j, e.value, name, at, &turn, err) < 0)
			return -1;
		if (t->ended)
			continue; /* only looked over */
		if (turn.role == ROLE_SYSTEM)
			t->system = turn.text;
		else if (turn.role == ROLE_USER)
			user_speaks(t, turn.text);
		else
			model_speaks(t, turn.text);
	}
	struct draft *d = t->draft;
	if (d->count > 0 && !exchange_whole(t)) {
		d->count--;
		d->message_count = d->requests[d->count].first;
		if (!t->why)
			t->why = t->answering ? "empty answer" : "no answer";
	}
	if (!t->why)
		t->why = at ? "no user turn" : "empty conversation";
	return 0;
}

/* The rule of several benchmarks: the first two turns, whoever speaks. */
static int first_two(const struct jdoc *j, const char *name, jdoc_id list, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct turn prompt = {ROLE_USER, JDOC_NONE}, answer = {ROLE_USER, JDOC_NONE};
	if (jdoc_count(j, list) < 2) {
		sink->unusable(sink, "fewer than two turns");
		return 0;
	}
	if (read_turn(j, jdoc_at(j, list, 0), name, 0, &prompt, err) < 0 ||
	    read_turn(j, jdoc_at(j, list, 1), name, 1, &answer, err) < 0)
		return -1;
	return record_fields_pair(sink, (struct slice){0}, draft_text(d, j, prompt.text), draft_text(d, j, answer.text),
	                          err);
}

static int flat_record(const struct jdoc *j, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	jdoc_id input = jdoc_get(j, JDOC_ROOT, "input");
	int64_t output = 0;
	if (input == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "conversations: missing");
	if (jdoc_type_of(j, input) != JDOC_TEXT)
		return jdoc_expected(j, input, "input", "a string", err);
	int got = jdoc_get_uint(j, JDOC_ROOT, "output_length", &output, err);
	if (got < 0)
		return -1;
	if (got == 0)
		return ipf_error_set(err, IPF_INPUT, "output_length: missing");
	if (output == 0 || jdoc_text_empty(j, input)) {
		sink->unusable(sink, output == 0 ? "empty answer" : "empty user turn");
		return 0;
	}
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->output_tokens = output;
	draft_message(d, ROLE_USER, draft_text(d, j, input));
	return sink->take(sink, d, err);
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const char *const keys[] = {"conversations", "messages", "conversation"};
	const struct jdoc *j = record->json;
	if (jdoc_type_of(j, JDOC_ROOT) != JDOC_MAP)
		return jdoc_expected(j, JDOC_ROOT, "record", "an object", err);
	const char *name = keys[0];
	jdoc_id list = JDOC_NONE;
	for (size_t i = 0; i < sizeof keys / sizeof *keys && list == JDOC_NONE; i++)
		list = jdoc_get(j, JDOC_ROOT, name = keys[i]);
	if (list == JDOC_NONE)
		return flat_record(j, sink, err);
	if (jdoc_type_of(j, list) != JDOC_LIST)
		return jdoc_expected(j, list, name, "a list", err);
	if (((struct state *)opened)->first_two)
		return first_two(j, name, list, sink, err);
	struct taking t = {.state = opened, .j = j, .draft = &sink->draft, .system = JDOC_NONE};
	if (take_turns(&t, name, list, err) < 0)
		return -1;
	if (sink->draft.count == 0) {
		sink->unusable(sink, t.why);
		return 0;
	}
	struct slice tools = record_fields_tools(&sink->draft, j, jdoc_get(j, JDOC_ROOT, "tools"));
	for (size_t i = 0; i < sink->draft.count; i++)
		sink->draft.requests[i].tools = tools;
	sink->draft.chain = !t.state->lone;
	return sink->take(sink, &sink->draft, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "conversations") || sniff_has(sniff, "conversation") ||
	       sniff_has(sniff, "input output_length");
}

const struct source_format source_sharegpt = {
	.name = "sharegpt",
	.about = "conversations of ShareGPT's layout: array, JSON Lines or one object",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_TURNS,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = free,
};
