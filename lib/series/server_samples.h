/* Reads the samples of model servers and of accelerators from results, see "Samples" in ipf-results(5).
 *
 *     {"sample":"server","t_ns":…,"target":"a","server":"vllm","interval_ns":…,"gauges":{…},"counters":{…},"histograms":{…}}
 *     {"sample":"server","t_ns":…,"target":"a","error":"connection refused"}
 *     {"sample":"gpu","t_ns":…,"source":"nvml","host":"…","device":"GPU-…","index":0,"model":"…","utilization":0.93,…}
 *
 * Figures go into a sample_store, one source per target and part of the run, or per device; the rest is kept here:
 *
 *     struct server_samples all = {.store = store};
 *     server_samples_add(&all, part, shift_ns, &doc, &err);           // each parsed line
 *     all.targets[i].server, .readings, .failed …
 *     server_samples_release(&all);
 *
 * The GPU's figures are gauges by their names in the line, but for "energy_j", a counter the device begins when it
 * likes: its increase from reading to reading is a counter "energy_j".
 */
#ifndef IPF_SERVER_SAMPLES_H
#define IPF_SERVER_SAMPLES_H

#include "json/jdoc.h"
#include "series/sample_store.h"

/* A target of a scrape, in one part of the run. Texts are cut to their size, never in the middle of a character. */
struct server_target {
	int source; /* in the store */
	int part;
	char server[32];      /* its kind, "" if not known */
	char last_error[160]; /* the last failed reading's; "" */
	int64_t readings, failed;
	int64_t restarts;     /* readings whose counters were smaller than before */
	int64_t restarted_ns; /* the time of the first of them; without meaning if there is none */
};

struct server_samples {
	struct sample_store *store; /* borrowed */
	struct server_target *targets;
	int count;
};

/* Adds a line to the entries of the part with this number; `shift_ns` is added to its times. Lines the store leaves out
 * are counted there. -1: IPF_INPUT for a line contradicting ipf-results(5), with the field; or out of memory. */
int server_samples_add(struct server_samples *s, int part, int64_t shift_ns, const struct jdoc *line,
                       struct ipf_error *err);
void server_samples_release(struct server_samples *s);

struct gpu_device {
	int source; /* in the store */
	int part;
	char host[64], model[64], from[24]; /* "from": where the samples came from, such as "nvml" */
	char device[96];                    /* its UUID or the like */
	int64_t index;                      /* on its host; IPF_ABSENT */
	double energy_j;                    /* the last value of its counter; NAN: none yet */
	int64_t energy_t_ns;
};

struct gpu_samples {
	struct sample_store *store; /* borrowed */
	struct gpu_device *devices;
	int count;
};

int gpu_samples_add(struct gpu_samples *s, int part, int64_t shift_ns, const struct jdoc *line, struct ipf_error *err);
void gpu_samples_release(struct gpu_samples *s);

#endif
