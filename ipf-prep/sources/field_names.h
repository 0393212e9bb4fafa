/* The possible fields of a request in data: one table for descriptions of formats, --field, help and the manual. */
#ifndef PREP_FIELD_NAMES_H
#define PREP_FIELD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, its meaning; the plain ones are offered by --field in this order */
#define EACH_FIELD(F)                                                                                                                   \
	F(PROMPT, "prompt", "the prompt: a text, or a list of texts, one a line.")                                                          \
	F(CONTEXT, "context", "a text before the prompt, after which comes an empty line.")                                                 \
	F(MESSAGES, "messages",                                                                                                             \
	  "the prompt as messages of the chat API, or a text with them, or with the prompt; if the last of several is the assistant's, it " \
	  "is the answer.")                                                                                                                 \
	F(SYSTEM, "system", "the system message.")                                                                                          \
	F(HISTORY, "history", "earlier exchanges: a list of [prompt, answer].")                                                             \
	F(OUTPUT, "output", "the answer: a text, or a list of texts, one a line.")                                                          \
	F(OUTPUT_TOKENS, "output_tokens", "the length of the answer, in tokens, if no answer is to be counted.")                            \
	F(INPUT_TOKENS, "input_tokens", "the length of the prompt, in tokens; a record without text gets a prompt of it.")                  \
	F(TOOLS, "tools", "tools as the chat API takes them, bare functions, or a text with a list of them.")                               \
	F(RESPONSE_FORMAT, "response_format", "the response_format of the chat API.")                                                       \
	F(PARAMETERS, "parameters",                                                                                                         \
	  "an object with members of a body: most tokens of the answer, model, tools, sampling parameters.")                                \
	F(IMAGE, "image",                                                                                                                   \
	  "an image or a list: a URL, the path of a file beside the data, base64, or an object with `url`, `path` or `bytes`.")             \
	F(AUDIO, "audio", "the same for audio; without a prompt, a recording to be transcribed.")                                           \
	F(VIDEO, "video", "the same for video.")                                                                                            \
	F(MODEL, "model", "the model to request.")                                                                                          \
	F(ID, "id", "the id of the request; each occurs once.")                                                                             \
	F(SESSION, "session",                                                                                                               \
	  "the session: requests of equal session are its turns, in the order of their arrivals; null or an empty text is none.")           \
	F(SLO, "slo", "objectives of the request: an object such as `{\"ttft\": \"500ms\"}`.")                                              \
	F(AT, "at", "the arrival: a date and time, or a number of seconds.")                                                                \
	F(WAIT, "wait", "seconds from the end of the previous turn to this one.")                                                           \
	F(WAIT_AFTER, "wait_after", "seconds from the end of this turn to the next one.")                                                   \
	F(END, "end", "the end; without an arrival, that less the duration is the arrival.")                                                \
	F(DURATION, "duration", "seconds from the arrival to the end.")                                                                     \
	F(RECORDED_TTFT, "recorded_ttft", "recorded seconds from the arrival to the first token.")                                          \
	F(RECORDED_E2E, "recorded_e2e",                                                                                                     \
	  "recorded seconds from the arrival to the end of the answer; if not mapped, the duration, or the end less the arrival.")          \
	F(FIRST_TOKEN, "first_token", "the recorded time of the first token: that less the arrival is `recorded_ttft`.")                    \
	F(STATUS, "status", "the HTTP status: 400 and above is a failed request, 499 (nginx) one left by the client.")                      \
	F(CANCELED, "canceled", "true or 1: the client left after the duration.")                                                           \
	F(COMPLETED, "completed", "\"\" (nginx): the client left after the duration.")                                                      \
	F(REQUEST, "request", "the body of the request as it was posted: an object, or a text with one.")                                   \
	F(RESPONSE, "response", "the body of its response: the same, or a text of server-sent events.")                                     \
	F(URL, "url", "the path to which the body was posted, which tells embeddings apart.")                                               \
	F(QUERY, "query", "the text for which documents are ranked.")                                                                       \
	F(DOCUMENTS, "documents", "the documents: texts, or objects with their text; all places with some are read.")                       \
	F(BLOCK_IDS, "block_ids", "an id for each block of a prompt without text: equal ids are equal text.")                               \
	F(BLOCK_TOKENS, "block_tokens", "the tokens of a block; 512 if it is not known.")                                                   \
	F(IGNORE, "ignore", "a member neither wanted nor reported.")                                                                        \
	F(ROLE, "role", "who speaks in this turn.")                                                                                         \
	F(REFERENCES, "references", "a list of answers, one for each turn.")

#define FIELD_ID(id, name, meaning) FIELD_##id,
enum field { EACH_FIELD(FIELD_ID) FIELDS };
#undef FIELD_ID

#define FIELD_BIT(field) (UINT64_C(1) << (field))

/* A request needs one of these: its prompt, or its length. */
#define FIELDS_OF_PROMPTS                                                                                              \
	(FIELD_BIT(FIELD_PROMPT) | FIELD_BIT(FIELD_MESSAGES) | FIELD_BIT(FIELD_INPUT_TOKENS) | FIELD_BIT(FIELD_AUDIO) |    \
	 FIELD_BIT(FIELD_REQUEST) | FIELD_BIT(FIELD_QUERY))

const char *field_name_of(enum field field);
const char *field_meaning(enum field field);
/* Is it a time or a duration? Its name may end in a unit: at, at_s, at_ms, at_us, at_ns. */
bool field_is_time(enum field field);
/* Is it a duration? */
bool field_is_duration(enum field field);
/* The field of a name of this length, and the unit of a time; FIELDS: there is none. */
enum field field_of_name(const char *name, size_t len, int64_t *unit_ns);

#endif
