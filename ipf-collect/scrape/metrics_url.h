/* The URL of a server exposing metrics: without a path it is /metrics.
 *
 *     struct metrics_url url;
 *     if (metrics_url_parse(&url, "http://10.0.0.7:8000")) …        // url.whole: "http://10.0.0.7:8000/metrics"
 *     metrics_url_release(&url);                                    // also after a failure
 */
#ifndef COLLECT_METRICS_URL_H
#define COLLECT_METRICS_URL_H

#include <stdbool.h>

struct metrics_url {
	char *whole, *scheme, *host, *port; /* libcurl's; the port is the scheme's if the URL has none */
};

/* False: not a URL, or no memory. */
bool metrics_url_parse(struct metrics_url *url, const char *text);
void metrics_url_release(struct metrics_url *url);

#endif
