/* Which of our threads come first when processors are short. */
#ifndef IPF_THREAD_PRIORITY_H
#define IPF_THREAD_PRIORITY_H

#include <stdbool.h>

enum thread_priority {
	THREAD_PRIORITY_SEND,     /* before all others: late work here is late on the wire */
	THREAD_PRIORITY_RENDER,   /* after the sending threads: a body rendered late is sent late */
	THREAD_PRIORITY_RECORD,   /* in the remaining time */
	THREAD_PRIORITY_CATCH_UP, /* recording, like the sending threads: a backlog would grow without limit */
};

/* Sets the priority of the calling thread, as far as the system allows. If the user has made ipf-fire a real-time
 * process (chrt), the sending threads stay real-time and the others become ordinary. false: the priority could not be
 * set. */
bool thread_priority_set(enum thread_priority priority);

#endif
