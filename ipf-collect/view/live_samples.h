/* The latest sample of each server and accelerator, for the view.
 *
 *     struct live_samples samples = {0};
 *     live_samples_add(&samples, line);                 // a line with "sample":"server" or "sample":"gpu"
 *     struct server_now now = live_samples_servers(&samples);
 *     live_samples_release(&samples);
 *
 * Bounded: sources beyond LIVE_SOURCES_MOST are left out of the view.
 */
#ifndef COLLECT_LIVE_SAMPLES_H
#define COLLECT_LIVE_SAMPLES_H

#include "json/jdoc.h"

#include <stdbool.h>

enum { LIVE_SOURCES_MOST = 64 };

struct live_source {
	char name[128]; /* the name of a target or device, JSON with its quotes */
	bool gpu;
	bool failed;                                            /* the last scrape did */
	double running, waiting, kv_cache, replicas;            /* a server's; NAN: not known */
	double utilization, power_w, memory_share, temperature; /* a device's */
};

/* Zero-initialise. */
struct live_samples {
	struct live_source list[LIVE_SOURCES_MOST];
	size_t count;
	struct jdoc doc;
};

/* Figures over all servers. Sums, but for kv_cache, which is a mean; NAN: no server says it. */
struct server_now {
	size_t servers, failed;
	double running, waiting, kv_cache, replicas;
};

/* Figures over all devices: the mean utilization, the highest share of memory and temperature, the sum of the power. */
struct gpu_now {
	size_t devices;
	double utilization, power_w, memory_share, temperature;
};

/* Returns the time of a server's sample, else IPF_ABSENT. Another line is ignored. */
int64_t live_samples_add(struct live_samples *s, struct slice line);
struct server_now live_samples_servers(const struct live_samples *s);
struct gpu_now live_samples_gpus(const struct live_samples *s);
void live_samples_release(struct live_samples *s);

#endif
