#include "api/audio_answer.h"

#include "clock.h"
#include "unit.h"
#include "wav.h"

#include <string.h>

/* A head of 44 bytes: 8,000 samples a second, two bytes each. */
static struct slice wav_of(char *file, uint32_t data_bytes, size_t samples)
{
	static const char head[44] = "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data";
	memset(file, 7, 44 + samples);
	memcpy(file, head, 40);
	for (int i = 0; i < 4; i++)
		file[40 + i] = (char)(data_bytes >> 8 * i);
	return (struct slice){file, 44 + samples};
}

static void wav_files(void **state)
{
	char file[1000];
	struct wav wav;
	(void)state;
	static const struct {
		uint32_t said;
		size_t there;
		int64_t bytes;
	} cases[] = {{320, 320, 320}, {320, 500, 320}, {0, 160, 160}, {UINT32_MAX, 480, 480}, {640, 320, 320}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct slice body = wav_of(file, cases[i].said, cases[i].there);
		assert_true(wav_read(body, (int64_t)body.len, &wav));
		assert_int_equal(wav.begin, 44);
		assert_int_equal(wav.bytes, cases[i].bytes);
		assert_int_equal(wav.bytes_per_s, 16000);
		for (size_t len = 0; len < 44; len++)
			assert_false(wav_read((struct slice){file, len}, (int64_t)body.len, &wav));
		struct audio_answer a = audio_answer_of(body, 0);
		assert_int_equal(audio_answer_ns(&a, a.end), cases[i].bytes * NS_PER_S / 16000);
		assert_int_equal(audio_answer_ns(&a, 44), 0);
		assert_int_equal(audio_answer_ns(&a, 60), NS_PER_MS);
		assert_int_equal(audio_answer_ns(&a, 100000), audio_answer_ns(&a, a.end));
	}
	file[28] = file[29] = 0; /* no bytes a second */
	assert_false(wav_read((struct slice){file, sizeof file}, sizeof file, &wav));
}

static void other_audio(void **state)
{
	struct audio_answer a = audio_answer_of(slice_of("ID3something"), 0),
						pcm = audio_answer_of(slice_of("0123456789"), 1000),
						broken = audio_answer_of(slice_of("RIFF without a format"), 1000);
	(void)state;
	assert_int_equal(a.bytes_per_s, 0);
	assert_int_equal(audio_answer_ns(&a, 12), 0);
	assert_int_equal(audio_answer_ns(&pcm, 10), 5 * NS_PER_MS);
	assert_int_equal(broken.bytes_per_s, 0);
}

/* Waits, by hand, of 10 ms of audio each: until 15 there is the first, until 25 the second, which is 15 ms before the
 * third; that lasts until 50, 1 ms before the fourth. */
static void playback(void **state)
{
	static const int64_t ms[] = {5, 12, 40, 51, 55}, waited[] = {0, 0, 15, 16, 16};
	struct audio_playback p = {0};
	(void)state;
	for (int i = 0; i < 5; i++) {
		audio_playback_add(&p, ms[i] * NS_PER_MS, i * 10 * NS_PER_MS);
		assert_int_equal(p.waited_ns, waited[i] * NS_PER_MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(wav_files), cmocka_unit_test(other_audio),
	                                   cmocka_unit_test(playback)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
