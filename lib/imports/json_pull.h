/* Reads JSON of any size in order: files of other tools are one document with lists of a million requests, or many
 * documents one after another. Memory does not grow with the input.
 *
 *     struct json_pull p;
 *     json_pull_init(&p, input);                                  // opened with stream_reader_open_input
 *     while ((got = json_pull_document(&p, err)) == 1) {          // of JSON Lines, each line
 *         if (json_pull_enter(&p, JDOC_MAP, err) < 0) …
 *         while ((got = json_pull_member(&p, &key, err)) == 1)
 *             if (slice_is(key, "duration")) json_pull_number(&p, &seconds, err) …
 *             else json_pull_skip(&p, err) …                      // every value is read or skipped
 *     }
 *     json_pull_release(&p);
 *
 * Python's extensions of JSON are accepted: NaN, Infinity and -Infinity. Values skipped are only checked for brackets
 * and quotes that match, and their texts for the length of a stream's line (--max-line). Errors have the file, the line
 * and the member: `itls[3][17]: expected a number, got "x"`.
 */
#ifndef IPF_JSON_PULL_H
#define IPF_JSON_PULL_H

#include "json/jdoc.h"
#include "stream/stream.h"

enum {
	JSON_PULL_DEPTH = 512,
	JSON_PULL_KEY = 256,            /* longer keys are cut: none known is as long */
	JSON_PULL_PATH = 6,             /* messages have so much of the way to a member */
	JSON_PULL_VALUE_MOST = 16 << 20 /* bytes of a value kept whole */
};
#define JSON_PULL_NUMBER_MOST 1e30 /* the sums and squares of such numbers are finite, in any unit */

struct json_pull {
	struct stream_reader *input;
	const char *at, *end; /* bytes that were not consumed */
	int64_t line;
	char open[JSON_PULL_DEPTH]; /* the brackets that are open: { or [ */
	int depth;
	bool first; /* in the innermost one, nothing was read yet */
	struct {
		char key[64];  /* a map's */
		int64_t index; /* in a list */
	} path[JSON_PULL_PATH];
	char key[JSON_PULL_KEY];
	struct buffer token;
};

void json_pull_init(struct json_pull *p, struct stream_reader *input);
void json_pull_release(struct json_pull *p);

/* 1: another document begins; 0: the end of the input; -1. */
int json_pull_document(struct json_pull *p, struct ipf_error *err);
/* The type of the value at this place, by its first character; -1: it is none. */
int json_pull_type(struct json_pull *p, struct ipf_error *err); /* enum jdoc_type */
/* Steps into a map or a list; -1: the value is something else. */
int json_pull_enter(struct json_pull *p, enum jdoc_type type, struct ipf_error *err);
/* Inside a map: 1: a member, whose value comes next; the key is valid until the next call; 0: its end, which is then
 * behind; -1. */
int json_pull_member(struct json_pull *p, struct slice *key, struct ipf_error *err);
int json_pull_element(struct json_pull *p, struct ipf_error *err); /* the same inside a list */

int json_pull_skip(struct json_pull *p, struct ipf_error *err);
/* A number; null, NaN and the infinite ones are NAN. -1: another value, or more than JSON_PULL_NUMBER_MOST. */
int json_pull_number(struct json_pull *p, double *value, struct ipf_error *err);
/* Replaces `raw` by the value's JSON, with null for numbers that JSON does not have. -1: it is longer than
 * JSON_PULL_VALUE_MOST, or no JSON. */
int json_pull_value(struct json_pull *p, struct buffer *raw, struct ipf_error *err);

/* Sets an error with the place and the member. Returns -1. */
int json_pull_wrong(const struct json_pull *p, struct ipf_error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
