/* The objects of a Benchmark's measurement: a ConfigMap and a Job, both of one name and owned by the Benchmark. Pure
 * functions of the objects in the API, so an operator started again makes the same ones.
 *
 *     struct job_plan plan = {.benchmark = benchmark, .spec = merged, .name = name, .image =
 * "registry.example.com/ipf:0.1.0"}; json_t *job = benchmark_job(&plan), *config = benchmark_config_map(&plan, data);
 *
 * The Job's pods are those of examples/kubernetes: without rights, with a read-only root, passing pod security
 * `restricted`; they run benchmark.sh of the image. With spec.shards, the Job is an Indexed one of so many clients and
 * a pod leading them (shards.sh). NULL: out of memory. The caller frees the result.
 */
#ifndef IPF_OPERATOR_BENCHMARK_JOB_H
#define IPF_OPERATOR_BENCHMARK_JOB_H

#include <jansson.h>

#define LABEL_BENCHMARK "operator.ipf/benchmark"
#define LABEL_ENDPOINT  "operator.ipf/endpoint"
#define LABEL_SCHEDULE  "operator.ipf/schedule"
#define LABEL_MANAGED   "app.kubernetes.io/managed-by"
#define MANAGER         "ipf-operator"

struct job_plan {
	const json_t *benchmark; /* as the API server has it */
	const json_t *spec;      /* with its preset */
	const char *name;
	const char *image; /* unless spec.pod.image says otherwise */
};

json_t *benchmark_job(const struct job_plan *plan);
json_t *benchmark_config_map(const struct job_plan *plan, const json_t *data);

/* [{apiVersion, kind, name, uid, controller: true}] of an object of the group operator.ipf. */
json_t *owned_by(const char *kind, const json_t *owner);

#endif
