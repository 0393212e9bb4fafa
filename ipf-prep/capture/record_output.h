/* The records of a capture (ipf-records(5)): the header with what the capture showed, a line for each exchange.
 *
 *     struct record_output *out;
 *     record_output_open(&out, &settings, apis, &err);
 *     record_output_put(out, x, api, &facts, &err);
 *     record_output_close(out, capture, file facts, &err);
 *
 * The header lists APIs and servers, which are known only from the exchanges. Lines of a file wait for it in memory, up
 * to RECORD_OUTPUT_HELD bytes; those of a live capture for RECORD_OUTPUT_WAIT_NS of its time. A header that is written
 * before the end has all known APIs. A server that comes later has no index, and is counted.
 */
#ifndef PREP_RECORD_OUTPUT_H
#define PREP_RECORD_OUTPUT_H

#include "capture/capture.h"
#include "capture/capture_settings.h"
#include "capture/known_apis.h"

#define RECORD_OUTPUT_HELD    ((size_t)64 << 20)
#define RECORD_OUTPUT_WAIT_NS INT64_C(1000000000)

struct record_output;

/* Facts from the body and the headers of a request. */
struct request_facts {
	int api;              /* index into the known APIs; -1: not known */
	bool streamed;        /* a stream was requested */
	struct slice model;   /* JSON text; absent */
	struct slice session; /* plain text; absent */
};

/* The capture's files. */
struct capture_file_facts {
	const char *link;  /* the link type */
	int64_t snaplen;   /* IPF_ABSENT: not known */
	int64_t dropped;   /* by the capture's own count; IPF_ABSENT: it does not say */
	const char *clock; /* where the times come from */
	json_t *files;     /* list of names; borrowed */
	const char *cut;   /* why the end is missing; NULL: it is not */
};

int record_output_open(struct record_output **out, const struct capture_settings *settings,
                       const struct known_apis *apis, int64_t t0_unix_ns, bool live, struct ipf_error *err);
/* Writes an exchange. 0, or -1. */
int record_output_put(struct record_output *out, const struct captured *x, const struct request_facts *facts,
                      struct ipf_error *err);
/* The capture's time goes on: a live header that waited long enough is written. */
int record_output_tick(struct record_output *out, int64_t t_ns, struct ipf_error *err);
/* Writes the trailer with `observed`, which is taken over, and frees. */
int record_output_close(struct record_output *out, json_t *observed, const struct capture_file_facts *file,
                        int64_t last_ns, struct ipf_error *err);
void record_output_abandon(struct record_output *out); /* NULL is fine */

/* As the record that the exchange becomes, with times from t0; slices are valid while `x` and the buffers are. */
struct record_parts {
	struct buffer id, session, headers;
	struct record_read *reads;
	size_t reads_cap;
};
/* -1: out of memory. */
int captured_to_record(const struct captured *x, const struct request_facts *facts, const struct api *api,
                       int64_t t0_unix_ns, struct record_parts *parts, struct record *record);
void record_parts_release(struct record_parts *parts);

#endif
