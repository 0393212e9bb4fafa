#include "api/audio_answer.h"

#include "clock.h"
#include "wav.h"

#include <string.h>

struct audio_answer audio_answer_of(struct slice body, int64_t pcm_rate)
{
	struct wav wav;
	const int64_t len = (int64_t)body.len;
	if (wav_read(body, len, &wav))
		return (struct audio_answer){wav.begin, wav.bytes_per_s, wav.begin + wav.bytes};
	bool headless = pcm_rate > 0 && (body.len < 4 || memcmp(body.data, "RIFF", 4) != 0);
	return (struct audio_answer){0, headless ? 2 * pcm_rate : 0, len};
}

int64_t audio_answer_ns(const struct audio_answer *a, int64_t at)
{
	int64_t bytes = (at < a->end ? at : a->end) - a->begin;
	if (bytes <= 0 || a->bytes_per_s <= 0)
		return 0;
	return bytes / a->bytes_per_s * NS_PER_S + bytes % a->bytes_per_s * NS_PER_S / a->bytes_per_s;
}

void audio_playback_add(struct audio_playback *p, int64_t t_ns, int64_t heard_ns)
{
	if (!p->begun) {
		p->begun = true;
		p->from_ns = t_ns;
	} else if (t_ns > p->from_ns + heard_ns) {
		p->waited_ns += t_ns - p->from_ns - heard_ns;
		p->from_ns = t_ns - heard_ns;
	}
}
