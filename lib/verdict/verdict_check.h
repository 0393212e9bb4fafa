/* The answer to one of the verdict's questions, built clause by clause: each clause adds to the sentence, the worst
 * status of them all is the check's, and the clauses that have it come first.
 *
 *     verdict_check_add(check, verdict_above(p95, 0.8, 0.95), "the sending thread used %s of a core", …);
 *     verdict_figure(check->figures, "cpu_p95", p95);
 */
#ifndef IPF_VERDICT_CHECK_H
#define IPF_VERDICT_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* UNKNOWN: cannot be judged, since the input lacks it. It is worse than OK and better than DOUBTFUL. NOT_APPLICABLE:
 * there is nothing to judge, as no client measured a predicted run. The run's status does not count it. */
enum verdict_status { VERDICT_OK, VERDICT_DOUBTFUL, VERDICT_INVALID, VERDICT_UNKNOWN, VERDICT_NOT_APPLICABLE };

struct verdict_check {
	const char *name; /* "load_delivered" */
	enum verdict_status status;
	char detail[768]; /* clauses separated by "; ", without a full stop */
	size_t deciding;  /* bytes of those with its status, if that is not OK: they come first */
	json_t *figures;  /* object; owned by the verdict */
};

/* Adds a clause, and raises the status if the clause's is worse. A clause without room is left out whole: the sentence
 * then ends with "…". */
__attribute__((format(printf, 3, 4))) void verdict_check_add(struct verdict_check *check, enum verdict_status status,
                                                             const char *format, ...);
/* The worse of the two. */
enum verdict_status verdict_worse(enum verdict_status a, enum verdict_status b);
/* INVALID above `invalid`, else DOUBTFUL above `doubtful`, else OK. */
enum verdict_status verdict_above(double value, double doubtful, double invalid);

/* Sets a figure of the object, rounded to six decimals (left out unless finite), or a count. False: out of memory. */
bool verdict_figure(json_t *to, const char *name, double value);
bool verdict_count(json_t *to, const char *name, int64_t value);

/* Values as text; they return `text`. */
const char *verdict_duration(double ms, char text[32]);
const char *verdict_percent(double share, char text[32]);
const char *verdict_number(int64_t n, char text[32]); /* "12,345" */
const char *verdict_plural(int64_t n);                /* "s", or "" for 1 */
/* verdict_number in a text that lives until the end of the block. */
#define VERDICT_NUMBER(n) verdict_number(n, (char[32]){0})

/* Is the time known and within 30 years? Then differences cannot overflow. */
static inline bool verdict_valid_time(int64_t ns)
{
	return ns >= -INT64_C(1000000000000000000) && ns <= INT64_C(1000000000000000000);
}

/* Is the count known and small enough that no sum overflows? */
static inline bool verdict_valid_count(int64_t count)
{
	return count >= 0 && count <= INT64_C(1000000000000);
}

#endif
