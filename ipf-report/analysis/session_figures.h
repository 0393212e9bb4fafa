/* Sessions as a whole: how long they took, and what that time was spent on.
 *
 *     struct session_figures s;
 *     session_figures_build(&s, &run, &percentiles, &err);
 *     if (s.sessions > 0) … s.time.median, s.share[SESSION_MODEL] …
 *
 * A session is the requests with one `session`, in a measured stage, from one of the trace's first to the next of the
 * same: a session that is sent again, by any client, is another one. Its time is from when its
 * first request was due (in a closed loop: ready) to the end of its last answer. That time is divided along its
 * critical path: from the request that ends last, back to the one whose end it waited for, which is the latest that
 * ended before it was due, and so on. Along it, everything belongs to one of
 *
 *   model    from start to end of a request
 *   think    from the end of a request until the next one is due: tools, or a user who thinks
 *   waiting  from due to start, for a slot or a connection
 *   client   the part of that which was the client's own lateness (client_lag)
 *
 * and these add up to the time of the session. Branches that run beside the path take no time.
 */
#ifndef REPORT_SESSION_FIGURES_H
#define REPORT_SESSION_FIGURES_H

#include "figures/metric_summary.h"
#include "results/run_data.h"

enum session_part { SESSION_MODEL, SESSION_THINK, SESSION_WAITING, SESSION_CLIENT, SESSION_PARTS };
extern const char *const session_part_names[SESSION_PARTS]; /* "model", "think", "waiting", "client" */

struct session_figures {
	int64_t sessions; /* 0: no session has several requests; nothing else is set then */
	int64_t complete; /* of these, all of whose requests succeeded: the figures below are theirs */
	int64_t requests;
	int64_t judged, good; /* sessions with objectives, and those all of whose requests met them */
	double per_hour;      /* complete sessions, from the first start to the last end of a request of any session */
	struct metric_summary turns;               /* requests of a session */
	struct metric_summary path;                /* requests along the critical path */
	struct metric_summary time;                /* s */
	struct metric_summary part[SESSION_PARTS]; /* s; of each session */
	double share[SESSION_PARTS];               /* of the time of all sessions together */
};

/* Fails only when memory runs out. */
int session_figures_build(struct session_figures *s, const struct run_data *run, const struct percentiles *list,
                          struct ipf_error *err);

#endif
