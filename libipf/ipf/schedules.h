/* libipf: schedules, from the stages of ipf-sched(1) or from a list of times; see ipf_functions(3).
 *
 *     const char *stages[] = {"poisson:rate=5,for=10s,warmup", "poisson:rate=20,for=60s"};
 *     ipf_schedule_write("run.sched", "chat.trace.zst", stages, 2, 1, &err);
 *
 * The streams.h reader reads them: ipf_reader_header has the stages, each line is an arrival.
 */
#ifndef LIBIPF_SCHEDULES_H
#define LIBIPF_SCHEDULES_H

#include <ipf/values.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the schedule ipf-sched(1) writes for these stages, trace and seed: the same arrivals. `trace` may be NULL, for
 * stages needing none. IPF_USAGE names the stage, the key and the value; so does IPF_INPUT for a trace that does not
 * suit. A trace cut is used as far as it goes: the schedule is written, and -1 with IPF_CUT says so.
 */
IPF_PUBLIC int ipf_schedule_write(const char *path, const char *trace, const char *const *stages, size_t count,
                                  uint64_t seed, struct ipf_error *err);
/* Checks stages without writing anything. */
IPF_PUBLIC int ipf_schedule_check(const char *const *stages, size_t count, struct ipf_error *err);
/* Writes a schedule with one stage of the given name, whose arrival i is due at_ns[i] after the start of the run and
 * sends request i of the trace, or, after its last, the first again. The times never fall. `trace` is required. */
IPF_PUBLIC int ipf_schedule_times(const char *path, const char *trace, const char *stage, const int64_t *at_ns,
                                  size_t count, struct ipf_error *err);

#ifdef __cplusplus
}
#endif

#endif
