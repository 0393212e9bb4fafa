/* Sessions as a whole: their duration, and its parts.
 *
 *     struct session_figures s;
 *     session_figures_build(&s, &run, &percentiles, &err);
 *     if (s.sessions > 0) … s.of[SESSION_TIME].median, s.share[SESSION_MODEL] …
 *
 * A session is the requests with one `session`, in a measured stage, from one of the trace's first to the next of the
 * same: a session sent again, by any client, is another one. Its time is from when its first request was due (in a
 * closed loop: ready) to the end of its last answer. That time is divided along its critical path: from the request
 * ending last, back to the one of those it waited for that ended last, and so on (session_graph.h). Along it,
 * everything belongs to one of
 *
 *   model    from start to end of a request
 *   think    from the end of a request until the next one is due: tools, or a user who thinks
 *   waiting  from due to start, for a slot or a connection
 *   client   its part by the client's own lateness (client_lag)
 *
 * and these add up to the time of the session. Branches running beside the path take no time: how many there are, and
 * how much they save, is told of sessions with any.
 */
#ifndef REPORT_SESSION_FIGURES_H
#define REPORT_SESSION_FIGURES_H

#include "figures/metric_summary.h"
#include "results/run_data.h"

enum session_part { SESSION_MODEL, SESSION_THINK, SESSION_WAITING, SESSION_CLIENT, SESSION_PARTS };
extern const char *const session_part_names[SESSION_PARTS]; /* "model", "think", "waiting", "client" */

/* Distributions over complete sessions, times in s. */
enum session_distribution {
	SESSION_REQUESTS,
	SESSION_PATH, /* requests along the critical path */
	SESSION_TIME,
	SESSION_PART,                                          /* its time's, for each enum session_part */
	SESSION_IN_FLIGHT_MOST = SESSION_PART + SESSION_PARTS, /* its requests in flight at the same time */
	SESSION_IN_FLIGHT_MEAN,                                /* its mean, while any was in flight */
	SESSION_PARALLELISM, /* the time of all requests, by the time of those along the critical path */
	SESSION_WAITS_FOR,   /* how many requests one waited for, over the requests waiting for any */
	SESSION_WAITED_BY,   /* how many requests waited for one, over the requests any waited for */
	SESSION_DISTRIBUTIONS,
	SESSION_BRANCHES = SESSION_IN_FLIGHT_MOST, /* from here on: only if a session has requests beside each other */
};
extern const char *const session_distribution_names[SESSION_DISTRIBUTIONS]; /* "requests_each", … "time_s", … */

struct session_figures {
	int64_t sessions; /* 0: no session has several requests; nothing else is set then */
	int64_t complete; /* those of these whose requests all were sent and succeeded: the figures below are theirs */
	int64_t cut;      /* … some of whose requests were not sent, or not recorded; as far as is known */
	int64_t failed;   /* … the others: a request failed */
	int64_t requests;
	int64_t judged, good; /* uncut sessions with objectives, and those all of whose requests met them */
	double per_hour;      /* complete sessions, from the first start to the last end of a request of any session */
	bool branches;        /* a session had several requests in flight, or one waiting for several */
	struct metric_summary of[SESSION_DISTRIBUTIONS];
	double share[SESSION_PARTS]; /* all sessions' time together */
};

/* Fails only when memory runs out. */
int session_figures_build(struct session_figures *s, const struct run_data *run, const struct percentiles *list,
                          struct ipf_error *err);

#endif
