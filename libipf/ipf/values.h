/* libipf: versions, absent values and errors. ipf(3) is the overview of the library.
 *
 *     struct ipf_error err = {0};
 *     char text[IPF_ERROR_TEXT];
 *     if (ipf_reader_open(&reader, "run.results.zst", NULL, &err) < 0)
 *         fprintf(stderr, "%s\n", ipf_error_describe(&err, text, sizeof text));
 *
 * No function of the library prints, ends the process, or installs a signal handler. A function that can fail takes a
 * struct ipf_error, which begins as zeros, and returns -1 when it fills it; the first error wins: an error already set
 * stays until ipf_error_clear.
 *
 * The version is semantic. The shared library's name (libipf.so.0) changes with the first number, and no release with
 * the same first number removes a function, or changes the size or a member of a struct: structs that may grow begin
 * with their size, which their initialisers set.
 */
#ifndef LIBIPF_VALUES_H
#define LIBIPF_VALUES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IPF_PUBLIC __attribute__((visibility("default")))
#else
#define IPF_PUBLIC
#endif

/* The integer of an absent value: one that is unknown, or of an event that did not happen. It is neither 0 nor -1, so
 * an absent value enters no sum and no mean. No integer of a stream has this value. The absent double is NAN. */
#define IPF_ABSENT INT64_MIN

enum ipf_error_kind {
	IPF_OK = 0,
	IPF_SYSTEM,  /* I/O, memory, network set-up: exit status 1 */
	IPF_USAGE,   /* wrong command line, or wrong arguments of a function: exit status 2 */
	IPF_INPUT,   /* invalid input: exit status 3 */
	IPF_CUT,     /* a stream without its trailer: exit status 3 */
	IPF_INVALID, /* done, but the run is invalid (--strict): exit status 4 */
	IPF_CLOSED,  /* the reader of our output closed it: no message, exit status 0 */
	IPF_UNFED,   /* standard input is a pipe into which nothing was written: the program before has failed, and has said
	                why; no message, exit status 3 */
	IPF_HOPELESS /* the run was stopped since every request failed: exit status 5 */
};

struct ipf_error {
	enum ipf_error_kind kind;
	int errno_value; /* 0: no system call failed */
	int64_t line;    /* line of `file`, from 1; 0: none */
	char file[256];  /* the input or output concerned; "": none */
	char text[768];  /* one line: the place, the fault and the value; safe for a terminal, without secrets */
};

/* Room for every text of ipf_error_describe. */
#define IPF_ERROR_TEXT 1072

/* Clears the error, so the struct can be used again. */
IPF_PUBLIC void ipf_error_clear(struct ipf_error *err);
/* The exit status belonging to the kind, 0 to 4, as in ipf(7). */
IPF_PUBLIC int ipf_error_status(const struct ipf_error *err);
/* Writes "FILE:LINE: TEXT", as far as they are known, and returns `text`. */
IPF_PUBLIC const char *ipf_error_describe(const struct ipf_error *err, char *text, size_t size);

/* The version of the library the program runs with, such as "0.1.0". */
IPF_PUBLIC const char *ipf_version(void);

#ifdef __cplusplus
}
#endif

#endif
