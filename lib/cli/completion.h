/* --completion: a completion script for a shell, made from the program's option table. */
#ifndef IPF_COMPLETION_H
#define IPF_COMPLETION_H

#include "buffer.h"
#include "cli/option_table.h"

enum completion_shell { COMPLETION_BASH, COMPLETION_ZSH, COMPLETION_FISH };
extern const char *const completion_shells[]; /* their names; NULL at the end */

/* Appends a script that completes the program's options, their values if these are choices or files, and its operands.
 * It can be sourced, or put where the shell finds it under the program's name: _NAME for zsh, NAME.fish for fish. */
void completion_format(const struct program *program, enum completion_shell shell, struct buffer *out);

/* The same for one shell each. */
void completion_bash(const struct program *program, struct buffer *out);
void completion_zsh(const struct program *program, struct buffer *out);
void completion_fish(const struct program *program, struct buffer *out);

/* What the shells have in common. */
bool completes_files(const struct option_spec *spec); /* the value is a path, or may be one ("NAME|FILE") */
/* Value i that is offered; NULL: there are no more. */
const char *completion_value(const struct option_spec *spec, size_t i);
/* Appends the words of a list, and what is between them. */
void completion_words(completion_list *list, struct buffer *out);
/* The first part of the help, up to a semicolon or full stop: what is shown beside the option. */
struct slice completion_description(const struct option_spec *spec);

#endif
