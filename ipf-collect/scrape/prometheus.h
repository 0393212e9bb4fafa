/* Asks a Prometheus, or a server with its HTTP API, for the servers' metrics during a run (--prometheus), after the
 * run: its answers become samples of servers like those of scrapes.
 *
 *     prometheus_open(&prometheus, &options, every_ns, &err);       // checks the options and the token
 *     prometheus_request(prometheus, start_ns, end_ns);             // of the run, for each
 *     prometheus_write(prometheus, t0_unix_ns, writer, &err);       // asks, and writes the samples
 *     json_object_set_new(trailer, "prometheus", prometheus_json(prometheus));
 *     prometheus_close(prometheus);
 *
 * With --query, each expression is asked for the range of the run with the step --every, and its value is a gauge of
 * the target "prometheus". Without, it is asked which of the metrics in server_metrics.h it has, then for each of
 * these: their names are given exactly, since not all (Google's) allow patterns of names. The series of an instance at
 * one time equal a scrape of it then.
 *
 * The range begins with the step before the first request, and ends with the second one after the last, so the effects
 * of the run have been scraped. It is asked in parts of PROMETHEUS_POINTS steps, which bounds the memory; Prometheus
 * itself refuses more than 11,000.
 *
 * prometheus_request, _write, _describe and _close accept NULL, and do nothing then.
 */
#ifndef COLLECT_PROMETHEUS_H
#define COLLECT_PROMETHEUS_H

#include "scrape/scrape_options.h"
#include "stream/stream.h"

#define PROMETHEUS_POINTS      1000
#define PROMETHEUS_SERIES_MAX  16000 /* series of all known metrics */
#define PROMETHEUS_TARGETS_MAX 1000

struct prometheus;

/* -1: IPF_USAGE for faulty options, IPF_SYSTEM. The options are borrowed. */
int prometheus_open(struct prometheus **prometheus, const struct scrape_options *options, int64_t every_ns,
                    struct ipf_error *err);
/* A request took place from then to then, in time of the run; IPF_ABSENT: not known. */
void prometheus_request(struct prometheus *prometheus, int64_t start_ns, int64_t end_ns);
/* `t0_unix_ns`: the start of the run. Whatever goes wrong with Prometheus is no failure: it is kept for the trailer and
 * the notes. -1: the output failed. */
int prometheus_write(struct prometheus *prometheus, int64_t t0_unix_ns, struct stream_writer *writer,
                     struct ipf_error *err);
/* For the trailer: the queries, the answers, the errors. New. */
json_t *prometheus_json(const struct prometheus *prometheus);
/* Appends the error, one line, or nothing. */
void prometheus_describe(const struct prometheus *prometheus, struct buffer *out);
void prometheus_close(struct prometheus *prometheus);

#endif
