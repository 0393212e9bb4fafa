#include "job/memory_use.h"

#include "clock.h"
#include "job/event_fd.h"

#include <time.h>

#define MARGIN   (INT64_C(4) << 20)
#define WAIT_NS  (30 * NS_PER_S) /* for the recorder, in all … */
#define STILL_NS (5 * NS_PER_S)  /* … and without a byte written */

void memory_use_add(struct memory_use *m, int64_t bytes)
{
	counter_add(&m->taken, bytes);
}

static int64_t sum(const struct memory_use *m, size_t member)
{
	const char *recorder = (const char *)&m->parts[THREADS_MOST] + member;
	int64_t sum = counter_get((const atomic_llong *)(const void *)recorder);
	for (size_t i = 0; i < m->threads; i++)
		sum += counter_get((const atomic_llong *)(const void *)((const char *)&m->parts[i] + member));
	return sum;
}

#define SUM(m_, member_) sum(m_, offsetof(struct memory_part, member_))

int64_t memory_use_taken(const struct memory_use *m)
{
	return counter_get(&m->taken) + SUM(m, taken);
}

int64_t memory_use_staying(const struct memory_use *m)
{
	return memory_use_taken(m) - SUM(m, leaving);
}

static bool is_short(const struct memory_use *m)
{
	return memory_use_staying(m) > m->most / 4 * 3;
}

bool memory_use_cuts(const struct memory_use *m)
{
	return m->most && is_short(m) && SUM(m, growing) > m->most / 4;
}

enum memory_state memory_use_state(const struct memory_use *m)
{
	if (!m->most)
		return MEMORY_AMPLE;
	int64_t margin = m->most / 8 < MARGIN ? m->most / 8 : MARGIN;
	if (memory_use_taken(m) > m->most - margin)
		return MEMORY_FULL;
	return is_short(m) ? MEMORY_SHORT : MEMORY_AMPLE;
}

struct memory_wait memory_wait_begin(const struct memory_use *m)
{
	int64_t now = clock_now();
	return (struct memory_wait){.begin_ns = now, .still_ns = now, .written = counter_get(&m->written)};
}

bool memory_use_wait(struct memory_use *m, struct memory_wait *wait)
{
	const struct timespec little = {.tv_nsec = NS_PER_MS};
	int64_t now = clock_now();
	long long written = counter_get(&m->written);
	if (written != wait->written)
		wait->still_ns = now;
	wait->written = written;
	if (now - wait->still_ns > STILL_NS || now - wait->begin_ns > WAIT_NS)
		atomic_store(&m->full, true);
	else if (!atomic_load(&m->full))
		nanosleep(&little, NULL);
	return !atomic_load(&m->full);
}

bool memory_use_ask(struct memory_use *m, size_t thread, int64_t bytes)
{
	size_t found = thread;
	for (size_t i = 0; i < THREADS_MOST; i++)
		if (i != thread && counter_get(&m->largest[i]) > bytes) {
			bytes = counter_get(&m->largest[i]);
			found = i;
		}
	if (found == thread)
		return false;
	if (!atomic_exchange(&m->asked[found], true))
		event_fd_notify(m->wake_fd[found]);
	return true;
}

bool memory_use_asked(struct memory_use *m, size_t thread)
{
	return atomic_exchange(&m->asked[thread], false);
}
