/* Transcriptions, as OpenAI's API and vLLM have them. No engine computes them: one takes --audio-base, and
 * --audio-factor times the length of its audio, however many are in flight, so the right measurement is known. Its text
 * has a word for each quarter of a second.
 */
#ifndef SIM_AUDIO_H
#define SIM_AUDIO_H

#include "server.h"

/* Answers a request whose path is one of these APIs'. false: it is another path. */
bool audio_answer(struct conn *conn);
/* Whether this is such a path. */
bool audio_has_path(struct slice path);

#endif
