/* Texts from outside, made safe for a terminal.
 *
 * A name in a file, a server's answer or an argument can contain characters a terminal obeys (escape sequences, also as
 * C1 controls), that reorder the line (bidirectional controls) or cannot be seen. In all that ipf prints for people,
 * such characters are escapes that can be seen: `\n`, `\x1b`, `\u202e`, `\U000e0041`; a byte that is not UTF-8 is
 * `\x9b`. Whether the output is a terminal changes nothing. Escaping twice gives the same text as escaping once.
 *
 * Escaped are: control characters (C0, DEL, C1), all of Unicode's format characters (Cf), line and paragraph
 * separators, other characters that are invisible by definition (Default_Ignorable_Code_Point, but for the variation
 * selectors 15 and 16, which belong to emoji), and noncharacters. `\` itself is not.
 *
 * Error messages (error.h) are escaped where they are set. For everything else:
 *
 *     fprintf(stderr, "ipf-sched: stage %s: …\n", shown(stage->name).text);
 *     fprintf(to, "result: %s\n", shown_slice(row->error_text).text);
 *     safe_text_write(to, row->text);                          // of any length
 */
#ifndef IPF_SAFE_TEXT_H
#define IPF_SAFE_TEXT_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the safe form and a NUL; returns its length. A text longer than `size` (at least 4) bytes is cut, with "…",
 * never in the middle of a character. An absent slice is "". */
size_t safe_text(char *to, size_t size, struct slice text);

/* The same, of any length. */
void safe_text_append(struct buffer *to, struct slice text);
void safe_text_write(FILE *to, struct slice text);

/* A value inside a message, at most 239 bytes of it; valid until the end of the full expression. */
struct shown_text {
	char text[240];
};
struct shown_text shown(const char *text); /* NULL is "" */
struct shown_text shown_slice(struct slice text);

/* Whether nothing has to be escaped: required of names of stages, models, sessions and the like. */
bool safe_text_is_safe(struct slice text);

#endif
