/* The progress line: one line on standard error that updates, only where that is a terminal or the user asked for it.
 *
 *     struct progress p;
 *     progress_init(&p, wanted, quiet);
 *     if (progress_due(&p, clock_now()))          // a few times a second
 *         progress_show(&p, "%5.1fs  started %lld", …);
 *     progress_end(&p);                           // wipes the line (terminal) so that what follows starts clean
 *
 * On a terminal the line is rewritten in place and cut to its width; otherwise (--progress in a log) a line each
 * second.
 */
#ifndef IPF_PROGRESS_H
#define IPF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on, terminal, shown;
	int64_t next_ns;
};

void progress_init(struct progress *p, bool wanted, bool quiet);
bool progress_due(struct progress *p, int64_t now_ns);
void progress_show(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(struct progress *p);

#endif
