/* Reads the answers of the HTTP API of Prometheus (v1) and of compatible servers.
 *
 *     {"status":"success","data":{"resultType":"matrix","result":[
 *       {"metric":{"__name__":"vllm:num_requests_running","instance":"a:8000"},"values":[[1700000000.5,"3"],...]}]}}
 *     {"status":"error","errorType":"bad_data","error":"parse error: ..."}
 *
 *     struct query_handler handler = {.data = data, .series = begin, .value = take};
 *     if (query_answer_range(&doc, body, &handler, &err) < 0) …
 *
 * Source: prometheus.io/docs/prometheus/latest/querying/api, and web/api/v1/api.go of Prometheus 2.42.
 */
#ifndef COLLECT_QUERY_ANSWER_H
#define COLLECT_QUERY_ANSWER_H

#include "json/jdoc.h"
#include "scrape/exposition.h"

struct query_handler {
	void *data;
	/* A series begins: its name (absent if the query removed it) and its other labels, valid for the length of the
	 * call. False: the answer is not read any further; the handler knows why. */
	bool (*series)(void *data, const struct exposition_series *series);
	/* A value of it; may be NaN or infinite. Seconds since the epoch. */
	void (*value)(void *data, double unix_s, double value);
};

/* An answer of /api/v1/query_range. -1: IPF_INPUT, with the server's own text if it answered with an error; IPF_SYSTEM
 * for no memory. `doc` is reusable work space. */
int query_answer_range(struct jdoc *doc, struct slice body, const struct query_handler *handler, struct ipf_error *err);

/* An answer of /api/v1/label/NAME/values. The name is valid for the length of the call. */
int query_answer_names(struct jdoc *doc, struct slice body, bool (*name)(void *data, struct slice name), void *data,
                       struct ipf_error *err);

/* The server's own error. -1: filled err; 0: the body has none. */
int query_answer_error(struct jdoc *doc, struct slice body, struct ipf_error *err);

#endif
