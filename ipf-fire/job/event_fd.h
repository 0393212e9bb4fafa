/* Waking a thread through an eventfd or timerfd it polls. */
#ifndef IPF_EVENT_FD_H
#define IPF_EVENT_FD_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/* Makes the eventfd readable. */
static inline void event_fd_notify(int fd)
{
	const uint64_t one = 1;
	while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

/* Makes the eventfd or timerfd, which must not block, unreadable until the next event. */
static inline void event_fd_clear(int fd)
{
	uint64_t count;
	while (read(fd, &count, sizeof count) < 0 && errno == EINTR)
		;
}

#endif
