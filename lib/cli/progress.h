/* The progress line: one line on standard error, shown only if that is a terminal or with --progress.
 *
 *     struct progress p;
 *     progress_init(&p, wanted, quiet);
 *     if (progress_due(&p, clock_now()))          // true a few times a second
 *         progress_show(&p, "%5.1fs  started %lld", …);
 *     progress_end(&p);                           // clears the line on a terminal
 *
 * The text consists of figures with two spaces between them, the most important first. On a terminal the line is
 * rewritten in place, and figures the width has no room for are left out. Otherwise, as with --progress in a log, a
 * line is printed every second.
 *
 * In a pipe one program shows its progress: the last one, which knows most. The others ask progress_is_left.
 */
#ifndef IPF_PROGRESS_H
#define IPF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on, terminal, shown;
	int64_t next_ns;
};

/* `wanted`: --progress; `quiet`: --quiet, which wins. */
void progress_init(struct progress *p, bool wanted, bool quiet);
/* Does the progress belong to another program, the reader of this one's output? `output`: --output (NULL and "-":
 * standard output). `last`: no reader knows more (ipf-collect). Nor is a line shown among data that standard output
 * prints on a terminal. `wanted`: --progress, which shows it nevertheless. */
bool progress_is_left(const char *output, bool last, bool wanted);
bool progress_due(struct progress *p, int64_t now_ns);
void progress_show(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(struct progress *p);

#endif
