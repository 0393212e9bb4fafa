/* Which of our threads come first where processors are short. */
#ifndef IPF_THREAD_PRIORITY_H
#define IPF_THREAD_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

enum turns {
	THREAD_PRIORITY_SEND,   /* before everybody, and soon: what is late here is late on the wire */
	THREAD_PRIORITY_RENDER, /* what is rendered late is sent late: before others, and behind those that send */
	THREAD_PRIORITY_RECORD, /* the rest of the time will do */
	THREAD_PRIORITY_HURRY,  /* as those that send: what waits to be recorded would grow without end */
};

/* For a thread of ours, by thread_number; as far as the system allows it. Whoever has made ipf-fire a real-time process
 * (chrt) has meant the threads that send: they stay so, and the others become ordinary ones. false: it is not as asked.
 */
bool thread_priority_take(int64_t thread, enum turns turns);

#endif
