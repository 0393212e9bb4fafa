#include "kinds/pod_state.h"

#include "api/object_store.h"
#include "kinds/benchmark_status.h"

#include <stdio.h>
#include <string.h>

enum { SLOW_START_S = 30 };

/* The end of the text. */
static void put_printable(char *to, size_t size, const char *text)
{
	size_t len = strlen(text);
	snprintf(to, size, "%s", len >= size ? text + len - size + 1 : text);
	for (char *c = to; *c; c++)
		*c = (char)(*c < ' ' || *c > '~' ? ' ' : *c);
}

static const char *text_of(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));
	return text ? text : "";
}

static bool put_wait(struct pod_wait *wait, const json_t *from)
{
	put_printable(wait->reason, sizeof wait->reason, text_of(from, "reason"));
	put_printable(wait->message, sizeof wait->message, text_of(from, "message"));
	return true;
}

/* The reason in the status of a pod: the scheduler's, or a container's, unless it is just being made. */
static bool pod_says(const json_t *status, struct pod_wait *wait)
{
	const json_t *scheduled = condition_of(status, "PodScheduled");
	size_t i;
	json_t *container;

	if (strcmp(text_of(scheduled, "status"), "False") == 0 && *text_of(scheduled, "reason"))
		return put_wait(wait, scheduled);
	for (const char *const *list = (const char *const[]){"initContainerStatuses", "containerStatuses", NULL}; *list;
	     list++) {
		json_array_foreach(json_object_get(status, *list), i, container)
		{
			const json_t *waiting = json_object_get(json_object_get(container, "state"), "waiting");
			const char *reason = text_of(waiting, "reason");
			if (*reason && strcmp(reason, "ContainerCreating") != 0 && strcmp(reason, "PodInitializing") != 0)
				return put_wait(wait, waiting);
		}
	}
	return false;
}

static bool is_slow(const json_t *object, int64_t now_s)
{
	int64_t made_s = rfc3339_seconds(object_meta(object, "creationTimestamp"));
	return made_s >= 0 && now_s - made_s >= SLOW_START_S;
}

/* How far a pod has come whose status gives no reason. Only its events do, which the operator has no right to read. */
static bool pod_is_slow(const json_t *pod, int64_t now_s, struct pod_wait *wait)
{
	const json_t *status = json_object_get(pod, "status");
	const char *ready = text_of(condition_of(status, "PodReadyToStartContainers"), "status");
	const char *lacks = !condition_of(status, "PodScheduled") ? "has not been looked at by a scheduler"
	                    : strcmp(ready, "False") == 0         ? "has no volumes or no network (sandbox)"
	                    : strcmp(ready, "True") == 0          ? "waits for its image or container"
	                                                          : "has no container";

	if (strcmp(text_of(status, "phase"), "Pending") != 0 || object_is_deleted(pod) || !is_slow(pod, now_s))
		return false;
	snprintf(wait->reason, sizeof wait->reason, "StartIsSlow");
	snprintf(wait->message, sizeof wait->message, "after %d s, pod %.63s %s; see: kubectl describe pod %.63s",
	         SLOW_START_S, object_name(pod), lacks, object_name(pod));
	return true;
}

static bool job_waits(const json_t *job, int64_t now_s, struct pod_wait *wait)
{
	const json_t *suspended = condition_of(json_object_get(job, "status"), "Suspended");

	if (strcmp(text_of(suspended, "status"), "True") == 0) {
		snprintf(wait->reason, sizeof wait->reason, "JobSuspended");
		snprintf(wait->message, sizeof wait->message, "the Job is suspended, for instance by a queue");
	} else if (is_slow(job, now_s)) {
		snprintf(wait->reason, sizeof wait->reason, "NoPods");
		snprintf(wait->message, sizeof wait->message, "after %d s, the Job has no pod; see: kubectl describe job %.63s",
		         SLOW_START_S, object_name(job));
	} else {
		return false;
	}
	return true;
}

bool pods_wait(const json_t *pods, const json_t *job, int64_t now_s, struct pod_wait *wait)
{
	size_t i;
	json_t *pod;

	if (json_array_size(pods) == 0)
		return job_waits(job, now_s, wait);
	json_array_foreach(pods, i, pod) if (pod_says(json_object_get(pod, "status"), wait)) return true;
	json_array_foreach(pods, i, pod) if (pod_is_slow(pod, now_s, wait)) return true;
	return false;
}

/* "REASON: text", or one of the two. */
static void put_both(char *message, size_t size, const char *reason, const char *text)
{
	int length = snprintf(message, size, "%s%s", reason, *reason && *text ? ": " : "");
	if (length >= 0 && (size_t)length < size)
		put_printable(message + length, size - (size_t)length, text);
}

/* The end of a container without a result. An unusual reason comes first, such as OOMKilled, as the end of a log does
 * not mention it. */
static void put_end(char *message, size_t size, const json_t *ended)
{
	const char *reason = text_of(ended, "reason"), *text = text_of(ended, "message");
	bool usual = strcmp(reason, "Error") == 0 || strcmp(reason, "Completed") == 0;
	if (*text || (*reason && !usual))
		put_both(message, size, usual ? "" : reason, text);
}

json_t *pods_result(const json_t *pods, char *message, size_t size)
{
	json_t *pod, *container, *result = NULL;
	size_t i, k;

	*message = '\0';
	json_array_foreach(pods, i, pod)
	{
		json_array_foreach(json_object_get(json_object_get(pod, "status"), "containerStatuses"), k, container)
		{
			const json_t *ended = json_object_get(json_object_get(container, "state"), "terminated");
			const char *text = text_of(ended, "message");
			json_t *read = *text && !result ? result_read(text) : NULL;
			if (read)
				result = read;
			else
				put_end(message, size, ended);
		}
		const json_t *status = json_object_get(pod, "status"); /* the kubelet's, of a pod it refused: Evicted, … */
		if (!*message && strcmp(text_of(status, "phase"), "Failed") == 0)
			put_both(message, size, text_of(status, "reason"), text_of(status, "message"));
	}
	if (*text_of(result, "problem"))
		put_printable(message, size, text_of(result, "problem"));
	return result;
}
