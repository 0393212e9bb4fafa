/* SIGINT, SIGTERM and SIGHUP in a pipeline. Ctrl-C, or the end of a login session, reaches every program of a pipeline
 * at once, but only the first one should act on it: at the first signal ipf-fire stops starting requests, at the second
 * it aborts those in flight, and both times it still writes records. The programs after it therefore ignore two
 * signals.
 *
 *     interrupt_watch(input_is_live(STDIN_FILENO) ? 2 : 0);
 *     while (!interrupted() && …) …
 */
#ifndef IPF_INTERRUPT_H
#define IPF_INTERRUPT_H

#include <stdbool.h>

/* Starts counting SIGINT, SIGTERM and, unless it is ignored, SIGHUP. The first `ignored` signals have no effect, the
 * next one makes interrupted() true, and the one after that ends the program at once. */
void interrupt_watch(int ignored);
bool interrupted(void);

/* Whether a signal arriving now is a new one, rather than part of the previous one: false within a tenth of a second of
 * it. timeout(1) signals a program and then its process group, the program included, and the end of a terminal session
 * sends SIGTERM and SIGHUP. For one thread, or for handlers that do not interrupt each other. */
bool interrupt_is_new(void);

/* Whether another program writes this input while it is read: a pipe or a socket. */
bool input_is_live(int fd);

#endif
