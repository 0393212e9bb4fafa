/* The operator's inputs: a line of a watch, the message of a pod, a cron expression. After a line, the store has
 * objects under their names and a version of digits, or none and lists again. */
#include "api/object_store.h"
#include "buffer.h"
#include "kinds/benchmark_config.h"
#include "kinds/benchmark_status.h"
#include "kinds/due_times.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_line(const char *text, size_t size)
{
	static const struct api_settings settings = {.server = "http://127.0.0.1:1"};
	struct api_client api = {.settings = &settings};
	struct object_store s;
	struct ipf_error err = {0};
	const char *name;
	json_t *object;

	if (store_open(&s, &(struct store_kind){.path = "/x"}, &api, &err) < 0)
		abort();
	store_take_line(&s, text, size);
	if (strspn(s.version, "0123456789") != strlen(s.version))
		abort();
	json_object_foreach(s.objects, name, object)
	{
		char job[JOB_NAME_SIZE], key[17];
		json_t *config = benchmark_config(json_object_get(object, "spec"), &err);
		if (strcmp(name, object_name(object)) != 0)
			abort();
		benchmark_job_name(object, job);
		benchmark_endpoint_key(json_object_get(object, "spec"), key);
		json_decref(config);
	}
	store_close(&s, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipf_error err = {0};
	struct cron cron;
	char *text = slice_dup((struct slice){(const char *)data, size});

	if (!data || !text) {
		free(text);
		return 0;
	}
	take_line((const char *)data, size);
	json_t *result = result_read(text);
	if (result && !json_is_string(json_object_get(result, "verdict")))
		abort();
	json_decref(result);
	if (cron_parse(text, &cron, &err) == 0 && cron_next(&cron, 1795000000) == 1795000000)
		abort();
	free(text);
	return 0;
}
