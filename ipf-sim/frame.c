#include "frame.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

static bool on(const struct answer *a, enum mode_kind kind)
{
	return modes_find(a->modes, kind) != NULL;
}

static bool chunked(const struct answer *a)
{
	return !on(a, MODE_HTTP10) && !on(a, MODE_LENGTH_SHORT);
}

static const char *line_end(const struct answer *a)
{
	return on(a, MODE_CRLF) ? "\r\n" : on(a, MODE_CR) ? "\r" : "\n";
}

static void data_line(struct answer *a, const char *data, size_t len)
{
	buffer_text(&a->event, on(a, MODE_NO_SPACE) ? "data:" : "data: ");
	buffer_append(&a->event, data, len);
	buffer_text(&a->event, line_end(a));
}

/* The parser joins the lines by newlines, which are white space between the tokens of JSON. */
static void data_lines(struct answer *a, struct slice data)
{
	if (!on(a, MODE_MULTI_LINE) || data.len < 2 || *data.data != '{') {
		data_line(a, data.data, data.len);
		return;
	}
	data_line(a, data.data, 1);
	data_line(a, data.data + 1, data.len - 2);
	data_line(a, data.data + data.len - 1, 1);
}

static void compose(struct answer *a, const char *name, struct slice data, bool last)
{
	const char *end = line_end(a);
	struct buffer *event = &a->event;
	buffer_clear(event);
	if (on(a, MODE_BOM) && a->events == 0)
		buffer_text(event, "\xef\xbb\xbf");
	if (on(a, MODE_PING))
		buffer_format(event, ": ping %lld%s%s", (long long)a->events, end, end);
	if (on(a, MODE_FIELDS))
		buffer_format(event, "event: message%sid: %lld%sretry: 3000%s", end, (long long)a->events, end, end);
	else if (name)
		buffer_format(event, "event: %s%s", name, end);
	data_lines(a, data);
	if (last && on(a, MODE_UNTERMINATED))
		event->len -= strlen(end); /* the rest is the bare line, with neither end */
	else
		buffer_text(event, end);
	a->events++;
}

/* One HTTP chunk a call, or the bare bytes. Returns the position of the first byte. */
static uint64_t put(struct answer *a, const char *data, size_t len)
{
	struct buffer *out = &a->out->bytes;
	uint64_t begin = outbox_end(a->out);
	if (chunked(a))
		buffer_format(out, "%zx\r\n", len);
	buffer_append(out, data, len);
	if (chunked(a))
		buffer_text(out, "\r\n");
	return begin;
}

static int compare_positions(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void hold_anywhere(struct answer *a, const struct mode *split, uint64_t begin)
{
	uint64_t cuts[16], length = outbox_end(a->out) - begin;
	size_t count = (size_t)(split->pieces - 1 < 16 ? split->pieces - 1 : 16);
	for (size_t i = 0; i < count; i++)
		cuts[i] = begin + 1 + rng_below(&a->cuts, length - 1);
	qsort(cuts, count, sizeof *cuts, compare_positions);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || cuts[i] != cuts[i - 1])
			outbox_hold_at(a->out, cuts[i], split->pause_ns);
	outbox_hold(a->out, split->pause_ns);
}

/* Before the second byte of the first character with one. */
static void hold_in_character(struct answer *a, int64_t pause_ns, uint64_t begin)
{
	const char *data = a->out->bytes.data;
	for (uint64_t at = begin; data && at < outbox_end(a->out); at++)
		if ((data[at - a->out->dropped] & 0xc0) == 0x80) {
			outbox_hold_at(a->out, at, pause_ns);
			break;
		}
	outbox_hold(a->out, pause_ns);
}

static void send_event(struct answer *a, bool content)
{
	const struct mode *split = modes_find(a->modes, MODE_SPLIT), *utf8 = modes_find(a->modes, MODE_SPLIT_UTF8);
	const struct mode *coalesce = modes_find(a->modes, MODE_COALESCE);
	const struct mode *ping = memchr(a->event.data, ':', 1) ? modes_find(a->modes, MODE_PING) : NULL;
	if (ping && ping->alone) {
		/* The comment gets a write of its own. */
		size_t len = (size_t)(strstr(a->event.data, line_end(a)) - a->event.data) + 2 * strlen(line_end(a));
		put(a, a->event.data, len);
		outbox_hold(a->out, NS_PER_MS);
		buffer_consume(&a->event, len);
	}
	uint64_t begin = put(a, a->event.data, a->event.len);
	if (split)
		hold_anywhere(a, split, begin);
	else if (utf8)
		hold_in_character(a, utf8->pause_ns, begin);
	if (!content)
		return;
	a->out->last_content = outbox_end(a->out);
	if (!a->out->first_content)
		a->out->first_content = a->out->last_content;
	if (coalesce)
		a->out->corked = ++a->written % coalesce->events != 0;
}

void frame_event(struct answer *a, struct slice data, bool content, bool last)
{
	compose(a, NULL, data, last);
	if (!a->event.failed)
		send_event(a, content);
}

void frame_named_event(struct answer *a, const char *name, struct slice data, bool content)
{
	compose(a, name, data, false);
	if (!a->event.failed)
		send_event(a, content);
}

void frame_bytes(struct answer *a, struct slice bytes, bool content)
{
	buffer_clear(&a->event);
	buffer_slice(&a->event, bytes);
	a->events++;
	if (!a->event.failed)
		send_event(a, content);
}

void frame_partial(struct answer *a, struct slice data, size_t bytes)
{
	compose(a, NULL, data, false);
	if (!a->event.failed)
		put(a, a->event.data, bytes < a->event.len ? bytes : a->event.len);
}

void frame_end(struct answer *a)
{
	a->out->corked = false;
	if (chunked(a))
		buffer_text(&a->out->bytes, "0\r\n\r\n");
}
