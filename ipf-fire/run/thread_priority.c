#include "run/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS 100000 /* the shortest that Linux accepts */

static const int nice_values[] = {[THREAD_PRIORITY_SEND] = -10,
                                  [THREAD_PRIORITY_RENDER] = -5,
                                  [THREAD_PRIORITY_RECORD] = 10,
                                  [THREAD_PRIORITY_CATCH_UP] = -10};

static bool is_real_time(pid_t thread)
{
	int policy = sched_getscheduler(thread);
	return policy >= 0 &&
	       ((policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO || (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR);
}

/* Requests short time slices: since Linux 6.12, a thread that wakes up for one preempts others before their slice ends.
 * Earlier versions ignore it. */
static void request_short_slices(pid_t thread)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attributes = {
		.size = 48, .policy = SCHED_OTHER, .nice = getpriority(PRIO_PROCESS, (id_t)thread), .runtime_ns = SLICE_NS};
	syscall(SYS_sched_setattr, thread, &attributes, 0U);
}

bool thread_priority_set(int64_t thread, enum thread_priority priority)
{
	const struct sched_param ordinary = {0};
	if (is_real_time((pid_t)thread)) {
		if (priority == THREAD_PRIORITY_SEND)
			return true;
		sched_setscheduler((pid_t)thread, SCHED_OTHER, &ordinary);
	}
	bool good = setpriority(PRIO_PROCESS, (id_t)thread, nice_values[priority]) == 0;
	if (priority == THREAD_PRIORITY_SEND)
		request_short_slices((pid_t)thread);
	return good;
}
