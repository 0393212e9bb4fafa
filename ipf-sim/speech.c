#include "speech.h"

#include "answer.h"
#include "clock.h"
#include "json/jdoc.h"
#include "json/jout.h"
#include "plain_modes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RATE        24000 /* samples a second, of two bytes */
#define BYTE_NS     (60 * NS_PER_MS)
#define PIECE_BYTES (RATE / 10 * 2)

struct request {
	struct modes modes;
	bool wav;
	int64_t bytes, audio_ns, service_ns;
};

static int parse(struct request *r, struct conn *c, struct ipf_error *err)
{
	const struct server_options *o = c->server->options;
	struct slice body = buffer_all(&c->request.body);
	struct buffer input = {0};
	struct jdoc doc = {0};
	int result = jdoc_parse(&doc, body.data, body.len, err);
	jdoc_id text = result == 0 ? jdoc_get(&doc, JDOC_ROOT, "input") : JDOC_NONE;
	jdoc_id format = result == 0 ? jdoc_get(&doc, JDOC_ROOT, "response_format") : JDOC_NONE;
	if (result == 0 && (jdoc_type_of(&doc, text) != JDOC_TEXT || jdoc_text_empty(&doc, text)))
		result = ipf_error_set(err, IPF_INPUT, "input: expected a text");
	r->wav = jdoc_text_is(&doc, format, "wav");
	if (result == 0 && !r->wav && !jdoc_text_is(&doc, format, "pcm"))
		result = ipf_error_set(err, IPF_INPUT, "response_format: expected wav or pcm");
	if (result == 0 && jdoc_type_of(&doc, jdoc_get(&doc, JDOC_ROOT, "voice")) != JDOC_TEXT)
		result = ipf_error_set(err, IPF_INPUT, "voice: missing");
	if (result == 0)
		jdoc_text(&doc, text, &input);
	r->audio_ns = (int64_t)input.len * BYTE_NS;
	r->bytes = r->audio_ns / NS_PER_MS * RATE / 1000 * 2;
	r->service_ns = (int64_t)(o->audio_factor * (double)r->audio_ns);
	buffer_release(&input);
	jdoc_release(&doc);
	return result;
}

static void write_log(const struct request *r, struct conn *c)
{
	struct buffer line = {0};
	struct jout w = {.out = &line};
	FILE *log = c->server->options->log;
	jout_begin_map(&w);
	jout_member_string(&w, "id", http_header(&c->request, "x-request-id"));
	jout_member_string(&w, "path", c->request.path);
	jout_member_int(&w, "audio_ns", r->audio_ns);
	jout_member_int(&w, "service_ns", c->server->options->audio_base_ns + r->service_ns);
	jout_end_map(&w);
	buffer_byte(&line, '\n');
	if ((line.failed || fwrite(line.data, 1, line.len, log) != line.len || fflush(log) != 0) && !c->server->log_errno)
		c->server->log_errno = errno ? errno : EIO;
	buffer_release(&line);
}

static void say_number(struct buffer *out, uint32_t n, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buffer_byte(out, (char)(n >> 8 * i));
}

/* Its length is all ones: not known yet. */
static void say_head(struct buffer *out)
{
	buffer_text(out, "RIFF");
	say_number(out, UINT32_MAX, 4);
	buffer_text(out, "WAVEfmt ");
	say_number(out, 16, 4);
	say_number(out, 1, 2);
	say_number(out, 1, 2);
	say_number(out, RATE, 4);
	say_number(out, 2 * RATE, 4);
	say_number(out, 2, 2);
	say_number(out, 16, 2);
	buffer_text(out, "data");
	say_number(out, UINT32_MAX, 4);
}

static void send_chunk(struct outbox *out, struct buffer *bytes)
{
	buffer_format(&out->bytes, "%zx\r\n", bytes->len);
	buffer_slice(&out->bytes, buffer_all(bytes));
	buffer_text(&out->bytes, "\r\n");
	buffer_clear(bytes);
}

static void answer(const struct request *r, struct conn *c)
{
	const struct mode *stall = modes_find(&r->modes, MODE_STALL);
	struct buffer piece = {0};
	c->unbounded = true;
	buffer_text(&c->out.bytes, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: ");
	buffer_text(&c->out.bytes, r->wav ? "audio/wav\r\n" : "audio/pcm\r\n");
	buffer_text(&c->out.bytes, c->request.keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
	if (r->wav) {
		say_head(&piece);
		send_chunk(&c->out, &piece);
	}
	outbox_hold(&c->out, c->server->options->audio_base_ns);
	for (int64_t at = 0, k = 0, next; at < r->bytes; at = next, k++) {
		next = at + PIECE_BYTES < r->bytes ? at + PIECE_BYTES : r->bytes;
		outbox_hold(&c->out, r->service_ns * (next / 2) / (r->bytes / 2) - r->service_ns * (at / 2) / (r->bytes / 2));
		if (stall && k == stall->after)
			outbox_hold(&c->out, stall->pause_ns);
		for (int64_t i = at; i < next; i++)
			buffer_byte(&piece, (char)(i * 31 % 251));
		send_chunk(&c->out, &piece);
		if (k >= 1 && modes_find(&r->modes, MODE_CUT)) {
			c->then = CONN_CLOSE;
			buffer_release(&piece);
			return;
		}
	}
	buffer_text(&c->out.bytes, "0\r\n\r\n");
	buffer_release(&piece);
}

bool speech_answer(struct conn *c)
{
	struct request r = {.wav = false};
	struct ipf_error err = {0};
	if (!slice_is(c->request.path, SPEECH_PATH))
		return false;
	c->server->totals.requests++;
	if (parse(&r, c, &err) < 0 || plain_modes_choose(&r.modes, c, &err) < 0) {
		answer_error(&c->out, err.kind == IPF_SYSTEM ? 500 : 400, NULL, err.text, NULL, c->request.keep_alive);
		c->server->totals.refused++;
	} else {
		if (c->server->options->log)
			write_log(&r, c);
		if (!plain_modes_answer(&r.modes, c))
			answer(&r, c);
	}
	conn_answered(c);
	return true;
}
