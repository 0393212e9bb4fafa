/* Key logs: well-formed and malformed lines, and files growing while they are read. */
#include "tls_capture.h"

#define RANDOM_A "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
#define RANDOM_B "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define HEX_32   "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
#define HEX_48   HEX_32 "2122232425262728292a2b2c2d2e2f30"

static const uint8_t random_a[TLS_RANDOM_SIZE] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa,
                                                  0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55,
                                                  0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

static bool has(struct tls_keys *keys, enum tls_label label, size_t len, uint8_t first)
{
	uint8_t secret[TLS_SECRET_MOST] = {0};
	return tls_keys_find(keys, label, random_a, secret, len) && secret[0] == first && secret[len - 1] != 0;
}

static void secrets_are_found_by_label_and_random(void **state)
{
	(void)state;
	struct tls_keys *keys = keys_of("# SSL/TLS secrets log file\n"
	                                "CLIENT_RANDOM " RANDOM_A " " HEX_48 "\n"
	                                "CLIENT_EARLY_TRAFFIC_SECRET " RANDOM_A " 02" HEX_32 "\n" /* malformed */
	                                "\r\n"
	                                "SERVER_TRAFFIC_SECRET_0 " RANDOM_A " " HEX_32 "\r\n"
	                                "CLIENT_TRAFFIC_SECRET_0 " RANDOM_B " " HEX_32 "\n");
	const struct tls_keys_count count = tls_keys_count(keys);
	assert_true(has(keys, TLS_MASTER, 48, 1) && has(keys, TLS_SERVER_TRAFFIC, 32, 1));
	assert_false(has(keys, TLS_CLIENT_TRAFFIC, 32, 1) || has(keys, TLS_CLIENT_EARLY, 32, 1));
	assert_false(has(keys, TLS_SERVER_TRAFFIC, 48, 1)); /* a suite with SHA-384 needs 48 bytes */
	assert_true(count.secrets == 3 && count.malformed == 1 && count.others == 0 && count.left_out == 0);
	keys_close(keys);
}

static void malformed_lines_are_counted_and_skipped(void **state)
{
	(void)state;
	struct buffer text = {0};
	buffer_text(&text, "CLIENT_RANDOM\n"
	                   "CLIENT_RANDOM " RANDOM_A "\n"
	                   "CLIENT_RANDOM " RANDOM_A " " HEX_32 "\n"
	                   "CLIENT_RANDOM " RANDOM_A "00 " HEX_48 "\n"
	                   "CLIENT_RANDOM " RANDOM_A " " HEX_48 " more\n"
	                   "CLIENT_TRAFFIC_SECRET_0 " RANDOM_A " 0g" HEX_32 "\n"
	                   "CLIENT_TRAFFIC_SECRET_0 g" HEX_32 " " HEX_32 "\n");
	for (int i = 0; i < 2000; i++)
		buffer_byte(&text, 'x');
	buffer_text(&text, "\nEXPORTER_SECRET " RANDOM_A " " HEX_32 "\n"
	                   "RSA 0011223344556677 " HEX_48 "\n"
	                   "SERVER_HANDSHAKE_TRAFFIC_SECRET " RANDOM_A " " HEX_32);
	struct tls_keys *keys = keys_of(text.data);
	const struct tls_keys_count count = tls_keys_count(keys);
	assert_true(count.malformed == 8 && count.others == 2 && count.secrets == 1);
	assert_true(has(keys, TLS_SERVER_HANDSHAKE, 32, 1)); /* without a newline */
	keys_close(keys);
	buffer_release(&text);
}

static void the_last_secret_of_a_random_counts(void **state)
{
	(void)state;
	struct tls_keys *keys = keys_of("CLIENT_TRAFFIC_SECRET_0 " RANDOM_A " " HEX_32 "\n"
	                                "CLIENT_TRAFFIC_SECRET_0 " RANDOM_A " ff" HEX_32 "\n" /* malformed */
	                                "CLIENT_TRAFFIC_SECRET_0 " RANDOM_A " " RANDOM_B "\n");
	assert_true(has(keys, TLS_CLIENT_TRAFFIC, 32, 0xff));
	assert_int_equal(tls_keys_count(keys).secrets, 1);
	keys_close(keys);
}

static void lines_appended_in_any_pieces_are_found_once_complete(void **state)
{
	(void)state;
	static const char line[] = "CLIENT_TRAFFIC_SECRET_0 " RANDOM_A " " HEX_48 "\n";
	struct key_log log;
	key_log_open(&log);
	struct tls_keys *keys = key_log_read(&log);
	for (size_t i = 0; i < sizeof line - 1; i++) {
		const char byte[2] = {line[i], '\0'};
		assert_false(has(keys, TLS_CLIENT_TRAFFIC, 48, 1));
		key_log_add(&log, byte);
		has(keys, TLS_CLIENT_TRAFFIC, 32, 1);
		if (i + 2 == sizeof line - 1) /* all but the newline */
			break;
	}
	assert_true(has(keys, TLS_CLIENT_TRAFFIC, 48, 1));
	key_log_add(&log, "\nSERVER_TRAFFIC_SECRET_0 " RANDOM_A " " HEX_32 "\n");
	assert_true(has(keys, TLS_SERVER_TRAFFIC, 32, 1));
	assert_int_equal(tls_keys_count(keys).secrets, 2);
	keys_close(keys);
	close(log.fd);
}

static void many_secrets_are_kept_up_to_the_limit(void **state)
{
	(void)state;
	enum { MORE = 100 };
	struct key_log log;
	struct buffer text = {0};
	uint8_t random[TLS_RANDOM_SIZE] = {0}, secret[TLS_SECRET_MOST];
	key_log_open(&log);
	for (int i = 0; i < TLS_KEYS_MOST + MORE; i++)
		buffer_format(&text, "CLIENT_TRAFFIC_SECRET_0 %08x%.56s %08x%.56s\n", (unsigned)i, &RANDOM_A[8], (unsigned)i,
		              HEX_32);
	key_log_add(&log, text.data);
	buffer_release(&text);
	struct tls_keys *keys = key_log_read(&log);
	close(log.fd);
	assert_int_equal(tls_keys_count(keys).secrets, TLS_KEYS_MOST);
	assert_int_equal(tls_keys_count(keys).left_out, MORE);
	memcpy(random, random_a, sizeof random);
	for (int i = 0; i < TLS_KEYS_MOST; i += 777) {
		for (int b = 0; b < 4; b++)
			random[b] = (uint8_t)(i >> (24 - 8 * b));
		assert_true(tls_keys_find(keys, TLS_CLIENT_TRAFFIC, random, secret, 32));
		assert_memory_equal(secret, random, 4);
	}
	keys_close(keys);
}

static void a_file_that_cannot_be_read_is_refused_with_its_name(void **state)
{
	(void)state;
	struct tls_keys *keys;
	struct ipf_error err = {0};
	assert_int_equal(tls_keys_open(&keys, "absent/keys.log", &err), -1);
	assert_true(!keys && err.kind == IPF_SYSTEM && strcmp(err.file, "absent/keys.log") == 0);
	ipf_error_clear(&err);
	assert_int_equal(tls_keys_open(&keys, "/", &err), -1);
	assert_true(!keys && err.kind == IPF_SYSTEM && strstr(err.text, "cannot read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_found_by_label_and_random),
		cmocka_unit_test(malformed_lines_are_counted_and_skipped),
		cmocka_unit_test(the_last_secret_of_a_random_counts),
		cmocka_unit_test(lines_appended_in_any_pieces_are_found_once_complete),
		cmocka_unit_test(many_secrets_are_kept_up_to_the_limit),
		cmocka_unit_test(a_file_that_cannot_be_read_is_refused_with_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
