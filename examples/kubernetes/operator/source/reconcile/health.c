#include "reconcile/health.h"

#include "clock.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct health {
	struct MHD_Daemon *daemon;
	_Atomic int64_t beat_ns;
	_Atomic bool ready;
};
static const int64_t longest_silence_ns = 120 * NS_PER_S;

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
	struct health *h = context;
	bool alive = clock_now() - atomic_load(&h->beat_ns) < longest_silence_ns;
	unsigned status = strcmp(url, "/healthz") == 0  ? (alive ? 200 : 503)
	                  : strcmp(url, "/readyz") == 0 ? (alive && atomic_load(&h->ready) ? 200 : 503)
	                                                : 404;
	struct MHD_Response *response;
	(void)version, (void)data, (void)state;
	if (strcmp(method, "GET") != 0 || *size)
		return MHD_NO;
	const char *text = status == 200 ? "ok\n" : status == 503 ? "not ok\n" : "not found\n";
	response = MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result = response ? MHD_queue_response(connection, status, response) : MHD_NO;
	if (response)
		MHD_destroy_response(response);
	return result;
}

struct health *health_open(int64_t port, struct ipf_error *err)
{
	struct health *h = calloc(1, sizeof(*h));
	if (!h) {
		ipf_error_memory(err);
		return NULL;
	}
	atomic_store(&h->beat_ns, clock_now());
	h->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_DUAL_STACK, (uint16_t)port, NULL, NULL,
	                             answer, h, MHD_OPTION_CONNECTION_LIMIT, 16u, MHD_OPTION_CONNECTION_TIMEOUT, 10u,
	                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)8192, MHD_OPTION_END);
	if (!h->daemon) /* a machine without IPv6 */
		h->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL, answer, h,
		                             MHD_OPTION_CONNECTION_LIMIT, 16u, MHD_OPTION_CONNECTION_TIMEOUT, 10u,
		                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)8192, MHD_OPTION_END);
	if (h->daemon)
		return h;
	ipf_error_errno(err, errno, NULL, "cannot listen on port %lld", (long long)port);
	free(h);
	return NULL;
}

int health_port(const struct health *h)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
	return info ? info->port : 0;
}

void health_beat(struct health *h, bool ready)
{
	atomic_store(&h->beat_ns, clock_now());
	atomic_store(&h->ready, ready);
}

void health_close(struct health *h)
{
	if (h)
		MHD_stop_daemon(h->daemon);
	free(h);
}
