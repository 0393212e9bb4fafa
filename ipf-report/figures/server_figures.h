/* The metrics of model servers and accelerators while the run lasted, and the servers' figures beside the client's.
 *
 *     struct server_figures servers;
 *     server_figures_build(&servers, &run, &err);
 *     if (servers.count > 0) … servers.running.mean … servers.all.comparison.notes[i].text …
 *     server_figures_release(&servers);
 *
 * Shards scraping the same target count once: the one with the most readings. Parts that are repeats are summed up, but
 * not compared with the client, since each has a range of its own. An unknown value is NAN.
 *
 * A target at the host and port of one of ipf-fire's URLs is also compared alone, with the requests to that URL, if
 * there are several URLs or targets. Behind a balancer, nobody can say which replica a request went to.
 */
#ifndef REPORT_SERVER_FIGURES_H
#define REPORT_SERVER_FIGURES_H

#include "results/run_data.h"
#include "figures/server_comparison.h"

/* The client's requests in a range of time, beside the servers' figures for it. */
struct compared_figures {
	struct client_facts client;
	struct server_facts facts;
	struct server_comparison comparison;
};

/* The part of a target's engine: all of the work, or with others for the rest (disaggregation). */
enum target_role { ROLE_UNKNOWN, ROLE_PREFILL, ROLE_DECODE };
extern const char *const target_role_names[]; /* NULL, "prefill", "decode" */

/* Its work by its own counters; NAN: it does not report it. */
struct target_work {
	enum target_role role;
	double requests, input_per_s, output_per_s, preemptions;
	double hit_rate, acceptance;
};

/* How evenly the targets of one role were loaded: the busiest, divided by the mean. NAN: fewer than two report it. */
struct target_balance {
	double requests, input_tokens, output_tokens;
	int count; /* targets */
};

/* A target of a scrape in one part of the run. */
struct server_target_figures {
	const char *name, *server, *last_error; /* "server": its kind, "" if not known; last_error: "" if none failed */
	const char *url;                        /* NULL: not known */
	int source;                             /* in run->samples */
	int part;
	int64_t readings, failed;
	int64_t restarts, restarted_ns; /* how often its counters fell, and when first */
	bool counts;                    /* no other part has scraped it better */
	int client; /* the target of ipf-fire on the same host and port, an index into run->groups[BY_TARGET]; -1 */
	struct target_work work;
	struct compared_figures *compared; /* with the requests to it; NULL: not known, or it is the only one */
	json_t *missing;                   /* common names it never had; borrowed; NULL */
};

/* How far drafts of speculative decoding were accepted, by the counters of the servers with them by position. */
enum { DRAFT_POSITIONS = 8 };
struct draft_positions {
	int count;                     /* positions; 0: not known. only the first ones of longer drafts are kept */
	double share[DRAFT_POSITIONS]; /* the drafts', those whose first, second, … token was accepted */
};

struct server_figures {
	struct server_target_figures *targets;
	int count;
	int *sources, sources_count; /* counted targets */
	struct sample_range run;     /* from the first start to the last end of a request, for gauges */
	struct sample_range range;   /* the range of the readings: counters, histograms, and the client's requests beside
	                              * them */
	struct gauge_figures running, waiting, kv_cache, replicas;
	struct counter_figures input, output, preemptions;
	double hit_rate, acceptance; /* shares: prefix cache; tokens of speculative decoding */
	struct draft_positions positions;
	struct target_balance balance[ROLE_DECODE + 1]; /* by role; of ROLE_UNKNOWN: those doing all of the work */
	bool compared;                                  /* the two below exist */
	struct compared_figures all;
	const char
		*not_scraped; /* a URL of ipf-fire that no target of a scrape belongs to, although others have one; NULL */
};

struct accelerator_figures {
	const struct gpu_device *device;
	struct gauge_figures utilization, bandwidth, memory_used, memory_total, power, sm_clock, temperature;
	json_t *energy; /* its entry in "accelerators" of the trailer of its part, see ipf-results(5); borrowed; NULL */
};

int server_figures_build(struct server_figures *figures, const struct run_data *run, struct ipf_error *err);
void server_figures_release(struct server_figures *figures);
/* `acceptance` alone; NAN: nothing was scraped, or no drafts. */
int server_draft_acceptance(double *acceptance, const struct run_data *run, struct ipf_error *err);

/* From the first start to the last end of a request, on the clock of the first part; all times if there is none. */
struct sample_range run_extent(const struct run_data *run);

/* A device over that time. */
struct accelerator_figures accelerator_figures_of(const struct run_data *run, int device);

#endif
