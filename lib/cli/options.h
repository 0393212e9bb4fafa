/* One table a program: it parses, prints --help, feeds the shell completion (--completion) and the test that holds it
 * against the man page.
 *
 *     struct sched_options { struct common_options common; const char *trace; … };
 *     static const struct option_spec specs[] = {
 *         OPTION(OPTION_FILE, 't', "trace", "FILE", struct sched_options, trace, "the request trace"),
 *         COMMON_OPTIONS(struct sched_options, common),
 *     };
 *     static const struct program program = {
 *         .name = "ipf-sched", .operands = "STAGE…", .summary = "decide when requests are sent",
 *         .specs = specs, .count = sizeof specs / sizeof *specs, .min_operands = 1, .max_operands = -1 };
 *
 *     int main(int argc, char **argv) {
 *         struct sched_options options = {.common = COMMON_DEFAULTS};
 *         struct operands operands;
 *         int status;
 *         if (!program_start(&program, argc, argv, &options, &operands, &status))
 *             return status;
 */
#ifndef IPF_OPTIONS_H
#define IPF_OPTIONS_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,     /* bool */
	OPTION_COUNTER,  /* int: how often it stands */
	OPTION_TEXT,     /* const char * */
	OPTION_FILE,     /* const char *: a path; --reproducible keeps only its last part in argv */
	OPTION_LIST,     /* struct string_list: may stand several times; the first one replaces a default */
	OPTION_COUNT,    /* int64_t, units.h's count */
	OPTION_DURATION, /* int64_t ns */
	OPTION_SIZE,     /* int64_t bytes */
	OPTION_RATE,     /* double per second */
	OPTION_SHARE,    /* double 0…1 */
	OPTION_NUMBER,   /* double */
	OPTION_SEED,     /* uint64_t, and sets common_options.seed_given */
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_COMPLETION,
};

struct string_list {
	const char **items;
	size_t count;
};

struct option_spec {
	enum option_kind kind;
	char letter;          /* 0: none */
	const char *name;     /* long name */
	const char *argument; /* "FILE"; NULL for flags */
	size_t offset;        /* of the variable in the program's options */
	const char *help;     /* a line or two; wrapped by --help */
	bool unshaping; /* does not shape the output's content: left out of the header's argv (-o, -v, -q, --progress) */
};

#define OPTION(kind_, letter_, name_, argument_, type_, member_, help_)                                                \
	{                                                                                                                  \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, .offset = offsetof(type_, member_),    \
		.help = help_                                                                                                  \
	}
#define OPTION_UNSHAPING(kind_, letter_, name_, argument_, type_, member_, help_)                                      \
	{                                                                                                                  \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, .offset = offsetof(type_, member_),    \
		.help = help_, .unshaping = true                                                                               \
	}

struct common_options {
	const char *output; /* NULL: standard output */
	uint64_t seed;
	bool seed_given;
	int verbose;
	bool quiet, progress, reproducible;
};
#define COMMON_DEFAULTS                                                                                                \
	{                                                                                                                  \
		.seed = 1                                                                                                      \
	}

/* The row of the programs that leave something to chance. */
#define SEED_OPTION(type_, member_)                                                                                    \
	OPTION(OPTION_SEED, 0, "seed", "N", type_, member_, "seed of everything that is drawn by chance (default: 1)")

/* The rows that all five programs share. */
#define COMMON_OPTIONS(type_, member_)                                                                                 \
	OPTION_UNSHAPING(OPTION_FILE, 'o', "output", "FILE", type_, member_.output,                                        \
	                 "write to FILE, compressed where its name ends in .zst (default: standard output)"),              \
		OPTION_UNSHAPING(OPTION_COUNTER, 'v', "verbose", NULL, type_, member_.verbose, "say more on standard error"),  \
		OPTION_UNSHAPING(OPTION_FLAG, 'q', "quiet", NULL, type_, member_.quiet, "no progress, no warnings"),           \
		OPTION_UNSHAPING(OPTION_FLAG, 0, "progress", NULL, type_, member_.progress,                                    \
	                     "show progress also where standard error is no terminal"),                                    \
		OPTION_UNSHAPING(OPTION_FLAG, 0, "reproducible", NULL, type_, member_.reproducible,                            \
	                     "leave out of the header what changes from run to run"),                                      \
		{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},                                \
		{.kind = OPTION_VERSION, .name = "version", .help = "show the version, and those of the libraries"},           \
	{                                                                                                                  \
		.kind = OPTION_COMPLETION, .name = "completion", .help = "print a completion for bash"                         \
	}

struct program {
	const char *name;
	const char *operands; /* as shown in the usage line: "SOURCE [FILE…]" */
	const char *summary;  /* one line, lower case */
	const char *details;  /* shown by --help after the options (examples, kinds); NULL */
	const struct option_spec *specs;
	size_t count;
	int min_operands, max_operands; /* max -1: any number */
	bool plain_operands;            /* operands are never paths, whatever slashes they have (poisson:rate=300/m) */
	const char *manual;             /* where it is described, where that is no manual page of its name; NULL */
	const char *libraries;          /* for --version, beyond lib's own: "libcurl/7.88.1 OpenSSL/3.0.17"; NULL */
};

struct operands {
	char **items; /* of argv; the list lives as long as the program */
	int count;
};

/* Ignores SIGPIPE and SIGXFSZ (writers then see EPIPE and EFBIG), makes sure that descriptors 0 to 2 are taken (one
 * that was closed goes on failing, but no file that is opened later gets its number), and parses. Options and operands
 * may be mixed; no option takes an empty value; "--" ends the options; "--name=value" and "-nvalue" work; unambiguous
 * beginnings of long names are accepted. An --output that is an operand, a file of another option or standard input is
 * refused: it would be emptied before it is read. True: run. False: end with *status at once (help, version,
 * completion: 0, and 1 when they could not be written; wrong usage: 2, said on stderr with the nearest option's name
 * where there is one). */
bool program_start(const struct program *program, int argc, char **argv, void *options, struct operands *operands,
                   int *status);

/* The header's "argv": the arguments as given, less the program's name and what does not shape the content; without the
 * operands where `keep_operands` is false; with `reproducible`, paths (OPTION_FILE and operands, unless these are
 * plain) keep only their last part. New. */
json_t *options_argv(const struct program *program, int argc, char **argv, bool keep_operands, bool reproducible);

/* Prints what went wrong, for usage errors found after the parsing; returns 2. */
int program_misuse(const struct program *program, const struct ipf_error *err);

#endif
