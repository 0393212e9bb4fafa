#include "live/line_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct line_queue {
	pthread_mutex_t lock;
	struct buffer lines; /* each after its length, as a uint32_t; from `begin` on */
	size_t begin, max_bytes;
	int fd;
	atomic_size_t count;
	_Atomic int64_t dropped;
};

struct line_queue *line_queue_new(size_t max_bytes)
{
	struct line_queue *q = calloc(1, sizeof *q);
	if (!q)
		return NULL;
	q->max_bytes = max_bytes;
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0 || pthread_mutex_init(&q->lock, NULL) != 0) {
		if (q->fd >= 0)
			close(q->fd);
		free(q);
		return NULL;
	}
	return q;
}

void line_queue_free(struct line_queue *q)
{
	if (!q)
		return;
	close(q->fd);
	pthread_mutex_destroy(&q->lock);
	buffer_release(&q->lines);
	free(q);
}

static bool append(struct line_queue *q, struct slice line)
{
	uint32_t len = (uint32_t)line.len;
	size_t held = q->lines.len - q->begin;
	if (line.len > q->max_bytes || held > q->max_bytes - line.len || line.len > UINT32_MAX)
		return false;
	if (q->begin > q->lines.len / 2) {
		buffer_consume(&q->lines, q->begin);
		q->begin = 0;
	}
	char *to = buffer_reserve(&q->lines, sizeof len + line.len);
	if (!to) {
		q->lines.failed = false; /* the queued lines are complete */
		return false;
	}
	buffer_append(&q->lines, &len, sizeof len);
	buffer_slice(&q->lines, line);
	return true;
}

bool line_queue_put(struct line_queue *q, struct slice line)
{
	pthread_mutex_lock(&q->lock);
	bool put = append(q, line);
	if (put) /* as long as lines wait, the descriptor is readable */
		put = atomic_fetch_add(&q->count, 1) > 0 || eventfd_write(q->fd, 1) == 0;
	else
		atomic_fetch_add(&q->dropped, 1);
	pthread_mutex_unlock(&q->lock);
	return put;
}

int line_queue_fd(const struct line_queue *q)
{
	return q->fd;
}

bool line_queue_take(struct line_queue *q, struct buffer *line)
{
	if (atomic_load(&q->count) == 0)
		return false;
	pthread_mutex_lock(&q->lock);
	uint32_t len;
	memcpy(&len, q->lines.data + q->begin, sizeof len);
	buffer_append(line, q->lines.data + q->begin + sizeof len, len);
	q->begin += sizeof len + len;
	if (atomic_fetch_sub(&q->count, 1) == 1) {
		eventfd_t ignored;
		(void)eventfd_read(q->fd, &ignored);
		buffer_clear(&q->lines);
		q->begin = 0;
	}
	pthread_mutex_unlock(&q->lock);
	return true;
}

int64_t line_queue_dropped(const struct line_queue *q)
{
	return atomic_load(&q->dropped);
}
