#include "scrape/prometheus.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "redact.h"
#include "safe_text.h"
#include "scrape/prometheus_client.h"
#include "scrape/query_answer.h"
#include "scrape/server_sample.h"
#include "scrape/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 2000 /* more than the table has, and --metric should keep */

/* One series in the part of the range being asked for. */
struct column {
	size_t target;
	struct exposition_series series; /* its texts are in `texts` */
	struct exposition_label *labels;
	char *texts;
	double *values; /* NAN: none at the step */
};

struct query {
	char *name;
	const char *expression; /* borrowed */
	double *values;
	int64_t points; /* with a value */
	char error[300];
};

struct prometheus {
	const struct scrape_options *options;
	struct prometheus_client *client;
	char *shown; /* the URL without secrets */
	int64_t every_ns, from_ns, to_ns, t0_unix_ns;
	int64_t first, points; /* the part of the range: its first step from the run's start, and the number of steps */
	struct query *queries;
	size_t queries_count;
	struct query *query; /* whose answer is being read */
	char **names;
	size_t names_count;
	bool names_full; /* there are more */
	struct column *columns;
	size_t columns_count;
	struct target *targets;
	size_t targets_count;
	struct jdoc doc;
	struct buffer params, body, line;
	int64_t requests, samples, errors;
	struct ipf_error error; /* the first one */
};

/* ---- opening ---- */

/* NAME=PROMQL */
static int read_query(struct prometheus *p, const char *text, struct ipf_error *err)
{
	const char *equals = strchr(text, '=');
	struct query *q = &p->queries[p->queries_count];
	if (!equals || equals == text || !equals[1] || !safe_text_is_safe((struct slice){text, (size_t)(equals - text)}))
		return ipf_error_set(err, IPF_USAGE, "--query: expected NAME=PROMQL, got \"%s\"", text);
	*q = (struct query){.name = strndup(text, (size_t)(equals - text)), .expression = equals + 1};
	p->queries_count++;
	q->values = calloc(PROMETHEUS_POINTS, sizeof *q->values);
	if (!q->name || !q->values)
		return ipf_error_memory(err);
	for (size_t i = 0; i + 1 < p->queries_count; i++)
		if (strcmp(p->queries[i].name, q->name) == 0)
			return ipf_error_set(err, IPF_USAGE, "--query: expected different names, got \"%s\" twice", q->name);
	return 0;
}

int prometheus_open(struct prometheus **prometheus, const struct scrape_options *options, int64_t every_ns,
                    struct ipf_error *err)
{
	struct prometheus *p = calloc(1, sizeof *p);
	struct buffer shown = {0};
	*prometheus = p;
	if (!p)
		return ipf_error_memory(err);
	*p = (struct prometheus){.options = options, .every_ns = every_ns, .from_ns = IPF_ABSENT, .to_ns = IPF_ABSENT};
	if (every_ns % NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "--every: expected whole milliseconds, because Prometheus counts in them");
	redact_url(options->prometheus, &shown);
	p->shown = shown.data;
	p->queries = calloc(options->queries.count + 1, sizeof *p->queries);
	p->names = calloc(NAMES_MAX, sizeof *p->names);
	p->columns = calloc(PROMETHEUS_SERIES_MAX, sizeof *p->columns);
	p->targets = calloc(PROMETHEUS_TARGETS_MAX, sizeof *p->targets);
	if (!p->shown || shown.failed || !p->queries || !p->names || !p->columns || !p->targets)
		return ipf_error_memory(err);
	for (size_t i = 0; i < options->queries.count; i++)
		if (read_query(p, options->queries.items[i], err) < 0)
			return -1;
	return prometheus_client_open(&p->client, options, err);
}

void prometheus_request(struct prometheus *p, int64_t start_ns, int64_t end_ns)
{
	if (!p || start_ns == IPF_ABSENT || end_ns == IPF_ABSENT)
		return;
	p->from_ns = p->from_ns == IPF_ABSENT || start_ns < p->from_ns ? start_ns : p->from_ns;
	p->to_ns = p->to_ns == IPF_ABSENT || end_ns > p->to_ns ? end_ns : p->to_ns;
}

/* ---- asking ---- */

static void note(struct prometheus *p, const char *what, const char *text)
{
	p->errors++;
	ipf_error_set(&p->error, IPF_INPUT, "%s%s%s", what, *what ? ": " : "", text);
}

/* Appends a time in the range, in seconds since the epoch; Prometheus reads them to the millisecond. */
static void add_time(struct prometheus *p, const char *name, int64_t step)
{
	char text[64];
	int64_t ms = (p->t0_unix_ns + step * p->every_ns) / NS_PER_MS;
	snprintf(text, sizeof text, "%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
	prometheus_client_param(p->client, name, slice_of(text), &p->params);
}

static void add_range(struct prometheus *p)
{
	char step[64];
	snprintf(step, sizeof step, "%lld.%03lld", (long long)(p->every_ns / NS_PER_S),
	         (long long)(p->every_ns % NS_PER_S / NS_PER_MS));
	add_time(p, "start", p->first);
	add_time(p, "end", p->first + p->points - 1);
	prometheus_client_param(p->client, "step", slice_of(step), &p->params);
}

/* Statuses of errors in this expression alone. */
static bool is_of_query(const struct ipf_error *own)
{
	return strncmp(own->text, "bad_data: ", 10) == 0 || strncmp(own->text, "execution: ", 11) == 0;
}

/* 0; 1: the server does not accept the expression; -1: nothing works. */
static int ask_range(struct prometheus *p, struct slice expression, const struct query_handler *handler,
                     struct ipf_error *err)
{
	struct ipf_error status = {0};
	buffer_clear(&p->params);
	prometheus_client_param(p->client, "query", expression, &p->params);
	add_range(p);
	p->requests++;
	int got = prometheus_client_post(p->client, "/api/v1/query_range", &p->params, &p->body, &status);
	if (got == 0)
		return query_answer_range(&p->doc, buffer_all(&p->body), handler, err);
	if (got < 0 || query_answer_error(&p->doc, buffer_all(&p->body), err) == 0) {
		*err = status;
		return -1;
	}
	return is_of_query(err) ? 1 : -1;
}

/* The step of a time in the answer; -1: none of this part. */
static int64_t step_of(const struct prometheus *p, double unix_s)
{
	int64_t first_ms = (p->t0_unix_ns + p->first * p->every_ns) / NS_PER_MS;
	double step = (unix_s * 1e3 - (double)first_ms) / ((double)p->every_ns / NS_PER_MS);
	return step > -0.5 && step < (double)p->points - 0.5 ? (int64_t)llround(step) : -1;
}

/* ---- known metrics, and those of --metric ---- */

static struct own_metrics own_of(const struct prometheus *p)
{
	return (struct own_metrics){.patterns = (const char *const *)p->options->metrics.items,
	                            .patterns_count = p->options->metrics.count};
}

static bool take_name(void *data, struct slice name)
{
	struct prometheus *p = data;
	const struct own_metrics own = own_of(p);
	if (!snapshot_keeps(name) && !own_metrics_keep(&own, name))
		return true;
	if (p->names_count == NAMES_MAX) {
		if (!p->names_full)
			note(p, "", "more metrics than can be kept: give --job, --namespace or a narrower --metric");
		p->names_full = true;
		return true;
	}
	char *copy = slice_dup(name);
	if (copy)
		p->names[p->names_count++] = copy;
	return copy != NULL;
}

static void add_matcher(struct buffer *out, const char *label, const char *value)
{
	if (!value)
		return;
	buffer_format(out, "%s%s=\"", out->len > 1 ? "," : "", label);
	for (const char *c = value; *c; c++) {
		if (*c == '"' || *c == '\\')
			buffer_byte(out, '\\');
		buffer_text(out, *c == '\n' ? "\\n" : (char[2]){*c, '\0'});
	}
	buffer_byte(out, '"');
}

/* {__name__="NAME",job="JOB",namespace="NAMESPACE"} */
static void add_selector(const struct prometheus *p, const char *name, struct buffer *out)
{
	buffer_clear(out);
	buffer_byte(out, '{');
	add_matcher(out, "__name__", name);
	add_matcher(out, "job", p->options->job);
	add_matcher(out, "namespace", p->options->namespace);
	buffer_byte(out, '}');
}

/* Which of the known metrics there are. */
static int ask_names(struct prometheus *p, int64_t last, struct ipf_error *err)
{
	struct ipf_error status = {0};
	buffer_clear(&p->params);
	add_time(p, "start", p->first);
	add_time(p, "end", last);
	if (p->options->job || p->options->namespace) {
		add_selector(p, NULL, &p->line);
		prometheus_client_param(p->client, "match[]", buffer_all(&p->line), &p->params);
	}
	p->requests++;
	int got = prometheus_client_get(p->client, "/api/v1/label/__name__/values", &p->params, &p->body, &status);
	if (got == 0)
		return query_answer_names(&p->doc, buffer_all(&p->body), take_name, p, err);
	if (got < 0 || query_answer_error(&p->doc, buffer_all(&p->body), err) == 0)
		*err = status;
	return -1;
}

/* Whose series it is: the instance scraped. */
static struct target *target_of(struct prometheus *p, const struct exposition_series *series)
{
	struct slice name = exposition_label(series, "instance");
	struct ipf_error ignored = {0};
	if (!name.len)
		name = exposition_label(series, "pod");
	if (!name.len)
		name = slice_of("prometheus");
	for (size_t i = 0; i < p->targets_count; i++)
		if (slice_is(name, p->targets[i].name))
			return &p->targets[i];
	if (p->targets_count == PROMETHEUS_TARGETS_MAX) {
		note(p, "", "more instances than can be kept: give --job or --namespace");
		return NULL;
	}
	struct target *target = &p->targets[p->targets_count++];
	if (target_named(target, name, &ignored) < 0)
		return NULL;
	target->own = own_of(p);
	return target;
}

/* Answers do not give the type of a metric: a histogram has buckets. */
static bool is_histogram_part(const struct prometheus *p, struct slice name)
{
	static const char *const parts[] = {"_bucket", "_sum", "_count"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t suffix = strlen(parts[i]);
		if (name.len <= suffix || memcmp(name.data + name.len - suffix, parts[i], suffix) != 0)
			continue;
		size_t base = name.len - suffix;
		for (size_t k = 0; k < p->names_count; k++)
			if (strlen(p->names[k]) == base + strlen("_bucket") && memcmp(p->names[k], name.data, base) == 0 &&
			    strcmp(p->names[k] + base, "_bucket") == 0)
				return true;
	}
	return false;
}

static struct slice keep_text(char **at, struct slice text)
{
	struct slice kept = {*at, text.len};
	if (text.len)
		memcpy(*at, text.data, text.len);
	*at += text.len;
	return kept;
}

static bool begin_column(void *data, const struct exposition_series *series)
{
	struct prometheus *p = data;
	struct target *target = target_of(p, series);
	size_t len = series->name.len + 1;
	if (target && p->columns_count == PROMETHEUS_SERIES_MAX)
		note(p, "", "more series than can be kept: give --job or --namespace");
	if (!target || p->columns_count == PROMETHEUS_SERIES_MAX)
		return false;
	for (size_t i = 0; i < series->labels_count; i++)
		len += series->labels[i].name.len + series->labels[i].value.len;
	struct column *c = &p->columns[p->columns_count++];
	*c = (struct column){.target = (size_t)(target - p->targets), .series = *series};
	c->texts = malloc(len);
	c->labels = calloc(series->labels_count + 1, sizeof *c->labels);
	c->values = malloc((size_t)p->points * sizeof *c->values);
	if (!c->texts || !c->labels || !c->values)
		return false;
	char *at = c->texts;
	c->series.name = keep_text(&at, series->name);
	for (size_t i = 0; i < series->labels_count; i++)
		c->labels[i] = (struct exposition_label){keep_text(&at, series->labels[i].name),
		                                         keep_text(&at, series->labels[i].value)};
	c->series.labels = c->labels;
	c->series.type = is_histogram_part(p, series->name) ? EXPOSITION_HISTOGRAM : EXPOSITION_UNTYPED;
	for (int64_t i = 0; i < p->points; i++)
		c->values[i] = NAN;
	return true;
}

static void take_column(void *data, double unix_s, double value)
{
	struct prometheus *p = data;
	int64_t step = step_of(p, unix_s);
	if (step >= 0)
		p->columns[p->columns_count - 1].values[step] = value;
}

static void clear_columns(struct prometheus *p)
{
	for (size_t i = 0; i < p->columns_count; i++) {
		free(p->columns[i].texts);
		free(p->columns[i].labels);
		free(p->columns[i].values);
	}
	p->columns_count = 0;
}

/* Fills the columns. False: something is missing, so counters would not be right. */
static bool ask_columns(struct prometheus *p)
{
	const struct query_handler handler = {.data = p, .series = begin_column, .value = take_column};
	int64_t errors = p->errors;
	clear_columns(p);
	for (size_t i = 0; i < p->names_count && p->errors == errors; i++) {
		struct ipf_error err = {0};
		add_selector(p, p->names[i], &p->line);
		if (ask_range(p, buffer_all(&p->line), &handler, &err) != 0)
			note(p, p->names[i], err.text);
	}
	return p->errors == errors;
}

/* The sample of a target at that time, from the series it had then. */
static int write_target(struct prometheus *p, struct target *t, int64_t t_ns, struct stream_writer *writer,
                        struct ipf_error *err)
{
	struct ipf_error bad = {0};
	if (!t->now.count)
		return 0;
	if (snapshot_failed(&t->now, &bad) < 0) {
		note(p, t->name, bad.text);
		return 0;
	}
	if (!t->server)
		t->server = server_recognize(&t->now);
	t->now_ns = t_ns;
	buffer_clear(&p->line);
	if (!target_line(t, t_ns, &t->now, t->has_before ? &t->before : NULL, &p->line))
		return ipf_error_memory(err);
	target_keep(t);
	t->scrapes++;
	p->samples++;
	return stream_writer_line(writer, &p->line, err);
}

static int write_columns(struct prometheus *p, struct stream_writer *writer, struct ipf_error *err)
{
	for (int64_t step = 0; step < p->points; step++) {
		for (size_t i = 0; i < p->targets_count; i++)
			snapshot_clear(&p->targets[i].now);
		for (size_t i = 0; i < p->columns_count; i++) {
			struct column *c = &p->columns[i];
			c->series.value = c->values[step];
			snapshot_add(&p->targets[c->target].now, &p->targets[c->target].own, &c->series);
		}
		for (size_t i = 0; i < p->targets_count; i++)
			if (write_target(p, &p->targets[i], (p->first + step) * p->every_ns, writer, err) < 0)
				return -1;
	}
	return 0;
}

/* ---- the user's expressions ---- */

static bool begin_query(void *data, const struct exposition_series *series)
{
	(void)data, (void)series;
	return true;
}

/* Several series are added. */
static void take_query(void *data, double unix_s, double value)
{
	struct prometheus *p = data;
	int64_t step = step_of(p, unix_s);
	if (step < 0 || !isfinite(value))
		return;
	p->query->points += isnan(p->query->values[step]);
	p->query->values[step] = isnan(p->query->values[step]) ? value : p->query->values[step] + value;
}

/* False: nothing works. */
static bool ask_queries(struct prometheus *p)
{
	const struct query_handler handler = {.data = p, .series = begin_query, .value = take_query};
	for (size_t i = 0; i < p->queries_count; i++) {
		struct ipf_error err = {0};
		struct query *q = p->query = &p->queries[i];
		for (int64_t step = 0; step < p->points; step++)
			q->values[step] = NAN;
		int got = *q->error ? 0 : ask_range(p, slice_of(q->expression), &handler, &err);
		if (got == 0)
			continue;
		snprintf(q->error, sizeof q->error, "%.*s", (int)sizeof q->error - 1, err.text);
		note(p, q->name, err.text);
		if (got < 0)
			return false;
	}
	return true;
}

static int write_queries(struct prometheus *p, struct stream_writer *writer, struct ipf_error *err)
{
	for (int64_t step = 0; step < p->points; step++) {
		struct jout w = {.out = &p->line};
		bool any = false;
		buffer_clear(&p->line);
		jout_begin_map(&w);
		jout_key(&w, "sample");
		jout_string0(&w, "server");
		jout_member_int(&w, "t_ns", (p->first + step) * p->every_ns);
		jout_key(&w, "target");
		jout_string0(&w, "prometheus");
		jout_key(&w, "gauges");
		jout_begin_map(&w);
		for (size_t i = 0; i < p->queries_count; i++) {
			if (isnan(p->queries[i].values[step]))
				continue;
			any = true;
			jout_string0(&w, p->queries[i].name);
			buffer_byte(&p->line, ':');
			w.comma = false;
			jout_double(&w, p->queries[i].values[step]);
		}
		jout_end_map(&w);
		jout_end_map(&w);
		p->samples += any;
		if (any && stream_writer_line(writer, &p->line, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the whole range ---- */

static int64_t floor_step(const struct prometheus *p, int64_t t_ns)
{
	return t_ns / p->every_ns - (t_ns % p->every_ns < 0);
}

static int write_range(struct prometheus *p, int64_t last, struct stream_writer *writer, struct ipf_error *err)
{
	struct ipf_error bad = {0};
	if (!p->queries_count && ask_names(p, last, &bad) < 0) {
		note(p, "", bad.text);
		return 0;
	}
	while (p->first <= last) {
		int64_t left = last - p->first + 1;
		p->points = left < PROMETHEUS_POINTS ? left : PROMETHEUS_POINTS;
		bool whole = p->queries_count ? ask_queries(p) : ask_columns(p);
		int status = p->queries_count ? write_queries(p, writer, err) : whole ? write_columns(p, writer, err) : 0;
		if (status < 0 || !whole)
			return status;
		p->first += p->points;
	}
	return 0;
}

static void note_missing(struct prometheus *p)
{
	for (size_t i = 0; i < p->queries_count; i++)
		if (!p->queries[i].points && !*p->queries[i].error) {
			snprintf(p->queries[i].error, sizeof p->queries[i].error, "no data");
			note(p, p->queries[i].name, "no data");
		}
	if (!p->queries_count && !p->samples)
		note(p, "", "no data of known metrics in the time of the run");
}

int prometheus_write(struct prometheus *p, int64_t t0_unix_ns, struct stream_writer *writer, struct ipf_error *err)
{
	struct ipf_error bad = {0};
	if (!p)
		return 0;
	if (p->from_ns == IPF_ABSENT) {
		note(p, "", "not asked, because the run has no requests");
		return 0;
	}
	/* the token checked when the run began may have expired */
	prometheus_client_close(p->client);
	p->client = NULL;
	if (prometheus_client_open(&p->client, p->options, &bad) < 0) {
		note(p, "", bad.text);
		return 0;
	}
	p->t0_unix_ns = t0_unix_ns;
	p->first = floor_step(p, p->from_ns);
	int status = write_range(p, floor_step(p, p->to_ns) + 2, writer, err);
	if (status == 0 && !p->errors)
		note_missing(p);
	return status;
}

/* ---- outcome ---- */

json_t *prometheus_json(const struct prometheus *p)
{
	json_t *json = json_pack("{s:s, s:I, s:I}", "url", p->shown, "requests", (json_int_t)p->requests, "samples",
	                         (json_int_t)p->samples);
	if (p->errors)
		json_object_set_new(json, "error", json_string(p->error.text));
	json_t *list = json_array();
	for (size_t i = 0; i < p->queries_count; i++) {
		const struct query *q = &p->queries[i];
		json_t *entry = json_pack("{s:s, s:s, s:I}", "name", q->name, "query", q->expression, "points",
		                          (json_int_t)q->points);
		if (*q->error)
			json_object_set_new(entry, "error", json_string(q->error));
		json_array_append_new(list, entry);
	}
	for (size_t i = 0; i < p->targets_count; i++) {
		const struct target *t = &p->targets[i];
		json_t *entry = json_pack("{s:s, s:I}", "target", t->name, "samples", (json_int_t)t->scrapes);
		if (t->server) {
			json_object_set_new(entry, "server", json_string(t->server));
			json_object_set_new(entry, "missing", target_missing(t));
		}
		json_array_append_new(list, entry);
	}
	json_object_set_new(json, p->queries_count ? "queries" : "targets", list);
	return json;
}

void prometheus_describe(const struct prometheus *p, struct buffer *out)
{
	if (!p || !p->errors)
		return;
	buffer_format(out, "--prometheus: %s: %s", p->shown, p->error.text);
	if (p->errors > 1)
		buffer_format(out, " (and %lld more, which the trailer names)", (long long)(p->errors - 1));
	buffer_byte(out, '\n');
}

void prometheus_close(struct prometheus *p)
{
	if (!p)
		return;
	prometheus_client_close(p->client);
	clear_columns(p);
	for (size_t i = 0; p->targets && i < p->targets_count; i++)
		target_release(&p->targets[i]);
	for (size_t i = 0; p->queries && i < p->queries_count; i++) {
		free(p->queries[i].name);
		free(p->queries[i].values);
	}
	for (size_t i = 0; p->names && i < p->names_count; i++)
		free(p->names[i]);
	free(p->targets);
	free(p->queries);
	free(p->names);
	free(p->columns);
	jdoc_release(&p->doc);
	buffer_release(&p->params);
	buffer_release(&p->body);
	buffer_release(&p->line);
	free(p->shown);
	free(p);
}
