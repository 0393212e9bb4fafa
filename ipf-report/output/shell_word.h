/* Arguments in commands a reader may paste into a shell.
 *
 *     shell_word(out, "two words");  // 'two words'
 */
#ifndef REPORT_SHELL_WORD_H
#define REPORT_SHELL_WORD_H

#include "buffer.h"

/* Appends an argument as a shell takes it: quoted if it has to be, and as $'…' if a character in it cannot be shown. */
void shell_word(struct buffer *out, const char *word);

#endif
