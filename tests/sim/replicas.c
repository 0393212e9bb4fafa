#include "replicas.h"

#include "key_values.h"

#include "cli/units.h"

#include <stddef.h>
#include <string.h>

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
	static const char *const signals[] = {"load", "running", "waiting", NULL};
	static const struct key_value keys[] = {
		{"delay", KEY_VALUE_DURATION, offsetof(struct replicas_options, delay_ns), NULL},
		{"idle", KEY_VALUE_DURATION, offsetof(struct replicas_options, idle_ns), NULL},
		{"scale-at", KEY_VALUE_COUNT, offsetof(struct replicas_options, scale_at), NULL},
		{"on", KEY_VALUE_CHOICE, offsetof(struct replicas_options, signal), signals},
	};
	struct replicas_options *options = replicas;
	size_t len = strcspn(text, ",");
	if (parse_bounds(text, len, options) < 0)
		return ipf_error_set(err, IPF_USAGE, "expected MIN:MAX of at most %d replicas such as 1:4, got \"%s\"",
		                     REPLICAS_MOST, text);
	if (key_values_parse(text + len + (text[len] == ','), keys, sizeof keys / sizeof *keys, options, err) < 0)
		return -1;
	return options->scale_at >= 1 ? 0 : ipf_error_set(err, IPF_USAGE, "scale-at: expected at least 1");
}

void replicas_init(struct replicas *r, const struct replicas_options *options)
{
	*r = (struct replicas){.options = *options,
	                       .desired = options->least,
	                       .ready = options->least,
	                       .wanted = options->least,
	                       .below_since_ns = INT64_MAX};
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
	r->below_since_ns = INT64_MAX;
}

bool replicas_update(struct replicas *r, int64_t running, int64_t waiting, int64_t now_ns)
{
	int64_t before = r->ready;
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
	int64_t next_ns = r->ready < r->desired ? r->ready_at_ns[0] : INT64_MAX;
	if (r->below_since_ns < INT64_MAX && r->below_since_ns + r->options.idle_ns < next_ns)
		next_ns = r->below_since_ns + r->options.idle_ns;
	return next_ns;
}
