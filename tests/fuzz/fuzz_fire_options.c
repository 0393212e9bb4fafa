/* The command line of ipf-fire, an argument a line: refused with a reason, or settings of which the endpoint, the path
 * of the network and the headers of a request are made without reading outside of them. A proxy's answer to CONNECT,
 * behind a NUL, is the same at once and in pieces. Files that options name are not opened. */
#include "fuzz_input.h"

#include "absent.h"
#include "api/api.h"
#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"
#include "http/origin.h"
#include "http/tunnel.h"
#include "run/settings.h"

enum { ARGUMENTS = 24 };

#define PASSWORD "secret-password"

/* Is the password of a URL this one, and is it no part of the rest? */
static bool password_is_only_there(const struct target *target)
{
	char *password = NULL;
	const char *at = strstr(target->url, PASSWORD);
	bool yes = at && !strstr(at + 1, PASSWORD) &&
	           curl_url_get(target->parsed, CURLUPART_PASSWORD, &password, 0) == CURLUE_OK &&
	           strstr(password, PASSWORD);
	curl_free(password);
	return yes;
}

static void ask_for(struct endpoint *e, const struct network_path *path)
{
	const struct request_variables variables = {.id = slice_of("\"r1\""),
	                                            .session = slice_of("\"s\""),
	                                            .model = slice_of("\"m/1\""),
	                                            .agent = slice_of("\"s/a\""),
	                                            .parent_agent = slice_of("\"s\""),
	                                            .traceparent = slice_of("\"00-1-2-01\""),
	                                            .headers = slice_of("{\"x-tenant\":\"a\"}")};
	struct buffer url = {0}, shown = {0}, request = {0};
	struct curl_slist *headers = NULL;
	struct ipf_error err = {0};
	struct origin origin;
	if (endpoint_address(e, &variables, &url, &headers, &err) < 0)
		must_explain(&err);
	for (size_t i = 0; i < e->count; i++) {
		ipf_error_clear(&err);
		buffer_clear(&shown);
		if (endpoint_shown_url(e, i, variables.model, &shown, &err) < 0)
			must_explain(&err);
		must(!shown.len || !password_is_only_there(&e->targets[i]) || !memmem(shown.data, shown.len, PASSWORD, 15));
		if (path && origin_open(&origin, &e->targets[i], path, false, &err) == 0 && origin.connect_to)
			tunnel_request(&request, &origin);
		if (path)
			origin_close(&origin);
	}
	curl_slist_free_all(headers);
	buffer_release(&url);
	buffer_release(&shown);
	buffer_release(&request);
}

static void open_endpoint(struct fire_options *o)
{
	const struct endpoint_options options = {.urls = &o->urls, .headers = &o->headers, .streamed = !o->no_stream};
	const struct network_path_options by = {.unix_socket = o->unix_socket, .proxy = o->proxy, .resolve = &o->resolve};
	struct network_path path = {0};
	struct endpoint e;
	struct api *api = NULL;
	struct ipf_error err = {0};
	bool file = o->api && (strchr(o->api, '/') || strstr(o->api, ".json"));
	if (api_open(&api, o->api && !file ? o->api : "openai-chat", &err) < 0) {
		must_explain(&err);
		return;
	}
	bool direct = network_path_open(&path, &by, &err) == 0;
	if (!direct)
		must(err.kind != IPF_OK && err.text[0]);
	ipf_error_clear(&err);
	if (api_path(api, options.streamed) && options.urls->count) {
		if (endpoint_open(&e, api, &options, &err) < 0) {
			must_explain(&err);
		} else {
			ask_for(&e, direct ? &path : NULL);
			endpoint_close(&e);
		}
	}
	network_path_close(&path);
	api_close(api);
}

static int answer(struct slice text, size_t piece)
{
	struct http1_reader reader = {0};
	char why[160];
	int got = 0;
	http1_begin(&reader, true);
	for (size_t at = 0; got == 0 && at < text.len; at += piece)
		got = tunnel_answer(&reader, text.data + at, piece < text.len - at ? piece : text.len - at, why, sizeof why);
	http1_release(&reader);
	must(got >= 0 || memchr(why, 0, sizeof why));
	return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = {(const char *)data, size};
	char *argv[ARGUMENTS + 2] = {(char *)(uintptr_t) "ipf-fire"}, *text = take_text(&rest), *left = text;
	struct arguments arguments = {.argc = 1, .argv = argv};
	struct fire_options options;
	const char *schedule;
	json_t *header = NULL;
	struct ipf_error err = {0};
	for (char *one; arguments.argc <= ARGUMENTS && (one = strsep(&left, "\n"));)
		argv[arguments.argc++] = one;
	if (fire_options_read(&options, &arguments, &schedule, &header, &err) < 0)
		must_explain(&err);
	else
		open_endpoint(&options);
	json_decref(header);
	options_memory_free(arguments.memory);
	must(answer(rest, rest.len + 1) == answer(rest, 1));
	free(text);
	return 0;
}
