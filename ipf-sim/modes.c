#include "modes.h"

#include "clock.h"
#include "cli/units.h"

#include <stdlib.h>
#include <string.h>

#define MS NS_PER_MS

enum key_type { KEY_COUNT, KEY_DURATION, KEY_FLAG, KEY_SHARE, KEY_FORM, KEY_FIELD, KEY_TEXT, KEY_ORDER };

static const struct key {
	const char *name;
	enum key_type type;
	size_t offset;
} keys[] = {
	{"after", KEY_COUNT, offsetof(struct mode, after)},
	{"tokens", KEY_COUNT, offsetof(struct mode, tokens)},
	{"events", KEY_COUNT, offsetof(struct mode, events)},
	{"bytes", KEY_COUNT, offsetof(struct mode, bytes)},
	{"pieces", KEY_COUNT, offsetof(struct mode, pieces)},
	{"code", KEY_COUNT, offsetof(struct mode, code)},
	{"max", KEY_COUNT, offsetof(struct mode, max)},
	{"calls", KEY_COUNT, offsetof(struct mode, calls)},
	{"missing", KEY_COUNT, offsetof(struct mode, missing)},
	{"extra", KEY_COUNT, offsetof(struct mode, extra)},
	{"pause", KEY_DURATION, offsetof(struct mode, pause_ns)},
	{"delay", KEY_DURATION, offsetof(struct mode, delay_ns)},
	{"retry", KEY_DURATION, offsetof(struct mode, retry_ns)},
	{"finish", KEY_FLAG, offsetof(struct mode, finish)},
	{"terminator", KEY_FLAG, offsetof(struct mode, terminator)},
	{"done", KEY_FLAG, offsetof(struct mode, done)},
	{"alone", KEY_FLAG, offsetof(struct mode, alone)},
	{"mixed", KEY_FLAG, offsetof(struct mode, mixed)},
	{"form", KEY_FORM, offsetof(struct mode, form)},
	{"text", KEY_TEXT, offsetof(struct mode, text)},
	{"order", KEY_ORDER, offsetof(struct mode, order)},
	{"field", KEY_FIELD, offsetof(struct mode, field)},
	{"share", KEY_SHARE, offsetof(struct mode, share)},
};

static const struct {
	const char *name;
	const char *keys; /* which it takes, between spaces */
	struct mode start;
	const char *about;
} table[MODE_COUNT] = {
	[MODE_STATUS] = {"status", " code retry ", {.code = 503}, "answer with this status and an error object"},
	[MODE_NEVER] = {"never", " ", {0}, "accept the request and never answer"},
	[MODE_RESET] = {"reset",
                    " after pause ",
                    {.pause_ns = 5 * MS},
                    "reset the connection: before the head, or after some tokens"},
	[MODE_CUT] = {"cut",
                  " after finish terminator bytes ",
                  {.after = 1},
                  "close after some tokens, without the end mark"},
	[MODE_STALL] = {"stall", " after pause ", {.after = 1, .pause_ns = 500 * MS}, "pause after some tokens"},
	[MODE_SLOW_HEADERS] = {"slow-headers", " delay ", {.delay_ns = 500 * MS}, "send the head late"},
	[MODE_HTML200] = {"html200", " ", {0}, "a page of HTML with status 200"},
	[MODE_NOTHING] = {"nothing", " ", {0}, "an empty body with status 200"},
	[MODE_WHOLE] = {"whole", " ", {0}, "answer a streaming request with one JSON body"},
	[MODE_GARBAGE] = {"garbage", " ", {0}, "an answer outside HTTP"},
	[MODE_ERROR_INBAND] = {"error-inband",
                           " after form done ",
                           {.after = 1, .done = true},
                           "an error object inside the 200"},
	[MODE_MALFORMED] = {"malformed", " after ", {.after = 1}, "one event of broken JSON between the good ones"},
	[MODE_BAD_UTF8] = {"bad-utf8", " after ", {.after = 1}, "one event whose text is not UTF-8, between the good ones"},
	[MODE_EMPTY] = {"empty", " ", {0}, "no content at all"},
	[MODE_SHORT] = {"short", " tokens ", {.tokens = 2}, "stop after so many tokens, whatever was asked"},
	[MODE_ONE_TOKEN] = {"one-token", " ", {0}, "stop after one token"},
	[MODE_ENDLESS] = {"endless",
                      " bytes ",
                      {.bytes = 70000},
                      "an answer going on whatever was asked, in events made longer by an unknown member"},
	[MODE_ROLE_LATE] = {"role-late",
                        " after events delay ",
                        {.delay_ns = 100 * MS},
                        "role and empty chunks long before, or the role after, the text"},
	[MODE_ROLE_NEVER] = {"role-never", " ", {0}, "no chunk with a role"},
	[MODE_ROLE_EACH] = {"role-each", " ", {0}, "the role in every chunk"},
	[MODE_NULLS] = {"nulls", " ", {0}, "null members where others leave them out"},
	[MODE_MULTI] = {"multi", " tokens ", {.tokens = 4}, "several tokens in an event"},
	[MODE_COALESCE] = {"coalesce", " events ", {.events = 5}, "several events in one write"},
	[MODE_SPLIT] = {"split",
                    " pieces pause ",
                    {.pieces = 3, .pause_ns = 1 * MS},
                    "each event in several writes, cut anywhere"},
	[MODE_SPLIT_UTF8] = {"split-utf8", " pause ", {.pause_ns = 1 * MS}, "text of multibyte characters, cut inside one"},
	[MODE_ESCAPES] = {"escapes", " ", {0}, "text that JSON escapes: \\u00e9, surrogate pairs, quotes"},
	[MODE_JSON] = {"json", " text ", {0}, "text in JSON, or nearly: object, list, fenced or cut"},
	[MODE_CRLF] = {"crlf", " ", {0}, "lines of events end in CR LF"},
	[MODE_CR] = {"cr", " ", {0}, "lines of events end in CR"},
	[MODE_NO_SPACE] = {"no-space", " ", {0}, "no space after data:"},
	[MODE_FIELDS] = {"fields", " ", {0}, "events carry event:, id: and retry: lines"},
	[MODE_MULTI_LINE] = {"multi-line", " ", {0}, "an event's JSON goes over several data: lines"},
	[MODE_PING] = {"ping", " alone ", {0}, "comment lines before each event"},
	[MODE_BOM] = {"bom", " ", {0}, "a byte order mark before the first event"},
	[MODE_PAD] = {"pad", " bytes ", {.bytes = 70000}, "events made longer by an unknown member"},
	[MODE_NO_USAGE] = {"no-usage", " ", {0}, "no usage, even when asked for"},
	[MODE_NO_DETAILS] = {"no-details", " ", {0}, "usage without the cached tokens"},
	[MODE_USAGE_NULL] = {"usage-null", " ", {0}, "usage null in every chunk but the last"},
	[MODE_USAGE_EACH] = {"usage-each", " ", {0}, "usage in every chunk"},
	[MODE_USAGE_IN_LAST] = {"usage-in-last", " ", {0}, "usage in the finishing chunk, no chunk of its own"},
	[MODE_USAGE_OFF] = {"usage-off", " tokens ", {.tokens = 3}, "usage tells more output tokens than came"},
	[MODE_NO_DONE] = {"no-done", " ", {0}, "no [DONE]"},
	[MODE_UNTERMINATED] = {"unterminated", " ", {0}, "no blank line after the last event"},
	[MODE_FINISH_IN_LAST] = {"finish-in-last", " ", {0}, "finish_reason in the chunk of the last token"},
	[MODE_LATE_END] = {"late-end", " pause ", {.pause_ns = 200 * MS}, "pause between the last token and the rest"},
	[MODE_REASONING] = {"reasoning",
                        " tokens field ",
                        {.tokens = 4, .field = "reasoning_content"},
                        "the first tokens are reasoning"},
	[MODE_TOOLS] = {"tools",
                    " after calls mixed order missing extra ",
                    {.calls = 1},
                    "tool calls after some tokens of text: those in the body's sim_calls, or so many"},
	[MODE_CLOSE] = {"close", " ", {0}, "close the connection after the answer"},
	[MODE_IDLE_CLOSE] = {"idle-close",
                         " delay code ",
                         {.delay_ns = 20 * MS},
                         "close the kept connection a while after the answer, perhaps with a last word such as 408"},
	[MODE_KEEP_ALIVE] = {"keep-alive",
                         " delay max ",
                         {.delay_ns = 5 * NS_PER_S, .max = 100},
                         "announce how long, and for how many requests, an idle connection is kept"},
	[MODE_LENGTH_SHORT] = {"content-length-short", " bytes ", {.bytes = 100}, "fewer bytes than Content-Length says"},
	[MODE_HTTP10] = {"http10", " ", {0}, "answer in HTTP/1.0: the end is the end of the connection"},
	[MODE_INDEX] = {"index", " ", {0}, "of rankings and batches: each result has the index of the first"},
	[MODE_INTERIM] = {"interim", " ", {0}, "a 103 before the answer"},
};

const char *mode_name(enum mode_kind kind)
{
	return table[kind].name;
}

const struct mode *modes_find(const struct modes *modes, enum mode_kind kind)
{
	for (int i = 0; i < modes->count; i++)
		if (modes->list[i].kind == kind)
			return &modes->list[i];
	return NULL;
}

void modes_names(const struct modes *modes, struct buffer *out)
{
	for (int i = 0; i < modes->count; i++) {
		if (i)
			buffer_byte(out, '+');
		buffer_text(out, mode_name(modes->list[i].kind));
	}
}

/* ---- reading ---- */

static int start_mode(const char *name, struct mode *mode, struct ipf_error *err)
{
	static const char statuses[][4] = {"429", "500", "503"};
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (strcmp(name, statuses[i]) == 0) {
			*mode = table[MODE_STATUS].start;
			mode->kind = MODE_STATUS;
			mode->code = atoi(name);
			mode->retry_ns = mode->code == 429 ? NS_PER_S : 0;
			mode->share = 1;
			return 0;
		}
	for (int kind = 0; kind < MODE_COUNT; kind++)
		if (strcmp(name, table[kind].name) == 0) {
			*mode = table[kind].start;
			mode->kind = (enum mode_kind)kind;
			mode->share = 1;
			return 0;
		}
	return ipf_error_set(err, IPF_USAGE, "unknown mode \"%s\"", name);
}

/* The place of the word in the list. -1: it is none of them. */
static int find_word(const char *value, const char *const words[], const char *expected, struct ipf_error *err)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%s\"", expected, value);
}

static int set_word(struct mode *mode, const struct key *key, const char *value, struct ipf_error *err)
{
	static const char *const forms[] = {[FORM_OPENAI] = "openai", [FORM_VLLM] = "vllm", [FORM_EVENT] = "event", NULL};
	static const char *const orders[] = {
		[ORDER_GIVEN] = "given", [ORDER_REVERSED] = "reversed", [ORDER_RANDOM] = "random", NULL};
	static const char *const fields[] = {"reasoning_content", "reasoning", NULL};
	int found = key->type == KEY_FORM    ? find_word(value, forms, "openai, vllm or event", err)
	            : key->type == KEY_TEXT  ? find_word(value, json_text_names, "object, list, fenced or cut", err)
	            : key->type == KEY_ORDER ? find_word(value, orders, "given, reversed or random", err)
	                                     : find_word(value, fields, "reasoning_content or reasoning", err);
	if (found < 0)
		return -1;
	if (key->type == KEY_FORM)
		mode->form = (enum error_form)found;
	else if (key->type == KEY_TEXT)
		mode->text = (enum json_text)found;
	else if (key->type == KEY_ORDER)
		mode->order = (enum call_order)found;
	else
		mode->field = fields[found];
	return 0;
}

static int set_value(struct mode *mode, const struct key *key, const char *value, struct ipf_error *err)
{
	void *at = (char *)mode + key->offset;
	switch (key->type) {
	case KEY_COUNT:
		return parse_count(value, at, err);
	case KEY_DURATION:
		return parse_duration(value, at, err);
	case KEY_SHARE:
		return parse_share(value, at, err);
	case KEY_FLAG:
		if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
			return ipf_error_set(err, IPF_USAGE, "expected 0 or 1, got \"%s\"", value);
		*(bool *)at = *value == '1';
		return 0;
	case KEY_FORM:
	case KEY_FIELD:
	case KEY_TEXT:
	case KEY_ORDER:
		break;
	}
	return set_word(mode, key, value, err);
}

static bool takes(const struct mode *mode, const char *key)
{
	char padded[32];
	snprintf(padded, sizeof padded, " %s ", key);
	return strstr(table[mode->kind].keys, padded) != NULL;
}

static int set_key(struct mode *mode, const char *name, const char *value, bool share, struct ipf_error *err)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct key *key = &keys[i];
		if (strcmp(name, key->name) != 0 || !(takes(mode, name) || (share && key->type == KEY_SHARE)))
			continue;
		struct ipf_error why = {0};
		if (set_value(mode, key, value, &why) < 0)
			return ipf_error_set(err, IPF_USAGE, "%s: %s: %s", mode_name(mode->kind), name, why.text);
		mode->after_given = mode->after_given || strcmp(name, "after") == 0;
		return 0;
	}
	return ipf_error_set(err, IPF_USAGE, "%s: it takes no \"%s\"", mode_name(mode->kind), name);
}

static int check(const struct mode *mode, struct ipf_error *err)
{
	if (mode->kind == MODE_STATUS && (mode->code < 200 || mode->code > 599))
		return ipf_error_set(err, IPF_USAGE, "status: code: expected 200 to 599, got %lld", (long long)mode->code);
	if ((mode->kind == MODE_MULTI && !mode->tokens) || (mode->kind == MODE_COALESCE && !mode->events) ||
	    (mode->kind == MODE_SPLIT && !mode->pieces) || (mode->kind == MODE_SHORT && !mode->tokens) ||
	    (mode->kind == MODE_TOOLS && !mode->calls))
		return ipf_error_set(err, IPF_USAGE, "%s: expected at least 1, got 0", mode_name(mode->kind));
	return 0;
}

/* NAME, then pairs; `first` ends the name and `next` each pair. The text is taken apart in place. */
static int parse_mode(char *text, char first, char next, bool share, struct mode *mode, struct ipf_error *err)
{
	char *rest = strchr(text, first);
	if (rest)
		*rest++ = '\0';
	if (start_mode(text, mode, err) < 0)
		return -1;
	while (rest && *rest) {
		char *pair = rest + strspn(rest, " ");
		rest = strchr(pair, next);
		if (rest)
			*rest++ = '\0';
		char *value = strchr(pair, '=');
		if (!value)
			return ipf_error_set(err, IPF_USAGE, "%s: expected key=value, got \"%s\"", mode_name(mode->kind), pair);
		*value++ = '\0';
		if (set_key(mode, pair, value, share, err) < 0)
			return -1;
	}
	return check(mode, err);
}

int mode_parse_option(const char *text, struct mode *mode, struct ipf_error *err)
{
	char *copy = strdup(text);
	if (!copy)
		return ipf_error_set(err, IPF_SYSTEM, "memory ran out");
	int result = parse_mode(copy, ':', ',', true, mode, err);
	free(copy);
	return result;
}

static struct mode *one_more(struct modes *modes, struct ipf_error *err)
{
	if (modes->count == MODES_MOST) {
		ipf_error_set(err, IPF_USAGE, "more than %d modes", MODES_MOST);
		return NULL;
	}
	return &modes->list[modes->count];
}

int modes_parse_header(struct modes *modes, struct slice value, struct ipf_error *err)
{
	char *copy = slice_dup(value), *rest = copy;
	int result = copy ? 0 : ipf_error_set(err, IPF_SYSTEM, "memory ran out");
	while (result == 0 && rest) {
		char *text = rest + strspn(rest, " \t");
		rest = strchr(text, ',');
		if (rest)
			*rest++ = '\0';
		text[strcspn(text, " \t")] = '\0';
		struct mode *mode = one_more(modes, err);
		result = mode ? parse_mode(text, ';', ';', false, mode, err) : -1;
		modes->count += result == 0;
	}
	free(copy);
	return result;
}

static int parse_map(struct modes *modes, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	struct buffer text = {0}, key = {0};
	struct mode *mode = one_more(modes, err);
	int result = mode ? jdoc_get_text(doc, map, "mode", &text, err) : -1;
	if (result == 0)
		result = ipf_error_set(err, IPF_INPUT, "mode: missing");
	if (result > 0)
		result = start_mode(text.data ? text.data : "", mode, err);
	for (struct jdoc_each e = jdoc_each(doc, map); result == 0 && jdoc_step(&e);) {
		buffer_clear(&key);
		buffer_clear(&text);
		jdoc_text(doc, e.key, &key);
		if (strcmp(key.data ? key.data : "", "mode") == 0)
			continue;
		/* Numbers and texts alike are read as the header's values are. */
		if (jdoc_type_of(doc, e.value) == JDOC_TEXT)
			jdoc_text(doc, e.value, &text);
		else if (jdoc_type_of(doc, e.value) == JDOC_BOOL)
			buffer_text(&text, slice_is(jdoc_raw(doc, e.value), "true") ? "1" : "0");
		else
			buffer_slice(&text, jdoc_raw(doc, e.value));
		result = set_key(mode, key.data ? key.data : "", text.data ? text.data : "", false, err);
	}
	if (result == 0 && (result = check(mode, err)) == 0)
		modes->count++;
	buffer_release(&text);
	buffer_release(&key);
	return result;
}

int modes_parse_json(struct modes *modes, const struct jdoc *doc, jdoc_id node, struct ipf_error *err)
{
	int result = 0;
	struct buffer text = {0};
	switch (jdoc_type_of(doc, node)) {
	case JDOC_TEXT:
		jdoc_text(doc, node, &text);
		result = modes_parse_header(modes, buffer_all(&text), err);
		break;
	case JDOC_MAP:
		result = parse_map(modes, doc, node, err);
		break;
	case JDOC_LIST:
		for (struct jdoc_each e = jdoc_each(doc, node); result == 0 && jdoc_step(&e);)
			result = jdoc_type_of(doc, e.value) == JDOC_LIST ? jdoc_expected(doc, e.value, "sim", "a mode", err)
			                                                 : modes_parse_json(modes, doc, e.value, err);
		break;
	default:
		result = jdoc_expected(doc, node, "sim", "a mode", err);
	}
	buffer_release(&text);
	return result;
}

void modes_print(FILE *to)
{
	for (int kind = 0; kind < MODE_COUNT; kind++) {
		size_t len = strlen(table[kind].keys);
		fprintf(to, "%-21s %s%s%.*s%s\n", table[kind].name, table[kind].about, len > 1 ? " (" : "",
		        len > 1 ? (int)len - 2 : 0, table[kind].keys + (len > 1), len > 1 ? ")" : "");
	}
}
