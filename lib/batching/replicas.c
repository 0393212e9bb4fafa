#include "batching/replicas.h"

#include "cli/key_values.h"
#include "cli/units.h"

#include <stdio.h>
#include <string.h>

const char *const replicas_signals[] = {"load", "running", "waiting", NULL};

/* ---- the option ---- */

static int parse_bounds(const char *text, size_t len, struct replicas_options *options)
{
	char least[32];
	const char *colon = memchr(text, ':', len);
	struct ipf_error why = {0};
	if (!colon || len >= sizeof least)
		return -1;
	memcpy(least, text, len);
	least[colon - text] = least[len] = '\0';
	if (parse_count(least, &options->least, &why) < 0 ||
	    parse_count(least + (colon - text) + 1, &options->most, &why) < 0)
		return -1;
	return options->least <= options->most && options->most >= 1 && options->most <= REPLICAS_MOST ? 0 : -1;
}

int replicas_parse(const char *text, void *replicas, struct ipf_error *err)
{
	static const struct key_value keys[] = {
		{"delay", KEY_VALUE_DURATION, offsetof(struct replicas_options, delay_ns), NULL},
		{"idle", KEY_VALUE_DURATION, offsetof(struct replicas_options, idle_ns), NULL},
		{"scale-at", KEY_VALUE_COUNT, offsetof(struct replicas_options, scale_at), NULL},
		{"on", KEY_VALUE_CHOICE, offsetof(struct replicas_options, signal), replicas_signals},
	};
	struct replicas_options *options = replicas;
	size_t len = strcspn(text, ",");
	*options = (struct replicas_options)REPLICAS_DEFAULT;
	if (parse_bounds(text, len, options) < 0)
		return ipf_error_set(err, IPF_USAGE, "expected MIN:MAX of at most %d replicas such as 1:4, got \"%s\"",
		                     REPLICAS_MOST, text);
	if (key_values_parse(text + len + (text[len] == ','), keys, sizeof keys / sizeof *keys, options, err) < 0)
		return -1;
	return options->scale_at >= 1 ? 0 : ipf_error_set(err, IPF_USAGE, "scale-at: expected at least 1");
}

/* "5", or "5@1h" where there are changes before it. */
static int parse_change(const char *text, size_t len, struct replicas_options *o, struct ipf_error *err)
{
	struct replicas_change *c = &o->changes[o->changes_count];
	struct ipf_error why = {0};
	char part[64], *at;
	if (o->changes_count == REPLICAS_CHANGES_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected at most %d numbers in a series", REPLICAS_CHANGES_MOST);
	snprintf(part, sizeof part, "%.*s", (int)(len < sizeof part ? len : sizeof part), text);
	if ((at = strchr(part, '@')))
		*at++ = '\0';
	*c = (struct replicas_change){0};
	if (len >= sizeof part || !at != !o->changes_count || parse_count(part, &c->count, &why) < 0 ||
	    (at && parse_duration(at, &c->at_ns, &why) < 0) || c->count > REPLICAS_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected %s of at most %d replicas, got \"%.*s\"",
		                     o->changes_count ? "N@TIME such as 5@1h" : "N", REPLICAS_MOST, (int)len, text);
	if (o->changes_count && c->at_ns <= c[-1].at_ns)
		return ipf_error_set(err, IPF_USAGE, "the times of a series ascend, got \"%.*s\" after one that is as late",
		                     (int)len, text);
	o->changes_count++;
	o->least = c->count < o->least ? c->count : o->least;
	o->most = c->count > o->most ? c->count : o->most;
	return 0;
}

static int parse_series(const char *text, struct replicas_options *o, struct ipf_error *err)
{
	*o = (struct replicas_options)REPLICAS_DEFAULT;
	o->least = INT64_MAX;
	o->most = 0;
	for (const char *end;; text = end + 1) {
		end = text + strcspn(text, ",");
		if (parse_change(text, (size_t)(end - text), o, err) < 0)
			return -1;
		if (!*end)
			break;
	}
	return o->most >= 1 ? 0 : ipf_error_set(err, IPF_USAGE, "a series has at least one replica at some time");
}

int replicas_parse_any(const char *text, void *replicas, struct ipf_error *err)
{
	struct replicas_options *o = replicas;
	int64_t count;
	if (memchr(text, ':', strcspn(text, ",")))
		return replicas_parse(text, o, err);
	if (strchr(text, ','))
		return parse_series(text, o, err);
	if (parse_count(text, &count, err) < 0)
		return -1;
	if (count < 1 || count > REPLICAS_MOST)
		return ipf_error_set(err, IPF_USAGE, "%s is %d, got %.200s", count < 1 ? "minimum" : "maximum",
		                     count < 1 ? 1 : REPLICAS_MOST, text);
	*o = (struct replicas_options)REPLICAS_DEFAULT;
	o->least = o->most = count;
	return 0;
}

/* ---- over time ---- */

bool replicas_vary(const struct replicas_options *o)
{
	return o->least != o->most;
}

void replicas_init(struct replicas *r, const struct replicas_options *options)
{
	int64_t count = options->changes_count ? options->changes[0].count : options->least;
	*r = (struct replicas){
		.options = *options, .desired = count, .ready = count, .wanted = count, .below_since_ns = INT64_MAX, .next = 1};
}

static int64_t wanted(const struct replicas_options *o, int64_t running, int64_t waiting)
{
	int64_t signal = o->signal == REPLICAS_ON_RUNNING   ? running
	                 : o->signal == REPLICAS_ON_WAITING ? waiting
	                                                    : running + waiting;
	int64_t count = (signal + o->scale_at - 1) / o->scale_at;
	if (count < 1 && running + waiting > 0)
		count = 1;
	if (count < o->least)
		count = o->least;
	return count < o->most ? count : o->most;
}

static void become_ready(struct replicas *r, int64_t now_ns)
{
	while (r->ready < r->desired && r->ready_at_ns[0] <= now_ns) {
		r->ready++;
		memmove(r->ready_at_ns, r->ready_at_ns + 1, (size_t)(r->desired - r->ready) * sizeof *r->ready_at_ns);
	}
}

static void scale_down(struct replicas *r, int64_t now_ns)
{
	if (r->below_since_ns == INT64_MAX) {
		r->below_since_ns = now_ns;
		r->below_most = r->wanted;
	}
	if (r->wanted > r->below_most)
		r->below_most = r->wanted;
	if (now_ns - r->below_since_ns < r->options.idle_ns)
		return;
	r->desired = r->below_most;
	if (r->ready > r->desired)
		r->ready = r->desired;
	r->below_since_ns = r->wanted < r->desired ? now_ns : INT64_MAX;
	r->below_most = r->wanted;
}

/* The next change of the series; NULL: there is none. */
static const struct replicas_change *next_change(const struct replicas *r)
{
	return r->next < r->options.changes_count ? &r->options.changes[r->next] : NULL;
}

static void follow_series(struct replicas *r, int64_t now_ns)
{
	for (const struct replicas_change *c; (c = next_change(r)) && c->at_ns <= now_ns; r->next++)
		r->wanted = r->desired = r->ready = c->count;
}

bool replicas_update(struct replicas *r, int64_t running, int64_t waiting, int64_t now_ns)
{
	int64_t before = r->ready;
	if (r->options.changes_count) {
		follow_series(r, now_ns);
		return r->ready != before;
	}
	r->wanted = wanted(&r->options, running, waiting);
	while (r->desired < r->wanted) {
		r->ready_at_ns[r->desired - r->ready] = now_ns + r->options.delay_ns;
		r->desired++;
	}
	if (r->wanted < r->desired)
		scale_down(r, now_ns);
	else
		r->below_since_ns = INT64_MAX;
	become_ready(r, now_ns);
	return r->ready != before;
}

int64_t replicas_deadline(const struct replicas *r)
{
	const struct replicas_change *change = next_change(r);
	if (r->options.changes_count)
		return change ? change->at_ns : INT64_MAX;
	int64_t next_ns = r->ready < r->desired ? r->ready_at_ns[0] : INT64_MAX;
	if (r->below_since_ns < INT64_MAX && r->below_since_ns + r->options.idle_ns < next_ns)
		next_ns = r->below_since_ns + r->options.idle_ns;
	return next_ns;
}
