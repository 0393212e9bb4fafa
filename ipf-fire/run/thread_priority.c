#include "run/thread_priority.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS  100000 /* the shortest that Linux accepts */
#define OURSELVES 0      /* the calling thread; --sandbox refuses all others */

static const int nice_values[] = {[THREAD_PRIORITY_SEND] = -10,
                                  [THREAD_PRIORITY_RENDER] = -5,
                                  [THREAD_PRIORITY_RECORD] = 10,
                                  [THREAD_PRIORITY_CATCH_UP] = -10};

static bool is_real_time(void)
{
	int policy = sched_getscheduler(OURSELVES);
	return policy >= 0 &&
	       ((policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO || (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR);
}

/* Requests short time slices: since Linux 6.12, a thread that wakes up for one preempts others before their slice ends.
 * Earlier versions ignore it. */
static void request_short_slices(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attributes = {
		.size = 48, .policy = SCHED_OTHER, .nice = getpriority(PRIO_PROCESS, OURSELVES), .runtime_ns = SLICE_NS};
	syscall(SYS_sched_setattr, OURSELVES, &attributes, 0U);
}

bool thread_priority_set(enum thread_priority priority)
{
	const struct sched_param ordinary = {0};
	if (is_real_time()) {
		if (priority == THREAD_PRIORITY_SEND)
			return true;
		sched_setscheduler(OURSELVES, SCHED_OTHER, &ordinary);
	}
	bool good = setpriority(PRIO_PROCESS, OURSELVES, nice_values[priority]) == 0;
	if (priority == THREAD_PRIORITY_SEND)
		request_short_slices();
	return good;
}
