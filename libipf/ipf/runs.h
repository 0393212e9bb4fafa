/* libipf: fires a schedule at a server, as ipf-fire(1) does; see ipf_functions(3).
 *
 *     ipf_run_open(&run, &err);
 *     ipf_run_set(run, "url", "http://localhost:8000", &err);
 *     ipf_run_set(run, "trace", "chat.trace.zst", &err);
 *     ipf_run_set(run, "output", "run.records.zst", &err);
 *     ipf_run_fire(run, "chat.sched", &err);           // returns when the last request has ended
 *     ipf_run_close(run);
 */
#ifndef LIBIPF_RUNS_H
#define LIBIPF_RUNS_H

#include <ipf/streams.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ipf_run;

/* Begin with IPF_RUN_CALLBACKS_INIT. `n` is the number of the request in the schedule, or from 2^52 on that of a
 * warm-up request; times are nanoseconds from the start of the run. The first three are called by the thread sending
 * the request, of which there may be several (the option "threads"), and delay it: they must return at once. `end` is
 * called by the thread that records, after the others, with the line of the records, which is good until it returns.
 * NULL: not called. */
struct ipf_run_callbacks {
	size_t size;                                             /* this struct's */
	void *data;                                              /* the first argument of each */
	void (*start)(void *data, int64_t n, int64_t t_ns);      /* the request is sent, or a connection for it opened */
	void (*first_byte)(void *data, int64_t n, int64_t t_ns); /* the response's */
	void (*part)(void *data, int64_t n, int64_t t_ns, const char *bytes, size_t len); /* its body's; as in "reads" */
	void (*end)(void *data, struct ipf_line *record);
};
#define IPF_RUN_CALLBACKS_INIT                                                                                         \
	{                                                                                                                  \
		sizeof(struct ipf_run_callbacks), NULL, NULL, NULL, NULL, NULL                                                 \
	}

IPF_PUBLIC int ipf_run_open(struct ipf_run **run, struct ipf_error *err);
IPF_PUBLIC void ipf_run_close(struct ipf_run *run); /* NULL is fine */
/* Sets a long option of ipf-fire(1), without its dashes; NULL for one that takes no value. An option that may be given
 * several times may be set several times. "url", "trace" and "output" are required; "/dev/null" keeps no records.
 * Values are checked by ipf_run_fire. IPF_USAGE: options for a terminal or for limits of the process (probe, calibrate,
 * progress, max-line, …). */
IPF_PUBLIC int ipf_run_set(struct ipf_run *run, const char *option, const char *value, struct ipf_error *err);
IPF_PUBLIC int ipf_run_observe(struct ipf_run *run, const struct ipf_run_callbacks *callbacks, struct ipf_error *err);
/* Fires the schedule, a file, and returns when everything is recorded. Requests failing are no error. IPF_USAGE for
 * options; IPF_SYSTEM, also if the run was stopped by "stop-on"; IPF_HOPELESS if it was by "stop-after-failures";
 * IPF_INPUT and IPF_CUT for the schedule or the trace: the part before it was fired. A run can be fired again. */
IPF_PUBLIC int ipf_run_fire(struct ipf_run *run, const char *schedule, struct ipf_error *err);
/* Starts no more requests; those in flight have the time of the option "grace". From any thread, also by a callback. */
IPF_PUBLIC void ipf_run_stop(struct ipf_run *run);

#ifdef __cplusplus
}
#endif

#endif
