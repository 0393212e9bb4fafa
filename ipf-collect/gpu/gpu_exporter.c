#include "gpu/gpu_source.h"

#include "clock.h"
#include "gpu/gpu_metrics.h"
#include "http/http_handle.h"
#include "scrape/metrics_url.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* An exporter asked over HTTP: dcgm-exporter or AMD's device-metrics-exporter. */
struct exporter {
	const char *name;
	struct http_handle http;
	char *url;
	struct gpu_metrics metrics;

	/* the answer being received */
	struct exposition *exposition;
	int cancel;
};

/* ---- the answer ---- */

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
	struct exporter *e = data;
	if (!http_handle_takes(&e->http, size * count) || http_handle_status(&e->http) != 200)
		return 0;
	exposition_feed(e->exposition, bytes, size * count);
	return size * count;
}

/* Called by libcurl at least once a second, and whenever something moves. */
static int is_cancelled(void *data, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
	struct exporter *e = data;
	struct pollfd cancel = {.fd = e->cancel, .events = POLLIN};
	(void)down_all, (void)down, (void)up_all, (void)up;
	return poll(&cancel, 1, 0) > 0;
}

/* ---- opening ---- */

static void close_exporter(void *state)
{
	struct exporter *e = state;
	if (!e)
		return;
	http_handle_close(&e->http);
	free(e->url);
	free(e);
}

/* False: no URL, or no memory. */
static bool read_url(struct exporter *e, const char *text)
{
	struct metrics_url url;
	bool good = metrics_url_parse(&url, text) && (e->url = strdup(url.whole)) != NULL;
	metrics_url_release(&url);
	return good;
}

static int open_handle(struct exporter *e, const struct gpu_place *place, struct ipf_error *err)
{
	const struct http_settings settings = {
		.url = e->url, .timeout_ns = place->patience_ns, .most_bytes = GPU_ANSWER_MOST};
	if (http_handle_open(&e->http, &settings, err) < 0)
		return -1;
	CURL *c = e->http.curl;
	bool good = true;
#define SET(option_, value_) good &= curl_easy_setopt(c, option_, value_) == CURLE_OK
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, e);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, is_cancelled);
	SET(CURLOPT_XFERINFODATA, e);
#undef SET
	return good ? 0 : ipf_error_memory(err);
}

static int open_exporter(const char *name, void **state, const struct gpu_place *place, struct ipf_error *err)
{
	struct exporter *e = calloc(1, sizeof *e);
	if (!e)
		return ipf_error_memory(err);
	e->name = name;
	int status = read_url(e, place->url) ? open_handle(e, place, err)
	                                     : ipf_error_set(err, IPF_USAGE, "%s: not a URL: %s", name, place->url);
	if (status < 0)
		close_exporter(e);
	else
		*state = e;
	return status;
}

static int open_dcgm(void **state, const struct gpu_place *place, struct ipf_error *err)
{
	return open_exporter("dcgm", state, place, err);
}

static int open_amd(void **state, const struct gpu_place *place, struct ipf_error *err)
{
	return open_exporter("amd", state, place, err);
}

/* ---- asking ---- */

static void add_series(void *data, const struct exposition_series *series)
{
	gpu_metrics_add(data, series);
}

static int read_exporter(struct exporter *e, const struct gpu_metrics_family *family, const struct gpu_place *place,
                         struct gpu_readings *readings, struct ipf_error *err)
{
	struct ipf_error bad = {0};
	int status = 0;
	e->cancel = place->cancel;
	gpu_metrics_begin(&e->metrics, family);
	if (!(e->exposition = exposition_new(add_series, &e->metrics)))
		return ipf_error_memory(err);
	http_handle_begin(&e->http);
	curl_easy_setopt(e->http.curl, CURLOPT_TIMEOUT_MS,
	                 (long)(place->patience_ns / NS_PER_MS)); /* the last is shorter */
	if (http_handle_judge(&e->http, curl_easy_perform(e->http.curl), &bad) != 0 ||
	    exposition_finish(e->exposition, &bad) < 0)
		status = ipf_error_set(err, bad.kind, "%s: %s: %s", e->name, e->url, bad.text);
	exposition_free(e->exposition);
	e->exposition = NULL;
	if (status == 0)
		gpu_metrics_end(&e->metrics, readings);
	if (status == 0 && readings->count == 0)
		return ipf_error_set(err, IPF_INPUT, "%s: %s: no devices", e->name, e->url);
	return status;
}

static int read_dcgm(void *state, const struct gpu_place *place, struct gpu_readings *readings, struct ipf_error *err)
{
	return read_exporter(state, &gpu_metrics_dcgm, place, readings, err);
}

static int read_amd(void *state, const struct gpu_place *place, struct gpu_readings *readings, struct ipf_error *err)
{
	return read_exporter(state, &gpu_metrics_amd, place, readings, err);
}

const struct gpu_source gpu_dcgm = {
	.name = "dcgm", .takes_url = true, .open = open_dcgm, .read = read_dcgm, .close = close_exporter};
const struct gpu_source gpu_amd = {
	.name = "amd", .takes_url = true, .open = open_amd, .read = read_amd, .close = close_exporter};
