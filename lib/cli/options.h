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

#include "cli/option_table.h"
#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

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
#define SEED_OPTION(type_, member_) OPTION(OPTION_SEED, 0, "seed", "N", type_, member_, "random seed (default: 1)")

/* The rows that all five programs share. */
#define COMMON_OPTIONS(type_, member_)                                                                                 \
	OPTION_HEADING("Common options"),                                                                                  \
		OPTION_UNSHAPING(OPTION_FILE, 'o', "output", "FILE", type_, member_.output,                                    \
	                     "write to FILE, compressed if its name ends in .zst (default: standard output)"),             \
		OPTION_UNSHAPING(OPTION_COUNTER, 'v', "verbose", NULL, type_, member_.verbose,                                 \
	                     "report more on standard error"),                                                             \
		OPTION_UNSHAPING(OPTION_FLAG, 'q', "quiet", NULL, type_, member_.quiet, "no progress, no warnings"),           \
		OPTION_UNSHAPING(OPTION_FLAG, 0, "progress", NULL, type_, member_.progress,                                    \
	                     "show progress even if standard error is not a terminal"),                                    \
		OPTION_UNSHAPING(OPTION_FLAG, 0, "reproducible", NULL, type_, member_.reproducible,                            \
	                     "omit from the header what changes from run to run"),                                         \
		{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},                                \
		{.kind = OPTION_VERSION, .name = "version", .help = "show the version, and those of the libraries"},           \
	{                                                                                                                  \
		.kind = OPTION_COMPLETION, .name = "completion", .help = "print a completion script for bash"                  \
	}

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
