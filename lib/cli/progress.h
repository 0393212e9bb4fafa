/* The progress line: one line on standard error, shown only if that is a terminal or with --progress.
 *
 *     struct progress p;
 *     progress_init(&p, wanted, quiet);
 *     if (progress_due(&p, clock_now()))          // true a few times a second
 *         progress_show(&p, "%5.1fs  started %lld", …);
 *     progress_end(&p);                           // clears the line on a terminal
 *
 * On a terminal the line is rewritten in place and cut to the width. Otherwise, as with --progress in a log, a line is
 * printed every second.
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
bool progress_due(struct progress *p, int64_t now_ns);
void progress_show(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(struct progress *p);

#endif
