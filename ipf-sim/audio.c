#include "audio.h"

#include "answer.h"
#include "clock.h"
#include "json/jout.h"
#include "multipart.h"
#include "plain_modes.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#define WORD    "word "
#define WORD_NS (250 * NS_PER_MS)

static const char *const paths[] = {"/v1/audio/transcriptions", "/v1/audio/translations"};

bool audio_has_path(struct slice path)
{
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (slice_is(path, paths[i]))
			return true;
	return false;
}

/* ---- the request ---- */

struct request {
	struct multipart form;
	struct modes modes;
	const struct multipart_part *file, *model;
	bool stream, chunks; /* chunks: as vLLM streams, and not as OpenAI does */
	int64_t audio_ns, words, service_ns;
};

static uint32_t number_at(const char *at, int bytes)
{
	uint32_t n = 0;
	for (int i = bytes; i-- > 0;)
		n = n << 8 | (unsigned char)at[i];
	return n;
}

/* The length of a WAV file as Python's wave writes it: format and data are its only chunks. -1: it is none. */
static int64_t wav_ns(struct slice file)
{
	const char *at = file.data;
	if (file.len < 44 || memcmp(at, "RIFF", 4) != 0 || memcmp(at + 8, "WAVEfmt ", 8) != 0 ||
	    number_at(at + 16, 4) != 16 || memcmp(at + 36, "data", 4) != 0 || number_at(at + 40, 4) != file.len - 44)
		return -1;
	int64_t a_second = (int64_t)number_at(at + 24, 4) * number_at(at + 22, 2) * number_at(at + 34, 2) / 8;
	return a_second > 0 ? (int64_t)(file.len - 44) * NS_PER_S / a_second : -1;
}

static bool is_field(const struct request *r, const char *name, const char *value)
{
	const struct multipart_part *part = multipart_find(&r->form, name);
	return part && slice_is(part->data, value);
}

static int parse(struct request *r, struct conn *c, struct ipf_error *err)
{
	const struct server_options *o = c->server->options;
	if (multipart_read(&r->form, http_header(&c->request, "content-type"), buffer_all(&c->request.body), err) < 0)
		return -1;
	r->file = multipart_find(&r->form, "file");
	r->model = multipart_find(&r->form, "model");
	if (!r->file || !r->file->filename.len || !r->file->type.len)
		return ipf_error_set(err, IPF_INPUT, "file: expected a file with its name and type");
	if (!r->model || r->model->filename.data)
		return ipf_error_set(err, IPF_INPUT, "model: missing");
	r->audio_ns = wav_ns(r->file->data);
	if (r->audio_ns < 0 || !slice_is(r->file->type, "audio/wav"))
		return ipf_error_set(err, IPF_INPUT, "file: expected audio/wav");
	r->stream = is_field(r, "stream", "true");
	r->chunks = multipart_find(&r->form, "stream_include_usage") != NULL;
	r->words = r->audio_ns / WORD_NS;
	r->service_ns = o->audio_base_ns + (int64_t)(o->audio_factor * (double)r->audio_ns);
	return 0;
}

static void hex_digest(struct slice bytes, char text[65])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (!EVP_Digest(bytes.data, bytes.len, sum, &len, EVP_sha256(), NULL))
		len = 0;
	for (unsigned i = 0; i < len && i < 32; i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
}

/* The server's own account: a line with every field. */
static void write_log(const struct request *r, struct conn *c)
{
	struct buffer line = {0};
	struct jout w = {.out = &line};
	char digest[65] = "";
	FILE *log = c->server->options->log;
	hex_digest(r->file->data, digest);
	jout_begin_map(&w);
	jout_member_string(&w, "id", http_header(&c->request, "x-request-id"));
	jout_member_string(&w, "path", c->request.path);
	jout_member_string(&w, "file_sha256", slice_of(digest));
	jout_member_int(&w, "file_bytes", (int64_t)r->file->data.len);
	jout_member_string(&w, "filename", r->file->filename);
	jout_member_int(&w, "audio_ns", r->audio_ns);
	jout_member_int(&w, "service_ns", r->service_ns);
	jout_key(&w, "fields");
	jout_begin_list(&w);
	for (size_t i = 0; i < r->form.count; i++)
		if (!r->form.parts[i].filename.data) {
			jout_begin_list(&w);
			jout_string(&w, r->form.parts[i].name);
			jout_string(&w, r->form.parts[i].data);
			jout_end_list(&w);
		}
	jout_end_list(&w);
	jout_end_map(&w);
	buffer_byte(&line, '\n');
	if ((line.failed || fwrite(line.data, 1, line.len, log) != line.len || fflush(log) != 0) && !c->server->log_errno)
		c->server->log_errno = errno ? errno : EIO;
	buffer_release(&line);
}

/* ---- the answer ---- */

static void say_usage(const struct request *r, struct buffer *out)
{
	if (r->chunks)
		buffer_format(out, "{\"prompt_tokens\":%lld,\"completion_tokens\":%lld}",
		              (long long)(r->audio_ns / (20 * NS_PER_MS)), (long long)r->words);
	else
		buffer_format(out,
		              "{\"type\":\"tokens\",\"input_tokens\":%lld,\"input_token_details\":{\"audio_tokens\":%lld},"
		              "\"output_tokens\":%lld}",
		              (long long)(r->audio_ns / (20 * NS_PER_MS)), (long long)(r->audio_ns / (20 * NS_PER_MS)),
		              (long long)r->words);
}

static void say_text(const struct request *r, struct buffer *out)
{
	buffer_text(out, "\"text\":\"");
	for (int64_t i = 0; i < r->words; i++)
		buffer_text(out, WORD);
	buffer_text(out, "\",\"usage\":");
	say_usage(r, out);
}

static void send_chunk(struct outbox *out, const struct buffer *bytes)
{
	buffer_format(&out->bytes, "%zx\r\n", bytes->len);
	buffer_slice(&out->bytes, buffer_all(bytes));
	buffer_text(&out->bytes, "\r\n");
}

static void send_event(struct outbox *out, struct buffer *event)
{
	buffer_text(event, "\n\n");
	send_chunk(out, event);
	buffer_clear(event);
}

static void say_word(const struct request *r, struct buffer *event)
{
	buffer_text(event, r->chunks
	                       ? "data: {\"object\":\"transcription.chunk\",\"choices\":[{\"delta\":{\"content\":\"" WORD
	                         "\"}}]}"
	                       : "data: {\"type\":\"transcript.text.delta\",\"delta\":\"" WORD "\"}");
}

/* The words come evenly spread over the service time, the last one at its end. */
static void stream(const struct request *r, struct conn *c)
{
	struct buffer event = {0};
	buffer_text(&c->out.bytes, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n");
	buffer_text(&c->out.bytes, c->request.keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
	for (int64_t i = 0; i < r->words; i++) {
		outbox_hold(&c->out, r->service_ns * (i + 1) / r->words - r->service_ns * i / r->words);
		say_word(r, &event);
		send_event(&c->out, &event);
		if (i >= 1 && modes_find(&r->modes, MODE_CUT)) {
			c->then = CONN_CLOSE;
			buffer_release(&event);
			return;
		}
	}
	buffer_text(&event, r->chunks
	                        ? "data: {\"object\":\"transcription.chunk\",\"choices\":[{\"delta\":{\"content\":\"\"},"
	                          "\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":"
	                        : "data: {\"type\":\"transcript.text.done\",");
	if (r->chunks)
		say_usage(r, &event);
	else
		say_text(r, &event);
	buffer_text(&event, r->chunks ? "}\n\ndata: [DONE]" : "}");
	send_event(&c->out, &event);
	buffer_text(&c->out.bytes, "0\r\n\r\n");
	buffer_release(&event);
}

static void answer(const struct request *r, struct conn *c)
{
	struct buffer body = {0};
	if (r->stream && !modes_find(&r->modes, MODE_STATUS)) {
		stream(r, c);
		return;
	}
	outbox_hold(&c->out, r->service_ns);
	if (plain_modes_answer(&r->modes, c))
		return;
	buffer_byte(&body, '{');
	say_text(r, &body);
	buffer_byte(&body, '}');
	answer_plain(&c->out, 200, "application/json", NULL, buffer_all(&body), c->request.keep_alive);
	buffer_release(&body);
}

bool audio_answer(struct conn *c)
{
	struct request r = {.words = 0};
	struct ipf_error err = {0};
	if (!audio_has_path(c->request.path))
		return false;
	c->server->totals.requests++;
	if (parse(&r, c, &err) < 0 || plain_modes_choose(&r.modes, c, &err) < 0) {
		answer_error(&c->out, err.kind == IPF_SYSTEM ? 500 : 400, NULL, err.text, NULL, c->request.keep_alive);
		c->server->totals.refused++;
	} else {
		if (c->server->options->log)
			write_log(&r, c);
		answer(&r, c);
	}
	conn_answered(c);
	return true;
}
