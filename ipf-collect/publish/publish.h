/* Everything showing a run to the outside while it goes: --listen, --push and --otlp, with the figures the first two
 * share.
 *
 *     struct publish *publish = NULL;                // nothing was asked for: every call below does nothing
 *     if (publish_wanted(&options) && publish_open(&publish, &options, &err) < 0) …
 *     publish_begin_input(publish, header, &input, &err);
 *     publish_row(publish, &observation);
 *     publish_finish(publish, verdict_judge(verdict));
 *     json_object_set_new(trailer, "publish", publish_json(publish));
 *     publish_linger(publish);                       // --linger
 *     publish_close(publish);
 *
 * All calls are of one thread and none waits, except publish_finish, which gives targets without an answer
 * PUBLISH_FINISH_NS, publish_linger, and publish_row for a complete run (see otlp_batches.h).
 */
#ifndef COLLECT_PUBLISH_H
#define COLLECT_PUBLISH_H

#include "publish/live_metrics.h"
#include "publish/push.h"

#define PUBLISH_FINISH_NS (INT64_C(5) * 1000 * 1000 * 1000)

struct publish_options {
	const char *listen; /* NULL: no server */
	int64_t linger_ns;
	struct push_options push;
};

/* Whether the options are right: IPF_USAGE, or an unreadable key. */
int publish_check(const struct publish_options *options, struct ipf_error *err);
bool publish_wanted(const struct publish_options *options);

struct publish;

/* Opens the address served, and prepares the targets. `options` must outlive it. -1: publish_close it. */
int publish_open(struct publish **publish, const struct publish_options *options, struct ipf_error *err);
/* Appends a message to the user about the address, as a line: a chosen port, an address for others. Empty: nothing. */
void publish_describe(const struct publish *publish, struct buffer *line);

/* The records of one client. Everything but the flags is borrowed until the end. */
struct publish_input {
	const struct schedule *schedule;
	const struct api *api;
	bool shared; /* the inputs are of clients of one schedule, so its requests count once */
	bool live;   /* the run lasts while we read */
};

/* -1: out of memory; IPF_INPUT if the header lacks a member for --otlp. */
int publish_begin_input(struct publish *publish, const json_t *header, const struct publish_input *input,
                        struct ipf_error *err);
void publish_row(struct publish *publish, const struct observation *seen);
void publish_client(struct publish *publish, struct slice client);
/* To be called often: judges the run so far by its verdict, once a second. True: a target failed for the first time,
 * which `line` describes; with a `line` of NULL it is left for a later call. */
bool publish_tick(struct publish *publish, struct verdict *verdict, struct buffer *line);
/* The run has ended, with this verdict (NULL: it could not be judged): sends the final figures. */
void publish_finish(struct publish *publish, const struct verdict_finding *verdict);
/* Its outcome, for the trailer: a list; new. NULL: nothing was asked for, or out of memory. */
json_t *publish_json(const struct publish *publish);
/* Serves until a scraper has the final figures, as long as --linger says or until a signal. */
void publish_linger(struct publish *publish);
void publish_close(struct publish *publish); /* NULL is fine */

/* The libraries' names and versions, for --version. */
const char *publish_libraries(void);

#endif
