/* What the records say of the run before and after it: header and trailer. See ipf-records(5). */
#ifndef IPF_RECORDS_HEADER_H
#define IPF_RECORDS_HEADER_H

#include "api/api.h"
#include "run/engine.h"
#include "body/history.h"
#include "run/arrival_reader.h"
#include "run/settings.h"
#include "endpoint/endpoint.h"

/* wall_ns: the run's start on the wall clock; argv is taken over. NULL: out of memory. */
json_t *records_header(const struct fire_options *options, const struct api *api, bool streamed,
                       const struct endpoint *target, const struct network_path *route, struct arrival_reader *plan,
                       json_t *params, json_t *argv, int64_t wall_ns);
/* The trailer's own members; `bad`: what was wrong with the input (IPF_OK: nothing); `client`: what the client tells of
 * itself over the whole run, taken over, NULL where it is not known. */
json_t *records_trailer(struct arrival_reader *plan, const struct engine_result *result,
                        const struct run_counters *gauges, const struct history *history, const struct ipf_error *bad,
                        json_t *client);

#endif
