#include "aside/answer_replay.h"

#include "absent.h"
#include "api/error_message.h"
#include "body/recorded_answer.h"
#include "canary/canary.h"

#define PROMPT_TOKENS 8  /* blocks of prefix caches have 16 or more */
#define ANSWER_TOKENS 32 /* the beginning of a longer one */

/* The request to send, as JSON. */
struct sample {
	int64_t tokens; /* in the answer */
	struct buffer prompt, answer, model;
	struct buffer expected; /* the answer as struct response has it */
	struct jdoc doc;
};

static void sample_release(struct sample *s)
{
	struct buffer *const buffers[] = {&s->prompt, &s->answer, &s->model, &s->expected};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_release(buffers[i]);
	jdoc_release(&s->doc);
}

/* Writes the first `count` elements of a list, or writes them backwards, with commas between. */
static int write_ids(struct sample *s, struct slice list, uint32_t count, bool backwards, struct buffer *to,
                     struct ipf_error *err)
{
	if (jdoc_parse(&s->doc, list.data, list.len, err) < 0)
		return -1;
	const uint32_t all = jdoc_count(&s->doc, JDOC_ROOT);
	count = all < count ? all : count;
	buffer_clear(to);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			buffer_byte(to, ',');
		buffer_slice(to, jdoc_raw(&s->doc, jdoc_at(&s->doc, JDOC_ROOT, backwards ? count - 1 - i : i)));
	}
	return 0;
}

static int take(struct sample *s, const struct trace_request *q, struct ipf_error *err)
{
	s->tokens = q->answer_tokens < ANSWER_TOKENS ? q->answer_tokens : ANSWER_TOKENS;
	if (write_ids(s, q->answer_token_ids, ANSWER_TOKENS, true, &s->expected, err) < 0)
		return -1;
	buffer_clear(&s->answer);
	buffer_format(&s->answer, "[%s]", s->expected.data ? s->expected.data : "");
	struct buffer ids = {0};
	int result = write_ids(s, q->prompt_token_ids, PROMPT_TOKENS, false, &ids, err);
	buffer_clear(&s->prompt);
	buffer_format(&s->prompt, "[%s]", ids.data ? ids.data : "");
	buffer_clear(&s->model);
	buffer_slice(&s->model, q->model);
	s->prompt.failed |= ids.failed;
	buffer_release(&ids);
	return result;
}

/* Checks a request of the trace, and takes its answer if it is longer than those before. */
static int look_at(struct sample *s, const struct trace_request *q, struct ipf_error *err)
{
	struct ipf_error why = {0};
	if (canary_is_tagged(q->tags, &s->doc))
		return 0;
	if (recorded_answer_check(q, &why) < 0)
		return ipf_error_set(err, why.kind, "request %.*s: %s", (int)q->id.len, q->id.data, why.text);
	return s->tokens < ANSWER_TOKENS && q->answer_tokens > s->tokens ? take(s, q, err) : 0;
}

static int look_through(struct sample *s, const char *trace, struct ipf_error *err)
{
	struct trace_reader *reader;
	struct trace_request q;
	int got;
	if (trace_reader_open(&reader, trace, err) < 0)
		return -1;
	struct stream_reader *stream = trace_reader_stream(reader);
	while ((got = trace_reader_next(reader, &q, err)) == 1)
		if (look_at(s, &q, err) < 0) {
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
			break;
		}
	if (got == 0 && !s->tokens)
		got = ipf_error_at(err, IPF_INPUT, stream_reader_name(stream), 0,
		                   "--answers recorded: no request has a recorded answer");
	trace_reader_close(reader);
	return got ? -1 : 0;
}

/* The first token, from 1, at which two lists of ids differ. */
static size_t first_difference(struct slice a, struct slice b)
{
	size_t token = 1, i = 0;
	for (; i < a.len && i < b.len && a.data[i] == b.data[i]; i++)
		token += a.data[i] == ',';
	return token;
}

/* Writes why the response is not the given answer. */
static void compare(const struct sample *s, const struct response *r, struct buffer *why)
{
	const struct slice got = buffer_all(&r->output_ids), expected = buffer_all(&s->expected);
	if (r->failed)
		buffer_text(why, r->error_text.len ? r->error_text.data : "an error in the response");
	else if (!got.len)
		buffer_text(why, "its response lists no token ids");
	else if (!slice_equal(got, expected))
		buffer_format(why, "of %lld given tokens, its answer has another one at token %zu", (long long)s->tokens,
		              first_difference(got, expected));
}

/* Writes a status with the server's own message. */
static void describe_status(struct sample *s, const struct aside_answer *answer, struct buffer *why)
{
	buffer_format(why, "status %ld: ", answer->status);
	const size_t len = why->len;
	error_message_of_body(&s->doc, buffer_all(&answer->body), why);
	if (why->len == len && len)
		buffer_text(why, "no message");
}

static int try_target(struct sample *s, struct aside_client *c, size_t target, const struct aside_message *m,
                      struct ipf_error *err)
{
	const struct response_options options = {.keep_ids = true};
	struct aside_answer answer = {.status = 0};
	struct response response = {0};
	struct buffer why = {0};
	int result = aside_client_send(c, target, m, &answer, err);
	if (result == 0 && !answer.status)
		buffer_text(&why, answer.why);
	else if (result == 0 && (answer.status < 200 || answer.status > 299))
		describe_status(s, &answer, &why);
	else if (result == 0 && (result = aside_client_parse(c, &answer, &options, &response, err)) == 0)
		compare(s, &response, &why);
	if (result == 0 && why.failed)
		result = ipf_error_memory(err);
	else if (result == 0 && why.len)
		result = ipf_error_set(err, IPF_SYSTEM, "--answers recorded: %s does not replay given answers: %.*s",
		                       aside_client_options(c)->endpoint->targets[target].shown, (int)why.len, why.data);
	buffer_release(&why);
	response_release(&response);
	aside_answer_release(&answer);
	return result;
}

static int try_all(struct sample *s, const struct aside_client_options *options, struct ipf_error *err)
{
	struct aside_client *c;
	struct aside_message message = {.headers = NULL};
	struct trace_request q;
	if (s->prompt.failed || s->answer.failed || s->expected.failed || s->model.failed)
		return ipf_error_memory(err);
	if (aside_client_open(&c, options, err) < 0)
		return -1;
	trace_request_init(&q);
	q.id = slice_of("\"answer-replay\"");
	q.prompt_token_ids = buffer_all(&s->prompt);
	q.answer_token_ids = buffer_all(&s->answer);
	q.output_tokens = q.answer_tokens = s->tokens;
	q.model = s->model.len ? buffer_all(&s->model) : (struct slice){0};
	int result = aside_client_prepare(c, &q, (struct slice){0}, &message, err);
	for (size_t i = 0; result == 0 && i < options->endpoint->count; i++)
		result = try_target(s, c, i, &message, err);
	aside_message_release(&message);
	aside_client_close(c);
	return result;
}

int answer_replay_check(const struct answer_replay_options *options, struct ipf_error *err)
{
	struct sample s = {0};
	int result = look_through(&s, options->trace, err);
	if (result == 0)
		result = try_all(&s, &options->client, err);
	sample_release(&s);
	return result;
}
