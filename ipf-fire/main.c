/* ipf-fire: sends the requests of a trace when a schedule says so, and records when every byte of the responses came.
 */
#include "api/api.h"
#include "calibrate/calibrate.h"
#include "cli/text_output.h"
#include "run/run.h"
#include "run/settings.h"
#include "twin/twin_run.h"

#include <curl/curl.h>
#include <malloc.h>
#include <stdio.h>

static int list_apis(void)
{
	const char *about, *name;
	struct buffer text = {0};
	struct ipf_error err = {0};
	for (size_t i = 0; (name = api_builtin(i, &about)); i++)
		buffer_format(&text, "%-20s %s\n", name, about);
	if (text.failed)
		ipf_error_memory(&err);
	else
		text_output_write(NULL, &text, &err);
	buffer_release(&text);
	return ipf_error_report(&err, stderr, "ipf-fire");
}

static int run(const struct fire_options *options, const char *schedule, json_t *argv)
{
	if (options->twin)
		return twin_run(options, schedule, argv);
	if (!options->calibrate)
		return fire_run(options, schedule, argv);
	json_decref(argv);
	return calibrate(options, schedule);
}

/* Answers are the only large blocks that grow. Mapped by themselves, they grow in place and leave nothing behind; by
 * default the C library would stop mapping them after the first one. */
static void memory_init(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

int main(int argc, char **argv)
{
	struct fire_options options;
	const char *schedule;
	json_t *header_argv;
	int status;
	if (!fire_options_parse(&options, argc, argv, &schedule, &header_argv, &status))
		return status;
	if (options.list_apis) {
		json_decref(header_argv);
		return list_apis();
	}
	memory_init();
	curl_global_init(CURL_GLOBAL_DEFAULT);
	status = run(&options, schedule, header_argv);
	curl_global_cleanup();
	return status;
}
