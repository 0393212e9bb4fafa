#include "api/form.h"

#include "unit.h"

#include <string.h>

#define LINE "--" FORM_BOUNDARY
#define NAME "\r\nContent-Disposition: form-data; name="
#define END  LINE "--\r\n"

static void forms(void **state)
{
	static const struct {
		const char *json, *form;
	} cases[] = {
		{"{}", END},
		{"{\"a\":\"text \\\"\\u00e4\\n\",\"b\":1.50,\"c\":true,\"d\":null}",
	     LINE NAME "\"a\"\r\n\r\ntext \"\xc3\xa4\n\r\n" LINE NAME "\"b\"\r\n\r\n1.50\r\n" LINE NAME
	               "\"c\"\r\n\r\ntrue\r\n" LINE NAME "\"d\"\r\n\r\nnull\r\n" END},
		{"{\"l[]\":[\"x\",2],\"m\":{\"n\":[]}}",
	     LINE NAME "\"l[]\"\r\n\r\nx\r\n" LINE NAME "\"l[]\"\r\n\r\n2\r\n" LINE NAME "\"m\"\r\n\r\n{\"n\":[]}\r\n" END},
		{"{\"q\\\"\\r\\n\":\"\"}", LINE NAME "\"q%22%0D%0A\"\r\n\r\n\r\n" END},
		{"{\"f\":{\"media_type\":\"audio/mpeg\",\"data\":\"QUJD\"}}",
	     LINE NAME "\"f\"; filename=\"audio.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\nABC\r\n" END},
		{"{\"f\":{\"media_type\":\"audio/ogg; codecs=opus\",\"data\":\"{ipf-media:28+4}\"}}",
	     LINE NAME "\"f\"; filename=\"audio.ogg\"\r\nContent-Type: audio/ogg\r\n\r\n{ipf-media:28+4}\r\n" END},
		{"{\"f\":{\"media_type\":\"image/png\",\"data\":\"\"}}",
	     LINE NAME "\"f\"; filename=\"image.png\"\r\nContent-Type: image/png\r\n\r\n\r\n" END},
	};
	struct jdoc doc = {0};
	struct buffer body = {0};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		buffer_clear(&body);
		assert_int_equal(form_write(&doc, slice_of(cases[i].json), &body, &err), 0);
		assert_string_equal(body.data, cases[i].form);
	}
	buffer_release(&body);
	jdoc_release(&doc);
}

static void refused(void **state)
{
	static const struct {
		const char *json, *why;
	} cases[] = {
		{"{\"f\":{\"media_type\":\"audio/wav\",\"data\":\"!\"}}", "the data of a file are not base64"},
		{"{\"f\":{\"media_type\":\"audio/wav\",\"data\":\"{ipf-media:28+x}\"}}", "the data of a file are not base64"},
		{"{\"f\":{\"media_type\":\"audio\",\"data\":\"\"}}", "expected a media type such as audio/wav, got \"audio\""},
		{"{\"f\":{\"media_type\":\"a/b\\r\\nX\",\"data\":\"\"}}", "expected a media type"},
		{"{\"f\":{\"media_type\":\"/b\",\"data\":\"\"}}", "expected a media type"},
		{"{\"f\":{\"media_type\":\"\",\"data\":\"\"}}", "expected a media type"},
		{"{\"a\":\"x\\r\\n" LINE "\"}", "contains its boundary"},
		{"{\"a\":[{\"b\":\"" LINE "\"}]}", "contains its boundary"},
	};
	struct jdoc doc = {0};
	struct buffer body = {0};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		assert_int_equal(form_write(&doc, slice_of(cases[i].json), &body, &err), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_non_null(strstr(err.text, cases[i].why));
	}
	buffer_release(&body);
	jdoc_release(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
