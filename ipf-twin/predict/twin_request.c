#include "predict/twin_request.h"

#include "absent.h"
#include "array.h"
#include "json/jout.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES (256 << 10) /* a spare one's */

/* ---- making and freeing ---- */

struct twin_request *twin_request_take(struct twin_request **spare)
{
	struct twin_request *q = *spare;
	if (!q)
		return calloc(1, sizeof *q);
	*spare = q->next;
	struct buffer text = q->text;
	buffer_clear(&text);
	*q = (struct twin_request){.text = text, .events = q->events, .events_cap = q->events_cap};
	return q;
}

void twin_request_free(struct twin_request *q)
{
	if (!q)
		return;
	twin_answer_release(&q->answer);
	buffer_release(&q->text);
	buffer_release(&q->refusal);
	free(q->events);
	free(q);
}

void twin_request_recycle(struct twin_request **spare, struct twin_request *q)
{
	if (q->text.failed || q->text.cap + q->events_cap * sizeof *q->events > KEPT_BYTES) {
		twin_request_free(q);
		return;
	}
	twin_answer_release(&q->answer);
	buffer_release(&q->refusal);
	q->next = *spare;
	*spare = q;
}

void twin_requests_free(struct twin_request **spare)
{
	for (struct twin_request *q; (q = *spare);) {
		*spare = q->next;
		twin_request_free(q);
	}
}

/* ---- the request ---- */

static void put_text(struct buffer *text, struct slice s)
{
	if (s.data)
		buffer_slice(text, s);
}

/* The same bytes in `text`, which no longer moves. */
static struct slice in_text(struct slice s, const char **at)
{
	struct slice to = {s.data ? *at : NULL, s.len};
	*at += s.data ? s.len : 0;
	return to;
}

bool twin_request_describe(struct twin_request *q, const struct arrival_request *from, struct slice model)
{
	const struct trace_request *r = &from->request;
	const struct slice all[] = {r->id, r->session, model, r->slo, r->tags};
	struct slice *const to[] = {&q->id, &q->session, &q->model, &q->slo, &q->tags};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		put_text(&q->text, all[i]);
	size_t before = q->text.len;
	schedule_after_write(&from->arrival, &q->text);
	if (q->text.failed)
		return false;
	const char *at = q->text.data;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		*to[i] = in_text(all[i], &at);
	q->after = q->text.len > before ? (struct slice){at, q->text.len - before} : (struct slice){0};
	q->n = from->arrival.n;
	q->req = from->arrival.req;
	q->stage = from->arrival.stage;
	q->copy = from->arrival.copy ? from->arrival.copy : IPF_ABSENT;
	q->follows = from->arrival.after_count > 0;
	q->session_requests = from->arrival.session_requests > 1 ? from->arrival.session_requests : IPF_ABSENT;
	q->turn = r->turn;
	q->input_tokens = r->input_tokens;
	q->output_tokens = r->output_tokens;
	q->hang_up_ns = r->hang_up_ns;
	q->status = IPF_ABSENT;
	return true;
}

/* An event of one token in the body. */
static const char one[] = "{\"t\":\"a\"}\n";

int64_t twin_request_answer_bytes(const struct twin_request *q)
{
	return (int64_t)(q->refusal.len + q->events_count * (sizeof one - 1 + sizeof(struct record_read)));
}

int64_t twin_request_bytes(const struct twin_request *q)
{
	const struct sequence *s = &q->answer.sequence;
	return (int64_t)(sizeof *q + q->text.cap + q->refusal.cap + q->events_cap * sizeof *q->events +
	                 (size_t)s->hash_cap * sizeof *s->hashes + (size_t)s->block_cap * sizeof *s->blocks);
}

/* ---- its answer ---- */

static bool grow_events(struct twin_request *q)
{
	return array_room(q->events, q->events_cap, q->events_count + 1);
}

bool twin_request_tokens(struct twin_request *q, int64_t t_ns)
{
	if (q->events_count == q->events_cap && !grow_events(q))
		return false;
	q->events[q->events_count++] = (struct twin_event){t_ns, q->answer.sequence.fresh};
	q->status = 200;
	return true;
}

bool twin_request_refuse(struct twin_request *q, int64_t t_ns, int64_t status, const char *message)
{
	struct jout w = {.out = &q->refusal};
	q->status = status;
	jout_begin_map(&w);
	jout_key(&w, "error");
	jout_begin_map(&w);
	jout_member_string(&w, "message", slice_of(message));
	jout_end_map(&w);
	jout_end_map(&w);
	buffer_byte(&q->refusal, '\n');
	if (q->refusal.failed || (q->events_count == q->events_cap && !grow_events(q)))
		return false;
	q->events[q->events_count++] = (struct twin_event){t_ns, 0};
	return true;
}

/* ---- its record ---- */

void twin_scratch_release(struct twin_scratch *s)
{
	buffer_release(&s->body);
	free(s->reads);
}

/* A letter for each token. */
static void add_event(struct buffer *body, int64_t tokens)
{
	if (tokens == 1) {
		buffer_append(body, one, sizeof one - 1);
		return;
	}
	buffer_text(body, "{\"t\":\"");
	for (int64_t i = 0; i < tokens; i++)
		buffer_byte(body, 'a');
	buffer_text(body, "\"}\n");
}

static void add_counts(struct buffer *body, const struct sequence *s, const struct twin_record_options *o)
{
	struct jout w = {.out = body};
	jout_begin_map(&w);
	jout_member_string(&w, "finish", slice_of("length"));
	jout_member_int(&w, "input", s->prompt_tokens);
	jout_member_int(&w, "output", s->produced);
	if (o->cache)
		jout_member_int(&w, "cached", s->cached_tokens);
	if (o->draft_tokens) {
		jout_member_int(&w, "drafts", s->drafts);
		jout_member_int(&w, "drafted", s->drafts * o->draft_tokens);
		jout_member_int(&w, "accepted", s->accepted);
	}
	jout_end_map(&w);
	buffer_byte(body, '\n');
}

static bool reserve_reads(struct twin_scratch *s, size_t count)
{
	return array_room(s->reads, s->reads_cap, count);
}

/* Its body, and the reads in which it came. */
static bool write_answer(const struct twin_request *q, const struct twin_record_options *o, struct twin_scratch *s)
{
	const struct sequence *of = &q->answer.sequence;
	buffer_clear(&s->body);
	if (!reserve_reads(s, q->events_count))
		return false;
	for (size_t i = 0; i < q->events_count; i++) {
		const struct twin_event *e = &q->events[i];
		size_t before = s->body.len;
		if (e->tokens)
			add_event(&s->body, e->tokens);
		else
			buffer_slice(&s->body, buffer_all(&q->refusal));
		if (e->tokens && i + 1 == q->events_count && of->produced == of->output_tokens)
			add_counts(&s->body, of, o);
		s->reads[i] = (struct record_read){e->t_ns, (int64_t)(s->body.len - before), e->t_ns};
	}
	return !s->body.failed;
}

/* The repeated members of the trace. */
static void repeat(const struct twin_request *q, struct record *record)
{
	record->n = q->n;
	record->req = q->req;
	record->stage = q->stage;
	record->copy = q->copy;
	record->id = q->id;
	record->session = q->session;
	record->session_requests = q->session_requests;
	record->turn = q->turn;
	record->after = q->after;
	record->model = q->model;
	record->asked_input_tokens = q->input_tokens;
	record->asked_output_tokens = q->output_tokens;
	record->slo = q->slo;
	record->tags = q->tags;
}

bool twin_request_record(const struct twin_request *q, const struct twin_record_options *o, struct twin_scratch *s,
                         struct record *record)
{
	record_init(record);
	repeat(q, record);
	record->due_ns = q->due_ns;
	record->ready_ns = q->ready_ns;
	record->slot_ns = q->slot_ns;
	record->start_ns = record->sent_ns = q->start_ns;
	record->first_byte_ns = q->events_count ? q->events[0].t_ns : IPF_ABSENT;
	record->end_ns = q->end_ns;
	record->target = o->target;
	record->status = q->status;
	record->streamed = true;
	record->error = q->error;
	record->error_text = slice_of(q->error_text);
	if (!write_answer(q, o, s))
		return false;
	record->reads = s->reads;
	record->reads_count = q->events_count;
	record->body = s->body.len ? buffer_all(&s->body) : (struct slice){0};
	return true;
}
