/* Answers that are audio, such as synthesised speech: where their samples begin and how long they play. */
#ifndef IPF_AUDIO_ANSWER_H
#define IPF_AUDIO_ANSWER_H

#include "buffer.h"

#include <stdint.h>

struct audio_answer {
	int64_t begin;       /* the bytes before the first sample */
	int64_t bytes_per_s; /* 0: not known; the rest does not count then */
	int64_t end;         /* where the samples end */
};

/* WAV, whose header may say the length is not known; or samples of 16 bits without a header at `pcm_rate` (0: no such
 * answer). */
struct audio_answer audio_answer_of(struct slice body, int64_t pcm_rate);

/* How long the samples before byte `at` of the body play. */
int64_t audio_answer_ns(const struct audio_answer *a, int64_t at);

/* Playback beginning with the first samples. It waits where the next ones are late.
 *
 *     struct audio_playback p = {0};
 *     audio_playback_add(&p, t_ns, heard_ns);   // for each read: its time, and the audio before it
 */
struct audio_playback {
	bool begun;
	int64_t from_ns;   /* when playback would have begun if it had never waited since */
	int64_t waited_ns; /* in all, after its begin */
};
void audio_playback_add(struct audio_playback *p, int64_t t_ns, int64_t heard_ns);

#endif
