#include "sources/chat_fields.h"

#include "absent.h"
#include "base64.h"
#include "json/jout.h"
#include "sources/record_fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- the chat API's JSON ---- */

struct slice chat_content(struct draft *d, const struct jdoc *j, jdoc_id content)
{
	if (jdoc_type_of(j, content) != JDOC_LIST)
		return draft_text(d, j, content);
	struct slice all = {0};
	for (struct jdoc_each e = jdoc_each(j, content); jdoc_step(&e);) {
		jdoc_id text = jdoc_get(j, e.value, "text");
		all = draft_append(d, all, "", draft_text(d, j, text != JDOC_NONE ? text : jdoc_get(j, e.value, "value")));
	}
	return all;
}

static bool known_role(const struct jdoc *j, jdoc_id role)
{
	return jdoc_text_is(j, role, "user") || jdoc_text_is(j, role, "assistant") || jdoc_text_is(j, role, "system");
}

/* Do members of a message, or of its parts, say null, as Parquet does where other rows have a value? */
static bool has_nulls(const struct jdoc *j, jdoc_id message)
{
	bool found = false;
	for (struct jdoc_each e = jdoc_each(j, message); jdoc_step(&e);)
		found |= jdoc_is_null(j, e.value) && !jdoc_text_is(j, e.key, "content");
	for (struct jdoc_each part = jdoc_each(j, jdoc_get(j, message, "content")); jdoc_step(&part);)
		for (struct jdoc_each e = jdoc_each(j, part.value); jdoc_step(&e);)
			found |= jdoc_is_null(j, e.value);
	return found;
}

/* The tool calls of a message, as the model wrote them: its tokens. */
static struct slice calls_text(struct draft *d, const struct jdoc *j, jdoc_id message)
{
	struct slice all = {0};
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, message, "tool_calls")); jdoc_step(&e);) {
		jdoc_id function = jdoc_get(j, e.value, "function"), arguments = jdoc_get(j, function, "arguments");
		struct slice given = jdoc_type_of(j, arguments) == JDOC_TEXT ? draft_text(d, j, arguments)
		                                                             : jdoc_raw(j, arguments);
		struct slice call = draft_append(d, draft_text(d, j, jdoc_get(j, function, "name")), " ", given);
		all = draft_append(d, all, "\n", call);
	}
	return all;
}

/* Is it a part of a message whose content is null? Rows of Parquet have {"type": "image", "text": null} where a column
 * has the image, and it is added from there. */
static bool is_null_part(const struct jdoc *j, jdoc_id node)
{
	bool typed = false, null = true;
	for (struct jdoc_each e = jdoc_each(j, jdoc_type_of(j, node) == JDOC_MAP ? node : JDOC_NONE); jdoc_step(&e);) {
		bool type = jdoc_text_is(j, e.key, "type");
		typed |= type;
		null &= type || jdoc_is_null(j, e.value);
	}
	return typed && null && jdoc_count(j, node) > 1;
}

/* Are its parts texts, and others whose content is null and elsewhere in the record? Then it is a text with media. */
static bool has_media_elsewhere(const struct jdoc *j, jdoc_id content)
{
	bool found = false;
	for (struct jdoc_each e = jdoc_each(j, jdoc_type_of(j, content) == JDOC_LIST ? content : JDOC_NONE);
	     jdoc_step(&e);) {
		if (is_null_part(j, e.value))
			found = true;
		else if (!jdoc_text_is(j, jdoc_get(j, e.value, "type"), "text"))
			return false;
	}
	return found;
}

struct slice chat_answer(struct draft *d, const struct jdoc *j, jdoc_id message)
{
	return draft_append(d, chat_content(d, j, jdoc_get(j, message, "content")), "\n", calls_text(d, j, message));
}

/* `answered`: the last message may be the answer. */
static int add_messages(struct draft *d, const struct jdoc *j, jdoc_id list, const char *name, bool answered,
                        struct ipf_error *err)
{
	if (jdoc_type_of(j, list) != JDOC_LIST)
		return jdoc_expected(j, list, name, "a list", err);
	uint32_t count = jdoc_count(j, list), at = 0;
	char place[128];
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);) {
		jdoc_id role = jdoc_get(j, e.value, "role"), content = jdoc_get(j, e.value, "content");
		if (jdoc_type_of(j, role) != JDOC_TEXT) {
			snprintf(place, sizeof place, "%s/%u/role", name, at);
			return jdoc_expected(j, role, place, "a string", err);
		}
		if (!jdoc_is_null(j, content) && jdoc_type_of(j, content) != JDOC_TEXT &&
		    jdoc_type_of(j, content) != JDOC_LIST) {
			snprintf(place, sizeof place, "%s/%u/content", name, at);
			return jdoc_expected(j, content, place, "a string or a list of parts", err);
		}
		bool assistant = jdoc_text_is(j, role, "assistant");
		struct slice text = chat_content(d, j, content);
		struct slice calls = assistant ? calls_text(d, j, e.value) : (struct slice){0};
		if (++at == count && answered && text.len + calls.len > 0 && assistant && count > 1) {
			d->requests[d->count - 1].answer = draft_append(d, text, "\n", calls);
			return 0;
		}
		enum role speaker = assistant ? ROLE_ASSISTANT : jdoc_text_is(j, role, "system") ? ROLE_SYSTEM : ROLE_USER;
		struct draft_message *m = draft_message(d, speaker, text);
		if (!m)
			return 0;
		/* Parts with a "value" are not known to any chat API: only their text is passed on. */
		bool values = jdoc_get(j, jdoc_at(j, content, 0), "value") != JDOC_NONE;
		if ((values || has_media_elsewhere(j, content)) && known_role(j, role))
			continue;
		/* A known role with a text can be shaped; anything else is kept verbatim. */
		if (jdoc_count(j, e.value) != 2 || jdoc_type_of(j, content) != JDOC_TEXT || !known_role(j, role))
			m->json = has_nulls(j, e.value) ? chat_without_nulls(d, j, e.value) : jdoc_raw(j, e.value);
	}
	return count > 0 ? 0 : jdoc_expected(j, list, name, "at least one message", err);
}

int chat_messages(struct draft *d, const struct jdoc *j, jdoc_id list, const char *name, struct ipf_error *err)
{
	return add_messages(d, j, list, name, true, err);
}

/* Writes a bare function, which may have the type of a tool among its members, and null members. */
static void write_function(const struct jdoc *j, jdoc_id function, struct jout *w)
{
	jout_begin_map(w);
	for (struct jdoc_each e = jdoc_each(j, function); jdoc_step(&e);) {
		if (jdoc_text_is(j, e.key, "type") || jdoc_is_null(j, e.value))
			continue;
		bool anthropic = jdoc_text_is(j, e.key, "input_schema");
		jout_value(w, anthropic ? slice_of("\"parameters\"") : jdoc_raw(j, e.key));
		buffer_byte(w->out, ':');
		w->comma = false;
		jout_value(w, jdoc_raw(j, e.value));
	}
	jout_end_map(w);
}

/* A tool, or a bare function as one: true; false: it is neither. */
static bool write_tool(const struct jdoc *j, jdoc_id node, struct jout *w, bool *bare)
{
	if (jdoc_type_of(j, jdoc_get(j, node, "function")) == JDOC_MAP) {
		jout_value(w, jdoc_raw(j, node));
		return true;
	}
	if (jdoc_type_of(j, jdoc_get(j, node, "name")) != JDOC_TEXT)
		return false;
	*bare = true;
	jout_begin_map(w);
	jout_member_string(w, "type", slice_of("function"));
	jout_key(w, "function");
	write_function(j, node, w);
	jout_end_map(w);
	return true;
}

/* A list of tools, or one alone. */
static struct slice tools_of(struct draft *d, const struct jdoc *j, jdoc_id list)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	bool alone = jdoc_type_of(j, list) == JDOC_MAP, bare = alone, good = true;
	if (!alone && (jdoc_type_of(j, list) != JDOC_LIST || jdoc_count(j, list) == 0))
		return (struct slice){0};
	jout_begin_list(&w);
	if (alone)
		good = write_tool(j, list, &w, &bare);
	for (struct jdoc_each e = jdoc_each(j, alone ? JDOC_NONE : list); good && jdoc_step(&e);)
		good = write_tool(j, e.value, &w, &bare);
	jout_end_list(&w);
	if (good && (bare || alone))
		return draft_take_buffer(d, &out);
	buffer_release(&out);
	return good ? draft_keep(d, jdoc_raw(j, list)) : (struct slice){0};
}

struct slice chat_tools(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_TEXT)
		return tools_of(d, j, node);
	struct slice text = draft_text(d, j, node), tools = {0};
	struct ipf_error ignored = {0};
	struct jdoc inner = {0};
	if (text.data && jdoc_parse(&inner, text.data, text.len, &ignored) == 0)
		tools = tools_of(d, &inner, JDOC_ROOT);
	put_on_one_line(tools);
	jdoc_release(&inner);
	return tools;
}

static void write_without_nulls(const struct jdoc *j, jdoc_id node, struct jout *w)
{
	bool map = jdoc_type_of(j, node) == JDOC_MAP;
	if (!map && jdoc_type_of(j, node) != JDOC_LIST) {
		jout_value(w, jdoc_raw(j, node));
		return;
	}
	if (map)
		jout_begin_map(w);
	else
		jout_begin_list(w);
	for (struct jdoc_each e = jdoc_each(j, node); jdoc_step(&e);) {
		if (map ? jdoc_is_null(j, e.value) : is_null_part(j, e.value))
			continue;
		if (map) {
			jout_value(w, jdoc_raw(j, e.key));
			buffer_byte(w->out, ':');
			w->comma = false;
		}
		write_without_nulls(j, e.value, w);
	}
	if (map)
		jout_end_map(w);
	else
		jout_end_list(w);
}

struct slice chat_without_nulls(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	if (jdoc_is_null(j, node))
		return (struct slice){0};
	write_without_nulls(j, node, &w);
	return draft_take_buffer(d, &out);
}

struct slice chat_response_format(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	return jdoc_text_is(j, jdoc_get(j, node, "type"), "text") ? (struct slice){0} : object_text(d, j, node);
}

int chat_prompt(struct draft *d, const struct jdoc *j, jdoc_id list, struct ipf_error *err)
{
	return add_messages(d, j, list, "messages", false, err);
}

/* Members a body may bring as they are, and Gemini's and Anthropic's names for them. */
static const struct {
	const char *name, *chat;
} body_members[] = {
	{"temperature", "temperature"},
	{"top_p", "top_p"},
	{"topP", "top_p"},
	{"top_k", "top_k"},
	{"topK", "top_k"},
	{"min_p", "min_p"},
	{"frequency_penalty", "frequency_penalty"},
	{"presence_penalty", "presence_penalty"},
	{"repetition_penalty", "repetition_penalty"},
	{"logit_bias", "logit_bias"},
	{"seed", "seed"},
	{"stop", "stop"},
	{"stop_sequences", "stop"},
	{"stopSequences", "stop"},
	{"reasoning_effort", "reasoning_effort"},
	{"verbosity", "verbosity"},
	{"n", "n"},
	{"best_of", "best_of"},
	{"suffix", "suffix"},
	{"chat_template_kwargs", "chat_template_kwargs"},
	{"guided_json", "guided_json"},
	{"guided_regex", "guided_regex"},
	{"guided_choice", "guided_choice"},
	{"parallel_tool_calls", "parallel_tool_calls"},
	{"tool_choice", "tool_choice"},
};

/* The members of the body saying how to sample, of the body and of Gemini's generationConfig. Absent: none. */
static struct slice sampling_of(struct draft *d, const struct jdoc *j, jdoc_id body)
{
	const jdoc_id places[] = {body, jdoc_get(j, body, "generationConfig")};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	bool any = false;
	jout_begin_map(&w);
	for (size_t p = 0; p < sizeof places / sizeof *places; p++)
		for (size_t i = 0; i < sizeof body_members / sizeof *body_members; i++) {
			jdoc_id value = jdoc_get(j, places[p], body_members[i].name);
			if (jdoc_is_null(j, value))
				continue;
			jout_member_value(&w, body_members[i].chat, jdoc_raw(j, value));
			any = true;
		}
	jout_end_map(&w);
	if (any)
		return draft_take_buffer(d, &out);
	buffer_release(&out);
	return (struct slice){0};
}

int chat_parameters(struct draft *d, const struct jdoc *j, jdoc_id body, struct draft_request *r, struct ipf_error *err)
{
	if (field_limit(j, body, &r->output_tokens, err) < 0 ||
	    field_limit(j, jdoc_get(j, body, "generationConfig"), &r->output_tokens, err) < 0 ||
	    field_text(d, j, body, "model", &r->model, err) < 0)
		return -1;
	if (r->output_tokens == 0)
		r->output_tokens = IPF_ABSENT;
	r->tools = chat_tools(d, j, jdoc_get(j, body, "tools"));
	r->response_format = chat_response_format(d, j, jdoc_get(j, body, "response_format"));
	r->body = sampling_of(d, j, body);
	return 0;
}

int chat_extra(struct draft *d, const struct jdoc *j, jdoc_id extra, struct draft_request *r, struct ipf_error *err)
{
	struct draft_request body = {.output_tokens = IPF_ABSENT};
	if (jdoc_is_null(j, extra))
		return 0;
	if (need_object(j, extra, "extra", err) < 0 || chat_parameters(d, j, extra, &body, err) < 0)
		return -1;
	r->output_tokens = body.output_tokens != IPF_ABSENT ? body.output_tokens : r->output_tokens;
	r->model = body.model.data ? body.model : r->model;
	r->tools = body.tools.data ? body.tools : r->tools;
	r->response_format = body.response_format.data ? body.response_format : r->response_format;
	r->body = body.body.data ? body.body : r->body;
	return 0;
}

/* ---- images and audio of a record ---- */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* Bytes as Parquet gives them, "\xFF" for other bytes, or base64: as base64. */
static void put_base64(struct slice text, struct buffer *out)
{
	struct buffer bytes = {0};
	if (!memmem(text.data, text.len, "\\x", 2)) {
		buffer_slice(out, text);
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		bool escape = text.len - i >= 4 && text.data[i] == '\\' && text.data[i + 1] == 'x';
		int high = escape ? hex_digit(text.data[i + 2]) : -1, low = escape ? hex_digit(text.data[i + 3]) : -1;
		buffer_byte(&bytes, high >= 0 && low >= 0 ? (char)(high << 4 | low) : text.data[i]);
		i += high >= 0 && low >= 0 ? 3 : 0;
	}
	base64_encode(buffer_all(&bytes), out);
	out->failed |= bytes.failed;
	buffer_release(&bytes);
}

/* The part of the chat API; `from` is where the medium is, as fetched by media_store. */
static struct slice media_part(struct draft *d, const char *kind, struct slice from)
{
	struct buffer part = {0};
	struct jout w = {.out = &part};
	bool audio = !strcmp(kind, "audio");
	const char *dot = memrchr(from.data, '.', from.len);
	struct slice suffix = {dot ? dot + 1 : "", dot ? (size_t)(from.data + from.len - dot - 1) : 0};
	char name[16];
	jout_begin_map(&w);
	snprintf(name, sizeof name, audio ? "input_audio" : "%s_url", kind);
	jout_member_string(&w, "type", slice_of(name));
	jout_key(&w, name);
	jout_begin_map(&w);
	jout_member_string(&w, audio ? "data" : "url", from);
	if (audio)
		jout_member_string(&w, "format", suffix.len && suffix.len < 5 ? suffix : slice_of("wav"));
	jout_end_map(&w);
	jout_end_map(&w);
	return draft_take_buffer(d, &part);
}

/* Where a medium is; absent: the node says nothing known. */
static struct slice medium_source(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_MAP)
		return draft_text(d, j, node);
	jdoc_id bytes = jdoc_get(j, node, "bytes"), url = jdoc_get(j, node, "url");
	if (jdoc_type_of(j, bytes) == JDOC_TEXT && !jdoc_text_empty(j, bytes)) {
		struct buffer text = {0};
		buffer_text(&text, "data:;base64,");
		put_base64(draft_text(d, j, bytes), &text);
		return draft_take_buffer(d, &text);
	}
	return draft_text(d, j, url != JDOC_NONE ? url : jdoc_get(j, node, "path"));
}

static int add_medium(struct draft *d, const struct jdoc *j, jdoc_id node, const char *kind, const char *name,
                      struct ipf_error *err)
{
	struct slice from = medium_source(d, j, node);
	if (d->failed)
		return 0;
	if (!from.len || !d->message_count)
		return jdoc_expected(j, node, name, "a URL, a path or base64, or an object with url, path or bytes", err);
	struct draft_message *m = &d->messages[d->message_count - 1];
	m->media = draft_append(d, m->media, ",", media_part(d, kind, from));
	return 0;
}

int chat_media(struct draft *d, const struct jdoc *j, jdoc_id node, const char *kind, const char *name,
               struct ipf_error *err)
{
	if (jdoc_is_null(j, node) || (jdoc_type_of(j, node) == JDOC_TEXT && jdoc_text_empty(j, node)))
		return 0;
	if (jdoc_type_of(j, node) != JDOC_LIST)
		return add_medium(d, j, node, kind, name, err);
	for (struct jdoc_each e = jdoc_each(j, node); jdoc_step(&e);)
		if (add_medium(d, j, e.value, kind, name, err) < 0)
			return -1;
	return 0;
}

struct slice chat_without_marks(struct draft *d, struct slice text)
{
	static const char *const marks[] = {"<image>", "<video>", "<audio>"};
	struct buffer rest = {0};
	bool found = false;
	for (size_t at = 0; at < text.len;) {
		size_t skip = 0;
		for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
			if (text.len - at >= strlen(marks[i]) && !memcmp(text.data + at, marks[i], strlen(marks[i])))
				skip = strlen(marks[i]);
		found |= skip > 0;
		if (skip)
			at += skip + (at + skip < text.len && text.data[at + skip] == '\n');
		else
			buffer_byte(&rest, text.data[at++]);
	}
	if (found)
		return draft_take_buffer(d, &rest);
	buffer_release(&rest);
	return text;
}

/* ---- a prompt and its answer ---- */

int chat_pair(struct sink *sink, struct slice system, struct slice prompt, struct slice answer, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	if (prompt.len == 0) {
		sink->unusable(sink, "empty prompt");
		return 0;
	}
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->answer = answer;
	if (system.len > 0)
		draft_message(d, ROLE_SYSTEM, system);
	draft_message(d, ROLE_USER, prompt);
	return sink->take(sink, d, err);
}

/* ---- conversations ---- */

int chat_open(void *state, const struct source_settings *settings, struct ipf_error *err)
{
	(void)err;
	*(struct chat_settings *)state = (struct chat_settings){
		.lone = settings->lone, .first_two = settings->first_two, .answers_optional = settings->answers_optional};
	return 0;
}

int chat_hand_over(const struct chat_settings *settings, struct sink *sink, const char *why, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	if (d->count == 0) {
		sink->unusable(sink, why);
		return 0;
	}
	d->chain = !settings->lone;
	return sink->take(sink, d, err);
}
