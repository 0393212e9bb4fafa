/* Speech of a text, as OpenAI's API has it: WAV whose header does not know its length, or samples alone, 24,000 a
 * second. A byte of the text is 60 ms of audio, which comes in pieces of 100 ms, evenly spread over --audio-factor
 * times its length, after --audio-base; mode `stall` pauses in it, so the right measurement is known.
 */
#ifndef SIM_SPEECH_H
#define SIM_SPEECH_H

#include "server.h"

#define SPEECH_PATH "/v1/audio/speech"

/* Answers a request of this path. false: it is another path. */
bool speech_answer(struct conn *conn);

#endif
