/* Makes images (PNG), recordings (WAV, 16-bit, one channel) and films (AVI of PNG frames) for decoders. They show noise
 * above a plain colour, enough of it for the wanted size, and tones; equal generators make equal bytes on every
 * machine.
 */
#ifndef PREP_SYNTHETIC_MEDIA_H
#define PREP_SYNTHETIC_MEDIA_H

#include "buffer.h"
#include "media/media_options.h"

/* Each appends to `out`, whose `failed` reports a lack of memory. */
void synthetic_image(struct rng *rng, const struct picture_options *p, struct buffer *out);
void synthetic_audio(struct rng *rng, int64_t length_ns, int64_t rate, struct buffer *out);
void synthetic_video(struct rng *rng, const struct video_options *v, struct buffer *out);

#endif
