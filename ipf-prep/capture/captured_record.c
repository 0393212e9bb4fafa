#include "absent.h"
#include "array.h"
#include "capture/record_output.h"
#include "json/jout.h"
#include "redact.h"

#include <stdlib.h>
#include <string.h>

/* Headers that tell requests apart or explain the answer; those of the request if the answer has none. */
static const char *const always_kept[] = {"x-request-id", "request-id", "traceparent"};

static void put_header(struct jout *w, const char *name, struct slice value)
{
	if (!value.data || redact_header_is_credential(name, strlen(name)))
		return;
	if (memchr(w->out->data, '"', w->out->len)) { /* not twice */
		char member[128];
		const int len = snprintf(member, sizeof member, "\"%s\":", name);
		if (len < 0 || (size_t)len >= sizeof member || memmem(w->out->data, w->out->len, member, (size_t)len))
			return;
	}
	struct buffer clean = {0};
	char *text = slice_dup(value);
	if (text)
		redact_value(text, &clean);
	jout_key(w, name);
	jout_string(w,
	            redact_value_is_credential(value) || !text || clean.failed ? slice_of(REDACTED) : buffer_all(&clean));
	buffer_release(&clean);
	free(text);
}

static void put_headers(const struct captured *x, const struct api *api, struct buffer *headers)
{
	struct jout w = {.out = headers};
	buffer_clear(headers);
	jout_begin_map(&w);
	if (x->answer.undecoded)
		put_header(&w, "content-encoding", captured_header_value(&x->answer, "content-encoding"));
	for (size_t i = 0; i < sizeof always_kept / sizeof *always_kept; i++) {
		struct slice value = captured_header_value(&x->answer, always_kept[i]);
		put_header(&w, always_kept[i], value.data ? value : captured_header_value(&x->request, always_kept[i]));
	}
	const char *name;
	for (size_t i = 0; api && (name = api_response_header(api, i)); i++)
		put_header(&w, name, captured_header_value(&x->answer, name));
	jout_end_map(&w);
}

static void put_text(struct buffer *to, struct slice text)
{
	struct jout w = {.out = to};
	buffer_clear(to);
	jout_string(&w, text);
}

static int64_t since(int64_t t_ns, int64_t t0_ns)
{
	return t_ns == IPF_ABSENT ? IPF_ABSENT : t_ns - t0_ns;
}

/* A damaged exchange keeps its certain members only: no latency can be computed from them. */
static void set_damage(const struct captured *x, struct record *r)
{
	r->error = RECORD_UNSEEN;
	r->error_text = slice_of(capture_damage_names[x->damage]);
	r->sent_ns = r->first_byte_ns = r->status = IPF_ABSENT;
	r->reads = NULL;
	r->reads_count = 0;
	r->body = (struct slice){0};
}

int captured_to_record(const struct captured *x, const struct request_facts *facts, const struct api *api,
                       int64_t t0_unix_ns, struct record_parts *parts, struct record *r)
{
	char id[32];
	if (!array_room(parts->reads, parts->reads_cap, x->reads_count))
		return -1;
	record_init(r);
	snprintf(id, sizeof id, "c%lld", (long long)x->number);
	put_text(&parts->id, slice_of(id));
	put_headers(x, api, &parts->headers);
	r->n = x->number;
	r->stage = 0;
	r->id = buffer_all(&parts->id);
	if (facts->session.data) {
		put_text(&parts->session, facts->session);
		r->session = buffer_all(&parts->session);
	}
	r->model = facts->model;
	r->streamed = facts->streamed;
	r->start_ns = since(x->start_ns, t0_unix_ns);
	r->sent_ns = since(x->sent_ns, t0_unix_ns);
	r->first_byte_ns = since(x->first_byte_ns, t0_unix_ns);
	r->end_ns = since(x->end_ns > x->start_ns ? x->end_ns : x->start_ns, t0_unix_ns);
	if (r->sent_ns != IPF_ABSENT && r->first_byte_ns != IPF_ABSENT && r->sent_ns > r->first_byte_ns)
		r->sent_ns = r->first_byte_ns;
	r->connection = x->connection;
	r->reused = x->reused;
	r->http = x->http;
	r->status = x->status;
	r->error = x->error;
	r->error_text = slice_of(x->why ? x->why : "");
	if (parts->headers.len > 2)
		r->headers = buffer_all(&parts->headers);
	r->request_bytes = (int64_t)x->request.body.len;
	for (size_t i = 0; i < x->reads_count; i++)
		parts->reads[i] = (struct record_read){
			.t_ns = x->reads[i].t_ns - t0_unix_ns, .bytes = x->reads[i].bytes, .own_ns = x->reads[i].t_ns - t0_unix_ns};
	r->reads = parts->reads;
	r->reads_count = x->reads_count;
	r->body = buffer_all(&x->answer.body);
	if (x->damage != DAMAGE_NONE)
		set_damage(x, r);
	return 0;
}

void record_parts_release(struct record_parts *parts)
{
	buffer_release(&parts->id);
	buffer_release(&parts->session);
	buffer_release(&parts->headers);
	free(parts->reads);
}
