/* Spans as protocol buffers, their batches, and receivers' answers. cli/collect-otlp compares whole spans with rows.
 */
#include "unit.h"

#include "absent.h"
#include "collect_record.h"
#include "protobuf/protobuf_wire.h"
#include "publish/otlp_attributes.h"
#include "publish/otlp_batches.h"
#include "push/otlp_response.h"
#include "push/push_target.h"

#include <pthread.h>

/* ---- reading, by field number ---- */

/* The k-th field with this number; fails the test if the message is malformed. */
static bool field_of(struct slice message, uint32_t number, int k, struct wire_field *found)
{
	size_t at = 0;
	int got;
	while ((got = wire_next(message, &at, found)) == 1)
		if (found->number == number && k-- == 0)
			return true;
	assert_int_equal(got, 0);
	return false;
}

static int count_of(struct slice message, uint32_t number)
{
	struct wire_field field;
	size_t at = 0;
	int count = 0, got;
	while ((got = wire_next(message, &at, &field)) == 1)
		count += field.number == number;
	assert_int_equal(got, 0);
	return count;
}

static struct slice inner(struct slice message, uint32_t number)
{
	struct wire_field field;
	if (!field_of(message, number, 0, &field))
		fail_msg("field %u is missing", (unsigned)number);
	return field.data;
}

/* The text of an attribute of the list of fields `number`; absent: there is none. */
static struct slice attribute(struct slice message, uint32_t number, const char *key)
{
	struct wire_field field;
	for (int k = 0; field_of(message, number, k, &field); k++)
		if (slice_is(inner(field.data, 1), key))
			return inner(field.data, 2);
	return (struct slice){0};
}

/* ---- attributes ---- */

static void absent_values_have_no_attribute(void **state)
{
	struct buffer out = {0};
	(void)state;
	otlp_put_text(&out, 1, "a", (struct slice){0});
	otlp_put_json_text(&out, 1, "a", (struct slice){0});
	otlp_put_json_list(&out, 1, "a", (struct slice){0});
	otlp_put_int(&out, 1, "a", IPF_ABSENT);
	otlp_put_double(&out, 1, "a", __builtin_nan(""));
	assert_int_equal(out.len, 0);
	otlp_put_text(&out, 1, "a", slice_of(""));
	assert_int_equal(inner(inner(buffer_all(&out), 1), 2).len, 2); /* a text that is empty is known */
	buffer_release(&out);
}

static void texts_are_decoded_and_cut(void **state)
{
	struct buffer out = {0}, json = {0}, text = {0};
	(void)state;
	otlp_json_text(slice_of("\"a\\n\\u00e9\\\"\""), &out);
	assert_string_equal(out.data, "a\n\xc3\xa9\"");
	for (int escaped = 0; escaped < 2; escaped++) {
		buffer_clear(&json);
		buffer_clear(&text);
		buffer_text(&json, escaped ? "\"\\n" : "\"-");
		for (int i = 0; i < 1000; i++)
			buffer_text(&json, "\xc3\xa9");
		buffer_text(&json, "\"");
		otlp_json_text(buffer_all(&json), &text);
		assert_int_equal(text.len, OTLP_TEXT - 1); /* not in the middle of a character */
	}
	buffer_release(&out);
	buffer_release(&json);
	buffer_release(&text);
}

/* ---- spans ---- */

struct sample {
	struct observation seen;
	struct record record;
	struct record_read read;
	struct response response;
	struct measure measure;
	struct result row;
	struct schedule schedule;
	struct api *api;
	json_t *header;
};

static void sample_init(struct sample *s, const char *api, const char *header)
{
	struct ipf_error err = {0};
	*s = (struct sample){0};
	s->header = json_loads(header, 0, NULL);
	assert_non_null(s->header);
	assert_int_equal(api_open(&s->api, api, &err), 0);
	record_of_body(&s->record, (struct slice){0}, &s->read);
	s->record.reads_count = 0;
	result_init(&s->row);
	s->row.ok = true;
	s->row.n = s->row.stage = s->row.start_ns = 0;
	s->row.end_ns = 100;
	s->seen = (struct observation){&s->record, &s->response, &s->measure, &s->row, 0};
	s->response.input_tokens = IPF_ABSENT;
}

static void sample_release(struct sample *s)
{
	api_close(s->api);
	json_decref(s->header);
}

/* A request with one span, as bytes; the caller releases it. */
static struct slice span_of(struct sample *s, struct otlp_body *body)
{
	struct otlp_run *run;
	struct ipf_error err = {0};
	if (otlp_run_new(&run, s->header, &s->schedule, s->api, &err) < 0)
		fail_msg("%s", err.text);
	otlp_run_begin(run, body);
	assert_true(otlp_span_write(run, &s->seen, &body->bytes));
	otlp_run_end(body);
	otlp_run_free(run);
	assert_false(body->bytes.failed);
	return inner(inner(inner(buffer_all(&body->bytes), 1), 2), 2);
}

#define HEADER "{\"t0_unix_ns\": 1000, \"target\": \"http://[::1]:8000/v1\"}"

static void unknown_values_are_absent(void **state)
{
	struct sample s;
	struct otlp_body body = {0};
	struct wire_field field;
	(void)state;
	sample_init(&s, "openai-chat", HEADER);
	struct slice span = span_of(&s, &body);
	assert_true(slice_is(inner(span, 5), "chat")); /* without a model */
	assert_true(field_of(span, 7, 0, &field) && field.value == 1000);
	assert_true(field_of(span, 8, 0, &field) && field.value == 1100);
	assert_true(slice_is(attribute(span, 9, "server.address"), "\n\003::1"));
	static const char *const unknown[] = {"gen_ai.usage.input_tokens",
	                                      "gen_ai.usage.output_tokens",
	                                      "gen_ai.request.model",
	                                      "gen_ai.conversation.id",
	                                      "ipf.ttft_ns",
	                                      "error.type",
	                                      "gen_ai.response.time_to_first_chunk"};
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		assert_null(attribute(span, 9, unknown[i]).data);
	assert_int_equal(count_of(span, 11) + count_of(span, 15), 0); /* no events, no status */
	buffer_release(&body.bytes);
	sample_release(&s);
}

static void apis_have_the_conventions_names(void **state)
{
	static const struct {
		const char *api, *provider, *operation;
	} cases[] = {{"openai-chat", "openai", "chat"},
	             {"openai-completions", "openai", "text_completion"},
	             {"openai-responses", "openai", "chat"},
	             {"openai-embeddings", "openai", "embeddings"},
	             {"anthropic-messages", "anthropic", "chat"},
	             {"bedrock", "aws.bedrock", "chat"},
	             {"gemini", "gcp.gemini", "generate_content"},
	             {"vertex", "gcp.vertex_ai", "generate_content"},
	             {"vertex-openai", "gcp.vertex_ai", "chat"},
	             {"groq", "groq", "chat"},
	             {"ollama", "ollama", "text_completion"},
	             {"tgi", "tgi", "text_completion"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sample s;
		struct otlp_body body = {0};
		sample_init(&s, cases[i].api, HEADER);
		struct slice span = span_of(&s, &body), provider = attribute(span, 9, "gen_ai.provider.name");
		if (!slice_is(inner(span, 5), cases[i].operation) || !slice_is(inner(provider, 1), cases[i].provider))
			fail_msg("%s: %.*s", cases[i].api, (int)provider.len, provider.data);
		buffer_release(&body.bytes);
		sample_release(&s);
	}
}

static void only_what_the_client_said_is_a_status(void **state)
{
	struct sample s;
	struct otlp_body body = {0};
	(void)state;
	sample_init(&s, "openai-chat", HEADER);
	s.row.ok = false;
	s.row.error_kind = slice_of("\"in-band\"");
	s.row.error_text = slice_of("\"the prompt was …\"");
	assert_int_equal(count_of(inner(span_of(&s, &body), 15), 2), 0);
	s.record.error = RECORD_CONNECT;
	s.record.error_text = slice_of("refused\x1b[2J");
	struct slice status = inner(span_of(&s, &body), 15);
	assert_true(slice_is(inner(status, 2), "refused\\x1b[2J"));
	s.row.error_kind = slice_of("\"hung-up\""); /* on purpose */
	s.record.error = RECORD_HUNG_UP;
	assert_int_equal(count_of(span_of(&s, &body), 15), 0);
	buffer_release(&body.bytes);
	sample_release(&s);
}

static void times_that_cannot_be_have_no_span(void **state)
{
	struct sample s;
	struct otlp_run *run;
	struct ipf_error err = {0};
	struct otlp_body body = {0};
	(void)state;
	sample_init(&s, "openai-chat", HEADER);
	assert_int_equal(otlp_run_new(&run, s.header, &s.schedule, s.api, &err), 0);
	otlp_run_begin(run, &body);
	const int64_t starts[] = {IPF_ABSENT, -1001, INT64_MAX};
	for (size_t i = 0; i < 3; i++) {
		s.row.start_ns = starts[i];
		assert_false(otlp_span_write(run, &s.seen, &body.bytes));
	}
	otlp_run_free(run);
	json_object_del(s.header, "t0_unix_ns");
	assert_int_equal(otlp_run_new(&run, s.header, &s.schedule, s.api, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	otlp_run_free(run);
	buffer_release(&body.bytes);
	sample_release(&s);
}

/* ---- batches ---- */

static void batches_begin(struct otlp_batches *b, struct sample *s, bool live)
{
	struct ipf_error err = {0};
	sample_init(s, "openai-chat", HEADER);
	assert_int_equal(otlp_batches_begin(b, s->header, &s->schedule, s->api, live, &err), 0);
}

static int spans_of(struct push_request *request)
{
	int spans = count_of(inner(inner(buffer_all(&request->body), 1), 2), 2);
	assert_int_equal(spans, request->items);
	buffer_release(&request->body);
	return spans;
}

static void batches_are_whole(void **state)
{
	struct otlp_batches *b = otlp_batches_new();
	struct push_request request;
	struct sample s;
	(void)state;
	batches_begin(b, &s, true);
	for (int i = 0; i < OTLP_BATCH + 3; i++)
		assert_int_equal(otlp_batches_add(b, &s.seen), i == OTLP_BATCH - 1);
	assert_true(otlp_batches_take(b, false, &request));
	assert_int_equal(spans_of(&request), OTLP_BATCH);
	assert_false(otlp_batches_take(b, false, &request)); /* not complete */
	assert_true(otlp_batches_take(b, true, &request));
	assert_int_equal(spans_of(&request), 3);
	assert_false(otlp_batches_take(b, true, &request));
	otlp_batches_free(b);
	sample_release(&s);
}

/* Nobody takes them. */
static void a_live_run_drops_the_oldest(void **state)
{
	struct otlp_batches *b = otlp_batches_new();
	struct push_request request;
	struct sample s;
	int64_t waiting, dropped, taken = 0, added = 0;
	char id[OTLP_TEXT + 3];
	(void)state;
	batches_begin(b, &s, true);
	memset(id, 'x', sizeof id);
	id[0] = id[sizeof id - 1] = '"';
	s.row.id = s.row.session = s.row.model = (struct slice){id, sizeof id};
	do {
		otlp_batches_add(b, &s.seen);
		added++;
		otlp_batches_count(b, &waiting, &dropped);
	} while (!dropped && added < 1000000);
	assert_int_equal(waiting + dropped, added);
	assert_true(waiting * (int64_t)(5 * OTLP_TEXT) > (int64_t)OTLP_QUEUE_BYTES / 2);
	assert_true(waiting * (int64_t)(4 * OTLP_TEXT) <= (int64_t)(OTLP_QUEUE_BYTES + OTLP_BATCH_BYTES));
	while (otlp_batches_take(b, true, &request))
		taken += spans_of(&request);
	assert_int_equal(taken, waiting);
	otlp_batches_free(b);
	sample_release(&s);
}

static void *take_all(void *data)
{
	struct push_request request;
	int64_t *taken = ((void **)data)[1];
	while (*taken < 40 * OTLP_BATCH)
		if (otlp_batches_take(((void **)data)[0], false, &request))
			*taken += spans_of(&request);
	return NULL;
}

/* Another thread takes them: no span is lost, though there are more than the queue holds. */
static void a_complete_run_waits(void **state)
{
	struct otlp_batches *b = otlp_batches_new();
	struct sample s;
	int64_t waiting, dropped, taken = 0;
	void *data[] = {b, &taken};
	char id[OTLP_TEXT + 3];
	pthread_t thread;
	(void)state;
	batches_begin(b, &s, false);
	memset(id, 'x', sizeof id);
	id[0] = id[sizeof id - 1] = '"';
	s.row.id = s.row.session = s.row.model = (struct slice){id, sizeof id};
	assert_int_equal(pthread_create(&thread, NULL, take_all, data), 0);
	for (int i = 0; i < 41 * OTLP_BATCH; i++)
		otlp_batches_add(b, &s.seen);
	pthread_join(thread, NULL);
	otlp_batches_count(b, &waiting, &dropped);
	assert_int_equal(dropped, 0);
	assert_int_equal(taken + waiting, 41 * OTLP_BATCH);
	otlp_batches_free(b);
	sample_release(&s);
}

/* ---- answers ---- */

static void answers_are_read(void **state)
{
	static const char partial[] = "\x0a\x07\x08\x03\x12\x03why", warning[] = "\x0a\x05\x12\x03why",
					  negative[] = "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
					  status[] = "\x08\x03\x12\x03why";
	(void)state;
	struct otlp_partial_success p = otlp_partial_success((struct slice){partial, sizeof partial - 1});
	assert_int_equal(p.rejected, 3);
	assert_true(slice_is(p.message, "why"));
	p = otlp_partial_success((struct slice){warning, sizeof warning - 1});
	assert_int_equal(p.rejected, 0);
	assert_true(slice_is(p.message, "why"));
	assert_int_equal(otlp_partial_success((struct slice){negative, sizeof negative - 1}).rejected, 0);
	for (size_t len = 0; len < sizeof partial - 1; len++) /* cut */
		assert_int_equal(otlp_partial_success((struct slice){partial, len}).rejected, 0);
	assert_true(slice_is(otlp_status_message((struct slice){status, sizeof status - 1}), "why"));
	assert_null(otlp_status_message(slice_of("not found")).data);
	assert_null(otlp_status_message((struct slice){0}).data);
}

static void urls_are_completed(void **state)
{
	static const struct {
		const char *url, *expected;
	} cases[] = {{"http://h:4318", "http://h:4318/v1/traces"},
	             {"https://h/", "https://h/v1/traces"},
	             {"http://h?a=b", "http://h/v1/traces?a=b"},
	             {"http://[::1]:4318/otlp/v1/traces", "http://[::1]:4318/otlp/v1/traces"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct push_target target;
		struct ipf_error err = {0};
		struct buffer url = {0};
		assert_int_equal(push_target_parse_otlp(cases[i].url, &target, &err), 0);
		push_target_url(&target, NULL, 0, &url);
		assert_string_equal(url.data, cases[i].expected);
		buffer_release(&url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_values_have_no_attribute),
		cmocka_unit_test(texts_are_decoded_and_cut),
		cmocka_unit_test(unknown_values_are_absent),
		cmocka_unit_test(apis_have_the_conventions_names),
		cmocka_unit_test(only_what_the_client_said_is_a_status),
		cmocka_unit_test(times_that_cannot_be_have_no_span),
		cmocka_unit_test(batches_are_whole),
		cmocka_unit_test(a_live_run_drops_the_oldest),
		cmocka_unit_test(a_complete_run_waits),
		cmocka_unit_test(answers_are_read),
		cmocka_unit_test(urls_are_completed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
