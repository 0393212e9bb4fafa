/* Common to the tests of captured TLS: a key log in memory, and a sink keeping all it is given. */
#ifndef IPF_TEST_TLS_CAPTURE_H
#define IPF_TEST_TLS_CAPTURE_H

#include "buffer.h"
#include "capture/tls_stream.h"
#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

struct key_log {
	int fd;
	char path[32];
};

static inline void key_log_open(struct key_log *log)
{
	assert_true((log->fd = memfd_create("keys", MFD_CLOEXEC)) >= 0);
	snprintf(log->path, sizeof log->path, "/proc/self/fd/%d", log->fd);
}

static inline void key_log_add(const struct key_log *log, const char *text)
{
	assert_int_equal(write(log->fd, text, strlen(text)), strlen(text));
}

static inline struct tls_keys *key_log_read(const struct key_log *log)
{
	struct tls_keys *keys;
	struct ipf_error err = {0};
	assert_int_equal(tls_keys_open(&keys, log->path, &err), 0);
	return keys;
}

/* `text` as a key log. */
static inline struct tls_keys *keys_of(const char *text)
{
	struct key_log log;
	key_log_open(&log);
	key_log_add(&log, text);
	struct tls_keys *keys = key_log_read(&log);
	close(log.fd);
	return keys;
}

static inline void keys_close(struct tls_keys *keys)
{
	struct ipf_error err = {0};
	assert_int_equal(tls_keys_close(keys, &err), 0);
}

/* Content of one direction, and for each call where it ended and its time. */
struct heard {
	struct buffer plain;
	struct {
		size_t end;
		int64_t t_ns;
	} calls[4096];
	size_t count;
	int alert; /* -1: none */
	int64_t closed_ns;
};

struct listener {
	struct heard sides[2]; /* client, server */
	int refuse_after;      /* calls; 0: never */
};

static inline int listener_plain(void *data, bool from_server, const char *bytes, size_t len, int64_t t_ns)
{
	struct listener *l = data;
	struct heard *h = &l->sides[from_server];
	assert_true(len > 0 && h->alert < 0 && h->count < sizeof h->calls / sizeof *h->calls);
	buffer_append(&h->plain, bytes, len);
	h->calls[h->count].end = h->plain.len;
	h->calls[h->count++].t_ns = t_ns;
	return l->refuse_after && --l->refuse_after == 0 ? -1 : 0;
}

static inline int listener_closed(void *data, bool from_server, int alert, int64_t t_ns)
{
	struct heard *h = &((struct listener *)data)->sides[from_server];
	assert_true(alert >= 0 && h->alert < 0);
	h->alert = alert;
	h->closed_ns = t_ns;
	return 0;
}

static const struct tls_sink listener_sink = {listener_plain, listener_closed};

static inline struct listener *listener_new(void)
{
	struct listener *l = calloc(1, sizeof *l);
	assert_non_null(l);
	l->sides[0].alert = l->sides[1].alert = -1;
	return l;
}

static inline void listener_free(struct listener *l)
{
	buffer_release(&l->sides[0].plain);
	buffer_release(&l->sides[1].plain);
	free(l);
}

#endif
