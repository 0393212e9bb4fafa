/* Errors that travel as values.
 *
 * Nothing in lib/ prints or exits.  A function that can fail takes a `struct ipf_error *` as its last argument,
 * returns -1 (readers: 1 a line, 0 the end, -1 an error) and fills it.  The program prints one line and picks the exit
 * status:
 *
 *     struct ipf_error err = {0};
 *     if (trace_reader_open(&reader, path, &err) < 0)
 *         return ipf_error_report(&err, stderr, "ipf-sched");
 *
 * Texts are lower case, without a full stop, and carry the offending value: `output_tokens: expected an integer, got
 * "many"`.  The first error wins: setting one that is set already changes nothing, so that an error on the way out
 * (closing a file that could not be written) never hides its cause.
 */
#ifndef IPF_ERROR_H
#define IPF_ERROR_H

#include <stdint.h>
#include <stdio.h>

enum ipf_error_kind {
	IPF_OK = 0,
	IPF_SYSTEM,  /* I/O, memory, network set-up: exit status 1 */
	IPF_USAGE,   /* wrong command line: exit status 2 */
	IPF_INPUT,   /* input that does not make sense: exit status 3 */
	IPF_CUT,     /* a stream without its trailer: exit status 3 */
	IPF_INVALID, /* done, but the run is invalid (--strict): exit status 4 */
	IPF_CLOSED,  /* whoever read our output went away: say nothing, exit status 0 */
};

struct ipf_error {
	enum ipf_error_kind kind;
	int errno_value; /* 0 where no system call failed */
	int64_t line;    /* 1-based line of `file`; 0 where there is none */
	char file[256];  /* input or output concerned; "" where there is none */
	char text[768];
};

/* Fills err (unless it is filled) and returns -1, so that a caller can `return ipf_error_set(…)`. */
int ipf_error_set(struct ipf_error *err, enum ipf_error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with a place: file (NULL: none; "-" or a standard stream should be given as "standard input") and line. */
int ipf_error_at(struct ipf_error *err, enum ipf_error_kind kind, const char *file, int64_t line, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));

/* The same for a failed system call: kind is IPF_SYSTEM (IPF_CLOSED where errno_value is EPIPE); the text gets
 * ": strerror" appended. */
int ipf_error_errno(struct ipf_error *err, int errno_value, const char *file, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Out of memory: IPF_SYSTEM, "out of memory". */
int ipf_error_memory(struct ipf_error *err);

/* Adds a place to an error that was set without one (a JSON reader knows the field, its caller the file and line). */
void ipf_error_place(struct ipf_error *err, const char *file, int64_t line);

/* Forgets the error, so that the struct can be used again. */
void ipf_error_clear(struct ipf_error *err);

/* The exit status that the kind stands for (0 to 4). */
int ipf_error_status(const struct ipf_error *err);

/* Prints `prog: file:line: text` on `to` (nothing for IPF_OK and IPF_CLOSED) and
 * returns the exit status. For programs; nothing in lib/ calls it. */
int ipf_error_report(const struct ipf_error *err, FILE *to, const char *prog);

#endif
