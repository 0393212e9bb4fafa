/* Errors that travel as values.
 *
 * Nothing in lib/ prints or exits. A function that can fail takes a `struct ipf_error *` as its last argument, fills it
 * and returns -1 (readers: 1 a line, 0 the end, -1 an error). The program prints one line and ends with the matching
 * exit status:
 *
 *     struct ipf_error err = {0};
 *     if (trace_reader_open(&reader, path, &err) < 0)
 *         return ipf_error_report(&err, stderr, "ipf-sched");
 *
 * A text is lower case, has no full stop and contains the offending value: `output_tokens: expected an integer, got
 * "many"`. Control characters are escaped (safe_text.h), and a text too long ends in "…": a text can be printed or
 * passed on as it is.
 *
 * URLs in a text and in the name of a file lose their secrets (redact.h).
 *
 * The first error wins: setting an error already set changes nothing, so a failure during cleanup (closing a file that
 * could not be written) never hides the cause.
 */
#ifndef IPF_ERROR_H
#define IPF_ERROR_H

#include "ipf/values.h" /* struct ipf_error and its kinds, which libipf has too */

#include <stdio.h>

/* Fills err unless it is already filled; returns -1, so a caller can `return ipf_error_set(…)`. */
int ipf_error_set(struct ipf_error *err, enum ipf_error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with a place: a file (NULL: none; name a standard stream "standard input") and a line (0: none). */
int ipf_error_at(struct ipf_error *err, enum ipf_error_kind kind, const char *file, int64_t line, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));

/* The same for a failed system call: appends ": " and strerror's text. The kind is IPF_SYSTEM, or IPF_CLOSED for
 * EPIPE. */
int ipf_error_errno(struct ipf_error *err, int errno_value, const char *file, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A possible reason for a refused system call, as "--sandbox may have refused it": follows the text of EPERM and
 * EACCES. NULL until the process has given up rights. */
extern const char *ipf_error_denied;

/* Out of memory: IPF_SYSTEM, "out of memory". Every error that is set after memory ran out (memory.h) says that. */
int ipf_error_memory(struct ipf_error *err);

/* Adds a place to an error that was set without one: a JSON reader knows the field, its caller the file and line. */
void ipf_error_place(struct ipf_error *err, const char *file, int64_t line);

/* Prints `prog: file:line: text` on `to`, or nothing for IPF_OK, IPF_CLOSED and IPF_UNFED; returns the exit status. For
 * programs: lib/ only calls it where options.h ends a program. If memory ran out and err does not say so, the status
 * is 1. */
int ipf_error_report(const struct ipf_error *err, FILE *to, const char *prog);

#endif
