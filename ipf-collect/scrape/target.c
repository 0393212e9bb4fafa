#include "scrape/target.h"

#include "absent.h"
#include "redact.h"
#include "safe_text.h"
#include "scrape/metrics_url.h"
#include "scrape/server_sample.h"

#include <stdlib.h>
#include <string.h>

/* ---- where it is ---- */

/* The URL with /metrics if it has no path, and HOST:PORT for its name. */
static int read_url(struct target *t, const char *text, char **host_port, struct ipf_error *err)
{
	struct metrics_url url;
	bool good = metrics_url_parse(&url, text) && (strcmp(url.scheme, "http") == 0 || strcmp(url.scheme, "https") == 0);
	if (good) {
		t->url = strdup(url.whole);
		if (asprintf(host_port, "%s:%s", url.host, url.port) < 0)
			*host_port = NULL;
	}
	metrics_url_release(&url);
	return good ? 0 : ipf_error_set(err, IPF_USAGE, "expected [NAME=]URL with http or https, got \"%s\"", text);
}

int target_open(struct target *t, const char *text, const char *const *patterns, size_t patterns_count,
                struct ipf_error *err)
{
	const char *equals = strchr(text, '='), *colon = strstr(text, "://");
	bool named = equals && (!colon || equals < colon);
	struct buffer shown = {0};
	char *host_port = NULL;
	*t = (struct target){.first_ns = IPF_ABSENT,
	                     .last_ns = IPF_ABSENT,
	                     .before_ns = IPF_ABSENT,
	                     .own = {.patterns = patterns, .patterns_count = patterns_count}};
	if (named && (equals == text || !safe_text_is_safe((struct slice){text, (size_t)(equals - text)})))
		return ipf_error_set(err, IPF_USAGE, "expected a name without control characters, got \"%s\"", text);
	if (read_url(t, named ? equals + 1 : text, &host_port, err) < 0)
		return -1;
	t->name = named ? strndup(text, (size_t)(equals - text)) : host_port;
	if (named)
		free(host_port);
	if (t->url)
		redact_url(t->url, &shown);
	t->shown = shown.data;
	t->seen = calloc(COMMON_METRICS, sizeof *t->seen);
	return t->name && t->url && t->shown && !shown.failed && t->seen ? 0 : ipf_error_memory(err);
}

int target_named(struct target *t, struct slice name, struct ipf_error *err)
{
	*t = (struct target){.name = slice_dup(name), .seen = calloc(COMMON_METRICS, sizeof *t->seen)};
	return t->name && t->seen ? 0 : ipf_error_memory(err);
}

void target_release(struct target *t)
{
	exposition_free(t->exposition);
	snapshot_release(&t->now);
	snapshot_release(&t->before);
	own_metrics_release(&t->own);
	free(t->seen);
	free(t->name);
	free(t->url);
	free(t->shown);
}

/* ---- a scrape ---- */

static void take_series(void *data, const struct exposition_series *series)
{
	struct target *t = data;
	snapshot_add(&t->now, &t->own, series);
}

void target_keep(struct target *t)
{
	struct snapshot before = t->before;
	t->before = t->now;
	t->now = before;
	t->has_before = true;
	t->before_ns = t->now_ns;
}

bool target_begin(struct target *t)
{
	exposition_free(t->exposition);
	if (t->pending && !*t->error) {
		target_keep(t);
		t->held = true;
	}
	snapshot_clear(&t->now);
	t->pending = false;
	t->exposition = exposition_new(take_series, t);
	return t->exposition != NULL;
}

void target_end(struct target *t, int64_t now_ns, struct ipf_error *err)
{
	if (err->kind == IPF_OK && exposition_finish(t->exposition, err) == 0 && snapshot_failed(&t->now, err) == 0) {
		t->bad_lines += exposition_bad_lines(t->exposition);
		if (!t->server)
			t->server = server_recognize(&t->now);
	}
	t->scrapes++;
	t->failed += err->kind != IPF_OK;
	snprintf(t->error, sizeof t->error, "%.*s", (int)sizeof t->error - 1, err->text);
	if (*t->error)
		memcpy(t->last_error, t->error, sizeof t->error);
	t->now_ns = now_ns;
	t->pending = true;
	exposition_free(t->exposition);
	t->exposition = NULL;
}

/* `base`: NULL for the first sample. */
static bool write_values(struct target *t, const struct snapshot *now, const struct snapshot *base, struct jout *w)
{
	struct server_sample sample = {t->server, now, base, &t->own, t->seen, 0};
	if (t->server) {
		jout_key(w, "server");
		jout_string0(w, t->server);
	}
	if (base)
		jout_member_int(w, "interval_ns", t->now_ns - t->before_ns);
	const bool good = server_sample_write(&sample, w);
	t->restarts += sample.resets > 0;
	return good;
}

bool target_line(struct target *t, int64_t t_ns, const struct snapshot *now, const struct snapshot *base,
                 struct buffer *line)
{
	struct jout w = {.out = line};
	bool good = true;
	jout_begin_map(&w);
	jout_key(&w, "sample");
	jout_string0(&w, "server");
	jout_member_int(&w, "t_ns", t_ns);
	jout_key(&w, "target");
	jout_string0(&w, t->name);
	if (now) {
		good = write_values(t, now, base, &w);
	} else {
		jout_key(&w, "error");
		jout_string0(&w, t->error);
	}
	jout_end_map(&w);
	return good && !line->failed;
}

/* False: the line was not handed over. */
static bool hand_over(struct target *t, int64_t t_ns, const struct snapshot *now, const struct snapshot *base,
                      struct line_queue *queue)
{
	struct buffer line = {0};
	bool good = target_line(t, t_ns, now, base, &line) && line_queue_put(queue, buffer_all(&line));
	buffer_release(&line);
	return good;
}

void target_publish(struct target *t, const struct run_clock *clock, struct line_queue *queue)
{
	if (!t->pending)
		return;
	if (t->held) {
		hand_over(t, run_clock_at(clock, t->before_ns), &t->before, NULL, queue);
		t->first_ns = t->before_ns;
	}
	t->held = t->pending = false;
	bool worked = !*t->error;
	const struct snapshot *base = t->has_before ? &t->before : NULL;
	if (!hand_over(t, run_clock_at(clock, t->now_ns), worked ? &t->now : NULL, base, queue) || !worked)
		return;
	t->first_ns = t->first_ns == IPF_ABSENT ? t->now_ns : t->first_ns;
	t->last_ns = t->now_ns;
	target_keep(t);
}

/* ---- the trailer ---- */

json_t *target_missing(const struct target *t)
{
	json_t *missing = json_array();
	for (size_t i = 0; i < COMMON_METRICS; i++) {
		bool known = false;
		for (size_t row = 0; row < server_metrics_count; row++)
			known |= strcmp(server_metrics[row].server, t->server) == 0 && server_metrics[row].common == i;
		/* how many positions there are is up to the drafts */
		known &= i < COMMON_SPEC_ACCEPTED_1 || i > COMMON_SPEC_ACCEPTED_8;
		if (known && !t->seen[i])
			json_array_append_new(missing, json_string(common_metrics[i].name));
	}
	return missing;
}

json_t *target_json(const struct target *t, const struct run_clock *clock)
{
	json_t *json = json_pack("{s:s, s:s, s:I, s:I}", "target", t->name, "url", t->shown, "scrapes",
	                         (json_int_t)t->scrapes, "failed", (json_int_t)t->failed);
	if (t->server) {
		json_object_set_new(json, "server", json_string(t->server));
		json_object_set_new(json, "missing", target_missing(t));
	}
	if (t->restarts)
		json_object_set_new(json, "restarts", json_integer((json_int_t)t->restarts));
	if (*t->last_error)
		json_object_set_new(json, "last_error", json_string(t->last_error));
	if (t->bad_lines)
		json_object_set_new(json, "malformed_lines", json_integer((json_int_t)t->bad_lines));
	if (t->first_ns != IPF_ABSENT) {
		json_object_set_new(json, "first_ns", json_integer((json_int_t)run_clock_at(clock, t->first_ns)));
		json_object_set_new(json, "last_ns", json_integer((json_int_t)run_clock_at(clock, t->last_ns)));
	}
	return json;
}
