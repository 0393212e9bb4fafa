/* The values of a Benchmark as the environment of its programs: URL, STAGES and so on, see ipf-makefiles(7). It is the
 * data of the ConfigMap the Job's pods read.
 *
 *     json_t *spec = benchmark_merged(preset_spec, own_spec);
 *     json_t *config = benchmark_config(spec, &err);       // {"URL": "http://model:8000", …}
 *     char key[17];
 *     benchmark_endpoint_key(spec, key);                   // the same for all URLs of one server
 *
 * The API server has checked the spec by the schema of crds.yaml. Refuses once more values that make or a shell would
 * not read as text, since the pod runs with a user's keys.
 */
#ifndef IPF_OPERATOR_BENCHMARK_CONFIG_H
#define IPF_OPERATOR_BENCHMARK_CONFIG_H

#include "error.h"

#include <jansson.h>

/* Members of `own` replace those of `preset`, objects member by member; `suspend` and `preset` are never inherited.
 * Either may be NULL. The caller frees it; NULL: out of memory. */
json_t *benchmark_merged(const json_t *preset, const json_t *own);

/* Names with texts as values, which the caller frees. NULL: err says which member is wrong. */
json_t *benchmark_config(const json_t *spec, struct ipf_error *err);

/* 16 hexadecimal digits for host and port of spec.endpoint.url; "" if it is no URL. */
void benchmark_endpoint_key(const json_t *spec, char key[17]);

/* The name of the Job of this spec: the Benchmark's name and eight digits changing with any member of the spec. With
 * the index of a pod, it is a host name of 63 characters at most. */
enum { BENCHMARK_NAME_MOST = 50, JOB_NAME_SIZE = 64 };
void benchmark_job_name(const json_t *benchmark, char name[JOB_NAME_SIZE]);

#endif
