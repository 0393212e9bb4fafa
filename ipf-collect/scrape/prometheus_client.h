/* Requests to the HTTP API of one Prometheus, one after another on one connection.
 *
 *     prometheus_client_open(&client, &options, &err);
 *     prometheus_client_get(client, "/api/v1/label/__name__/values", "start=0&end=1", &body, &err);
 *     prometheus_client_close(client);
 *
 * Redirects are not followed. An answer takes at most the time limit and PROMETHEUS_BYTES_MAX bytes. A signal ending
 * the program (cli/interrupt.h) ends a request.
 */
#ifndef COLLECT_PROMETHEUS_CLIENT_H
#define COLLECT_PROMETHEUS_CLIENT_H

#include "buffer.h"
#include "error.h"
#include "scrape/scrape_options.h"

#define PROMETHEUS_BYTES_MAX ((size_t)32 << 20) /* one answer's, when decompressed */

struct prometheus_client;

/* Reads the bearer token. -1: IPF_USAGE for another URL than http or https, or for no token; IPF_SYSTEM. */
int prometheus_client_open(struct prometheus_client **client, const struct scrape_options *options,
                           struct ipf_error *err);
void prometheus_client_close(struct prometheus_client *client); /* NULL is fine */

/* Appends a parameter "name=value", escaped, after "&" if there are others. */
void prometheus_client_param(const struct prometheus_client *client, const char *name, struct slice value,
                             struct buffer *params);

/* Asks with the parameters in the URL, or in a form. 0: status 200, and the body. 1: another status, and an error for
 * it in `err`, to which the body may have a better text. -1: no answer. */
int prometheus_client_get(struct prometheus_client *client, const char *path, const struct buffer *params,
                          struct buffer *body, struct ipf_error *err);
int prometheus_client_post(struct prometheus_client *client, const char *path, const struct buffer *params,
                           struct buffer *body, struct ipf_error *err);

#endif
