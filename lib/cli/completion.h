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

#endif
