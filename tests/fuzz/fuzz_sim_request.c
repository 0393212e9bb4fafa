/* Any bytes, as requests to the simulated server: parsed alike however they come in pieces, understood or refused.
 * The first two bytes choose the pieces' length, and how bodies are read. */
#include "generate_request.h"
#include "http.h"
#include "multipart.h"

#include <stdlib.h>
#include <string.h>

#define MOST_REQUESTS 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void understand(const struct http_request *r, bool chat, bool digest)
{
	struct generate_request ask = {.chat = false};
	struct sequence sequence = {.output_tokens = 1};
	struct generate_request_options options = {.digest = digest, .template_tokens = digest, .strict_tools = digest};
	struct modes modes = {.count = 0};
	struct slice named = http_header(r, "x-sim");
	struct ipf_error err = {0}, mode_err = {0};
	int result = generate_request_parse(&ask, &sequence, chat, buffer_all(&r->body), &options, &err);
	if ((result == 0) != (err.kind == IPF_OK) || (result == 0 && sequence.prompt_tokens < 1))
		abort();
	if (named.data && (modes_parse_header(&modes, named, &mode_err) == 0) != (mode_err.kind == IPF_OK))
		abort();
	static struct multipart form;
	struct ipf_error form_err = {0};
	if ((multipart_read(&form, http_header(r, "content-type"), buffer_all(&r->body), &form_err) == 0) !=
	    (form_err.kind == IPF_OK))
		abort();
	generate_request_release(&ask);
	sequence_release(&sequence);
}

/* Feeds all of it in pieces; returns a sum of the output, the same for all lengths of pieces. */
static uint64_t feed(const char *text, size_t len, size_t piece, bool chat, bool digest)
{
	struct http_request r = {.head_limit = 2000, .body_limit = 20000};
	uint64_t sum = 0;
	enum http_result result = HTTP_MORE;
	for (size_t at = 0, requests = 0; at < len && result != HTTP_BAD && requests < MOST_REQUESTS;) {
		size_t n = piece < len - at ? piece : len - at, used;
		char *copy = malloc(n);
		if (!copy)
			break;
		memcpy(copy, text + at, n);
		result = http_feed(&r, copy, n, &used);
		free(copy);
		at += used;
		if (used > n || (result == HTTP_MORE && used != n))
			abort();
		/* How much of a body had come when it turned out bad is up to the pieces. */
		if (result != HTTP_MORE)
			sum = sum * 31 + (uint64_t)r.status + (result == HTTP_WHOLE ? r.body.len : 7);
		if (result != HTTP_WHOLE)
			continue;
		requests++;
		understand(&r, chat, digest);
		http_next(&r);
	}
	http_release(&r);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	const char *text = (const char *)data + 2;
	bool chat = data[1] & 1, digest = data[1] & 2;
	if (feed(text, size - 2, data[0] + 1u, chat, digest) != feed(text, size - 2, size, chat, digest))
		abort();
	return 0;
}
