#include "kinds/pod_state.h"

#include "kinds/benchmark_status.h"

#include <stdio.h>
#include <string.h>

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

bool pods_wait(const json_t *pods, struct pod_wait *wait)
{
	size_t i, k;
	json_t *pod, *container;

	json_array_foreach(pods, i, pod)
	{
		const json_t *status = json_object_get(pod, "status"), *scheduled = condition_of(status, "PodScheduled");
		if (strcmp(text_of(scheduled, "status"), "False") == 0 && *text_of(scheduled, "reason"))
			return put_wait(wait, scheduled);
		json_array_foreach(json_object_get(status, "containerStatuses"), k, container)
		{
			const json_t *waiting = json_object_get(json_object_get(container, "state"), "waiting");
			const char *reason = text_of(waiting, "reason");
			if (*reason && strcmp(reason, "ContainerCreating") != 0 && strcmp(reason, "PodInitializing") != 0)
				return put_wait(wait, waiting);
		}
	}
	return false;
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
			else if (*text)
				put_printable(message, size, text);
		}
	}
	if (*text_of(result, "problem"))
		put_printable(message, size, text_of(result, "problem"));
	return result;
}
