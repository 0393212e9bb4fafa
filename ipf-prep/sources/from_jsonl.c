/* jsonl and csv: any records, of which --field says where the values are.
 *
 *     --field prompt=/question --field output=/response --field at_ms=/time
 *
 * The pointer is a JSON Pointer into the record, or the plain name of a member; a CSV row counts as an object of
 * strings. If a name is given several times, the first pointer that leads to a value counts. Without --field, the usual
 * names are tried (`usual` below). Everything else in a record is ignored.
 */
#include "absent.h"
#include "cli/times.h"
#include "clock.h"
#include "sources/chat_fields.h"
#include "sources/quoted_names.h"
#include "sources/sniff.h"
#include "name_set.h"
#include "sources/record_fields.h"
#include "token_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum field {
	PROMPT,
	CONTEXT,
	MESSAGES,
	SYSTEM,
	OUTPUT,
	OUTPUT_TOKENS,
	INPUT_TOKENS,
	TOOLS,
	RESPONSE_FORMAT,
	IMAGE,
	AUDIO,
	VIDEO,
	MODEL,
	ID,
	SESSION,
	SLO,
	AT,
	WAIT,
	IGNORE,
	FIELDS
};

static const char *const field_names[FIELDS] = {
	"prompt", "context", "messages", "system", "output", "output_tokens", "input_tokens", "tools", "response_format",
	"image",  "audio",   "video",    "model",  "id",     "session",       "slo",          "at",    "wait",
	"ignore",
};

/* Where values usually are, in the order in which it is tried if no --field is given. */
static const struct {
	enum field field;
	const char *pointer;
} usual[] = {
	{MESSAGES, "/messages"},     {PROMPT, "/prompt"},
	{PROMPT, "/question"},       {PROMPT, "/instruction"},
	{PROMPT, "/input"},          {PROMPT, "/text"},
	{PROMPT, "/query"},          {PROMPT, "/text_input"},
	{PROMPT, "/turns/0"},        {OUTPUT, "/output"},
	{OUTPUT, "/response"},       {OUTPUT, "/answer"},
	{OUTPUT, "/completion"},     {OUTPUT, "/expected_output"},
	{OUTPUT, "/answers/text/0"}, {OUTPUT, "/answers/0"},
	{TOOLS, "/tools"},           {RESPONSE_FORMAT, "/response_format"},
	{IMAGE, "/image"},           {IMAGE, "/images"},
	{AUDIO, "/audio"},           {VIDEO, "/video"},
};

/* Fields whose usual names are those of member_names.h. */
static const struct {
	enum field field;
	enum member_kind kind;
} usual_kinds[] = {{SYSTEM, MEMBER_SYSTEM}, {OUTPUT_TOKENS, MEMBER_OUTPUT_TOKENS}, {CONTEXT, MEMBER_CONTEXT}};

/* Where a field's value is: a parsed JSON Pointer. */
struct mapping {
	enum field field;
	char *pointer; /* as given */
	char *steps;   /* its reference tokens, unescaped, each ending in NUL */
	size_t count;
	size_t next;     /* the number of the next mapping of this field; that of all: there is none */
	uint64_t first;  /* the bit of its first token, see bit_of(); 0: it has none */
	int64_t unit_ns; /* of a time */
};

struct state {
	struct mapping *mappings;
	size_t count, first_of[FIELDS];
	bool given;       /* by --field */
	bool joined;      /* the prompt has several places, whose texts are joined */
	uint64_t present; /* the bits of all members of the record at hand */
	struct time_origin origin;
	struct name_set ids; /* of the requests so far */
};

/* Most places are looked for in vain: by these bits without comparing names. */
static uint64_t bit_of(const char *name, size_t len)
{
	return UINT64_C(1) << ((len * 7 + (len ? (unsigned char)*name : 0)) & 63);
}

/* Read without the functions of jdoc.h, which would mark the members as used. */
static uint64_t bits_of_members(const struct jdoc *j)
{
	uint64_t bits = 0;
	for (jdoc_id at = 1; j->count && at < j->nodes[JDOC_ROOT].next; at = j->nodes[at + 1].next) {
		const struct jdoc_node *key = &j->nodes[at];
		if (key->escaped)
			return UINT64_MAX;
		bits |= bit_of(j->text + key->begin + 1, key->end - key->begin - 2);
	}
	return bits;
}

static void close_state(void *opened)
{
	struct state *state = opened;
	for (size_t i = 0; i < state->count; i++) {
		free(state->mappings[i].pointer);
		free(state->mappings[i].steps);
	}
	free(state->mappings);
	name_set_release(&state->ids);
}

/* ---- --field ---- */

static int parse_pointer(struct mapping *m, const char *pointer, struct ipf_error *err)
{
	m->pointer = strdup(pointer);
	m->steps = calloc(1, strlen(pointer) + 1);
	if (!m->pointer || !m->steps)
		return ipf_error_memory(err);
	char *to = m->steps;
	if (*pointer && *pointer != '/') { /* the name of a member or column */
		strcpy(to, pointer);
		m->count = 1;
		m->first = bit_of(to, strlen(to));
		return 0;
	}
	for (const char *at = pointer; *at; at++) {
		if (*at == '/') {
			if (m->count++)
				*to++ = '\0';
		} else if (*at == '~') {
			at++;
			if (*at != '0' && *at != '1')
				return ipf_error_set(err, IPF_USAGE, "--field: \"~\" is written \"~0\" in a JSON Pointer, got \"%s\"",
				                     pointer);
			*to++ = *at == '0' ? '~' : '/';
		} else {
			*to++ = *at;
		}
	}
	m->first = m->count ? bit_of(m->steps, strlen(m->steps)) : 0;
	return 0;
}

/* The field that a name stands for; a time may have a unit: at, at_s, at_ms, at_us, at_ns. */
static bool parse_name(const char *name, size_t len, struct mapping *m)
{
	static const struct {
		const char *suffix;
		int64_t ns;
	} units[] = {{"", NS_PER_S}, {"_s", NS_PER_S}, {"_ms", NS_PER_MS}, {"_us", NS_PER_US}, {"_ns", 1}};
	for (int f = 0; f < FIELDS; f++) {
		size_t base = strlen(field_names[f]);
		if (len < base || memcmp(name, field_names[f], base) != 0)
			continue;
		m->field = (enum field)f;
		if (len == base && f != AT && f != WAIT)
			return true;
		for (size_t u = 0; (f == AT || f == WAIT) && u < sizeof units / sizeof *units; u++)
			if (strlen(units[u].suffix) == len - base && memcmp(name + base, units[u].suffix, len - base) == 0) {
				m->unit_ns = units[u].ns;
				return true;
			}
	}
	return false;
}

static int parse_field(struct mapping *m, const char *text, struct ipf_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals)
		return ipf_error_set(err, IPF_USAGE, "--field: expected NAME=/POINTER or NAME=COLUMN, got \"%s\"", text);
	if (!parse_name(text, (size_t)(equals - text), m))
		return ipf_error_set(
			err, IPF_USAGE,
			"--field: unknown name \"%.*s\" (known: prompt, messages, system, output, output_tokens, "
			"input_tokens, tools, response_format, image, audio, video, model, id, session, slo, at, wait, context, ignore; at and wait also with _ms, _us, _ns)",
			(int)(equals - text), text);
	return parse_pointer(m, equals + 1, err);
}

/* Room for one more mapping. */
static struct mapping *add_mapping(struct state *state, enum field field)
{
	struct mapping *more = realloc(state->mappings, (state->count + 1) * sizeof *more);
	if (!more)
		return NULL;
	state->mappings = more;
	more[state->count] = (struct mapping){.field = field};
	return &more[state->count++];
}

static int map_usual(struct state *state, struct ipf_error *err)
{
	char pointer[64];
	const char *name;
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		struct mapping *m = add_mapping(state, usual[i].field);
		if (!m || parse_pointer(m, usual[i].pointer, err) < 0)
			return ipf_error_memory(err);
	}
	for (size_t k = 0; k < sizeof usual_kinds / sizeof *usual_kinds; k++)
		for (size_t i = 0; (name = member_name_at(usual_kinds[k].kind, i)); i++) {
			struct mapping *m = add_mapping(state, usual_kinds[k].field);
			snprintf(pointer, sizeof pointer, "/%s", name);
			if (!m || parse_pointer(m, pointer, err) < 0)
				return ipf_error_memory(err);
		}
	return 0;
}

/* A --field. Commas separate the places of a prompt whose texts are joined: the first ones are its context. */
static int map_given(struct state *state, const char *text, struct ipf_error *err)
{
	struct mapping *m = add_mapping(state, FIELDS);
	if (!m)
		return ipf_error_memory(err);
	if (parse_field(m, text, err) < 0)
		return -1;
	if (m->field != PROMPT || !strchr(m->pointer, ','))
		return 0;
	char *places = m->pointer, *comma;
	m->pointer = NULL;
	free(m->steps);
	m->steps = NULL;
	state->joined = true;
	int status = 0;
	for (char *at = places; status == 0 && at; at = comma ? comma + 1 : NULL) {
		if ((comma = strchr(at, ',')))
			*comma = '\0';
		struct mapping *one = at == places ? &state->mappings[state->count - 1] : add_mapping(state, PROMPT);
		status = !one ? ipf_error_memory(err) : (one->count = 0, parse_pointer(one, at, err));
	}
	free(places);
	return status;
}

static void link_fields(struct state *state)
{
	size_t next[FIELDS];
	for (enum field f = 0; f < FIELDS; f++)
		next[f] = state->count;
	for (size_t i = state->count; i-- > 0;) {
		struct mapping *m = &state->mappings[i];
		m->next = next[m->field];
		next[m->field] = i;
	}
	memcpy(state->first_of, next, sizeof next);
}

static int map_fields(struct state *state, const struct string_list *fields, struct ipf_error *err)
{
	bool prompts = fields->count == 0;
	state->given = fields->count > 0;
	if (!state->given && map_usual(state, err) < 0)
		return -1;
	for (size_t i = 0; i < fields->count; i++)
		if (map_given(state, fields->items[i], err) < 0)
			return -1;
	link_fields(state);
	for (size_t i = 0; i < state->count; i++) {
		enum field field = state->mappings[i].field;
		prompts |= field == PROMPT || field == MESSAGES || field == INPUT_TOKENS || field == AUDIO;
	}
	return prompts
	           ? 0
	           : ipf_error_set(err, IPF_USAGE, "--field: one of prompt, messages, input_tokens and audio is required");
}

static int open_state(void *state, const struct source_settings *settings, struct ipf_error *err)
{
	return map_fields(state, &settings->fields, err);
}

static bool maps(const struct state *state, enum field field)
{
	for (size_t i = 0; i < state->count; i++)
		if (state->mappings[i].field == field)
			return true;
	return false;
}

static unsigned traits_of(const void *opened)
{
	return HAS_FIELDS | (maps(opened, AT) ? HAS_TIMES | GATHERS : 0) |
	       (maps(opened, SESSION) ? HAS_SESSIONS | GATHERS : 0) | (maps(opened, INPUT_TOKENS) ? MAKES_TEXT : 0);
}

/* Can a mapping lead to a value in such rows? */
static bool has_column(const struct mapping *m, const struct csv *csv)
{
	return m->count == 1 && csv_column(csv, m->steps) >= 0;
}

/* A column that --field names and that the file has not is a mistake, unless another one of the same field is there. */
static int check_columns(const struct state *state, const struct csv *csv, struct ipf_error *err)
{
	for (size_t i = 0; i < state->count; i++) {
		bool found = false;
		for (size_t k = 0; k < state->count; k++)
			found |= state->mappings[k].field == state->mappings[i].field && has_column(&state->mappings[k], csv);
		if (found)
			continue;
		struct quoted_names columns = {0};
		for (size_t k = 0; k < csv->column_count; k++)
			quoted_names_add(&columns, slice_of(csv->columns[k]));
		ipf_error_set(err, IPF_INPUT, "--field %s=%.80s: there is no such column, but %s",
		              field_names[state->mappings[i].field], state->mappings[i].pointer, quoted_names_text(&columns));
		quoted_names_release(&columns);
		return -1;
	}
	return 0;
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *state = opened;
	state->origin = (struct time_origin){0};
	return csv && state->given ? check_columns(state, csv, err) : 0;
}

/* ---- values by field ---- */

static jdoc_id follow(const struct jdoc *j, const struct mapping *m)
{
	jdoc_id at = JDOC_ROOT;
	const char *step = m->steps;
	for (size_t i = 0; i < m->count && at != JDOC_NONE; i++, step += strlen(step) + 1) {
		if (jdoc_type_of(j, at) == JDOC_LIST) {
			char *end;
			errno = 0;
			unsigned long index = strtoul(step, &end, 10);
			at = *step < '0' || *step > '9' || *end || errno || index >= UINT32_MAX ? JDOC_NONE
			                                                                        : jdoc_at(j, at, (uint32_t)index);
		} else {
			at = jdoc_get(j, at, step);
		}
	}
	return at;
}

static jdoc_id value_at(const struct state *state, const struct jdoc *j, const struct mapping *m)
{
	return m->first && !(m->first & state->present) ? JDOC_NONE : follow(j, m);
}

/* The field's value: that of the first mapping that leads to one. *m is the mapping, or the last that was tried; NULL
 * if the field has none. */
static jdoc_id look_up(const struct state *state, const struct jdoc *j, enum field field, const struct mapping **m)
{
	*m = NULL;
	for (size_t i = state->first_of[field]; i < state->count; i = state->mappings[i].next) {
		*m = &state->mappings[i];
		jdoc_id node = value_at(state, j, *m);
		if (!jdoc_is_null(j, node))
			return node;
	}
	return JDOC_NONE;
}

/* Is it a text or a list of texts? */
static bool is_text(const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_LIST)
		return jdoc_type_of(j, node) == JDOC_TEXT;
	for (struct jdoc_each e = jdoc_each(j, node); jdoc_step(&e);)
		if (jdoc_type_of(j, e.value) != JDOC_TEXT)
			return false;
	return jdoc_count(j, node) > 0;
}

/* A text, or the texts of a list, one a line. */
static int node_text(struct draft *d, const struct jdoc *j, jdoc_id node, const char *shown, struct slice *text,
                     struct ipf_error *err)
{
	if (!is_text(j, node))
		return jdoc_expected(j, node, shown, "a string", err);
	*text = draft_text(d, j, node);
	for (struct jdoc_each e = jdoc_each(j, node); jdoc_step(&e);)
		*text = draft_append(d, *text, "\n", draft_text(d, j, e.value));
	return 1;
}

static int look_up_text(const struct state *state, const struct jdoc *j, enum field field, struct draft *d,
                        struct slice *text, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = look_up(state, j, field, &m);
	*text = (struct slice){0};
	if (node != JDOC_NONE && field == OUTPUT && jdoc_type_of(j, node) == JDOC_NUMBER) { /* the number of a choice */
		*text = jdoc_raw(j, node);
		return 1;
	}
	return node == JDOC_NONE ? 0 : node_text(d, j, node, m->pointer, text, err);
}

/* CSV has only strings: an empty one counts as absent, and one may hold a number. */
static bool is_empty(const struct jdoc *j, jdoc_id node)
{
	return jdoc_type_of(j, node) == JDOC_TEXT && jdoc_text_empty(j, node);
}

/* Does a record say that it has no such value, by null or an empty string? If it lacks the member, the pointer may be
 * wrong. */
static bool says_none(const struct state *state, const struct jdoc *j, enum field field)
{
	for (size_t i = 0; i < state->count; i++) {
		jdoc_id node = state->mappings[i].field == field ? follow(j, &state->mappings[i]) : JDOC_NONE;
		if (node != JDOC_NONE)
			return jdoc_is_null(j, node) || is_empty(j, node);
	}
	return false;
}

static int look_up_name(const struct state *state, const struct jdoc *j, enum field field, struct draft *d,
                        struct slice *name, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = look_up(state, j, field, &m);
	*name = (struct slice){0};
	if (field == SESSION && (node == JDOC_NONE || is_empty(j, node)) && says_none(state, j, field))
		return 0;
	if (node == JDOC_NONE)
		return m ? ipf_error_set(err, IPF_INPUT, "%s: missing", m->pointer) : 0;
	return node_name(d, j, node, m->pointer, name, err);
}

/* What is between the quotes of a string. */
static struct slice inner(const struct jdoc *j, jdoc_id text)
{
	struct slice raw = jdoc_raw(j, text);
	return (struct slice){raw.data + 1, raw.len - 2};
}

static int look_up_count(const struct state *state, const struct jdoc *j, enum field field, int64_t *count,
                         struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = look_up(state, j, field, &m);
	if (node == JDOC_NONE)
		return 0;
	if (is_empty(j, node))
		return 0;
	if (!jdoc_to_int(j, node, count) &&
	    (jdoc_type_of(j, node) != JDOC_TEXT || time_from_number(inner(j, node), 1, count) < 0))
		*count = -1;
	if (!token_count_is_possible(*count))
		return jdoc_expected(j, node, m->pointer, TOKENS_EXPECTED, err);
	return 1;
}

static int look_up_time(const struct state *state, const struct jdoc *j, enum field field, int64_t *ns, struct draft *d,
                        struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = look_up(state, j, field, &m);
	if (node == JDOC_NONE)
		return m && field == AT ? ipf_error_set(err, IPF_INPUT, "%s: missing", m->pointer) : 0;
	if (is_empty(j, node) && field == WAIT)
		return 0;
	bool text = jdoc_type_of(j, node) == JDOC_TEXT;
	if ((text || jdoc_type_of(j, node) == JDOC_NUMBER) &&
	    (field == AT ? time_of_number : time_from_number)(text ? inner(j, node) : jdoc_raw(j, node), m->unit_ns, ns) ==
	        0 &&
	    (field == AT || *ns >= 0))
		return 1;
	struct ipf_error wrong = {0};
	if (field == AT && jdoc_type_of(j, node) == JDOC_TEXT && time_parse(draft_text(d, j, node), ns, &wrong) == 0)
		return 1;
	return jdoc_expected(j, node, m->pointer,
	                     field == AT ? "a number or a time such as 2023-11-16T18:15:46Z" : "a number of 0 or more",
	                     err);
}

/* ---- a record ---- */

/* Without --field only what cannot be anything else: an object with bytes, as data sets of Parquet have them. */
static bool is_medium(const struct state *state, const struct jdoc *j, jdoc_id node)
{
	jdoc_id first = jdoc_type_of(j, node) == JDOC_LIST ? jdoc_at(j, node, 0) : node;
	return node != JDOC_NONE && (state->given || jdoc_get(j, first, "bytes") != JDOC_NONE);
}

/* Images, audio and video of the last message. */
static int read_media(const struct state *state, const struct jdoc *j, struct draft *d, struct ipf_error *err)
{
	static const enum field fields[] = {IMAGE, AUDIO, VIDEO};
	for (size_t i = 0; i < sizeof fields / sizeof *fields && d->message_count; i++) {
		const struct mapping *m;
		jdoc_id node = look_up(state, j, fields[i], &m);
		if (is_medium(state, j, node) && chat_media(d, j, node, field_names[fields[i]], m->pointer, err) < 0)
			return -1;
	}
	struct draft_message *last = d->message_count ? &d->messages[d->message_count - 1] : NULL;
	if (last && last->media.data)
		last->text = chat_without_marks(d, last->text);
	return 0;
}

/* Is the record the body of a request to the chat API? */
static bool is_body(const struct jdoc *j)
{
	static const char *const members[] = {"max_tokens", "max_completion_tokens", "temperature", "top_p", "stream"};
	bool found = false;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		found |= jdoc_get(j, JDOC_ROOT, members[i]) != JDOC_NONE;
	return found;
}

/* Messages, also as a string that holds them. */
static int read_messages(const struct state *state, const struct jdoc *j, jdoc_id list, const char *name,
                         struct draft *d, struct ipf_error *err)
{
	struct jdoc inner = {0};
	struct ipf_error wrong = {0};
	if (jdoc_type_of(j, list) != JDOC_TEXT) {
		if (!state->given && is_body(j) && chat_parameters(d, j, JDOC_ROOT, &d->requests[d->count - 1], err) < 0)
			return -1;
		return chat_messages(d, j, list, name, err);
	}
	struct slice text = draft_text(d, j, list);
	int status = text.data && jdoc_parse(&inner, text.data, text.len, &wrong) == 0
	                 ? chat_messages(d, &inner, JDOC_ROOT, name, err)
	                 : jdoc_expected(j, list, name, "a list, or a string that holds one", err);
	put_on_one_line(text);
	jdoc_release(&inner);
	return d->failed ? 0 : status;
}

/* Joins the texts of all places of the prompt. 1, 0 if there is none, or -1. */
static int join_prompt(const struct state *state, const struct jdoc *j, struct draft *d, struct slice *prompt,
                       struct ipf_error *err)
{
	int found = 0;
	*prompt = (struct slice){0};
	for (size_t i = 0; i < state->count; i++) {
		const struct mapping *m = &state->mappings[i];
		jdoc_id node = m->field == PROMPT ? value_at(state, j, m) : JDOC_NONE;
		struct slice text;
		if (jdoc_is_null(j, node))
			continue;
		if (node_text(d, j, node, m->pointer, &text, err) < 0)
			return -1;
		*prompt = draft_append(d, *prompt, "\n\n", text);
		found = 1;
	}
	return found;
}

/* The prompt: joined, or after its context. 1, 0 or -1. */
static int read_prompt_text(const struct state *state, const struct jdoc *j, struct draft *d, struct slice *prompt,
                            struct ipf_error *err)
{
	const struct mapping *m;
	if (state->joined)
		return join_prompt(state, j, d, prompt, err);
	int got = look_up_text(state, j, PROMPT, d, prompt, err);
	if (got <= 0 || prompt->len == 0)
		return got;
	for (size_t i = 0; i < state->count; i++) {
		m = &state->mappings[i];
		jdoc_id node = m->field == CONTEXT ? value_at(state, j, m) : JDOC_NONE;
		struct slice context = {0};
		if (jdoc_is_null(j, node))
			continue;
		if (!is_text(j, node)) {
			jdoc_unuse(j, node); /* of another form: it is reported as not used */
			continue;
		}
		if (node_text(d, j, node, m->pointer, &context, err) < 0)
			return -1;
		*prompt = draft_append(d, context, "\n\n", *prompt);
		return 1; /* one context: a second one is reported as not used */
	}
	return 1;
}

static int read_prompt(const struct state *state, const struct jdoc *j, struct draft *d, struct draft_request *r,
                       struct ipf_error *err)
{
	const struct mapping *messages, *last;
	struct slice prompt, system;
	if (look_up_text(state, j, SYSTEM, d, &system, err) < 0)
		return -1;
	if (system.len > 0)
		draft_message(d, ROLE_SYSTEM, system);
	jdoc_id list = look_up(state, j, MESSAGES, &messages);
	if (list != JDOC_NONE)
		return read_messages(state, j, list, messages->pointer, d, err);
	int got = read_prompt_text(state, j, d, &prompt, err);
	if (got < 0)
		return -1;
	if (got == 1) {
		if (prompt.len > 0)
			draft_message(d, ROLE_USER, prompt);
		return 0;
	}
	if (state->given && maps(state, AUDIO) && !maps(state, PROMPT) && !maps(state, MESSAGES)) {
		draft_message(d, ROLE_USER, (struct slice){"", 0}); /* a recording to be transcribed */
		return 0;
	}
	if (maps(state, INPUT_TOKENS)) {
		d->message_count = r->first; /* only the length is known */
		r->count = 0;
		return 0;
	}
	look_up(state, j, PROMPT, &last);
	if (!state->given)
		return ipf_error_set(
			err, IPF_INPUT,
			"prompt: missing (also as messages, question, instruction, input, text, query or text_input): use --field");
	return ipf_error_set(err, IPF_INPUT, "%s: missing", last ? last->pointer : messages->pointer);
}

static int read_lengths(const struct state *state, const struct jdoc *j, struct draft *d, struct draft_request *r,
                        struct ipf_error *err)
{
	struct slice output;
	const struct mapping *m;
	if (look_up_count(state, j, INPUT_TOKENS, &r->input_tokens, err) < 0 ||
	    look_up_count(state, j, OUTPUT_TOKENS, &r->output_tokens, err) < 0)
		return -1;
	if (r->count == 0 && r->input_tokens == IPF_ABSENT && maps(state, INPUT_TOKENS)) {
		look_up(state, j, INPUT_TOKENS, &m);
		return ipf_error_set(err, IPF_INPUT, "%s: missing", m->pointer);
	}
	if (look_up_text(state, j, OUTPUT, d, &output, err) < 0)
		return -1;
	if (output.data)
		r->answer = output;
	return 0;
}

static int read_rest(struct state *state, const struct jdoc *j, struct draft *d, struct draft_request *r,
                     struct ipf_error *err)
{
	const struct mapping *m;
	struct slice model;
	if (look_up_name(state, j, ID, d, &r->id, err) < 0 || look_up_name(state, j, SESSION, d, &d->session, err) < 0 ||
	    look_up_text(state, j, MODEL, d, &model, err) < 0 || look_up_time(state, j, AT, &r->at_ns, d, err) < 0 ||
	    look_up_time(state, j, WAIT, &r->wait_ns, d, err) < 0)
		return -1;
	r->model = model.data ? model : r->model;
	if (r->id.data && name_set_add(&state->ids, r->id) == 0) {
		jdoc_id id = look_up(state, j, ID, &m);
		return jdoc_expected(j, id, m->pointer, "a unique id", err);
	}
	d->failed |= state->ids.failed;
	jdoc_id tools = look_up(state, j, TOOLS, &m);
	if (tools != JDOC_NONE)
		r->tools = chat_tools(d, j, tools);
	if (tools != JDOC_NONE && !r->tools.data && state->given)
		return jdoc_expected(j, tools, m->pointer, "a list of tools", err);
	jdoc_id slo = look_up(state, j, SLO, &m);
	if (!jdoc_is_null(j, slo) && jdoc_type_of(j, slo) != JDOC_MAP)
		return jdoc_expected(j, slo, m->pointer, "an object such as {\"ttft\": \"500ms\"}", err);
	r->slo = object_text(d, j, slo);
	r->response_format = chat_response_format(d, j, look_up(state, j, RESPONSE_FORMAT, &m));
	for (size_t i = 0; i < state->count; i++)
		if (state->mappings[i].field == IGNORE)
			follow(j, &state->mappings[i]);
	if (r->at_ns != IPF_ABSENT)
		r->at_ns = since_origin(&state->origin, r->at_ns);
	return 0;
}

/* Where the prompt is, for hints. */
static const char *prompt_place(const struct state *state, const struct jdoc *j)
{
	const struct mapping *m;
	look_up(state, j, PROMPT, &m);
	return m ? m->pointer : "/prompt";
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *state = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	state->present = bits_of_members(j);
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (sink->notes)
		sink->notes->prompt_at = prompt_place(state, j);
	if (read_prompt(state, j, d, r, err) < 0 || read_media(state, j, d, err) < 0 ||
	    read_lengths(state, j, d, r, err) < 0 || read_rest(state, j, d, r, err) < 0)
		return -1;
	bool text = false;
	for (size_t i = 0; i < d->message_count; i++)
		text |= d->messages[i].json.data || d->messages[i].media.data ||
		        (d->messages[i].role != ROLE_SYSTEM && d->messages[i].text.len > 0);
	if (!text && (d->message_count > 0 || r->input_tokens <= 0))
		sink->unusable(sink, "empty prompt");
	else if (r->output_tokens == 0)
		sink->unusable(sink, "no output token");
	else
		return sink->take(sink, d, err);
	return 0;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "messages") || sniff_members(sniff, "prompt") || sniff_members(sniff, "question") ||
	       sniff_members(sniff, "instruction") || sniff_members(sniff, "text") || sniff_members(sniff, "query") ||
	       sniff_members(sniff, "text_input");
}

const struct source_format source_jsonl = {
	.name = "jsonl",
	.about = "JSON records with any fields: common names are found, --field NAME=MEMBER maps others",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_FIELDS | HAS_TIMES | HAS_SESSIONS | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each record, where a record has no text",
	.state_size = sizeof(struct state),
	.open = open_state,
	.begin_file = begin_file,
	.read_record = read_record,
	.recognises = recognises,
	.traits_of = traits_of,
	.close = close_state,
};

static bool recognises_csv(const struct sniff *sniff)
{
	return sniff_columns(sniff, "prompt") || sniff_columns(sniff, "question") || sniff_columns(sniff, "instruction") ||
	       sniff_columns(sniff, "text") || sniff_columns(sniff, "query") || sniff_columns(sniff, "text_input");
}

const struct source_format source_csv = {
	.name = "csv",
	.about = "CSV with any columns: common names are found, --field NAME=COLUMN maps others",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.traits = HAS_FIELDS | HAS_TIMES | HAS_SESSIONS | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each record, where a record has no text",
	.state_size = sizeof(struct state),
	.open = open_state,
	.begin_file = begin_file,
	.read_record = read_record,
	.recognises = recognises_csv,
	.traits_of = traits_of,
	.close = close_state,
};
