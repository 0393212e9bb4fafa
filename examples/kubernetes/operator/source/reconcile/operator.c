#include "reconcile/operator.h"

#include "kinds/benchmark_job.h"
#include "kinds/benchmark_status.h"
#include "safe_text.h"
#include "text_hash.h"

#include <stdarg.h>
#include <string.h>

void operator_say(const char *kind, const char *name, const char *format, ...)
{
	char text[1000];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fprintf(stderr, "ipf-operator: %s%s%s: ", kind, *name ? " " : "", shown(name).text);
	safe_text_write(stderr, slice_of(text));
	fputc('\n', stderr);
}

long operator_call(struct operator_state *op, struct api_step *step)
{
	struct ipf_error err = {0};
	struct api_answer answer;

	step->message[0] = '\0';
	if (api_call(&op->api, step->method, step->path, step->body, &answer, &err) < 0) {
		operator_say(step->method, step->path, "%s", err.text);
		snprintf(step->message, sizeof step->message, "%.390s", err.text);
		op->again = true;
		return 0;
	}
	long status = answer.status;
	if (status >= 200 && status < 300) {
		if (step->keep_in)
			store_put(step->keep_in, answer.body);
	} else {
		snprintf(step->message, sizeof step->message, "%.390s", api_answer_message(&answer));
		if (status != 404 && status != 409) {
			operator_say(step->method, step->path, "HTTP status %ld %s", status, step->message);
			op->again = true;
		}
	}
	api_answer_release(&answer);
	return status;
}

void operator_wake(struct operator_state *op, int64_t at_s)
{
	if (!op->wake_s || at_s < op->wake_s)
		op->wake_s = at_s;
}

static const char *image_of(const json_t *pod)
{
	size_t i;
	json_t *container;
	json_array_foreach(json_object_get(json_object_get(pod, "spec"), "containers"), i, container)
	{
		const char *name = json_string_value(json_object_get(container, "name"));
		if (name && strcmp(name, "operator") == 0)
			return json_string_value(json_object_get(container, "image"));
	}
	return NULL;
}

bool operator_find_image(struct operator_state *op)
{
	const char *known = op->settings->image, *pod = op->settings->pod;
	struct ipf_error err = {0};
	struct api_answer answer = {0};
	char path[2 * PATH_SIZE];

	if (op->image)
		return true;
	snprintf(path, sizeof path, "%s/pods?fieldSelector=metadata.name%%3D%s", op->core_path, pod ? pod : "");
	if (!known && api_call(&op->api, "GET", path, NULL, &answer, &err) == 0)
		known = image_of(json_array_get(json_object_get(answer.body, "items"), 0));
	if (known)
		op->image = strdup(known);
	else
		operator_say("pod", pod, "its image is not known: %s",
		             err.kind                   ? err.text
		             : answer.status / 100 != 2 ? api_answer_message(&answer)
		                                        : "there is no such pod, or no container operator in it");
	api_answer_release(&answer);
	op->again |= !op->image;
	return op->image != NULL;
}

bool operator_put_status(struct operator_state *op, struct object_store *store, const json_t *object, json_t *status)
{
	char path[2 * PATH_SIZE];
	json_t *old = json_object_get(object, "status"), *body;
	long answer = 200;

	if (!old || !json_equal(old, status)) {
		/* With the version it was made from: a change by somebody else is a conflict, and looked at first. */
		body = json_pack("{s:{s:O}, s:o}", "metadata", "resourceVersion", object_meta(object, "resourceVersion"),
		                 "status", merge_patch(old, status));
		snprintf(path, sizeof path, "%s/%s", store->kind.path, object_name(object));
		struct api_step refresh = {.method = "GET", .path = path, .keep_in = store};
		char status_path[2 * PATH_SIZE + 8];
		snprintf(status_path, sizeof status_path, "%s/status", path);
		struct api_step patch = {.method = "PATCH", .path = status_path, .body = body, .keep_in = store};
		answer = operator_call(op, &patch);
		json_decref(body);
		if (answer == 409 && operator_call(op, &refresh))
			op->again = true;
	}
	json_decref(status);
	return answer >= 200 && answer < 300;
}

void operator_event(struct operator_state *op, const json_t *object, const struct happening *what)
{
	struct buffer text = {0};
	char name[320], path[PATH_SIZE + 16];
	buffer_format(&text, "%s %s %s", json_string_value(object_meta(object, "uid")), what->reason, what->message);
	snprintf(name, sizeof name, "%.230s.%016llx", object_name(object),
	         (unsigned long long)text_hash_mixed(buffer_all(&text)));
	buffer_release(&text);
	json_t *event = json_pack(
		"{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s, s:s, s:O, s:O}, s:s, s:s, s:s, s:i, s:s, s:s, s:{s:s}, s:s, s:s}",
		"apiVersion", "v1", "kind", "Event", "metadata", "name", name, "involvedObject", "apiVersion",
		"operator.ipf/v1alpha1", "kind", what->kind, "namespace", op->settings->namespace, "name", object_name(object),
		"uid", object_meta(object, "uid"), "resourceVersion", object_meta(object, "resourceVersion"), "reason",
		what->reason, "message", what->message, "type", what->warning ? "Warning" : "Normal", "count", 1,
		"firstTimestamp", op->now, "lastTimestamp", op->now, "source", "component", MANAGER, "reportingComponent",
		MANAGER, "reportingInstance", MANAGER);
	snprintf(path, sizeof path, "%s/events", op->core_path);
	struct api_step step = {.method = "POST", .path = path, .body = event};
	operator_call(op, &step); /* 409: it was told before */
	json_decref(event);
}
