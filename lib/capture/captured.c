#include "capture/captured.h"

#include "absent.h"
#include "array.h"
#include "capture/content_decoder.h"
#include "redact.h"
#include "stream/observed.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const capture_damage_names[CAPTURE_DAMAGES] = {
	[DAMAGE_NONE] = "",
	[DAMAGE_OPEN] = OBSERVED_OPEN,
	[DAMAGE_LOST] = "lost packets",
	[DAMAGE_SNAPPED] = "cut packets",
	[DAMAGE_BEGAN_BEFORE] = OBSERVED_BEGAN_BEFORE,
	[DAMAGE_CLOCK] = "times that go back",
	[DAMAGE_TOO_LARGE] = "too large",
};

struct captured *captured_new(void)
{
	struct captured *x = calloc(1, sizeof *x);
	if (x)
		x->http = x->status = x->start_ns = x->sent_ns = x->first_byte_ns = x->end_ns = IPF_ABSENT;
	return x;
}

static size_t message_bytes(const struct captured_message *m)
{
	return m->body.cap;
}

static void message_release(struct captured_message *m)
{
	buffer_release(&m->headers);
	buffer_release(&m->body);
	content_decoder_free(m->decoder);
}

void captured_free(struct captured *x, struct captured_memory *memory)
{
	if (!x)
		return;
	memory->used -= message_bytes(&x->request) + message_bytes(&x->answer) + x->reads_cap * sizeof *x->reads;
	buffer_release(&x->method);
	buffer_release(&x->target);
	message_release(&x->request);
	message_release(&x->answer);
	free(x->reads);
	free(x);
}

void captured_damaged(struct captured *x, enum capture_damage damage)
{
	x->damage = damage > x->damage ? damage : x->damage;
}

bool captured_times_are_in_order(const struct captured *x)
{
	int64_t last_ns = x->start_ns;
	if (x->first_byte_ns != IPF_ABSENT && x->first_byte_ns < last_ns)
		return false;
	last_ns = x->first_byte_ns != IPF_ABSENT ? x->first_byte_ns : last_ns;
	for (size_t i = 0; i < x->reads_count; i++) {
		if (x->reads[i].t_ns < last_ns)
			return false;
		last_ns = x->reads[i].t_ns;
	}
	return x->end_ns >= last_ns;
}

/* ---- headers ---- */

void captured_header(struct captured_message *m, struct slice name, struct slice value)
{
	if (m->headers.len + name.len + value.len + 2 > CAPTURED_HEADERS_MOST || !name.len ||
	    redact_header_is_credential(name.data, name.len) || memchr(value.data, '\0', value.len))
		return;
	for (size_t i = 0; i < name.len; i++)
		buffer_byte(&m->headers, (char)(name.data[i] >= 'A' && name.data[i] <= 'Z' ? name.data[i] | 32 : name.data[i]));
	buffer_byte(&m->headers, '\0');
	buffer_slice(&m->headers, value);
	buffer_byte(&m->headers, '\0');
}

bool captured_header_next(const struct captured_message *m, size_t *at, struct slice *name, struct slice *value)
{
	if (*at >= m->headers.len)
		return false;
	*name = slice_of(m->headers.data + *at);
	*value = slice_of(name->data + name->len + 1);
	*at += name->len + value->len + 2;
	return true;
}

struct slice captured_header_value(const struct captured_message *m, const char *wanted)
{
	struct slice name, value;
	for (size_t at = 0; captured_header_next(m, &at, &name, &value);)
		if (name.len == strlen(wanted) && strncasecmp(name.data, wanted, name.len) == 0)
			return value;
	return (struct slice){0};
}

void captured_headers_forget(struct captured_message *m)
{
	buffer_clear(&m->headers);
}

/* ---- bodies ---- */

bool captured_body_begins(struct captured_message *m)
{
	const enum content_coding coding = content_decoder_new(&m->decoder, captured_header_value(m, "content-encoding"));
	m->undecoded = coding == CONTENT_UNKNOWN;
	return coding != CONTENT_NO_MEMORY;
}

/* Appends to a body within the limits, decoded. Bytes that its encoding cannot explain are appended as they are. */
static bool append(struct captured *x, struct captured_message *m, struct slice bytes, struct captured_memory *memory)
{
	const size_t before = m->body.cap, left = memory->used < memory->limit ? memory->limit - memory->used : 0;
	const size_t most = m->body.len + left < memory->body_most ? m->body.len + left : memory->body_most;
	m->wire_bytes += (int64_t)bytes.len;
	if (x->damage == DAMAGE_TOO_LARGE)
		return true;
	if (m->body.len + bytes.len > most) {
		captured_damaged(x, DAMAGE_TOO_LARGE);
		memory->used -= m->body.cap;
		buffer_release(&m->body);
		return true;
	}
	const bool decoded = m->decoder && content_decoder_add(m->decoder, bytes, &m->body, most);
	if (m->decoder && !decoded) {
		content_decoder_free(m->decoder);
		m->decoder = NULL;
		m->undecoded = true;
	}
	if (!decoded)
		buffer_slice(&m->body, bytes);
	if (m->decoder && m->body.len >= most) {
		captured_damaged(x, DAMAGE_TOO_LARGE);
		memory->used -= before;
		buffer_release(&m->body);
		return true;
	}
	memory->used += m->body.cap - before;
	return !m->body.failed;
}

bool captured_request_body(struct captured *x, struct slice bytes, struct captured_memory *memory)
{
	return append(x, &x->request, bytes, memory);
}

bool captured_answer_body(struct captured *x, struct slice bytes, int64_t t_ns, struct captured_memory *memory)
{
	const size_t before = x->answer.body.len, cap = x->reads_cap;
	if (!append(x, &x->answer, bytes, memory))
		return false;
	if (x->answer.body.len <= before) /* nothing can be decoded of them yet, or it is too large */
		return true;
	const int64_t added = (int64_t)(x->answer.body.len - before);
	struct record_read *last = x->reads_count ? &x->reads[x->reads_count - 1] : NULL;
	if (last && last->t_ns == t_ns) {
		last->bytes += added;
		return true;
	}
	if (!array_room(x->reads, x->reads_cap, x->reads_count + 1))
		return false;
	x->reads[x->reads_count++] = (struct record_read){.t_ns = t_ns, .bytes = added, .own_ns = t_ns};
	memory->used += (x->reads_cap - cap) * sizeof *x->reads;
	return true;
}
