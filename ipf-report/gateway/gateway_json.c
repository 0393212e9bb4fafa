#include "gateway/gateway_json.h"

#include "json/json_put.h"
#include "json_report/json_path.h"
#include "memory.h"
#include "safe_text.h"
#include "stream/provenance.h"
#include "version.h"

static json_t *side_of(const struct gateway *g, enum gateway_side s)
{
	const struct run_data *run = g->runs[s];
	const struct gateway_requests *requests = &g->sides[s];
	json_t *side = json_object(), *files = json_array(), *missing = json_array();
	int64_t ok = 0, unseen = 0;
	bool observed = true;
	for (int i = 0; i < run->part_count; i++) {
		json_array_append_new(files, json_string(shown(run->parts[i].name).text));
		observed &= run->parts[i].observed != NULL;
		if (run->parts[i].incomplete[0])
			json_array_append_new(missing, json_string(shown(run->parts[i].incomplete).text));
	}
	for (size_t i = 0; i < requests->count; i++) {
		ok += requests->list[i].ok;
		unseen += requests->list[i].unseen;
	}
	json_object_set_new(side, "results", files);
	json_object_set_new(side, "observed", json_boolean(observed));
	json_put_object(side, "incomplete", missing);
	json_put_count(side, "requests", (int64_t)requests->count);
	json_put_count(side, "ok", ok);
	json_put_count(side, "unseen", unseen);
	json_put_count(side, "begin_unix_ns", requests->begin_ns);
	json_put_count(side, "end_unix_ns", requests->end_ns);
	json_object_set_new(side, "verdict", verdict_checks_json(g->verdicts[s]));
	return side;
}

/* The boot of the host of all records of a side; NULL: not known, or several. */
static json_t *boot_of(const struct run_data *run)
{
	json_t *boot = NULL;
	for (int i = 0; i < run->part_count; i++) {
		json_t *own = json_at(provenance_find(run->parts[i].header, "records"), "host/boot_id");
		if (!own || (boot && !json_equal(boot, own)))
			return NULL;
		boot = own;
	}
	return boot;
}

/* By the records' headers, which those of a capture do not say. */
static const char *hosts_of(const struct gateway *g)
{
	json_t *front = boot_of(g->runs[GATEWAY_FRONT]), *back = boot_of(g->runs[GATEWAY_BACK]);
	return !front || !back ? "unknown" : json_equal(front, back) ? "same" : "different";
}

static json_t *clock_of(const struct gateway *g)
{
	const struct pairing_clock *clock = &g->pairing.clock;
	json_t *json = json_object();
	json_put_text(json, "hosts", hosts_of(g));
	json_put_count(json, "checked", clock->checked);
	json_put_count(json, "outside", clock->outside);
	if (clock->checked > 0)
		json_object_set_new(json, "one", json_boolean(clock->one));
	if (!clock->one)
		json_put(json, "apart_ms", (double)clock->apart_ns / 1e6);
	return json;
}

static json_t *pairing_of(const struct gateway *g)
{
	const struct pairing *p = &g->pairing;
	json_t *json = json_object(), *keys = json_object();
	int64_t paired = 0, unclear[GATEWAY_SIDES] = {0}, without = 0;
	for (size_t f = 0; f < g->sides[GATEWAY_FRONT].count; f++) {
		paired += p->count[f] > 0;
		unclear[GATEWAY_FRONT] += p->unclear_front[f];
	}
	for (size_t b = 0; b < g->sides[GATEWAY_BACK].count; b++) {
		unclear[GATEWAY_BACK] += p->unclear_back[b];
		without += p->front[b] < 0 && !p->unclear_back[b];
	}
	for (int key = 0; key < PAIRING_KEYS; key++)
		if (p->keys[key])
			json_put_count(keys, pairing_key_names[key], p->keys[key]);
	json_put_count(json, "paired", paired);
	json_put_object(json, "by", keys);
	json_put_count(json, "ambiguous_front", unclear[GATEWAY_FRONT]);
	json_put_count(json, "ambiguous_back", unclear[GATEWAY_BACK]);
	json_put_count(json, "without_front", without);
	return json;
}

json_t *gateway_json(const struct gateway *g, struct ipf_error *err)
{
	json_t *json = json_object();
	json_put_text(json, "ipf", "gateway");
	json_put_count(json, "version", 1);
	json_put_text(json, "tool", "ipf-report " IPF_VERSION);
	for (int s = 0; s < GATEWAY_SIDES; s++)
		json_put_object(json, gateway_side_names[s], side_of(g, (enum gateway_side)s));
	json_put_object(json, "clock", clock_of(g));
	json_put_object(json, "pairing", pairing_of(g));
	if (gateway_json_added(json, g, err) < 0) {
		json_decref(json);
		return NULL;
	}
	json_put_object(json, "retries", gateway_json_retries(g));
	json_put_object(json, "own_answers", gateway_json_own_answers(g));
	json_put_object(json, "targets", gateway_json_targets(g));
	json_put_object(json, "sessions", gateway_json_sessions(g));
	if (!memory_ran_out())
		return json;
	json_decref(json);
	ipf_error_memory(err);
	return NULL;
}
