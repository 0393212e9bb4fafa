#include "media/media_facts.h"
#include "media/media_options.h"
#include "media/media_store.h"

#include "absent.h"
#include "unit.h"

#include <stdlib.h>

#define BYTES(text_) ((struct slice){text_, sizeof(text_) - 1})

static void facts_are(struct slice head, const char *type, int64_t width, int64_t height)
{
	struct media_facts f = media_facts(head, (int64_t)head.len);
	assert_string_equal(f.type, type);
	assert_int_equal(f.width, width);
	assert_int_equal(f.height, height);
}

static void facts(void **state)
{
	(void)state;
	facts_are(BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\0\x05"), "image/png", 258, 5);
	facts_are(BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01"), "image/png", IPF_ABSENT, IPF_ABSENT);
	facts_are(BYTES("GIF89a\x07\0\x09\x01"), "image/gif", 7, 265);
	facts_are(BYTES("\xff\xd8\xff\xe0\0\x04zz\xff\xff\xc2\0\x0b\x08\0\x11\0\x13"), "image/jpeg", 19, 17);
	facts_are(BYTES("\xff\xd8\xff\xe0\xff\xff"), "image/jpeg", IPF_ABSENT, IPF_ABSENT);
	facts_are(BYTES("RIFF....WEBPVP8 .......\x9d\x01\x2a\x20\0\x10\0"), "image/webp", 32, 16);
	facts_are(BYTES("RIFF....WEBPVP8X....\0\0\0\0\x1f\0\0\x0f\0\0"), "image/webp", 32, 16);
	facts_are(BYTES("RIFF....WEBPVP8L....\x2f\x1f\xc0\x03\0....."), "image/webp", 32, 16);
	facts_are(BYTES("....ftypisom"), "video/mp4", IPF_ABSENT, IPF_ABSENT);
	assert_null(media_facts(BYTES("hello, world"), 12).type);
	assert_null(media_facts((struct slice){"", 0}, 0).type);
}

/* A second of 8 bytes, one whose length was not known when it was written, and a text that is no length. */
static void lengths(void **state)
{
	static const char head[] = "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x04\0\0\0\x08\0\0\0\x02\0\x10\0";
	struct buffer wav = {0};
	(void)state;
	buffer_append(&wav, head, sizeof head - 1);
	buffer_append(&wav, "data\x04\0\0\0", 8);
	assert_int_equal(media_facts(buffer_all(&wav), (int64_t)wav.len + 4).duration_ns, 500000000);
	wav.data[wav.len - 4] = wav.data[wav.len - 3] = wav.data[wav.len - 2] = wav.data[wav.len - 1] = '\xff';
	assert_int_equal(media_facts(buffer_all(&wav), (int64_t)wav.len + 16).duration_ns, 2000000000);
	memset(wav.data + 28, 0, 4);
	assert_int_equal(media_facts(buffer_all(&wav), (int64_t)wav.len + 16).duration_ns, IPF_ABSENT);
	buffer_release(&wav);
}

static void options(void **state)
{
	struct picture_options p;
	struct audio_options audio = {0};
	struct video_options video;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(parse_images("2x640x480", &p, &err), 0);
	assert_true(p.count == 2 && p.width == 640 && p.height == 480 && p.bytes == 300 + 640 * 480 / 4 && p.pool == 0);
	assert_int_equal(parse_images("1x16384x16384,bytes=700MB,pool=100000", &p, &err), 0);
	assert_true(p.bytes == 700000000 && p.pool == 100000);
	assert_int_equal(parse_audio("uniform:1s-2s,rate=8000", &audio, &err), 0);
	assert_true(audio.rate == 8000 && audio.length.min == 1000000000 && audio.length.max == 2000000000);
	assert_int_equal(parse_audio("normal:3s,1s,min=1s,pool=4", &audio, &err), 0);
	assert_true(audio.pool == 4 && audio.rate == 16000 && audio.length.min == 1000000000);
	distribution_release(&audio.length);
	assert_int_equal(parse_video("2500msx64x48", &video, &err), 0);
	assert_true(video.picture.count == 5 && video.fps == 2);
	static const char *const bad[] = {
		"0x1x1",        "1x0x5", "x1x1", "1001x1x1", "1x16385x1", "1x1x1x1", "1x4x4,bytes=1kB", "1x4x4,pool=100001",
		"1x4x4,size=3", ""};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ipf_error why = {0};
		assert_int_equal(parse_images(bad[i], &p, &why), -1);
		assert_int_equal(why.kind, IPF_USAGE);
	}
}

/* Marks stand alone in a string, or behind "base64,". */
static void marks(void **state)
{
	struct buffer text = {0};
	struct media_mark mark;
	(void)state;
	media_mark((struct media_range){28, 1234567890123}, &text);
	assert_string_equal(text.data, "{ipf-media:28+1234567890123}");
	const char *json = "[\"{ipf-media:1+2} said\",\"a{ipf-media:1+2}\",\"{ipf-media:1+}\",\"{ipf-media:+2}\","
					   "\"{ipf-media:1234567890123456789+1}\",\"data:;base64,{ipf-media:30+4}\"]";
	assert_true(media_next_mark(slice_of(json), 0, &mark));
	assert_true(mark.range.begin == 30 && mark.range.len == 4 && json[mark.end] == '"');
	assert_false(media_next_mark(slice_of(json), mark.end, &mark));
	assert_false(media_next_mark((struct slice){"", 0}, 0, &mark));
	buffer_release(&text);
}

/* Texts that look like marks are none, in JSON inside JSON either, and stay the same texts. */
static void hidden_marks(void **state)
{
	static const struct {
		const char *json, *hidden;
	} cases[] = {
		{"[\"{ipf-media:1+2}\"]", "[\"\\u007bipf-media:1+2}\"]"},
		{"[\"a,{ipf-media:1+2}\",\"{ipf-media:3+4}\"]", "[\"a,\\u007bipf-media:1+2}\",\"\\u007bipf-media:3+4}\"]"},
		{"[\"{ipf-media:1+2}\\nmore\"]", "[\"\\u007bipf-media:1+2}\\nmore\"]"},
		{"\"{\\\"a\\\":\\\"{ipf-media:1+2}\\\"}\"", "\"{\\\"a\\\":\\\"\\\\u007bipf-media:1+2}\\\"}\""},
		{"\"[\\\"b,{ipf-media:1+2}\\\"]\"", "\"[\\\"b,\\\\u007bipf-media:1+2}\\\"]\""},
		{"[\"{ipf-media:1+2} said\"]", "[\"{ipf-media:1+2} said\"]"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buffer text = {0};
		buffer_text(&text, cases[i].json);
		media_hide_marks(&text, 0);
		assert_string_equal(text.data, cases[i].hidden);
		assert_int_equal(text.len, strlen(cases[i].hidden));
		buffer_release(&text);
	}
	struct buffer text = {0};
	buffer_text(&text, "[\"{ipf-media:1+2}\",\"{ipf-media:3+4}\"]");
	media_hide_marks(&text, 18);
	assert_string_equal(text.data, "[\"{ipf-media:1+2}\",\"\\u007bipf-media:3+4}\"]");
	buffer_release(&text);
}

/* Without a media file, media in messages stay there, and are listed all the same. */
static void inline_media(void **state)
{
	static const char message[] =
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"image_"
		"url\",\"image_url\":{\"url\":\"data:image/gif;base64,R0lGODlhBwAJAA==\"}}]}";
	struct media_options none = {0};
	struct media_store store;
	struct ipf_error err = {0};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	(void)state;
	media_store_init(&store, &none, 1);
	media_store_begin(&store);
	assert_int_equal(media_store_message(&store, slice_of(message), &w, &err), 0);
	assert_string_equal(out.data, message);
	assert_true(slice_is(media_store_list(&store),
	                     "[{\"kind\":\"image\",\"type\":\"image/gif\",\"bytes\":10,\"width\":7,\"height\":9}]"));
	media_store_begin(&store);
	assert_null(media_store_list(&store).data);
	assert_int_equal(media_store_close(&store, &err), 0);
	buffer_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts), cmocka_unit_test(lengths),      cmocka_unit_test(options),
		cmocka_unit_test(marks), cmocka_unit_test(hidden_marks), cmocka_unit_test(inline_media),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
