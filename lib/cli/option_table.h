/* The table of a program's options. options.h parses it, help.h shows it, completion.h completes it, and a test
 * compares it with the manual page.
 *
 *     static const struct option_spec specs[] = {
 *         OPTION_HEADING("Requests"),
 *         OPTION(OPTION_FILE, 't', "trace", "FILE", struct fire_options, trace, "the request trace"),
 *         OPTION_CHOICE_OF(0, "history", "recorded|live", struct fire_options, history, history_names, "…"),
 *     };
 */
#ifndef IPF_OPTION_TABLE_H
#define IPF_OPTION_TABLE_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_HEADING,  /* not an option: `help` is a heading of --help */
	OPTION_FLAG,     /* bool */
	OPTION_COUNTER,  /* int: the number of occurrences */
	OPTION_TEXT,     /* const char * */
	OPTION_FILE,     /* const char *: a path that is read; --reproducible keeps only its last part in argv */
	OPTION_OUTPUT,   /* the same of a path that is written; refused if it is an input (named_paths.h) */
	OPTION_LIST,     /* struct string_list: repeatable; the first occurrence replaces the default list */
	OPTION_CHOICE,   /* int (an enum): the index of the value in `choices` */
	OPTION_PARSED,   /* any type: `parse` reads the value */
	OPTION_COUNT,    /* int64_t, a count as in units.h; the same for those that follow */
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

/* Parses the value of an option into its variable. -1: err has the expected and the given value; the caller puts the
 * option's name before it. */
typedef int option_parser(const char *value, void *variable, struct ipf_error *err);

/* Words that completion offers, i = 0, 1, … until NULL: those of a table with other uses. */
typedef const char *completion_list(size_t i);

struct option_spec {
	enum option_kind kind;
	char letter;                /* 0: none */
	const char *name;           /* long name; NULL for a heading */
	const char *argument;       /* "FILE"; NULL for flags */
	size_t offset;              /* the variable's in the program's struct of options */
	const char *help;           /* a line or two; the first sentence is the meaning; --help wraps it */
	const char *const *choices; /* OPTION_CHOICE: its values, NULL at the end */
	option_parser *parse;       /* OPTION_PARSED */
	completion_list *offers;    /* values that completion offers, beside others; NULL: `choices` */
	bool unshaping; /* does not affect the output's content: not in the header's argv (-o, -v, -q, --progress) */
};

#define OPTION_HEADING(text_)                                                                                          \
	{                                                                                                                  \
		.kind = OPTION_HEADING, .help = text_                                                                          \
	}
#define OPTION(kind_, letter_, name_, argument_, type_, member_, help_)                                                \
	{                                                                                                                  \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, .offset = offsetof(type_, member_),    \
		.help = help_                                                                                                  \
	}
#define OPTION_CHOICE_OF(letter_, name_, argument_, type_, member_, choices_, help_)                                   \
	{                                                                                                                  \
		.kind = OPTION_CHOICE, .letter = letter_, .name = name_, .argument = argument_,                                \
		.offset = offsetof(type_, member_), .help = help_, .choices = choices_                                         \
	}
#define OPTION_PARSED_BY(letter_, name_, argument_, type_, member_, parse_, help_)                                     \
	{                                                                                                                  \
		.kind = OPTION_PARSED, .letter = letter_, .name = name_, .argument = argument_,                                \
		.offset = offsetof(type_, member_), .help = help_, .parse = parse_                                             \
	}
#define OPTION_OFFERING(kind_, letter_, name_, argument_, type_, member_, parse_, offers_, help_)                      \
	{                                                                                                                  \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, .offset = offsetof(type_, member_),    \
		.help = help_, .parse = parse_, .offers = offers_                                                              \
	}
#define OPTION_UNSHAPING(kind_, letter_, name_, argument_, type_, member_, help_)                                      \
	{                                                                                                                  \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, .offset = offsetof(type_, member_),    \
		.help = help_, .unshaping = true                                                                               \
	}

/* A program, or a command of one: "ipf-report compare" has its own operands, options and manual page. */
struct program {
	const char *name;
	const char *operands; /* as shown in the usage line: "SOURCE [FILE…]" */
	const char *summary;  /* one line, lower case */
	const char *details;  /* shown by --help after the options (examples, kinds); may be NULL */
	const struct option_spec *specs;
	size_t count;
	int min_operands, max_operands; /* max -1: any number */
	bool no_environment;            /* variables of the environment set no options */
	bool strict_as_input;           /* inputs that --strict refuses count as invalid: status 3 instead of 4 */
	bool plain_operands;            /* operands are never paths, even if they contain slashes (poisson:rate=300/m) */
	const char *variables;          /* variables of the environment begin with this name; NULL: with that of `name` */
	completion_list *offers;        /* completions of the first operand; with `offers_keys` of each */
	const char *(*offers_keys)(size_t offer, size_t i); /* words after that one and a comma: "rate=" of "constant:" */
	const char *const *choices;            /* values of the first operand, NULL at the end; NULL: it is a file */
	const struct program *const *commands; /* which the first operand may name; NULL at the end; NULL: there are none */
	const char *manual;             /* where it is described, if it has no manual page of its name; otherwise NULL */
	const char *(*libraries)(void); /* for --version, besides those of lib: "libcurl/7.88.1 …"; may be NULL */
};

/* Whether the option takes a value. */
bool option_takes_value(const struct option_spec *spec);
/* Whether the value is a path alone: OPTION_FILE and OPTION_OUTPUT. */
bool option_is_path(const struct option_spec *spec);
/* Whether the value is a path, or may be one ("NAME|FILE", "RECORDS"). */
bool option_takes_file(const struct option_spec *spec);
/* Value i that --completion offers; NULL: there are no more. */
const char *option_value(const struct option_spec *spec, size_t i);
/* Appends the words of a list, with separators. */
void option_words(completion_list *list, struct buffer *out);
/* Appends the keys following word `offer` of the program's operands, each in these quotes, and blanks between. */
void option_keys(const struct program *program, size_t offer, const char *quote, struct buffer *out);
/* The first part of the help, up to a semicolon or full stop. */
struct slice option_summary(const struct option_spec *spec);
/* Whether --help and --completion show it: not a heading. */
bool option_is_shown(const struct option_spec *spec);
/* The word that selects a command: the last one of its name, "compare". */
const char *command_word(const struct program *command);

#endif
