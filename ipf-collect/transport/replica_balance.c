#include "transport/replica_balance.h"

#include "absent.h"
#include "transport/finding.h"
#include "verdict/verdict_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const replica_headers[] = {
	"x-pod-name",      "x-inference-pod", "x-worker-instance-id", "x-gateway-destination-endpoint",
	"x-replica",       "x-server-id",     "x-backend-server",     "x-backend",
	"x-upstream-addr", "x-upstream",      "x-served-by",          NULL};

/* ---- taking in ---- */

/* NULL: there is no room, or no memory. */
static struct replica *find(struct replica_balance *b, struct replica_set *set, const char *name)
{
	size_t i = 0;
	while (i < set->count && strcmp(set->list[i].name, name) != 0)
		i++;
	if (i < set->count)
		return &set->list[i];
	if (i == TRANSPORT_GROUPS) {
		set->others++;
		return NULL;
	}
	struct histogram *ttft = histogram_new();
	if (!ttft) {
		b->failed = true;
		return NULL;
	}
	set->list[i] = (struct replica){.ttft = ttft};
	snprintf(set->list[i].name, sizeof set->list[i].name, "%s", name);
	set->count++;
	return &set->list[i];
}

static void add(struct replica_balance *b, struct replica_set *set, const char *name, const struct result *row)
{
	struct replica *r = find(b, set, name);
	if (!r)
		return;
	r->requests++;
	if (!row->ok)
		return;
	int64_t first = row->ttft_ns != IPF_ABSENT ? row->ttft_ns : row->e2e_ns;
	r->ok++;
	r->output_tokens += verdict_valid_count(row->output_tokens) ? row->output_tokens : 0;
	if (first != IPF_ABSENT)
		histogram_add(r->ttft, first, 1);
}

/* The replica the response names; NULL. A run has one such header: the first one. */
static const char *named_by(struct replica_balance *b, struct slice headers)
{
	struct ipf_error ignored = {0};
	if (headers.len <= 2)
		return NULL;
	if (jdoc_parse(&b->doc, headers.data, headers.len, &ignored) < 0) {
		b->failed |= ignored.kind == IPF_SYSTEM;
		return NULL;
	}
	jdoc_id node = b->header ? jdoc_get(&b->doc, JDOC_ROOT, b->header) : JDOC_NONE;
	for (size_t i = 0; !b->header && replica_headers[i]; i++) {
		node = jdoc_get(&b->doc, JDOC_ROOT, replica_headers[i]);
		if (node != JDOC_NONE)
			b->header = replica_headers[i];
	}
	buffer_clear(&b->value);
	jdoc_text(&b->doc, node, &b->value);
	b->failed |= b->value.failed;
	return b->value.len && b->value.len < REPLICA_NAME_MOST && !b->value.failed ? b->value.data : NULL;
}

void replica_balance_begin(struct replica_balance *b, const json_t *urls)
{
	b->urls = urls;
}

void replica_balance_add(struct replica_balance *b, const struct observation *o)
{
	const char *name = o->record->headers.data ? named_by(b, o->record->headers) : NULL;
	if (name)
		add(b, &b->named, name, o->row);
	if (b->urls && o->row->target >= 0) {
		const char *url = json_string_value(json_array_get(b->urls, (size_t)o->row->target));
		if (url && strlen(url) < REPLICA_NAME_MOST)
			add(b, &b->targets, url, o->row);
	}
}

/* ---- judging ---- */

struct spread {
	double requests, busiest, mean, cv, deviate; /* about the number of requests; chi-square as a normal deviate */
	double low_ns, high_ns; /* median TTFT of the fastest and the slowest group of enough requests; 0 */
	const char *slow, *busy;
};

/* Wilson and Hilferty (1931): the cube root of chi-square / degrees of freedom is nearly normal. */
static double chi_square_deviate(double chi, double freedom)
{
	double spread = 2 / (9 * freedom);
	return (cbrt(chi / freedom) - (1 - spread)) / sqrt(spread);
}

static void measure(const struct replica_set *set, struct spread *s)
{
	double squares = 0;
	*s = (struct spread){0};
	for (size_t i = 0; i < set->count; i++)
		s->requests += (double)set->list[i].requests;
	s->mean = s->requests / (double)set->count;
	for (size_t i = 0; i < set->count; i++) {
		const struct replica *r = &set->list[i];
		double off = (double)r->requests - s->mean;
		squares += off * off;
		if ((double)r->requests > s->busiest) {
			s->busiest = (double)r->requests;
			s->busy = r->name;
		}
		if (histogram_count(r->ttft) < TRANSPORT_GROUP_LEAST)
			continue;
		double p50 = histogram_percentile(r->ttft, 50);
		if (s->low_ns == 0 || p50 < s->low_ns)
			s->low_ns = p50;
		if (p50 > s->high_ns) {
			s->high_ns = p50;
			s->slow = r->name;
		}
	}
	s->cv = sqrt(squares / (double)set->count) / s->mean;
	s->deviate = chi_square_deviate(squares / s->mean, (double)(set->count - 1));
}

static json_t *group_json(const struct replica *r)
{
	json_t *one = json_pack("{s:s, s:I, s:I, s:I}", "name", r->name, "requests", (json_int_t)r->requests, "ok",
	                        (json_int_t)r->ok, "output_tokens", (json_int_t)r->output_tokens);
	if (one && histogram_count(r->ttft) &&
	    json_object_set_new(one, "ttft_p50_ms", finding_number(histogram_percentile(r->ttft, 50) / 1e6)) < 0) {
		json_decref(one);
		return NULL;
	}
	return one;
}

static json_t *groups_json(const struct replica_set *set)
{
	json_t *groups = json_array();
	for (size_t i = 0; groups && i < set->count; i++) {
		json_t *one = group_json(&set->list[i]);
		if (!one || json_array_append_new(groups, one) < 0) {
			json_decref(groups);
			return NULL;
		}
	}
	return groups;
}

static bool judge(const struct replica_set *set, const char *by, json_t *list)
{
	struct spread s;
	char detail[512], share[32], fast[32], slow[32];
	if (set->count < 2 || set->others)
		return true;
	measure(set, &s);
	bool uneven = s.mean >= TRANSPORT_GROUP_LEAST && s.cv >= TRANSPORT_UNEVEN_CV &&
	              s.deviate >= TRANSPORT_UNEVEN_SIGMAS,
		 differ = s.low_ns > 0 && s.high_ns >= TRANSPORT_UNEVEN_TTFT * s.low_ns &&
	              s.high_ns - s.low_ns >= TRANSPORT_UNEVEN_NS;
	if (!uneven && !differ)
		return true;
	size_t len = (size_t)snprintf(detail, sizeof detail, "%zu replicas (by %s): ", set->count, by);
	if (uneven)
		len += (size_t)snprintf(detail + len, sizeof detail - len, "%.120s got %s of the requests%s", s.busy,
		                        verdict_percent(s.busiest / s.requests, share), differ ? "; " : "");
	if (differ && len < sizeof detail)
		snprintf(detail + len, sizeof detail - len, "the median TTFT of %.120s is %s, the fastest one's %s", s.slow,
		         verdict_duration(s.high_ns / 1e6, slow), verdict_duration(s.low_ns / 1e6, fast));
	json_t *groups = groups_json(set);
	json_t *evidence = groups ? json_pack("{s:s, s:o, s:o, s:o}", "by", by, "cv", finding_number(s.cv), "sigmas",
	                                      finding_number(s.deviate), "replicas", groups)
	                          : NULL;
	return finding_add(list, &(struct finding){.kind = "imbalance",
	                                           .affected = (int64_t)s.busiest,
	                                           .of = (int64_t)s.requests,
	                                           .unit = "requests",
	                                           .detail = detail,
	                                           .can_be = "sessions or prefixes bound to replicas, long-lived "
	                                                     "connections not moved by a balancer, a replica that is "
	                                                     "slower, busy with others or not ready",
	                                           .advice = "compare the replicas (ipf-report --by target), and look at "
	                                                     "the rule of the balancer",
	                                           .evidence = evidence});
}

bool replica_balance_judge(const struct replica_balance *b, json_t *list)
{
	return !b->failed && judge(&b->targets, "target", list) && judge(&b->named, b->header ? b->header : "header", list);
}

void replica_balance_release(struct replica_balance *b)
{
	for (size_t i = 0; i < TRANSPORT_GROUPS; i++) {
		histogram_free(b->targets.list[i].ttft);
		histogram_free(b->named.list[i].ttft);
	}
	jdoc_release(&b->doc);
	buffer_release(&b->value);
}
