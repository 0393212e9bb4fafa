/* Signals in a pipeline. Ctrl-C reaches every program of it at once, but only the first one should act on it: at the
 * first signal ipf-fire ends its run in good order, at the second it cuts short what is in flight, and what it still
 * writes is worth reading. So the programs behind it leave so many signals to it.
 *
 *     interrupt_watch(input_is_live(STDIN_FILENO) ? 2 : 0);
 *     while (!interrupted() && …) …
 */
#ifndef IPF_INTERRUPT_H
#define IPF_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM are counted. The first `patience` have no effect, the next one makes interrupted()
 * true, and the one after that ends the program, whatever it is waiting for. */
void interrupt_watch(int patience);
bool interrupted(void);

/* Is this signal one of its own, or part of the last one? timeout(1) signals a program and then its whole group, it
 * among them, and whoever ends a terminal's session sends SIGTERM and SIGHUP: what comes within a tenth of a second is
 * one wish. For one thread, or handlers that don't interrupt each other. */
bool interrupt_is_new(void);

/* Does somebody write this input while we read it (a pipe, a socket)? */
bool input_is_live(int fd);

#endif
