/* Serves the figures of a run over HTTP, to Prometheus and to people: /metrics in the format the client asks for,
 * /healthz, and / with a link.
 *
 *     struct metrics_server *server;
 *     if (metrics_server_start(&server, &address, metrics, &err) < 0) …
 *     fprintf(stderr, "… http://%s/metrics\n", metrics_server_address(server));
 *     metrics_server_stop(server);
 *
 * libmicrohttpd runs it in a thread of its own, which works on copies of the figures (live_metrics.h): no client can
 * delay the run. Connections are limited in number, in the size of a request, and in time without a byte. If all are
 * taken, the one without a complete request for longest is closed for the next, so clients sending their requests
 * slowly or never cannot keep others out.
 */
#ifndef COLLECT_METRICS_SERVER_H
#define COLLECT_METRICS_SERVER_H

#include "error.h"
#include "publish/listen_address.h"
#include "publish/live_metrics.h"

struct metrics_server;

/* -1: the address cannot be had, or out of memory. `metrics` must outlive the server. */
int metrics_server_start(struct metrics_server **server, const struct listen_address *address,
                         struct live_metrics *metrics, struct ipf_error *err);
const char *metrics_server_address(const struct metrics_server *server); /* "127.0.0.1:9464", with the real port */
int64_t metrics_server_scrapes(const struct metrics_server *server);     /* answered with metrics so far */
/* Scrapes with the figures of a finished run. One by a scraper with a timeout, such as Prometheus, counts when the
 * scraper asks again on the same connection: then it was not given up. */
int64_t metrics_server_final_scrapes(const struct metrics_server *server);
void metrics_server_stop(struct metrics_server *server); /* NULL is fine */

/* "libmicrohttpd/0.9.75" */
const char *metrics_server_library(void);

#endif
