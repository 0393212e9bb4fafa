/* Watches the devices of one source (or, for "auto", of the first of several sources with devices) in a thread of its
 * own.
 *
 *     struct gpu_watch *w = gpu_watch_new(&(struct gpu_watch_plan){.candidates = {&gpu_nvml}, .every_ns = NS_PER_S,
 * …}); gpu_watch_start(w, &err); gpu_watch_align(w, clock); gpu_watch_stop(w); const struct gpu_watched *seen =
 * gpu_watch_seen(w);     // until gpu_watch_free
 *
 * A result line for each device is put into the queue each `every_ns`. A cheap source is asked more often; a line then
 * has the means of utilisation, memory bandwidth and power since the line before, and the energy is computed from all
 * readings.
 */
#ifndef COLLECT_GPU_WATCH_H
#define COLLECT_GPU_WATCH_H

#include "gpu/gpu_source.h"
#include "live/line_queue.h"
#include "live/run_clock.h"
#include "series/energy.h"

#define GPU_CANDIDATES_MOST 2

struct gpu_watch_plan {
	const char *name;                                         /* the value of --gpu */
	const struct gpu_source *candidates[GPU_CANDIDATES_MOST]; /* NULL after the last */
	const char *url;                                          /* borrowed; NULL */
	int64_t every_ns;
	struct line_queue *queue;
};

/* Adds `count` values. */
struct gpu_mean {
	double value;
	int64_t count;
};

struct watched_device {
	struct gpu_sample last;
	struct energy_series *energy; /* in times of clock_now() */
	int64_t readings;
	struct gpu_mean utilization, memory_bandwidth, power_w; /* since the last line */
};

struct gpu_watched {
	const struct gpu_source *source; /* the candidate used; NULL: none had devices */
	struct watched_device *devices;
	size_t count;
	int64_t asked, failed; /* how often the source was asked, and did not answer or not for all devices */
	char last_error[256];  /* safe to print; "": none */
	bool hung;             /* it did not come back at the end: the thread was left behind */
};

struct gpu_watch;

struct gpu_watch *gpu_watch_new(const struct gpu_watch_plan *plan); /* NULL: no memory, or no descriptor */
int gpu_watch_start(struct gpu_watch *w, struct ipf_error *err);
/* The clock knows the start of the run; borrowed until gpu_watch_stop, or for good if the watch then hangs. */
void gpu_watch_align(struct gpu_watch *w, const struct run_clock *clock);
/* In two steps, so several stop at the same time. */
void gpu_watch_ask_to_stop(struct gpu_watch *w);
void gpu_watch_stop(struct gpu_watch *w);
const struct gpu_watch_plan *gpu_watch_plan(const struct gpu_watch *w);
/* Only after gpu_watch_stop. */
const struct gpu_watched *gpu_watch_seen(const struct gpu_watch *w);
/* If a watch hangs, everything but the watch's own memory is kept. NULL is fine. */
void gpu_watch_free(struct gpu_watch *w);

#endif
