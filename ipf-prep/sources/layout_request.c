#include "sources/layout_read.h"

#include "absent.h"
#include "sources/api_bodies.h"
#include "token_count.h"

#include <string.h>

#define BLOCK_TOKENS 512 /* as in Mooncake's traces */

/* ---- a prompt ---- */

/* Is the record the body of a request to the chat API? */
static bool is_body(const struct jdoc *j, jdoc_id map)
{
	static const char *const members[] = {"max_tokens", "max_completion_tokens", "temperature", "top_p", "stream"};
	bool found = false;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		found |= jdoc_get(j, map, members[i]) != JDOC_NONE;
	return found;
}

/* Messages, also as a string holding them. */
static int read_messages(const struct layout_reader *r, const struct layout_view *v, jdoc_id list, const char *name,
                         struct ipf_error *err)
{
	struct draft *d = &r->sink->draft;
	struct jdoc inner = {0};
	struct ipf_error wrong = {0};
	if (jdoc_type_of(v->j, list) != JDOC_TEXT) {
		bool body = r->layout->guessed && !r->is_given && is_body(v->j, v->node);
		if (body && chat_parameters(d, v->j, v->node, &d->requests[d->count - 1], err) < 0)
			return -1;
		return chat_messages(d, v->j, list, name, err);
	}
	struct slice text = draft_text(d, v->j, list);
	if (text.len > 0 && *text.data != '[' && *text.data != '{') {
		draft_message(d, ROLE_USER, text); /* not messages, but the prompt itself */
		return 0;
	}
	int status = text.data && jdoc_parse(&inner, text.data, text.len, &wrong) == 0
	                 ? chat_messages(d, &inner, JDOC_ROOT, name, err)
	                 : jdoc_expected(v->j, list, name, "a list, or a string with one", err);
	put_on_one_line(text);
	jdoc_release(&inner);
	return d->failed ? 0 : status;
}

/* The texts of all places of the prompt, joined: 1, 0 if there is none, or -1. */
static int join_prompt(const struct layout_view *v, struct draft *d, struct slice *prompt, struct ipf_error *err)
{
	const struct layout_fields *f = v->fields;
	int found = 0;
	*prompt = (struct slice){0};
	for (size_t i = f->first_of[FIELD_PROMPT]; i < f->count; i = f->mappings[i].next) {
		jdoc_id node = view_at(v, &f->mappings[i]);
		struct slice text;
		if (jdoc_is_null(v->j, node) && !found && (f->required & FIELD_BIT(FIELD_PROMPT)))
			return ipf_error_set(err, IPF_INPUT, "%s: missing", f->mappings[i].place.shown);
		if (jdoc_is_null(v->j, node))
			continue;
		if (node_text(d, v->j, node, f->mappings[i].place.shown, &text, err) < 0)
			return -1;
		*prompt = draft_append(d, *prompt, f->join, text);
		found = 1;
	}
	return found;
}

/* Puts the context before the prompt. The first one counts: a second one is reported as not used, as is one of another
 * form where the layout is guessed. */
static int add_context(const struct layout_reader *r, const struct layout_view *v, struct draft *d,
                       struct slice *prompt, struct ipf_error *err)
{
	const struct layout_fields *f = v->fields;
	for (size_t i = f->first_of[FIELD_CONTEXT]; i < f->count; i = f->mappings[i].next) {
		jdoc_id node = view_at(v, &f->mappings[i]);
		struct slice context;
		if (jdoc_is_null(v->j, node))
			continue;
		if (r->layout->guessed && !node_is_text(v->j, node)) {
			jdoc_unuse(v->j, node);
			continue;
		}
		if (node_text(d, v->j, node, f->mappings[i].place.shown, &context, err) < 0)
			return -1;
		*prompt = draft_append(d, context, "\n\n", *prompt);
		return 0;
	}
	return 0;
}

/* 1, 0 or -1. */
static int read_prompt_text(const struct layout_reader *r, const struct layout_view *v, struct slice *prompt,
                            struct ipf_error *err)
{
	struct draft *d = &r->sink->draft;
	int got = v->fields->join ? join_prompt(v, d, prompt, err) : view_text(v, FIELD_PROMPT, d, prompt, err);
	if (got <= 0 || prompt->len == 0)
		return got;
	return add_context(r, v, d, prompt, err) < 0 ? -1 : 1;
}

static int read_history(const struct layout_view *v, struct draft *d, struct ipf_error *err)
{
	static const char wanted[] = "a list of [prompt, answer]";
	const struct mapping *m;
	const struct jdoc *j = v->j;
	jdoc_id history = view_find(v, FIELD_HISTORY, &m);
	if (!jdoc_is_null(j, history) && jdoc_type_of(j, history) != JDOC_LIST)
		return jdoc_expected(j, history, m->place.shown, wanted, err);
	for (struct jdoc_each e = jdoc_each(j, history); jdoc_step(&e);) {
		jdoc_id prompt = jdoc_at(j, e.value, 0), answer = jdoc_at(j, e.value, 1);
		if (jdoc_type_of(j, prompt) != JDOC_TEXT || jdoc_type_of(j, answer) != JDOC_TEXT)
			return jdoc_expected(j, e.value, m->place.shown, wanted, err);
		draft_message(d, ROLE_USER, draft_text(d, j, prompt));
		draft_message(d, ROLE_ASSISTANT, draft_text(d, j, answer));
	}
	return 0;
}

/* The places of a prompt in the order in which they are tried, for the error of a record without one. */
static int no_prompt(const struct layout_reader *r, const struct layout_view *v, struct ipf_error *err)
{
	static const enum field fields[] = {FIELD_PROMPT, FIELD_MESSAGES, FIELD_REQUEST, FIELD_INPUT_TOKENS};
	struct ipf_error wrong = {0};
	size_t i = 0;
	if (r->layout->turns.list_count && !r->is_given)
		return ipf_error_set(err, IPF_INPUT, "%s: missing", r->layout->turns.lists[0].shown);
	while (i + 1 < sizeof fields / sizeof *fields && !layout_maps(v->fields, fields[i]))
		i++;
	view_missing(v, fields[i], &wrong);
	return ipf_error_set(err, IPF_INPUT, "%s%s", wrong.text, r->layout->guessed && !r->is_given ? ": use --field" : "");
}

static int read_blocks(const struct layout_view *v, struct draft *d, struct draft_request *q, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id ids = view_find(v, FIELD_BLOCK_IDS, &m);
	if (ids == JDOC_NONE)
		return 0;
	if (q->input_tokens == IPF_ABSENT)
		return view_missing(v, FIELD_INPUT_TOKENS, err);
	q->blocks.tokens = BLOCK_TOKENS;
	if (view_tokens(v, FIELD_BLOCK_TOKENS, &q->blocks.tokens, err) < 0)
		return -1;
	if (q->blocks.tokens < 1 || q->blocks.tokens > 1 << 20)
		return ipf_error_set(err, IPF_INPUT, "%s: expected blocks of 1 to 1048576 tokens, got %lld", m->place.shown,
		                     (long long)q->blocks.tokens);
	if (node_block_ids(d, v->j, ids, m->place.shown, &q->blocks, err) < 0)
		return -1;
	int64_t whole = q->input_tokens / q->blocks.tokens, count = (int64_t)q->blocks.count;
	if (d->failed || count == whole || (count == whole + 1 && q->input_tokens % q->blocks.tokens))
		return 0;
	return ipf_error_set(err, IPF_INPUT, "%s: expected %lld ids for %lld tokens, got %lld", m->place.shown,
	                     (long long)whole, (long long)q->input_tokens, (long long)count);
}

/* For the request q, which is the draft's last: 1, 0 if the record has an empty prompt, -1. */
static int read_prompt(const struct layout_reader *r, const struct layout_view *v, struct draft_request *q,
                       struct ipf_error *err)
{
	const struct mapping *m;
	struct draft *d = &r->sink->draft;
	struct slice prompt, system;
	if (view_text(v, FIELD_SYSTEM, d, &system, err) < 0 ||
	    view_tokens(v, FIELD_INPUT_TOKENS, &q->input_tokens, err) < 0)
		return -1;
	if (system.len > 0)
		draft_message(d, ROLE_SYSTEM, system);
	if (read_history(v, d, err) < 0)
		return -1;
	jdoc_id list = view_find(v, FIELD_MESSAGES, &m);
	if (list != JDOC_NONE)
		return read_messages(r, v, list, m->place.shown, err) < 0 ? -1 : 1;
	int got = read_prompt_text(r, v, &prompt, err);
	bool audio = layout_maps(v->fields, FIELD_AUDIO) && !layout_maps(v->fields, FIELD_PROMPT);
	if (got == 0 && audio && !layout_maps(v->fields, FIELD_MESSAGES) && r->is_given)
		draft_message(d, ROLE_USER, (struct slice){"", 0}); /* a recording to be transcribed */
	else if (got == 1 && (prompt.len > 0 || (layout_is_trace(r) && !layout_maps(v->fields, FIELD_INPUT_TOKENS))))
		draft_message(d, ROLE_USER, prompt);
	else if (!layout_maps(v->fields, FIELD_INPUT_TOKENS) || !r->layout->filled || got < 0)
		return got == 0 ? no_prompt(r, v, err) : got < 0 ? -1 : 0;
	if (q->count > 0 && d->messages[d->message_count - 1].role == ROLE_USER)
		return 1;
	d->message_count = q->first; /* only the length is known */
	q->count = 0;
	if (q->input_tokens == IPF_ABSENT && prompt.data)
		return 0;
	return q->input_tokens == IPF_ABSENT ? no_prompt(r, v, err) : read_blocks(v, d, q, err) < 0 ? -1 : 1;
}

/* ---- the rest of a request ---- */

/* Without --field only an unmistakable one: an object with bytes, as data sets of Parquet have them. */
static bool is_medium(const struct layout_reader *r, const struct jdoc *j, jdoc_id node)
{
	jdoc_id first = jdoc_type_of(j, node) == JDOC_LIST ? jdoc_at(j, node, 0) : node;
	return node != JDOC_NONE && (r->is_given || !r->layout->guessed || jdoc_get(j, first, "bytes") != JDOC_NONE);
}

int layout_media(const struct layout_reader *r, const struct layout_view *v, struct ipf_error *err)
{
	static const enum field kinds[] = {FIELD_IMAGE, FIELD_AUDIO, FIELD_VIDEO};
	const struct layout_fields *f = v->fields;
	struct draft *d = &r->sink->draft;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds && d->message_count; k++)
		for (size_t i = f->first_of[kinds[k]]; i < f->count; i = f->mappings[i].next) {
			jdoc_id node = view_at(v, &f->mappings[i]);
			if (is_medium(r, v->j, node) &&
			    chat_media(d, v->j, node, field_name_of(kinds[k]), f->mappings[i].place.shown, err) < 0)
				return -1;
		}
	struct draft_message *last = d->message_count ? &d->messages[d->message_count - 1] : NULL;
	if (last && last->media.data)
		last->text = chat_without_marks(d, last->text);
	return 0;
}

/* Is the length of the answer the most asked for, by its name? */
static bool limit_of_answer(const struct layout_view *v)
{
	const struct mapping *m;
	return view_find(v, FIELD_OUTPUT_TOKENS, &m) != JDOC_NONE && strncasecmp(m->place.shown, "max", 3) == 0;
}

static int read_answer(const struct layout_reader *r, const struct layout_view *v, struct draft_request *q,
                       struct ipf_error *err)
{
	struct slice output;
	if (view_tokens(v, FIELD_OUTPUT_TOKENS, &q->output_tokens, err) < 0 ||
	    view_text(v, FIELD_OUTPUT, &r->sink->draft, &output, err) < 0)
		return -1;
	if (v->csv && output.len == 0)
		output = (struct slice){0}; /* an empty field is absent */
	if (output.len > 0 && limit_of_answer(v))
		q->output_tokens = IPF_ABSENT; /* the answer says more than a limit */
	if (output.data)
		q->answer = output;
	if (output.data && output.len == 0 && q->output_tokens == IPF_ABSENT && layout_is_trace(r)) {
		q->output_tokens = 0; /* none came */
		q->answer = (struct slice){0};
	}
	return 0;
}

static int read_parts(const struct layout_reader *r, const struct layout_view *v, struct draft_request *q,
                      struct ipf_error *err)
{
	const struct mapping *m;
	const struct jdoc *j = v->j;
	struct draft *d = &r->sink->draft;
	struct slice model;
	int64_t recorded = q->output_tokens;
	jdoc_id parameters = view_find(v, FIELD_PARAMETERS, &m);
	if (jdoc_type_of(j, parameters) == JDOC_MAP && chat_parameters(d, j, parameters, q, err) < 0)
		return -1;
	if (recorded != IPF_ABSENT || q->answer.data) /* says more than a limit */
		q->output_tokens = recorded;
	if (view_text(v, FIELD_MODEL, d, &model, err) < 0 || view_time(v, FIELD_WAIT, d, &q->wait_ns, err) < 0)
		return -1;
	q->model = model.data ? model : q->model;
	jdoc_id tools = view_find(v, FIELD_TOOLS, &m);
	if (tools != JDOC_NONE)
		q->tools = chat_tools(d, j, tools);
	if (tools != JDOC_NONE && !q->tools.data && r->is_given)
		return jdoc_expected(j, tools, m->place.shown, "a list of tools", err);
	jdoc_id slo = view_find(v, FIELD_SLO, &m);
	if (!jdoc_is_null(j, slo) && jdoc_type_of(j, slo) != JDOC_MAP)
		return jdoc_expected(j, slo, m->place.shown, "an object such as {\"ttft\": \"500ms\"}", err);
	q->slo = object_text(d, j, slo);
	jdoc_id format = view_find(v, FIELD_RESPONSE_FORMAT, &m);
	q->response_format = format != JDOC_NONE ? chat_response_format(d, j, format) : q->response_format;
	q->tags = view_tags(v, d);
	return 0;
}

int layout_request(struct layout_reader *r, const struct layout_view *v, struct ipf_error *err)
{
	const struct mapping *m;
	struct draft *d = &r->sink->draft;
	jdoc_id body = view_find(v, FIELD_REQUEST, &m);
	if (body != JDOC_NONE) {
		int got = need_object(v->j, body, *m->place.shown ? m->place.shown : "request", err) < 0
		              ? -1
		              : api_request_body(d, v->j, body, err);
		return got != 0 ? got : ipf_error_set(err, IPF_INPUT, "expected a body with messages or a prompt");
	}
	struct draft_request *q = draft_request(d);
	if (!q)
		return 1;
	int got = view_check_required(v, UINT64_MAX, err) < 0 ? -1 : read_prompt(r, v, q, err);
	if (got < 0 || layout_media(r, v, err) < 0 || read_answer(r, v, q, err) < 0 || read_parts(r, v, q, err) < 0)
		return -1;
	return got;
}

/* ---- arrivals ---- */

/* The arrival: recorded, or the end less the duration; IPF_ABSENT. */
int layout_arrival(const struct layout_view *v, struct draft *d, int64_t *at_ns, struct ipf_error *err)
{
	int64_t end_ns, duration_ns;
	int got = view_time(v, FIELD_AT, d, at_ns, err);
	if (got != 0)
		return got < 0 ? -1 : 0;
	if ((got = view_time(v, FIELD_END, d, &end_ns, err)) <= 0)
		return got;
	if ((got = view_time(v, FIELD_DURATION, d, &duration_ns, err)) <= 0)
		return got < 0 ? -1 : view_missing(v, FIELD_DURATION, err);
	if (__builtin_sub_overflow(end_ns, duration_ns, at_ns) || !time_is_possible(*at_ns))
		return ipf_error_set(err, IPF_INPUT, "%s: before all possible times", field_name_of(FIELD_DURATION));
	return 0;
}

/* Whether the request failed, and after how long its client left it; 0: it did not, or the time is not known. */
int layout_outcome(const struct layout_view *v, struct draft *d, bool *failed, int64_t *hang_up_ns,
                   struct ipf_error *err)
{
	enum { CLIENT_CLOSED_REQUEST = 499 }; /* nginx's own */
	const uint64_t outcome = FIELD_BIT(FIELD_STATUS) | FIELD_BIT(FIELD_CANCELED) | FIELD_BIT(FIELD_COMPLETED);
	const struct mapping *m;
	int64_t code = 0, duration_ns = 0;
	*hang_up_ns = 0;
	*failed = false;
	if (!(v->fields->present & outcome))
		return 0;
	if (view_tokens(v, FIELD_STATUS, &code, err) <= 0) {
		ipf_error_clear(err); /* a status other than a number says nothing */
		code = 0;
	}
	jdoc_id completed = view_find(v, FIELD_COMPLETED, &m);
	int canceled = view_flag(v, FIELD_CANCELED, err);
	bool left = code == CLIENT_CLOSED_REQUEST || canceled == 1 || (jdoc_text_is(v->j, completed, "") && code < 400);
	if (canceled < 0)
		return -1;
	if (left && view_time(v, FIELD_DURATION, d, &duration_ns, err) < 0)
		return -1;
	*hang_up_ns = left ? duration_ns : 0;
	*failed = code >= 400 && *hang_up_ns == 0;
	return 0;
}

/* The first of two durations that is recorded, or else from the arrival to a recorded time; IPF_ABSENT. */
static int recorded_duration(const struct layout_view *v, const enum field fields[3], struct draft *d, int64_t at_ns,
                             int64_t *ns, struct ipf_error *err)
{
	int64_t value;
	int got = 0;
	*ns = IPF_ABSENT;
	for (int i = 0; i < 2 && got == 0; i++)
		got = view_time(v, fields[i], d, &value, err);
	if (got == 0 && at_ns != IPF_ABSENT) {
		got = view_time(v, fields[2], d, &value, err);
		if (got > 0 && __builtin_sub_overflow(value, at_ns, &value))
			return ipf_error_set(err, IPF_INPUT, "%s: too far from the arrival", field_name_of(fields[2]));
	}
	if (got > 0)
		*ns = value;
	return got < 0 ? -1 : 0;
}

int layout_recorded(const struct layout_view *v, struct draft *d, int64_t at_ns, struct recorded_times *recorded,
                    struct ipf_error *err)
{
	static const enum field first[] = {FIELD_RECORDED_TTFT, FIELD_RECORDED_TTFT, FIELD_FIRST_TOKEN},
							last[] = {FIELD_RECORDED_E2E, FIELD_DURATION, FIELD_END};
	const uint64_t any = FIELD_BIT(FIELD_RECORDED_TTFT) | FIELD_BIT(FIELD_FIRST_TOKEN) | FIELD_BIT(FIELD_RECORDED_E2E) |
	                     FIELD_BIT(FIELD_DURATION) | FIELD_BIT(FIELD_END);
	*recorded = RECORDED_TIMES_NONE;
	if (!(v->fields->present & any))
		return 0;
	return recorded_duration(v, first, d, at_ns, &recorded->ttft_ns, err) < 0 ||
	               recorded_duration(v, last, d, at_ns, &recorded->e2e_ns, err) < 0
	           ? -1
	           : 0;
}

int layout_hand_over(struct layout_reader *r, const struct layout_view *v, struct ipf_error *err)
{
	const struct mapping *m;
	struct draft *d = &r->sink->draft;
	struct draft_request *q = &d->requests[0];
	struct slice session;
	bool failed;
	int64_t hang_up_ns;
	struct recorded_times recorded;
	if (d->failed)
		return 0;
	if (view_name(v, FIELD_ID, d, &q->id, err) < 0 || view_name(v, FIELD_SESSION, d, &session, err) < 0 ||
	    layout_arrival(v, d, &q->at_ns, err) < 0 || layout_outcome(v, d, &failed, &hang_up_ns, err) < 0 ||
	    layout_recorded(v, d, q->at_ns, &recorded, err) < 0)
		return -1;
	if (session.data)
		d->session = session;
	if (q->id.data && name_set_add(&r->ids, q->id) == 0) {
		jdoc_id id = view_find(v, FIELD_ID, &m);
		return jdoc_expected(v->j, id, m->place.shown, "a unique id", err);
	}
	if (name_set_check(&r->ids, err) < 0)
		return -1;
	q->failed |= failed;
	if (hang_up_ns > 0)
		q->hang_up_ns = hang_up_ns;
	if (recorded_times_set(q, &recorded, err) < 0)
		return -1;
	if (q->at_ns != IPF_ABSENT && r->layout->origin != ORIGIN_ZERO)
		q->at_ns = since_origin(&r->origin, q->at_ns);
	for (size_t i = v->fields->first_of[FIELD_IGNORE]; i < v->fields->count; i = v->fields->mappings[i].next)
		view_at(v, &v->fields->mappings[i]);
	return d->failed ? 0 : r->sink->take(r->sink, d, err);
}
