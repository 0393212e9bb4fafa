#include "kinds/benchmark_job.h"

#include "api/object_store.h"
#include "kinds/benchmark_config.h"

json_t *owned_by(const char *kind, const json_t *owner)
{
	return json_pack("[{s:s, s:s, s:s, s:O, s:b, s:b}]", "apiVersion", "operator.ipf/v1alpha1", "kind", kind, "name",
	                 object_name(owner), "uid", object_meta(owner, "uid"), "controller", 1, "blockOwnerDeletion", 1);
}

static json_t *labels(const struct job_plan *plan)
{
	char endpoint[17];
	benchmark_endpoint_key(plan->spec, endpoint);
	return json_pack("{s:s, s:s, s:s, s:s}", "app.kubernetes.io/name", "ipf", LABEL_MANAGED, MANAGER, LABEL_BENCHMARK,
	                 object_name(plan->benchmark), LABEL_ENDPOINT, endpoint);
}

static json_t *metadata(const struct job_plan *plan)
{
	return json_pack("{s:s, s:o, s:o}", "name", plan->name, "labels", labels(plan), "ownerReferences",
	                 owned_by("Benchmark", plan->benchmark));
}

json_t *benchmark_config_map(const struct job_plan *plan, const json_t *data)
{
	return json_pack("{s:s, s:s, s:o, s:b, s:O}", "apiVersion", "v1", "kind", "ConfigMap", "metadata", metadata(plan),
	                 "immutable", 1, "data", data);
}

static json_t *of_field(const char *name, const char *path)
{
	return json_pack("{s:s, s:{s:{s:s}}}", "name", name, "valueFrom", "fieldRef", "fieldPath", path);
}

/* Each Job has a folder of its own on the volume, also if it is made again for the same spec. */
static json_t *environment(const struct job_plan *plan)
{
	json_t *run = json_sprintf("%s-$(JOB_UID)", plan->name);
	return json_pack("[o, o, {s:s, s:o}]", of_field("JOB_UID", "metadata.labels['batch.kubernetes.io/controller-uid']"),
	                 of_field("NODE_NAME", "spec.nodeName"), "name", "RUN", "value", run);
}

/* Whole cores, and no limit of them: a limit stops the client for a part of every 100 ms. */
static json_t *resources(const json_t *pod)
{
	const char *cpu = json_string_value(json_object_get(pod, "cpu"));
	const char *memory = json_string_value(json_object_get(pod, "memory"));
	return json_pack("{s:{s:s, s:s}, s:{s:s}}", "requests", "cpu", cpu ? cpu : "2", "memory", memory ? memory : "1Gi",
	                 "limits", "memory", memory ? memory : "1Gi");
}

static json_t *container(const struct job_plan *plan)
{
	const json_t *pod = json_object_get(plan->spec, "pod");
	const char *image = json_string_value(json_object_get(pod, "image"));
	const json_t *keys = json_object_get(json_object_get(plan->spec, "endpoint"), "keysSecret");
	json_t *sources = json_pack("[{s:{s:s}}]", "configMapRef", "name", plan->name);

	if (keys)
		json_array_append_new(sources, json_pack("{s:{s:O}}", "secretRef", "name", keys));
	return json_pack("{s:s, s:s, s:[s, s], s:s, s:o, s:o, s:o, s:{s:b, s:b, s:{s:[s]}}, s:[{s:s, s:s}, {s:s, s:s}]}",
	                 "name", "ipf", "image", image ? image : plan->image, "command", "sh",
	                 "/usr/local/share/ipf/benchmark.sh", "terminationMessagePolicy", "FallbackToLogsOnError", "env",
	                 environment(plan), "envFrom", sources, "resources", resources(pod), "securityContext",
	                 "allowPrivilegeEscalation", 0, "readOnlyRootFilesystem", 1, "capabilities", "drop", "ALL",
	                 "volumeMounts", "name", "results", "mountPath", "/work", "name", "tmp", "mountPath", "/tmp");
}

static json_t *results_volume(const json_t *spec)
{
	const json_t *claim = json_object_get(json_object_get(spec, "results"), "claimName");
	if (!claim)
		return json_pack("{s:s, s:{}}", "name", "results", "emptyDir");
	return json_pack("{s:s, s:{s:O}}", "name", "results", "persistentVolumeClaim", "claimName", claim);
}

static json_t *pod_spec(const struct job_plan *plan)
{
	json_t *spec = json_pack(
		"{s:s, s:b, s:i, s:{s:b, s:i, s:i, s:i, s:{s:s}}, s:[o], s:[o, {s:s, s:{}}]}", "restartPolicy", "Never",
		"automountServiceAccountToken", 0, "terminationGracePeriodSeconds", 60, "securityContext", "runAsNonRoot", 1,
		"runAsUser", 65532, "runAsGroup", 65532, "fsGroup", 65532, "seccompProfile", "type", "RuntimeDefault",
		"containers", container(plan), "volumes", results_volume(plan->spec), "name", "tmp", "emptyDir");
	json_t *nodes = json_object_get(json_object_get(plan->spec, "pod"), "nodeSelector");
	if (nodes)
		json_object_set(spec, "nodeSelector", nodes);
	return spec;
}

json_t *benchmark_job(const struct job_plan *plan)
{
	json_int_t shards = json_integer_value(json_object_get(plan->spec, "shards"));
	/* A second attempt would be another measurement. */
	json_t *spec = shards < 2 ? json_pack("{s:i}", "backoffLimit", 0)
	                          : json_pack("{s:s, s:I, s:I, s:i, s:I}", "completionMode", "Indexed", "completions",
	                                      shards + 1, "parallelism", shards + 1, "backoffLimitPerIndex", 0,
	                                      "maxFailedIndexes", shards + 1);
	json_object_set_new(spec, "template",
	                    json_pack("{s:{s:o}, s:o}", "metadata", "labels", labels(plan), "spec", pod_spec(plan)));
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "batch/v1", "kind", "Job", "metadata", metadata(plan),
	                 "spec", spec);
}
