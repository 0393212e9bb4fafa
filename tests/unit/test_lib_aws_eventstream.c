#include "api/envelope.h"
#include "api/aws_eventstream.h"
#include "unit.h"

/* {"contentBlockIndex": 1, "delta": {"text": "I"}} as an event named contentBlockDelta, its checksums by zlib's crc32.
 */
static const char delta[] =
	"0000007600000036dc0a5f9f0d3a6d6573736167652d747970650700056576656e740b3a6576656e742d74797065070011636f6e74656e74426c6f63"
	"6b44656c74617b22636f6e74656e74426c6f636b496e646578223a20312c202264656c7461223a207b2274657874223a202249227d7d4d23538a";

static char body[1000];

static size_t unhex(const char *hex)
{
	size_t len = strlen(hex) / 2;
	for (size_t i = 0; i < len; i++)
		sscanf(hex + 2 * i, "%2hhx", (unsigned char *)&body[i]);
	return len;
}

static void a_message_is_read(void **state)
{
	struct aws_eventstream_message m;
	size_t len = unhex(delta), at = 0;
	(void)state;
	assert_int_equal(aws_eventstream_crc("123456789", 9), 0xcbf43926);
	assert_int_equal(aws_eventstream_next((struct slice){body, len}, &at, &m), 1);
	assert_true(slice_is(m.type, "event"));
	assert_true(slice_is(m.name, "contentBlockDelta"));
	assert_true(slice_is(m.payload, "{\"contentBlockIndex\": 1, \"delta\": {\"text\": \"I\"}}"));
	assert_int_equal(at, len);
	assert_int_equal(aws_eventstream_next((struct slice){body, len}, &at, &m), 0);
	/* no part of it gives a message */
	for (size_t part = 0; part < len; part++) {
		char *exact = malloc(part ? part : 1);
		memcpy(exact, body, part);
		at = 0;
		assert_int_equal(aws_eventstream_next((struct slice){exact, part}, &at, &m), 0);
		assert_int_equal(at, 0);
		free(exact);
	}
	/* nor where any bit is another */
	for (size_t i = 0; i < len; i++) {
		body[i] ^= 16;
		at = 0;
		assert_int_equal(aws_eventstream_next((struct slice){body, len}, &at, &m), -1);
		body[i] ^= 16;
	}
}

static void contents_keep_their_places(void **state)
{
	struct envelope e = {0};
	struct ipf_error err = {0};
	size_t len = unhex(delta), payload = strlen("{\"contentBlockIndex\": 1, \"delta\": {\"text\": \"I\"}}");
	(void)state;
	memcpy(body + len, body, len);
	assert_int_equal(envelope_open(&e, (struct slice){body, 2 * len}, &err), 0);
	assert_int_equal(e.payload.len, 2 * payload);
	assert_int_equal(envelope_end(&e, 1), len);
	assert_int_equal(envelope_end(&e, payload), len);
	assert_int_equal(envelope_end(&e, payload + 1), 2 * len);
	envelope_rewind(&e);
	assert_int_equal(envelope_end(&e, payload), len);
	assert_false(e.truncated || e.broken || e.error.len);
	assert_int_equal(envelope_open(&e, (struct slice){body, 2 * len - 1}, &err), 0);
	assert_true(e.truncated && !e.broken && e.payload.len == payload);
	body[len + 20] ^= 1;
	assert_int_equal(envelope_open(&e, (struct slice){body, 2 * len}, &err), 0);
	assert_true(e.broken && !e.truncated && e.payload.len == payload);
	assert_int_equal(envelope_open(&e, slice_of(""), &err), 0);
	assert_true(!e.broken && !e.truncated && e.payload.len == 0);
	envelope_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_read),
		cmocka_unit_test(contents_keep_their_places),
	};
	return cmocka_run_group_tests_name("lib/aws_eventstream", tests, NULL, NULL);
}
