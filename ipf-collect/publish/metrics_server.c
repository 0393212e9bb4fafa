#include "publish/metrics_server.h"

#include "buffer.h"
#include "clock.h"
#include "publish/accept_header.h"
#include "publish/metrics_protobuf.h"
#include "metrics/metrics_text.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS     64  /* at most; the daemon itself accepts a few more */
#define IDLE_SECONDS    75u /* more than the intervals at which Prometheus usually scrapes */
#define SCRAPE_TIMEOUT  "X-Prometheus-Scrape-Timeout-Seconds"
#define CONNECTION_SIZE ((size_t)32 * 1024) /* memory of a connection: the largest request */

struct open_connection {
	int fd;
	int64_t since_ns; /* its begin's, or of the end of its last request */
	bool closing;
	bool final; /* the final figures were sent to a scraper possibly no longer waiting for them */
};

struct metrics_server {
	struct MHD_Daemon *daemon;
	struct live_metrics *metrics;
	struct live_figures figures; /* scratch of the server's thread, as the members below */
	struct open_connection connections[CONNECTIONS];
	size_t connections_count;
	atomic_llong scrapes, final_scrapes;
	char address[64];
};

/* ---- connections ---- */

static struct open_connection *find_connection(struct metrics_server *s, int fd)
{
	for (size_t i = 0; i < s->connections_count; i++)
		if (s->connections[i].fd == fd)
			return &s->connections[i];
	return NULL;
}

/* Closes the connection without a request for longest: its socket is shut down, and the daemon then ends it. */
static void make_room(struct metrics_server *s)
{
	struct open_connection *oldest = NULL;
	size_t open = 0;
	for (size_t i = 0; i < s->connections_count; i++) {
		struct open_connection *c = &s->connections[i];
		open += !c->closing;
		if (!c->closing && (!oldest || c->since_ns < oldest->since_ns))
			oldest = c;
	}
	if (oldest && open > CONNECTIONS / 2) {
		oldest->closing = true;
		shutdown(oldest->fd, SHUT_RDWR);
	}
}

static void note_connection(void *data, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
	struct metrics_server *s = data;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct open_connection *c = info ? find_connection(s, info->connect_fd) : NULL;
	(void)context;
	if (!info)
		return;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c)
			*c = s->connections[--s->connections_count];
		return;
	}
	if (s->connections_count < CONNECTIONS)
		s->connections[s->connections_count++] = (struct open_connection){info->connect_fd, clock_now(), false, false};
	make_room(s);
}

static void note_completed(void *data, struct MHD_Connection *connection, void **context,
                           enum MHD_RequestTerminationCode code)
{
	struct metrics_server *s = data;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct open_connection *c = info ? find_connection(s, info->connect_fd) : NULL;
	if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		return;
	/* not before: the server may end then, and unsent bytes are lost */
	atomic_fetch_add(&s->final_scrapes, *context == &s->final_scrapes);
	if (!c)
		return;
	c->since_ns = clock_now();
	c->final |= *context == s->connections;
}

/* A scraper stopping waiting closes its connection, so a further request on it shows the answer before was read. */
static void note_request(struct metrics_server *s, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct open_connection *c = info ? find_connection(s, info->connect_fd) : NULL;
	if (c && c->final)
		atomic_fetch_add(&s->final_scrapes, 1);
}

/* ---- answers ---- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response,
                              const char *type)
{
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result queued = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return queued;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status, const char *text,
                                   const char *type)
{
	return answer(connection, status,
	              MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT), type);
}

/* Called by the library, which must not call free() itself: it is not ours (lib/memory.h). */
static void free_body(void *body)
{
	free(body);
}

static void render(const struct live_figures *figures, enum metrics_format format, struct buffer *out)
{
	if (format == METRICS_PROTOBUF) {
		struct metrics_protobuf families = metrics_protobuf(out);
		live_figures_walk(figures, &families.sink);
		return;
	}
	struct metrics_text text = metrics_text(out, format == METRICS_OPENMETRICS);
	live_figures_walk(figures, &text.sink);
	metrics_text_end(&text);
}

/* With the final figures, the context becomes &s->final_scrapes, or s->connections if the scraper has a timeout. */
static enum MHD_Result answer_metrics(struct metrics_server *s, struct MHD_Connection *connection, bool head,
                                      void **context)
{
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	enum metrics_format format = accept_format(accept);
	struct buffer body = {0};
	if (live_metrics_read(s->metrics, &s->figures) == 0)
		render(&s->figures, format, &body);
	if (body.failed || !body.data) {
		buffer_release(&body);
		return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n", "text/plain");
	}
	atomic_fetch_add(&s->scrapes, !head);
	if (!head && s->figures.finished)
		*context = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, SCRAPE_TIMEOUT) ? (void *)s->connections
		                                                                                    : &s->final_scrapes;
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(body.len, body.data, free_body);
	if (!response)
		buffer_release(&body);
	return answer(connection, MHD_HTTP_OK, response, metrics_content_type(format));
}

static enum MHD_Result handle(void *data, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **context)
{
	static const char page[] = "<!DOCTYPE html><html lang=\"en\"><head><title>ipf-collect</title></head>"
							   "<body><h1>ipf-collect</h1><p><a href=\"/metrics\">Metrics</a></p></body></html>\n";
	struct metrics_server *s = data;
	bool head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	(void)version;
	(void)upload;
	(void)upload_size;
	if (!*context) { /* the first call has the headers only; a body is refused before it is read */
		*context = s;
		note_request(s, connection);
		if (head || strcmp(method, MHD_HTTP_METHOD_GET) == 0)
			return MHD_YES;
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n", "text/plain");
	}
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(s, connection, head, context);
	if (strcmp(url, "/healthz") == 0)
		return answer_text(connection, MHD_HTTP_OK, "ok\n", "text/plain");
	if (strcmp(url, "/") == 0)
		return answer_text(connection, MHD_HTTP_OK, page, "text/html; charset=utf-8");
	return answer_text(connection, MHD_HTTP_NOT_FOUND, "not found; see /metrics\n", "text/plain");
}

/* The library's messages about clients breaking off are useless. */
__attribute__((format(printf, 2, 0))) static void ignore_log(void *data, const char *format, va_list values)
{
	(void)data;
	(void)format;
	(void)values;
}

/* ---- starting and stopping ---- */

int metrics_server_start(struct metrics_server **server, const struct listen_address *address,
                         struct live_metrics *metrics, struct ipf_error *err)
{
	struct sockaddr_storage bound;
	socklen_t len = sizeof bound;
	struct metrics_server *s = calloc(1, sizeof *s);
	*server = s;
	if (!s)
		return ipf_error_memory(err);
	s->metrics = metrics;
	int fd = listen_address_open(address, err);
	if (fd < 0)
		return -1;
	s->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL,
	                             handle, s, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
	                             MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
	                             IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_SIZE,
	                             MHD_OPTION_NOTIFY_CONNECTION, note_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
	                             note_completed, s, MHD_OPTION_END);
	if (!s->daemon) {
		close(fd);
		return ipf_error_set(err, IPF_SYSTEM, "--listen: the HTTP server does not start");
	}
	if (getsockname(fd, (struct sockaddr *)&bound, &len) < 0)
		return ipf_error_set(err, IPF_SYSTEM, "--listen: the socket has no address");
	listen_address_write((struct sockaddr *)&bound, s->address);
	return 0;
}

const char *metrics_server_address(const struct metrics_server *s)
{
	return s->address;
}

int64_t metrics_server_scrapes(const struct metrics_server *s)
{
	return atomic_load(&s->scrapes);
}

int64_t metrics_server_final_scrapes(const struct metrics_server *s)
{
	return atomic_load(&s->final_scrapes);
}

void metrics_server_stop(struct metrics_server *s)
{
	if (!s)
		return;
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	live_figures_release(&s->figures);
	free(s);
}

const char *metrics_server_library(void)
{
	static char name[64];
	snprintf(name, sizeof name, "libmicrohttpd/%s", MHD_get_version());
	return name;
}
