/* What the stream of records says about the run: its header before, its trailer after. See ipf-records(5). */
#ifndef IPF_RECORDS_HEADER_H
#define IPF_RECORDS_HEADER_H

#include "api/api.h"
#include "body/history.h"
#include "endpoint/endpoint.h"
#include "endpoint/session_tokens.h"
#include "run/arrival_reader.h"
#include "run/continuation.h"
#include "run/engine.h"
#include "run/settings.h"

/* All borrowed, except for argv. */
struct records_header_options {
	const struct fire_options *options;
	const struct api *api;
	struct arrival_reader *arrivals;
	const char *model; /* of --model, or the only one of the server; NULL: those of the trace */
	json_t *argv;      /* taken over */
	bool streamed;
	int64_t wall_ns;                         /* the run's start on the wall clock */
	const char *clock;                       /* of the times: "CLOCK_MONOTONIC" */
	const struct continuation *continuation; /* NULL, or not on: the run continues no other */
};

/* What is known whatever answers, without the targets. New; NULL: out of memory. */
json_t *records_header(const struct records_header_options *o);
/* Adds "target", its `count` names for people; if there are several, also "targets", of which each record has an index,
 * and "balance". -1: out of memory. */
int records_header_targets(json_t *header, const char *const *names, size_t count, enum balance_kind balance);

/* What goes through a network: all borrowed. */
struct records_network {
	const struct fire_options *options;
	const struct endpoint *endpoint;
	const struct network_path *path;
	json_t *params;
	const char *run_id; /* of ids for distributed tracing; "": none are sent */
};
/* Adds the targets, the way to them, and what is sent. -1: out of memory. */
int records_header_network(json_t *header, const struct records_network *n);

/* The trailer's own members. `bad`: what was wrong with the input (IPF_OK: nothing). `client`: the figures about the
 * program over the whole run, taken over; NULL: unknown. */
json_t *records_trailer(struct arrival_reader *arrivals, const struct engine_result *result,
                        const struct run_counters *counters, const struct history *history, const struct ipf_error *bad,
                        json_t *client);
/* Adds what --session-header has done. */
void records_trailer_tokens(json_t *end, struct session_tokens *tokens);

#endif
