/* Parses the command line by the program's option table (option_table.h), which is also the source of --help and
 * --completion.
 *
 *     struct sched_options { struct common_options common; const char *trace; … };
 *     static const struct option_spec specs[] = {
 *         OPTION(OPTION_FILE, 't', "trace", "FILE", struct sched_options, trace, "the request trace"),
 *         COMMON_OPTIONS(struct sched_options, common),
 *     };
 *     static const struct program program = {
 *         .name = "ipf-sched", .operands = "STAGE…", .summary = "plan when requests are sent",
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

#include "cli/completion.h"
#include "cli/named_paths.h"
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
	int64_t max_line, max_window; /* in bytes; 0: the default. In force as soon as they are parsed */
};
#define COMMON_DEFAULTS                                                                                                \
	{                                                                                                                  \
		.seed = 1                                                                                                      \
	}

/* The row of the programs drawing random numbers. */
#define SEED_OPTION(type_, member_) OPTION(OPTION_SEED, 0, "seed", "N", type_, member_, "random seed (default: 1)")

/* The rows of programs that read streams. */
#define INPUT_LIMITS(type_, member_)                                                                                   \
	{.kind = OPTION_PARSED,                                                                                            \
	 .name = "max-line",                                                                                               \
	 .argument = "SIZE",                                                                                               \
	 .offset = offsetof(type_, member_.max_line),                                                                      \
	 .help = "refuse input with a line of more than SIZE (default: 1GiB)",                                             \
	 .parse = options_max_line,                                                                                        \
	 .unshaping = true},                                                                                               \
	{                                                                                                                  \
		.kind = OPTION_PARSED, .name = "max-window", .argument = "SIZE",                                               \
		.offset = offsetof(type_, member_.max_window),                                                                 \
		.help = "refuse zstd-compressed streams with a window of more than SIZE (default: 128MiB)",                    \
		.parse = options_max_window, .unshaping = true                                                                 \
	}

/* The row of the programs that write a file. */
#define OUTPUT_OPTION(type_, member_)                                                                                  \
	OPTION_UNSHAPING(OPTION_OUTPUT, 'o', "output", "FILE", type_, member_.output,                                      \
	                 "write to FILE, compressed if its name ends in .zst (default: standard output)")

/* The rows the commands of a program have in common. */
#define COMMAND_OPTIONS(type_, member_)                                                                                \
	OPTION_UNSHAPING(OPTION_COUNTER, 'v', "verbose", NULL, type_, member_.verbose, "report more on standard error"),   \
		OPTION_UNSHAPING(OPTION_FLAG, 'q', "quiet", NULL, type_, member_.quiet, "no progress, no warnings"),           \
		OPTION_UNSHAPING(OPTION_FLAG, 0, "progress", NULL, type_, member_.progress,                                    \
	                     "show progress even if standard error is not a terminal"),                                    \
		OPTION_UNSHAPING(OPTION_FLAG, 0, "reproducible", NULL, type_, member_.reproducible,                            \
	                     "omit changing values from the header"),                                                      \
		INPUT_LIMITS(type_, member_),                                                                                  \
	{                                                                                                                  \
		.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"                                   \
	}

#define VERSION_OPTIONS                                                                                                \
	{.kind = OPTION_VERSION, .name = "version", .help = "show the version, and those of the libraries"},               \
	{                                                                                                                  \
		.kind = OPTION_COMPLETION, .name = "completion", .argument = "[SHELL]", .choices = completion_shells,          \
		.help = "print a completion script for bash (the default), zsh or fish"                                        \
	}

/* The rows of a program that does nothing without a command. */
#define PROGRAM_OPTIONS {.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"}, VERSION_OPTIONS

/* The rows that all programs have in common. */
#define COMMON_OPTIONS(type_, member_)                                                                                 \
	OPTION_HEADING("Common options"), OUTPUT_OPTION(type_, member_), COMMAND_OPTIONS(type_, member_), VERSION_OPTIONS

/* --max-line and --max-window of COMMON_OPTIONS: set the limits of stream.h. */
int options_max_line(const char *text, void *variable, struct ipf_error *err);
int options_max_window(const char *text, void *variable, struct ipf_error *err);

struct operands {
	char **items; /* a part of argv, NULL at the end; valid as long as the program runs */
	int count;
	int before_mark; /* how many of them come before "--"; -1: there was none */
};

/* Prepares the process and parses the environment and the command line.
 *
 * Environment: the variable IPF_FIRE_WAIT_READY sets the option --wait-ready of ipf-fire, and so on for every option
 * taking a value; 1 sets a flag. The command line wins. An empty variable is like none. The commands of a program read
 * its variables (struct program, `variables`), as far as they have the option.
 *
 * Preparation: SIGPIPE and SIGXFSZ are ignored, so writers see EPIPE and EFBIG. A closed descriptor among 0 to 2 is
 * occupied, so no file opened later gets its number; reading and writing it still fails.
 *
 * Parsing: options and operands may be mixed, "--" ends the options, "--name=value" and "-nvalue" work, and an
 * unambiguous prefix of a long name is accepted. Empty values are refused. An output that is also an input or another
 * output is refused too, because it would be emptied before it is read (named_paths.h).
 *
 * True: run. False: end with *status at once: 0 after help, version or completion (1 if they could not be written), 2
 * after a usage error, which is on standard error with the nearest option's name. */
bool program_start(const struct program *program, int argc, char **argv, void *options, struct operands *operands,
                   int *status);

/* The files that the arguments of program_start() name. */
const struct named_paths *program_paths(void);

/* Arguments of a program that does its work within another process. */
struct options_memory;
struct arguments {
	int argc;
	char **argv;                   /* as of main(), the program's name first */
	struct options_memory *memory; /* parsed values point into this, and into argv; NULL before */
};

/* Parses them: prepares nothing, prints nothing, and does not read the environment if program->no_environment says so.
 * -1: IPF_USAGE, also for an option printing instead of running. Then options_memory_free(a->memory) in any case. */
int options_parse(const struct program *program, struct arguments *a, void *options, struct operands *operands,
                  struct ipf_error *err);
void options_memory_free(struct options_memory *memory); /* NULL is fine */

/* Returns the header's "argv", a new list: the arguments as given, without the program's name and without options that
 * do not affect the content. Options of the environment come first. `keep_operands`: include the operands.
 * `reproducible`: shorten paths (OPTION_FILE, and operands unless they are plain) to their last part. */
json_t *options_argv(const struct program *program, int argc, char **argv, bool keep_operands, bool reproducible);

/* Is the option given, on the command line or by a variable of the environment? For options that contradict each other:
 * its value may be the default. */
bool options_given(const struct program *program, int argc, char **argv, const struct option_spec *spec);

/* Prints a usage error found after parsing; returns 2. */
int program_misuse(const struct program *program, const struct ipf_error *err);

#endif
