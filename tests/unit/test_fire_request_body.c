#include "job/request_body.h"

#include "unit.h"
#include "unnamed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAD MEDIA_FILE_HEAD "0123456789QQ==QUJDREU=Q===Q!=="

static struct request_media open_media(void)
{
	struct ipf_error err = {0};
	struct request_media media = {.fd = unnamed_file_open(&err), .bytes = sizeof HEAD - 1};
	assert_true(media.fd >= 0 && write(media.fd, HEAD, sizeof HEAD - 1) == sizeof HEAD - 1);
	return media;
}

static struct request_body attached(const char *text, const struct request_media *media)
{
	struct request_body body = {0};
	struct ipf_error err = {0};
	buffer_text(&body.text, text);
	assert_int_equal(request_body_attach(&body, media, &err), 0);
	return body;
}

/* The bytes sent, in steps of `step` bytes, each read twice as after a write taking nothing. */
static void sends(const struct request_body *body, size_t step, const char *expected)
{
	struct unsent left = request_body_unsent(body);
	struct buffer all = {0};
	char piece[64], again[64];
	assert_int_equal(unsent_len(&left), strlen(expected));
	assert_int_equal(request_body_len(body), strlen(expected));
	while (unsent_len(&left)) {
		ssize_t n = unsent_read(&left, piece, step);
		assert_true(n > 0 && unsent_read(&left, again, step) == n && memcmp(piece, again, (size_t)n) == 0);
		buffer_append(&all, piece, (size_t)n);
		unsent_advance(&left, (size_t)n);
	}
	assert_int_equal(unsent_read(&left, piece, step), 0);
	assert_string_equal(all.data, expected);
	buffer_release(&all);
}

static void pieces(void **state)
{
	static const struct {
		const char *text, *sent;
	} cases[] = {
		{"[\"{ipf-media:28+3}\"]", "[\"012\"]"},
		{"\"{ipf-media:28+10}\"\"{ipf-media:37+1}\"", "\"0123456789\"\"9\""},
		{"{\"u\":\"data:x;base64,{ipf-media:30+2}\",\"t\":\"{ipf-media:29+0}\"}",
	     "{\"u\":\"data:x;base64,23\",\"t\":\"\"}"},
		{"\"\\\"{ipf-media:32+2}\\\"\"", "\"\\\"45\\\"\""},
		{"\"{ipf-media:32+2} \"", "\"{ipf-media:32+2} \""},
		{"\r\n\r\n{ipf-media:28+8}\r\n--", "\r\n\r\n\xd3\x5d\xb7\xe3\x9e\xbb\r\n--"}, /* decoded */
		{"\n{ipf-media:38+4}\r\"{ipf-media:28+2}\"\n{ipf-media:42+8}\r", "\nA\r\"01\"\nABCDE\r"},
		{"\n{ipf-media:28+8}\n", "\n{ipf-media:28+8}\n"},
		{"no marks", "no marks"},
	};
	struct request_media media = open_media();
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct request_body body = attached(cases[i].text, &media);
		for (size_t step = 1; step < 64; step++)
			sends(&body, step, cases[i].sent);
		request_body_clear(&body);
		assert_int_equal(request_body_len(&body), 0);
		request_body_release(&body);
	}
	close(media.fd);
}

static void refused(const char *text, const struct request_media *media, const char *why)
{
	struct request_body body = {0};
	struct ipf_error err = {0}, same = {0};
	buffer_text(&body.text, text);
	assert_int_equal(request_body_check(slice_of(text), media, &same), -1);
	assert_int_equal(request_body_attach(&body, media, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_non_null(strstr(err.text, why));
	assert_string_equal(err.text, same.text);
	request_body_release(&body);
}

static void wrong_marks(void **state)
{
	struct request_media media = open_media(), none = {.fd = -1};
	(void)state;
	refused("\"{ipf-media:28+3}\"", &none, "no media file");
	refused("\"{ipf-media:27+3}\"", &media, "names bytes 27 to 30");
	refused("\"{ipf-media:57+2}\"", &media, "names bytes 57 to 59 of the media file, which has 58");
	refused("\"{ipf-media:999999999999999999+999999999999999999}\"", &media, "does it belong to the trace?");
	close(media.fd);
}

/* A part to be decoded is not base64: by its end, or only when it is read. */
static void media_that_are_not_base64_are_refused(void **state)
{
	static const char *const wrong[] = {"\n{ipf-media:28+3}\r", "\n{ipf-media:50+4}\r", "\n{ipf-media:49+4}\r"};
	struct request_media media = open_media();
	struct ipf_error err = {0};
	char piece[64];
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct request_body body = {0};
		buffer_text(&body.text, wrong[i]);
		int result = request_body_attach(&body, &media, &err);
		if (result == 0) {
			struct unsent left = request_body_unsent(&body);
			assert_int_equal(unsent_read(&left, piece, sizeof piece), -1);
			assert_int_equal(errno, EIO);
		} else {
			assert_non_null(strstr(err.text, "are not base64"));
		}
		err = (struct ipf_error){0};
		request_body_release(&body);
	}
	close(media.fd);
}

/* The file has become shorter. */
static void short_file(void **state)
{
	struct request_media media = open_media();
	struct request_body body = attached("\"{ipf-media:28+10}\"", &media);
	struct unsent left = request_body_unsent(&body);
	struct ipf_error err = {0};
	char piece[64];
	(void)state;
	assert_int_equal(ftruncate(media.fd, 32), 0);
	assert_int_equal(unsent_read(&left, piece, 3), 3);
	assert_int_equal(unsent_read(&left, piece, sizeof piece), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(request_body_hash(&body, &err), -1);
	request_body_release(&body);
	close(media.fd);
}

static void hash(void **state)
{
	struct request_media media = open_media();
	struct request_body body = attached("\"{ipf-media:28+3}\"", &media), plain = attached("x", &media);
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(request_body_hash(&body, &err), 0);
	/* printf '"012"' | sha256sum */
	assert_string_equal(request_body_sha256(&body), "6f01767959419e6534c08104dcc7b1b7ab0a4faedf21cef817a3b9fc6f7b643b");
	assert_int_equal(request_body_hash(&plain, &err), 0);
	assert_null(request_body_sha256(&plain));
	request_body_release(&body);
	request_body_release(&plain);
	close(media.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pieces), cmocka_unit_test(wrong_marks),
	                                   cmocka_unit_test(media_that_are_not_base64_are_refused),
	                                   cmocka_unit_test(short_file), cmocka_unit_test(hash)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
