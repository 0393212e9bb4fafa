/* sharegpt: conversations in ShareGPT's format.
 *
 * Origin: the dataset anon8231489123/ShareGPT_Vicuna_unfiltered of the Hugging Face hub; also LMSYS-Chat-1M, WildChat,
 * and the data of LLaMA-Factory, FastChat and axolotl. A JSON array, JSON Lines or one object:
 *
 *     conversations  list of turns (also as messages or conversation)
 *     from           of a turn: who speaks (also as role); see `roles`
 *     value          of a turn: the text (also as content)
 *     system         the system message (optional; also system_prompt, system_message)
 *     tools          tools of the conversation, as the chat API has them, or as a string that holds them (optional)
 *
 *     image, images  what the first turn of the user shows (LLaVA): a path or URL, an object with bytes, or a list;
 * also videos and audios. Marks such as <image> are left out of its text, which comes after them.
 *
 * The turns may also be an object of two lists, {"from": […], "value": […]}.
 *
 * A variant has no conversations but {"input": "…", "output_length": n}: a prompt, and the length of its answer in
 * tokens. Other members are ignored.
 *
 * A request is all that a user says before the model answers. An empty side, or none, ends the conversation before it,
 * since what follows depends on it.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#include <stdio.h>

/* A function call counts as the model's words, and its result as the user's, since the chat API's "tool" message needs
 * the call's id, which these data do not have. */
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

/* A turn: who speaks, and the node of the text. */
struct turn {
	enum role role;
	jdoc_id text;
};

/* Where a turn is: in errors, conversations[3]. */
struct turn_place {
	const struct jdoc *j;
	const char *list;
	unsigned index;
};

/* Names the member in an error: conversations[3].from */
static int bad_turn(const struct turn_place *place, const char *key, jdoc_id node, const char *wanted,
                    struct ipf_error *err)
{
	char name[96];
	snprintf(name, sizeof name, "%s[%u].%s", place->list, place->index, key);
	if (node == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "%s: missing", name);
	return jdoc_expected(place->j, node, name, wanted, err);
}

/* Checks who speaks and the text, and finds the role. */
static int check_turn(const struct turn_place *place, const char *role_key, jdoc_id role, const char *text_key,
                      struct turn *turn, struct ipf_error *err)
{
	const struct jdoc *j = place->j;
	if (jdoc_type_of(j, role) != JDOC_TEXT)
		return bad_turn(place, role_key, role, "a string", err);
	if (turn->text == JDOC_NONE || (jdoc_type_of(j, turn->text) != JDOC_TEXT && !jdoc_is_null(j, turn->text)))
		return bad_turn(place, text_key, turn->text, "a string", err);
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (jdoc_text_is(j, role, roles[i].name)) {
			turn->role = roles[i].role;
			return 0;
		}
	return bad_turn(place, role_key, role, "the name of a role (human, gpt, system, …)", err);
}

static int read_turn(const struct turn_place *place, jdoc_id node, struct turn *turn, struct ipf_error *err)
{
	const struct jdoc *j = place->j;
	if (jdoc_type_of(j, node) != JDOC_MAP) {
		char name[96];
		snprintf(name, sizeof name, "%s[%u]", place->list, place->index);
		return jdoc_expected(j, node, name, "an object", err);
	}
	const char *role_key = "from", *text_key = "value";
	jdoc_id role = jdoc_get(j, node, role_key);
	if (role == JDOC_NONE && (role = jdoc_get(j, node, "role")) != JDOC_NONE)
		role_key = "role";
	turn->text = jdoc_get(j, node, text_key);
	if (turn->text == JDOC_NONE && (turn->text = jdoc_get(j, node, "content")) != JDOC_NONE)
		text_key = "content";
	return check_turn(place, role_key, role, text_key, turn, err);
}

/* The conversation being read. An exchange is what the user says and what the model answers. */
struct conversation {
	const struct chat_settings *settings;
	const struct jdoc *j;
	struct draft *draft;
	jdoc_id system;  /* a system message for the next request */
	bool started;    /* the user has spoken */
	bool answering;  /* the last request has an answer, at least in part */
	bool ended;      /* later turns are only checked */
	const char *why; /* why it ended */
};

static void end_conversation(struct conversation *c, const char *why)
{
	c->ended = true;
	c->why = why;
}

/* Is the last exchange complete? */
static bool exchange_complete(const struct conversation *c)
{
	const struct draft *d = c->draft;
	return d->count == 0 || c->settings->answers_optional || d->requests[d->count - 1].answer.len > 0;
}

static void add_user_turn(struct conversation *c, jdoc_id text)
{
	struct draft *d = c->draft;
	if (jdoc_text_empty(c->j, text)) {
		end_conversation(c, "empty user turn");
		return;
	}
	if (!c->started || c->answering) {
		if (!exchange_complete(c)) {
			end_conversation(c, "empty answer");
			return;
		}
		if (c->settings->lone && d->count == 1) {
			end_conversation(c, NULL);
			return;
		}
		if (!draft_request(d))
			return;
		if (!jdoc_text_empty(c->j, c->system))
			draft_message(d, ROLE_SYSTEM, draft_text(d, c->j, c->system));
		c->system = JDOC_NONE;
		c->started = true;
		c->answering = false;
	}
	draft_message(d, ROLE_USER, draft_text(d, c->j, text));
}

static void add_model_turn(struct conversation *c, jdoc_id text)
{
	if (!c->started)
		return; /* an answer without a question is left out */
	struct draft *d = c->draft;
	struct draft_request *r = &d->requests[d->count - 1];
	c->answering = true;
	r->answer = draft_append(d, r->answer, "\n\n", draft_text(d, c->j, text));
}

static void add_turn(struct conversation *c, const struct turn *turn)
{
	if (c->ended)
		return;
	if (turn->role == ROLE_SYSTEM)
		c->system = turn->text;
	else if (turn->role == ROLE_USER)
		add_user_turn(c, turn->text);
	else
		add_model_turn(c, turn->text);
}

/* Turns as an object of two lists, who speaks and what, as Parquet's structs of lists become. */
static int read_columns(struct conversation *c, struct turn_place *place, jdoc_id map, struct ipf_error *err)
{
	const struct jdoc *j = c->j;
	bool chat = jdoc_get(j, map, "from") == JDOC_NONE;
	jdoc_id speakers = jdoc_get(j, map, chat ? "role" : "from"), texts = jdoc_get(j, map, chat ? "content" : "value");
	if (jdoc_type_of(j, speakers) != JDOC_LIST || jdoc_count(j, speakers) != jdoc_count(j, texts))
		return jdoc_expected(j, map, place->list, "a list, or an object of two lists of one length", err);
	struct jdoc_each text = jdoc_each(j, texts);
	for (struct jdoc_each e = jdoc_each(j, speakers); jdoc_step(&e) && jdoc_step(&text); place->index++) {
		struct turn turn = {ROLE_USER, text.value};
		if (check_turn(place, chat ? "role" : "from", e.value, chat ? "content" : "value", &turn, err) < 0)
			return -1;
		add_turn(c, &turn);
	}
	return 0;
}

/* Reads all turns. If no request is left, c->why is the reason. */
static int read_turns(struct conversation *c, const char *name, jdoc_id list, struct ipf_error *err)
{
	struct turn_place place = {.j = c->j, .list = name};
	if (jdoc_type_of(c->j, list) == JDOC_MAP && read_columns(c, &place, list, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(c->j, jdoc_type_of(c->j, list) == JDOC_LIST ? list : JDOC_NONE); jdoc_step(&e);
	     place.index++) {
		struct turn turn = {ROLE_USER, JDOC_NONE};
		if (read_turn(&place, e.value, &turn, err) < 0)
			return -1;
		add_turn(c, &turn);
	}
	struct draft *d = c->draft;
	if (d->count > 0 && !exchange_complete(c)) {
		d->count--;
		d->message_count = d->requests[d->count].first;
		if (!c->why)
			c->why = c->answering ? "empty answer" : "no answer";
	}
	if (!c->why)
		c->why = place.index ? "no user turn" : "empty conversation";
	return 0;
}

/* The rule of several benchmarks: the first two turns are prompt and answer, whatever their roles. */
static int read_first_two(const struct jdoc *j, const char *name, jdoc_id list, struct sink *sink,
                          struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct turn prompt = {ROLE_USER, JDOC_NONE}, answer = {ROLE_USER, JDOC_NONE};
	if (jdoc_count(j, list) < 2) {
		sink->unusable(sink, "fewer than two turns");
		return 0;
	}
	if (read_turn(&(struct turn_place){j, name, 0}, jdoc_at(j, list, 0), &prompt, err) < 0 ||
	    read_turn(&(struct turn_place){j, name, 1}, jdoc_at(j, list, 1), &answer, err) < 0)
		return -1;
	return chat_pair(sink, (struct slice){0}, draft_text(d, j, prompt.text), draft_text(d, j, answer.text), err);
}

/* The variant without turns: {"input", "output_length"}. */
static int read_flat(const struct jdoc *j, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice input;
	int64_t output = 0;
	int got = field_text(d, j, JDOC_ROOT, "input", &input, err);
	if (got < 0)
		return -1;
	if (got == 0)
		return ipf_error_set(err, IPF_INPUT, "conversations: missing");
	if (need_tokens(j, JDOC_ROOT, "output_length", &output, err) < 0)
		return -1;
	if (output == 0 || input.len == 0) {
		sink->unusable(sink, output == 0 ? "empty answer" : "empty user turn");
		return 0;
	}
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->output_tokens = output;
	draft_message(d, ROLE_USER, input);
	return sink->take(sink, d, err);
}

/* The images of a record belong to what the user says first. */
static int read_media(struct draft *d, const struct jdoc *j, struct ipf_error *err)
{
	static const struct {
		const char *member, *kind;
	} places[] = {{"image", "image"},  {"images", "image"}, {"video", "video"},
	              {"videos", "video"}, {"audio", "audio"},  {"audios", "audio"}};
	size_t first = 0, all = d->message_count;
	while (first < all && d->messages[first].role != ROLE_USER)
		first++;
	if (first == all)
		return 0;
	d->message_count = first + 1;
	int result = 0;
	for (size_t i = 0; i < sizeof places / sizeof *places && result == 0; i++)
		result = chat_media(d, j, jdoc_get(j, JDOC_ROOT, places[i].member), places[i].kind, places[i].member, err);
	d->message_count = all;
	for (size_t i = first; i < all && d->messages[first].media.data; i++)
		d->messages[i].text = chat_without_marks(d, d->messages[i].text);
	return result;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const char *const keys[] = {"conversations", "messages", "conversation"};
	const struct chat_settings *settings = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	const char *name = keys[0];
	jdoc_id list = JDOC_NONE;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof keys / sizeof *keys && list == JDOC_NONE; i++)
		list = jdoc_get(j, JDOC_ROOT, name = keys[i]);
	if (list == JDOC_NONE)
		return read_flat(j, sink, err);
	if (jdoc_type_of(j, list) != JDOC_LIST && (settings->first_two || jdoc_type_of(j, list) != JDOC_MAP))
		return jdoc_expected(j, list, name, "a list", err);
	if (settings->first_two)
		return read_first_two(j, name, list, sink, err);
	const char *system;
	struct conversation c = {
		.settings = settings, .j = j, .draft = d, .system = member_of_kind(j, JDOC_ROOT, MEMBER_SYSTEM, &system)};
	if (!jdoc_is_null(j, c.system) && jdoc_type_of(j, c.system) != JDOC_TEXT)
		return jdoc_expected(j, c.system, system, "a string", err);
	if (read_turns(&c, name, list, err) < 0 || read_media(d, j, err) < 0)
		return -1;
	struct slice tools = d->count > 0 ? chat_tools(d, j, jdoc_get(j, JDOC_ROOT, "tools")) : (struct slice){0};
	for (size_t i = 0; i < d->count; i++)
		d->requests[i].tools = tools;
	return chat_hand_over(settings, sink, c.why, err);
}

static bool recognises(const struct sniff *sniff)
{
	const struct jdoc *j = sniff->json;
	if (j && jdoc_type_of(j, jdoc_at(j, jdoc_get(j, JDOC_ROOT, "conversations"), 0)) == JDOC_LIST)
		return false; /* sglang-agentic: conversations, not the turns of one */
	return sniff_members(sniff, "conversations") || sniff_members(sniff, "conversation") ||
	       sniff_members(sniff, "input output_length");
}

const struct source_format source_sharegpt = {
	.name = "sharegpt",
	.about = "conversations as in ShareGPT, LMSYS-Chat and WildChat (JSON)",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.ignored =
		"model timestamp /conversation/*/timestamp /conversation/*/created /conversation/*/temperature /conversation/*/top_p",
	.traits = HAS_TURNS,
	.state_size = sizeof(struct chat_settings),
	.open = chat_open,
	.read_record = read_record,
	.recognises = recognises,
};
