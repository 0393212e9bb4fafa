#include "job/thread_stats.h"

#include "absent.h"
#include "stream/fields.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct thread_stats *thread_stats_new(void)
{
	return calloc(1, sizeof(struct thread_stats));
}

void thread_stats_woke(struct thread_stats *t, int ready)
{
	if (ready <= 0)
		return;
	counter_count(&t->wakes, 1);
	counter_count(&t->ready, ready);
	if (ready > counter_get(&t->ready_most))
		counter_set(&t->ready_most, ready);
}

int64_t thread_number(void)
{
	return syscall(SYS_gettid);
}

static int64_t look(int fd)
{
	char text[128];
	long long ran, waited;
	ssize_t len = pread(fd, text, sizeof text - 1, 0);
	if (len <= 0)
		return IPF_ABSENT;
	text[len] = '\0';
	return sscanf(text, "%lld %lld", &ran, &waited) == 2 ? waited : IPF_ABSENT;
}

int64_t run_queue_look(struct run_queue *q, int64_t thread)
{
	if (!q->fd && thread) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/task/%lld/schedstat", (long long)thread);
		q->fd = open(path, O_RDONLY | O_CLOEXEC);
		q->wait_ns = IPF_ABSENT;
	}
	if (q->fd <= 0)
		return IPF_ABSENT;
	int64_t waited = look(q->fd);
	if (waited != IPF_ABSENT)
		q->wait_ns = waited;
	return q->wait_ns;
}

void run_queue_close(struct run_queue *q)
{
	if (q->fd > 0)
		close(q->fd);
	q->fd = 0;
}
