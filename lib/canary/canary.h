/* Canaries: requests with known answers, mixed into a workload to notice wrong answers of a server under load.
 *
 *     struct canary c = {0};
 *     canary_make(&c, CANARY_RECALL, &rng, 4000, &err);     // prompt and answer
 *     canary_tag(&c, &json);                                // {"kind":"recall","answer":"7KQ2MXB4TA9C"}
 *     …
 *     struct canary_expected expected = {0};
 *     if (canary_tag_read(&doc, tags, &expected))           // the tags of a request
 *         verdict = canary_judge(expected.kind, buffer_all(&expected.answer), answer);
 *
 * Every answer except that of arithmetic contains a mark (mark.h), which belongs to this canary only. An answer with
 * the mark of another canary shows that two requests were mixed up.
 *
 * A server is judged by fixed rules, never by another model.
 */
#ifndef IPF_CANARY_H
#define IPF_CANARY_H

#include "canary/mark.h"
#include "error.h"
#include "json/jdoc.h"

enum canary_kind {
	CANARY_COPY,       /* a mark to repeat */
	CANARY_RECALL,     /* a mark in the middle half of a long list of codes of other names */
	CANARY_ARITHMETIC, /* the sum of two numbers up to 99, or the product of two up to 12 */
	CANARY_JSON,       /* an object with given values */
	CANARY_LIST,       /* words to be written in the given order */
	CANARY_KINDS
};
extern const char *const canary_kind_names[CANARY_KINDS]; /* "copy", … */

struct canary {
	enum canary_kind kind;
	struct buffer prompt; /* a user's message */
	struct buffer answer;
	struct buffer example; /* a task of the same kind with its answer, for a completion; without a mark */
	bool decoys;           /* the codes are no marks */
};

/* The length of a line of a recall's list in most tokenizers, and limits of its length. */
enum { CANARY_LINE_TOKENS = 16, CANARY_LINES_LEAST = 8, CANARY_LINES_MOST = 4096 };

/* Makes a canary in *c, whose buffers are cleared first. `context_tokens` is the wanted length of a recall's prompt,
 * assuming CANARY_LINE_TOKENS; other kinds are short. The same generator makes the same canary. -1: out of memory. */
int canary_make(struct canary *c, enum canary_kind kind, struct rng *rng, int64_t context_tokens,
                struct ipf_error *err);
void canary_release(struct canary *c);

/* Appends the prompt for a completion of text: a solved example, without which base models rarely answer, and
 * "Q: …\nA:". The answer ends at the first line break. */
void canary_completion(const struct canary *c, struct buffer *prompt);

/* Solves the task of a prompt of canary_make() or canary_completion() from its text alone, and appends the answer. For
 * a simulated server. False: the prompt is none of these, and nothing was appended. */
bool canary_solve(struct slice prompt, struct buffer *answer);

/* ---- the mark of a request in a trace: the member "canary" of its tags ---- */

/* Appends the member's value, as JSON: {"kind":"copy","answer":"…"}. */
void canary_tag(const struct canary *c, struct buffer *json);

/* Do a request's tags, as JSON or absent, have this member? Cheap without it. The document is scratch. */
bool canary_is_tagged(struct slice tags, struct jdoc *scratch);

struct canary_expected {
	enum canary_kind kind;
	struct buffer answer;
};
/* Reads the member "canary" of a request's tags into *expected, which is cleared first. False: the tags are no map, or
 * have no member "canary" with a known kind and an answer. Out of memory shows in the buffer's `failed`. */
bool canary_tag_read(const struct jdoc *doc, jdoc_id tags, struct canary_expected *expected);
void canary_expected_release(struct canary_expected *expected);

/* ---- judging ---- */

enum canary_verdict { CANARY_RIGHT, CANARY_WRONG, CANARY_UNDECIDED };

/* Longer answers, and answers to longer expectations, are undecided. */
enum { CANARY_ANSWER_MOST = 16384 }; /* bytes */

/* Compares the answer of a server, without its reasoning, with the expected one. White space around an answer never
 * counts: spaces, tabs, line breaks.
 *
 *     copy, recall   the same bytes
 *     list           the same items in the same order; commas separate items, and white space around each is ignored
 *     arithmetic     the same number: an optional sign, digits, an optional fraction, an optional full stop at the end.
 *                    "12", "12.0", "+12" and "12." are equal; "1,200", "12e0" and "x = 12" are no numbers
 *     json           a JSON value that equals the expected one: members in any order, none missing, added or duplicate;
 *                    numbers by value. A Markdown fence around it is wrong
 *
 * An empty answer is wrong. The caller decides whether an answer is judged at all: one cut by the length limit is not.
 */
enum canary_verdict canary_judge(enum canary_kind kind, struct slice expected, struct slice answer);

/* The text without white space around it. */
struct slice canary_trim(struct slice text);

#endif
