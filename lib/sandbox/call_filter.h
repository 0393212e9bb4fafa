/* Which system calls the process may still make: a filter of the kernel (seccomp), for all threads and for good.
 *
 *     if (call_filter_install(CALLS_CONNECT | CALLS_PRIORITY, &err) < 0) …
 *
 * A call outside of the list fails with EPERM, so a library that tries something goes on without it. Calls that only an
 * intruder makes (to start or to look into a program, to change the kernel) end the process by SIGSYS. A call newer
 * than this list is answered by ENOSYS: a later C library then uses an older one.
 *
 * Whatever the list, no file can be opened for writing, no process is started, signalled or slowed down, memory is
 * never writable and executable, and sockets are of TCP, UDP, Unix and the kernel's routing tables.
 */
#ifndef IPF_CALL_FILTER_H
#define IPF_CALL_FILTER_H

#include "error.h"

/* A program's needs besides reading, writing, waiting, threads and memory. */
enum call_needs {
	CALLS_CONNECT = 1 << 0,  /* new sockets, and connections from them; lookups of names */
	CALLS_ACCEPT = 1 << 1,   /* connections to a socket that listens */
	CALLS_PRIORITY = 1 << 2, /* the priority of the calling thread */
	CALLS_CLOCK = 1 << 3,    /* how well the system clock is synchronised */
};

/* NULL: this kernel has such filters, and so has its processor; else why not. */
const char *call_filter_unavailable(void);

/* Other threads running get the filter as well. -1: IPF_SYSTEM. */
int call_filter_install(unsigned needs, struct ipf_error *err);

#endif
