/* Which of our threads come first where processors are short. */
#ifndef IPF_TURNS_H
#define IPF_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum turns {
	TURNS_SEND,   /* before everybody, and soon: what is late here is late on the wire */
	TURNS_RENDER, /* what is rendered late is sent late: before others, and behind those that send */
	TURNS_RECORD, /* the rest of the time will do */
	TURNS_HURRY,  /* as those that send: what waits to be recorded would grow without end */
};

/* For a thread of ours, by thread_number; as far as the system allows it. Whoever has made ipf-fire a real-time process (chrt) has meant the
 * threads that send: they stay so, and the others become ordinary ones. false: it is not as asked. */
bool turns_take(int64_t thread, enum turns turns);

#endif
