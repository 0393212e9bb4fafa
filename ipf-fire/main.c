/* ipf-fire: sends the requests of a trace when a schedule says so, and records when every byte of the responses came.
 */
#include "api/api.h"
#include "calibrate/calibrate.h"
#include "cli/text_output.h"
#include "http/libcurl.h"
#include "run/run.h"
#include "run/settings.h"

#include <curl/curl.h>
#include <malloc.h>
#include <stdio.h>

/* A line for each API, to the text of its kind. */
static int list_each(struct buffer text[API_KINDS], struct ipf_error *err)
{
	const char *about, *name;
	struct api *api;
	for (size_t i = 0; (name = api_builtin(i, &about)); i++) {
		if (api_open(&api, name, err) < 0)
			return -1;
		enum api_kind kind = api_kind(api);
		buffer_format(&text[kind], "%-21s %-10s  %s\n", name, api_kind_names[kind], about);
		api_close(api);
	}
	return 0;
}

static int list_apis(void)
{
	struct buffer text[API_KINDS] = {0}, all = {0};
	struct ipf_error err = {0};
	list_each(text, &err);
	for (enum api_kind kind = 0; kind < API_KINDS; kind++) {
		buffer_slice(&all, buffer_all(&text[kind]));
		all.failed = all.failed || text[kind].failed;
		buffer_release(&text[kind]);
	}
	if (!err.kind && all.failed)
		ipf_error_memory(&err);
	if (!err.kind)
		text_output_write(NULL, &all, &err);
	buffer_release(&all);
	return ipf_error_report(&err, stderr, "ipf-fire");
}

static int run(const struct fire_options *options, const char *schedule, json_t *argv)
{
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
	struct ipf_error err = {0};
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
	if (libcurl_start(&err) < 0) {
		json_decref(header_argv);
		return ipf_error_report(&err, stderr, "ipf-fire");
	}
	status = run(&options, schedule, header_argv);
	curl_global_cleanup();
	return status;
}
