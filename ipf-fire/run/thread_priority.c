#include "run/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURN_NS 100000 /* the shortest that Linux gives */

static const int nice_of[] = {[THREAD_PRIORITY_SEND] = -10,
                              [THREAD_PRIORITY_RENDER] = -5,
                              [THREAD_PRIORITY_RECORD] = 10,
                              [THREAD_PRIORITY_HURRY] = -10};

static bool is_real_time(pid_t thread)
{
	int policy = sched_getscheduler(thread);
	return policy >= 0 &&
	       ((policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO || (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR);
}

/* Asks for short turns: since Linux 6.12 who wakes up for one need not wait until the turn of another is over. Earlier
 * ones pay no attention. */
static void take_short(pid_t thread)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} turns = {
		.size = 48, .policy = SCHED_OTHER, .nice = getpriority(PRIO_PROCESS, (id_t)thread), .runtime_ns = TURN_NS};
	syscall(SYS_sched_setattr, thread, &turns, 0U);
}

bool thread_priority_take(int64_t thread, enum turns turns)
{
	const struct sched_param ordinary = {0};
	if (is_real_time((pid_t)thread)) {
		if (turns == THREAD_PRIORITY_SEND)
			return true;
		sched_setscheduler((pid_t)thread, SCHED_OTHER, &ordinary);
	}
	bool good = setpriority(PRIO_PROCESS, (id_t)thread, nice_of[turns]) == 0;
	if (turns == THREAD_PRIORITY_SEND)
		take_short((pid_t)thread);
	return good;
}
