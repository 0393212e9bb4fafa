#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "cli/times.h"

#include <stdio.h>
#include <string.h>

int need_map(const struct jdoc *j, jdoc_id node, const char *shown, struct ipf_error *err)
{
	return jdoc_type_of(j, node) == JDOC_MAP ? 0 : jdoc_expected(j, node, shown, "an object", err);
}

static int missing(const char *key, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "%s: missing", key);
}

int need_uint(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err)
{
	int got = jdoc_get_uint(j, map, key, value, err);
	return got == 0 ? missing(key, err) : got < 0 ? -1 : 0;
}

int need_list(const struct jdoc *j, jdoc_id map, const char *key, jdoc_id *list, struct ipf_error *err)
{
	*list = jdoc_get(j, map, key);
	if (jdoc_is_null(j, *list))
		return missing(key, err);
	return jdoc_type_of(j, *list) == JDOC_LIST ? 0 : jdoc_expected(j, *list, key, "a list", err);
}

int record_fields_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
                       struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	*text = (struct slice){0};
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) != JDOC_TEXT)
		return jdoc_expected(j, node, key, "a string", err);
	*text = draft_text(d, j, node);
	return 1;
}

int need_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
              struct ipf_error *err)
{
	int got = record_fields_text(d, j, map, key, text, err);
	return got == 0 ? missing(key, err) : got < 0 ? -1 : 0;
}

int record_fields_name(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *name,
                       struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	*name = (struct slice){0};
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) == JDOC_NUMBER)
		*name = jdoc_raw(j, node);
	else if (!jdoc_text_empty(j, node))
		*name = draft_text(d, j, node);
	else
		return jdoc_expected(j, node, key, "a name", err);
	return 1;
}

int record_fields_time(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns,
                       int64_t *ns, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	struct ipf_error wrong = {0};
	struct slice text;
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) == JDOC_NUMBER && time_from_number(jdoc_raw(j, node), unit_ns, ns) == 0)
		return 1;
	if (jdoc_type_of(j, node) == JDOC_TEXT && (text = draft_text(d, j, node)).data &&
	    (time_from_number(text, unit_ns, ns) == 0 || time_parse(text, ns, &wrong) == 0))
		return 1;
	return jdoc_expected(j, node, key, "a number or a time such as 2023-11-16T18:15:46Z", err);
}

int record_fields_duration(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns,
                           struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) == JDOC_NUMBER && time_from_number(jdoc_raw(j, node), unit_ns, ns) == 0 && *ns >= 0)
		return 1;
	return jdoc_expected(j, node, key, "a number of 0 or more", err);
}

/* ---- chats ---- */

struct slice record_fields_content(struct draft *d, const struct jdoc *j, jdoc_id content)
{
	if (jdoc_type_of(j, content) != JDOC_LIST)
		return draft_text(d, j, content);
	struct slice all = {0};
	for (struct jdoc_each e = jdoc_each(j, content); jdoc_step(&e);) {
		jdoc_id text = jdoc_get(j, e.value, "text");
		struct slice part = draft_text(d, j, text != JDOC_NONE ? text : jdoc_get(j, e.value, "value"));
		all = all.len > 0 && part.len > 0 ? draft_join(d, all, "", part) : part.len > 0 ? part : all;
	}
	return all;
}

static bool known_role(const struct jdoc *j, jdoc_id role)
{
	return jdoc_text_is(j, role, "user") || jdoc_text_is(j, role, "assistant") || jdoc_text_is(j, role, "system");
}

int record_fields_chat(struct draft *d, const struct jdoc *j, jdoc_id list, const char *name, struct ipf_error *err)
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
		struct slice text = record_fields_content(d, j, content);
		if (++at == count && assistant && text.len > 0 && count > 1) {
			d->requests[d->count - 1].answer = text;
			return 0;
		}
		enum role said = assistant ? ROLE_ASSISTANT : jdoc_text_is(j, role, "system") ? ROLE_SYSTEM : ROLE_USER;
		struct draft_message *m = draft_message(d, said, text);
		if (!m)
			return 0;
		/* A role that we know and a text can be worked on; anything else is kept to the letter. */
		bool values = jdoc_get(j, jdoc_at(j, content, 0), "value") != JDOC_NONE; /* parts that no chat API knows */
		if (values && known_role(j, role))
			continue;
		if (jdoc_count(j, e.value) != 2 || jdoc_type_of(j, content) != JDOC_TEXT || !known_role(j, role))
			m->json = jdoc_raw(j, e.value);
	}
	return count > 0 ? 0 : jdoc_expected(j, list, name, "a message or more", err);
}

static struct slice tools_of(struct draft *d, const struct jdoc *j, jdoc_id list)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	bool bare = false;
	if (jdoc_type_of(j, list) != JDOC_LIST || jdoc_count(j, list) == 0)
		return (struct slice){0};
	jout_begin_list(&w);
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);) {
		if (jdoc_type_of(j, jdoc_get(j, e.value, "function")) == JDOC_MAP) {
			jout_value(&w, jdoc_raw(j, e.value));
			continue;
		}
		if (jdoc_type_of(j, jdoc_get(j, e.value, "name")) != JDOC_TEXT) {
			buffer_release(&out);
			return (struct slice){0};
		}
		bare = true;
		jout_begin_map(&w);
		jout_member_string(&w, "type", slice_of("function"));
		jout_member_value(&w, "function", jdoc_raw(j, e.value));
		jout_end_map(&w);
	}
	jout_end_list(&w);
	struct slice tools = bare ? draft_keep(d, buffer_all(&out)) : draft_keep(d, jdoc_raw(j, list));
	d->failed |= out.failed;
	buffer_release(&out);
	return tools;
}

/* A trace's line is one line; what is in the arena is ours. */
static void on_one_line(struct slice json)
{
	char *to = (char *)(uintptr_t)json.data;
	for (size_t i = 0; i < json.len; i++)
		to[i] = to[i] == '\n' ? ' ' : to[i];
}

struct slice record_fields_tools(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_TEXT)
		return tools_of(d, j, node);
	struct slice text = draft_text(d, j, node), tools = {0};
	struct ipf_error wrong = {0};
	struct jdoc inner = {0};
	if (text.data && jdoc_parse(&inner, text.data, text.len, &wrong) == 0)
		tools = tools_of(d, &inner, JDOC_ROOT);
	on_one_line(tools);
	jdoc_release(&inner);
	return tools;
}

struct slice record_fields_object(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_MAP)
		return (struct slice){0};
	struct slice object = draft_keep(d, jdoc_raw(j, node));
	on_one_line(object);
	return object;
}

struct slice record_fields_response_format(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	return jdoc_text_is(j, jdoc_get(j, node, "type"), "text") ? (struct slice){0} : record_fields_object(d, j, node);
}

/* ---- blocks ---- */

/* Hashes fill 64 bits, signed or not, depending on who wrote them. */
static bool take_hash(const struct jdoc *j, jdoc_id node, uint64_t *hash)
{
	int64_t small;
	if (jdoc_to_int(j, node, &small)) {
		*hash = (uint64_t)small;
		return true;
	}
	struct slice raw = jdoc_raw(j, node);
	if (jdoc_type_of(j, node) != JDOC_NUMBER)
		return false;
	*hash = 0;
	for (size_t i = 0; i < raw.len; i++) {
		unsigned digit = (unsigned)(raw.data[i] - '0');
		if (digit > 9 || *hash > (UINT64_MAX - digit) / 10)
			return false;
		*hash = *hash * 10 + digit;
	}
	return true;
}

int record_fields_block_ids(struct draft *d, const struct jdoc *j, jdoc_id list, const char *name, const uint64_t **ids,
                            size_t *count, struct ipf_error *err)
{
	*count = 0;
	if (jdoc_is_null(j, list))
		return missing(name, err);
	if (jdoc_type_of(j, list) != JDOC_LIST)
		return jdoc_expected(j, list, name, "a list", err);
	uint64_t *to = draft_ids(d, jdoc_count(j, list));
	if (!to)
		return 0;
	*ids = to;
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);)
		if (!take_hash(j, e.value, &to[(*count)++]))
			return jdoc_expected(j, e.value, name, "integers of 64 bits", err);
	return 0;
}

/* ---- columns ---- */

int need_column(const struct csv *csv, const char *name, int *at, struct ipf_error *err)
{
	*at = csv_column(csv, name);
	return *at >= 0 ? 0 : ipf_error_set(err, IPF_INPUT, "the header has no column %s", name);
}

static int wrong_field(const struct csv *csv, int at, const char *wanted, struct ipf_error *err)
{
	struct slice text = csv->fields[at];
	return ipf_error_set(err, IPF_INPUT, "%s: expected %s, got \"%.*s\"", csv->columns[at], wanted,
	                     (int)(text.len > 40 ? 40 : text.len), text.data);
}

int csv_count(const struct csv *csv, int at, int64_t *count, struct ipf_error *err)
{
	struct slice text = csv->fields[at];
	*count = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9' || i >= 12)
			text.len = 0;
		else
			*count = *count * 10 + (text.data[i] - '0');
	}
	return text.len > 0 ? 0 : wrong_field(csv, at, "a count of tokens", err);
}

int csv_time(const struct csv *csv, int at, int64_t unit_ns, int64_t *ns, struct ipf_error *err)
{
	return time_from_number(csv->fields[at], unit_ns, ns) == 0 && *ns >= 0
	           ? 0
	           : wrong_field(csv, at, "a number of 0 or more", err);
}

/* ---- requests ---- */

int record_fields_pair(struct sink *sink, struct slice system, struct slice prompt, struct slice answer,
                       struct ipf_error *err)
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

int record_fields_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err)
{
	jdoc_id messages = jdoc_get(j, body, "messages"), prompt = jdoc_get(j, body, "prompt");
	struct draft_request *r = draft_request(d);
	if (!r)
		return 1;
	if (messages != JDOC_NONE) {
		if (record_fields_chat(d, j, messages, "messages", err) < 0)
			return -1;
	} else if (!jdoc_text_empty(j, prompt)) {
		draft_message(d, ROLE_USER, draft_text(d, j, prompt));
	} else {
		return 0;
	}
	r = &d->requests[d->count - 1];
	/* to the API an assistant's message at the end is a part of the prompt */
	if (r->answer.data)
		draft_message(d, ROLE_ASSISTANT, r->answer);
	r->answer = (struct slice){0};
	int got = jdoc_get_uint(j, body, "max_completion_tokens", &r->output_tokens, err);
	if (got < 0 || (got == 0 && jdoc_get_uint(j, body, "max_tokens", &r->output_tokens, err) < 0) ||
	    record_fields_text(d, j, body, "model", &r->model, err) < 0)
		return -1;
	if (r->output_tokens == 0)
		r->output_tokens = IPF_ABSENT;
	r->tools = record_fields_tools(d, j, jdoc_get(j, body, "tools"));
	r->response_format = record_fields_response_format(d, j, jdoc_get(j, body, "response_format"));
	return d->message_count > 0;
}

struct slice model_tag(struct draft *d, struct slice model)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	if (model.len == 0)
		return (struct slice){0};
	jout_begin_map(&w);
	jout_member_string(&w, "model", model);
	jout_end_map(&w);
	struct slice tag = draft_keep(d, buffer_all(&out));
	d->failed |= out.failed;
	buffer_release(&out);
	return tag;
}
