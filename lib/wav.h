/* The head of a WAV file: where its samples are, and how many bytes of them a second has. */
#ifndef IPF_WAV_H
#define IPF_WAV_H

#include "buffer.h"

#include <stdint.h>

struct wav {
	int64_t begin, bytes; /* the samples' */
	int64_t bytes_per_s;  /* above 0 */
};

/* `size` is the whole file's, of which `head` may be the beginning. A length that is not known yet when it is written
 * is 0 or all ones: then the samples are the rest of the file. false: it is no WAV file, or its head is incomplete. */
bool wav_read(struct slice head, int64_t size, struct wav *wav);

#endif
