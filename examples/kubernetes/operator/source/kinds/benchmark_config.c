#include "kinds/benchmark_config.h"

#include "api/object_store.h"
#include "buffer.h"
#include "http/libcurl.h"
#include "text_hash.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

static json_t *merged(const json_t *below, const json_t *above)
{
	json_t *all = json_is_object(below) ? json_copy((json_t *)below) : json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)above, key, value)
	{
		json_t *under = json_object_get(all, key);
		if (json_is_object(value) && json_is_object(under))
			json_object_set_new(all, key, merged(under, value));
		else
			json_object_set(all, key, value);
	}
	return all;
}

json_t *benchmark_merged(const json_t *preset, const json_t *own)
{
	json_t *below = json_is_object(preset) ? json_copy((json_t *)preset) : NULL;
	json_object_del(below, "suspend");
	json_object_del(below, "preset");
	json_t *all = merged(below, own);
	json_decref(below);
	return all;
}

static const json_t *member(const json_t *spec, const char *object, const char *name)
{
	return json_object_get(json_object_get(spec, object), name);
}

/* Text, or a number as text. An absent value appends nothing. */
static void append_value(struct buffer *to, const json_t *value)
{
	if (json_is_string(value))
		buffer_text(to, json_string_value(value));
	else if (json_is_integer(value))
		buffer_format(to, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		buffer_format(to, "%.15g", json_real_value(value));
}

/* Variables are read by make, which would expand a "$", and become words of a shell. */
static int put(json_t *config, const char *name, const char *path, const struct buffer *value, struct ipf_error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/,=+@%~?&<>[]- ";
	if (value->failed)
		return ipf_error_memory(err);
	if (!value->len)
		return 0;
	if (strlen(value->data) != value->len || strspn(value->data, allowed) != value->len)
		return ipf_error_set(err, IPF_INPUT, "%s: a character that has no place here: \"%s\"", path, value->data);
	return json_object_set_new(config, name, json_string(value->data)) < 0 ? ipf_error_memory(err) : 0;
}

struct variable {
	const char *name, *object, *member; /* object NULL: of the spec itself */
};
static const struct variable variables[] = {
	{"URL", "endpoint", "url"},
	{"API", "endpoint", "api"},
	{"IPF_FIRE_WAIT_READY", "endpoint", "readyTimeout"},
	{"SCRAPE", "endpoint", "metricsURLs"},
	{"MODEL", NULL, "model"},
	{"DATA", "dataset", "path"},
	{"SOURCE", "dataset", "format"},
	{"TOKENIZER", "dataset", "tokenizer"},
	{"REQUESTS", "dataset", "requests"},
	{"INPUT", "dataset", "inputTokens"},
	{"OUTPUT", "dataset", "outputTokens"},
	{"SEED", "dataset", "seed"},
	{"UPLOAD", "results", "upload"},
	{"PUSH_REPORT", "results", "pushgateways"},
	{"SHARDS", NULL, "shards"},
	{"BASELINE", "gate", "baseline"},
};

static int put_variable(json_t *config, const json_t *spec, const struct variable *v, struct ipf_error *err)
{
	const json_t *value = v->object ? member(spec, v->object, v->member) : json_object_get(spec, v->member);
	struct buffer text = {0};
	char path[80];
	size_t i;
	json_t *item;

	snprintf(path, sizeof path, "%s%s%s", v->object ? v->object : "", v->object ? "." : "", v->member);
	if (json_is_array(value)) {
		json_array_foreach(value, i, item)
		{
			buffer_text(&text, i ? " " : "");
			append_value(&text, item);
		}
	} else {
		append_value(&text, value);
	}
	int result = put(config, v->name, path, &text, err);
	buffer_release(&text);
	return result;
}

/* "key=VALUE" with a separator, if there is a value. */
static void stage_key(struct buffer *to, const char *key, const json_t *value)
{
	if (!value)
		return;
	buffer_format(to, "%s%s=", to->data[to->len - 1] == ':' ? "" : ",", key);
	append_value(to, value);
}

static void stage_keys(struct buffer *to, const json_t *values, const char *const *keys)
{
	for (; *keys; keys++)
		stage_key(to, *keys, json_object_get(values, *keys));
}

/* One stage as ipf-sched takes it. With `warmup`, the load the stage begins with, for this long and unmeasured. */
static int append_stage(struct buffer *to, const json_t *traffic, const json_t *warmup)
{
	static const char *const ramp_keys[] = {"from", "to", NULL};
	static const char *const spike_keys[] = {"base", "peak", "every", "width", NULL};
	const json_t *rate = json_object_get(traffic, "rate"), *users = json_object_get(traffic, "concurrency");
	const json_t *ramp = json_object_get(traffic, "ramp"), *spike = json_object_get(traffic, "spike");
	const char *arrivals = json_string_value(json_object_get(traffic, "arrivals"));

	if ((rate != NULL) + (users != NULL) + (ramp != NULL) + (spike != NULL) != 1)
		return -1;
	if (warmup && (ramp || spike))
		rate = ramp ? json_object_get(ramp, "from") : json_object_get(spike, "base");
	if (rate || users)
		buffer_format(to, "%s:", users ? "closed" : arrivals ? arrivals : "poisson");
	else
		buffer_text(to, ramp ? "ramp:" : "spike:");
	if (to->failed)
		return 0;
	stage_key(to, users ? "users" : "rate", users ? users : rate);
	if (!rate && !users)
		stage_keys(to, ramp ? ramp : spike, ramp ? ramp_keys : spike_keys);
	stage_key(to, "for", warmup ? warmup : json_object_get(traffic, "duration"));
	if (!warmup)
		stage_key(to, "name", json_object_get(traffic, "name"));
	else
		buffer_text(to, ",warmup");
	return 0;
}

static int put_stages(json_t *config, const json_t *spec, struct ipf_error *err)
{
	const json_t *traffic = member(spec, "performance", "traffic"), *warmup = member(spec, "performance", "warmup");
	struct buffer text = {0};
	int result = 0;
	size_t i;
	json_t *stage;

	if (json_array_size(traffic) == 0)
		return ipf_error_set(err, IPF_INPUT, "performance.traffic: is missing, here and in the preset");
	if (json_is_string(warmup) && append_stage(&text, json_array_get(traffic, 0), warmup) == 0)
		buffer_byte(&text, ' ');
	json_array_foreach(traffic, i, stage)
	{
		buffer_text(&text, i ? " " : "");
		if (result == 0 && append_stage(&text, stage, NULL) < 0)
			result = ipf_error_set(err, IPF_INPUT,
			                       "performance.traffic[%zu]: expected one of rate, concurrency, ramp and spike", i);
	}
	if (result == 0)
		result = put(config, "STAGES", "performance.traffic", &text, err);
	buffer_release(&text);
	return result;
}

/* ttft=500ms of each request, p99:ttft=500ms of a percentile. */
static int put_objectives(json_t *config, const json_t *spec, struct ipf_error *err)
{
	struct buffer text = {0};
	size_t i;
	json_t *objective;

	json_array_foreach(json_object_get(spec, "objectives"), i, objective)
	{
		const json_t *percentile = json_object_get(objective, "percentile");
		buffer_text(&text, i ? "," : "");
		if (percentile) {
			buffer_byte(&text, 'p');
			append_value(&text, percentile);
			buffer_byte(&text, ':');
		}
		append_value(&text, json_object_get(objective, "metric"));
		buffer_byte(&text, '=');
		append_value(&text, json_object_get(objective, "max"));
	}
	int result = put(config, "IPF_REPORT_SLO", "objectives", &text, err);
	buffer_release(&text);
	return result;
}

/* One condition a line; each is checked by itself, so none can contain the end of a line. */
static int put_gate(json_t *config, const json_t *spec, struct ipf_error *err)
{
	struct buffer all = {0};
	int result = 0;
	size_t i;
	json_t *condition;

	json_array_foreach(member(spec, "gate", "failIf"), i, condition)
	{
		struct buffer one = {0};
		append_value(&one, condition);
		if (result == 0)
			result = put(config, "FAIL_IF", "gate.failIf", &one, err);
		buffer_format(&all, "%s%s", i ? "\n" : "", one.data ? one.data : "");
		buffer_release(&one);
	}
	if (result == 0 && all.len && json_object_set_new(config, "FAIL_IF", json_string(all.data)) < 0)
		result = ipf_error_memory(err);
	buffer_release(&all);
	return result;
}

json_t *benchmark_config(const json_t *spec, struct ipf_error *err)
{
	json_t *config = json_object();
	int result = config ? 0 : ipf_error_memory(err);

	if (result == 0 && !member(spec, "endpoint", "url"))
		result = ipf_error_set(err, IPF_INPUT, "endpoint.url: is missing, here and in the preset");
	for (size_t i = 0; result == 0 && i < sizeof variables / sizeof *variables; i++)
		result = put_variable(config, spec, &variables[i], err);
	if (result == 0)
		result = put_stages(config, spec, err);
	if (result == 0)
		result = put_objectives(config, spec, err);
	if (result == 0)
		result = put_gate(config, spec, err);
	if (result == 0)
		return config;
	json_decref(config);
	return NULL;
}

void benchmark_endpoint_key(const json_t *spec, char key[17])
{
	const char *url = json_string_value(member(spec, "endpoint", "url"));
	char *host = NULL, *port = NULL, text[600];
	CURLU *parsed = libcurl_url();

	key[0] = '\0';
	if (url && parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
	    curl_url_get(parsed, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK) {
		snprintf(text, sizeof text, "%.500s:%s", host, port);
		for (char *c = text; *c; c++)
			*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 'a' - 'A' : *c);
		snprintf(key, 17, "%016llx", (unsigned long long)text_hash_mixed(slice_of(text)));
	}
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(parsed);
}

void benchmark_job_name(const json_t *benchmark, char name[JOB_NAME_SIZE])
{
	char *text = json_dumps(json_object_get(benchmark, "spec"),
	                        JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
	snprintf(name, JOB_NAME_SIZE, "%.*s-%08x", BENCHMARK_NAME_MOST, object_name(benchmark),
	         (unsigned)(text_hash_mixed(slice_of(text)) >> 32));
	free(text);
}
