#include "model/traffic_figures.h"

#include "absent.h"
#include "clock.h"

#include <math.h>
#include <string.h>

const char *const traffic_number_names[TRAFFIC_NUMBERS] = {
	[TRAFFIC_INPUT] = "input_tokens", [TRAFFIC_OUTPUT] = "output_tokens",
	[TRAFFIC_TURNS] = "turns",        [TRAFFIC_WAIT] = "wait_s",
	[TRAFFIC_GAP] = "gap_s",          [TRAFFIC_HANG_UP] = "hang_up_s",
};

/* ---- watching a trace ---- */

static void end_session(struct traffic_watch *w)
{
	if (w->in_session)
		pairs_add(&w->numbers[TRAFFIC_TURNS], (double)w->turn + 1, 0);
	w->in_session = false;
}

/* Finds out whether the request continues the session at hand. */
static void follow_session(struct traffic_watch *w, const struct trace_request *r)
{
	if (w->in_session && r->session.data && slice_equal(r->session, buffer_all(&w->name))) {
		w->turn++;
		return;
	}
	end_session(w);
	w->turn = 0;
	w->last_at_ns = IPF_ABSENT;
	w->in_session = r->session.data != NULL;
	w->session += w->in_session;
	buffer_clear(&w->name);
	buffer_slice(&w->name, r->session);
}

static int add_arrival(struct traffic_watch *w, const struct trace_request *r, struct ipf_error *err)
{
	if (r->at_ns == IPF_ABSENT)
		return 0;
	if (w->turn > 0) {
		dispersion_expect(&w->arrivals, r->at_ns);
		if (w->last_at_ns != IPF_ABSENT)
			pairs_add(&w->numbers[TRAFFIC_GAP], (double)(r->at_ns - w->last_at_ns) / NS_PER_S, 0);
	} else {
		if (w->arrivals.begun && r->at_ns < w->last_start_ns)
			return ipf_error_set(err, IPF_INPUT, "at_ns: expected arrivals in order, got %lld after %lld",
			                     (long long)r->at_ns, (long long)w->last_start_ns);
		dispersion_add(&w->arrivals, r->at_ns);
		w->last_start_ns = r->at_ns;
	}
	w->last_at_ns = r->at_ns;
	return 0;
}

int traffic_watch_add(struct traffic_watch *w, const struct trace_request *r, struct ipf_error *err)
{
	if (trace_refuse_inputs(r, "requests of several inputs are not compared, and no model is learned from them", err) <
	    0)
		return -1;
	follow_session(w, r);
	w->requests++;
	w->starts += w->turn == 0;
	if (add_arrival(w, r, err) < 0)
		return -1;
	if (r->wait_ns != IPF_ABSENT && w->turn > 0)
		pairs_add(&w->numbers[TRAFFIC_WAIT], (double)r->wait_ns / NS_PER_S, 0);
	if (r->hang_up_ns != IPF_ABSENT)
		pairs_add(&w->numbers[TRAFFIC_HANG_UP], (double)r->hang_up_ns / NS_PER_S, 0);
	if (r->input_tokens != IPF_ABSENT && r->output_tokens != IPF_ABSENT)
		pairs_add(&w->lengths, (double)r->input_tokens, (double)r->output_tokens);
	if (prompt_blocks_add(&w->blocks, r, w->in_session ? w->session : 0, err) < 0)
		return -1;
	return w->name.failed || w->arrivals.failed || w->lengths.failed ? ipf_error_memory(err) : 0;
}

static bool make_table(struct quantile_table *t, const struct pairs *p, int side)
{
	struct samples values = {0};
	for (size_t i = 0; i < p->count; i++)
		samples_add(&values, p->items[i][side]);
	bool failed = values.failed || p->failed;
	if (!failed)
		quantile_table_of(t, &values);
	t->count = p->seen;
	samples_release(&values);
	return failed;
}

int traffic_watch_end(struct traffic_watch *w, void (*note)(void *, const struct prompt_use *), void *data,
                      struct traffic_figures *f, struct ipf_error *err)
{
	bool failed = false;
	end_session(w);
	if (prompt_blocks_end(&w->blocks, note, data, err) < 0)
		return -1;
	*f = (struct traffic_figures){.requests = w->requests,
	                              .starts = w->starts,
	                              .rank_correlation = pairs_rank_correlation(&w->lengths),
	                              .distinct_tokens = w->blocks.distinct_tokens,
	                              .hit_rate = w->blocks.hit_rate,
	                              .cache_count = w->blocks.cache_count};
	memcpy(f->caches, w->blocks.caches, sizeof f->caches);
	for (int i = 0; i < DISPERSION_SCALES; i++) {
		f->dispersion[i] = dispersion_index(&w->arrivals, i);
		f->windows[i] = w->arrivals.scales[i].windows;
	}
	for (int i = 0; i < TRAFFIC_NUMBERS; i++)
		failed |= make_table(&f->numbers[i], i <= TRAFFIC_OUTPUT ? &w->lengths : &w->numbers[i], i == TRAFFIC_OUTPUT);
	return failed ? ipf_error_memory(err) : 0;
}

void traffic_watch_release(struct traffic_watch *w)
{
	dispersion_release(&w->arrivals);
	pairs_release(&w->lengths);
	for (int i = 0; i < TRAFFIC_NUMBERS; i++)
		pairs_release(&w->numbers[i]);
	prompt_blocks_release(&w->blocks);
	buffer_release(&w->name);
}

/* ---- the file ---- */

static json_t *hits_json(const struct traffic_figures *f)
{
	json_t *caches = json_array();
	for (int i = 0; i < f->cache_count; i++)
		json_array_append_new(
			caches, json_pack("[I, o]", (json_int_t)f->caches[i].tokens, model_number(f->caches[i].hit_rate)));
	return json_pack("{s:I, s:o, s:o}", "distinct_tokens", (json_int_t)f->distinct_tokens, "hit_rate",
	                 model_number(f->hit_rate), "caches", caches);
}

json_t *traffic_figures_json(const struct traffic_figures *f)
{
	json_t *map = json_pack("{s:I, s:I}", "requests", (json_int_t)f->requests, "starts", (json_int_t)f->starts);
	json_t *scales = json_array();
	for (int i = 0; i < DISPERSION_SCALES; i++)
		if (!isnan(f->dispersion[i]))
			json_array_append_new(scales, json_pack("[i, I, o]", dispersion_seconds[i], (json_int_t)f->windows[i],
			                                        model_number(f->dispersion[i])));
	json_object_set_new(map, "dispersion", scales);
	for (int i = 0; i < TRAFFIC_NUMBERS; i++)
		if (f->numbers[i].count)
			json_object_set_new(map, traffic_number_names[i],
			                    json_pack("{s:I, s:o}", "count", (json_int_t)f->numbers[i].count, "quantiles",
			                              quantile_table_json(&f->numbers[i])));
	if (!isnan(f->rank_correlation))
		json_object_set_new(map, "rank_correlation", model_number(f->rank_correlation));
	if (!isnan(f->hit_rate))
		json_object_set_new(map, "prefixes", hits_json(f));
	return map;
}

/* A list of lists of `width` numbers at `key`, of which list i goes to rows[i * width]. */
static int read_rows(const struct model_place *at, const char *key, double *rows, size_t width, size_t *count,
                     struct ipf_error *err)
{
	const json_t *list = json_object_get(at->map, key);
	size_t most = *count;
	*count = json_array_size(list);
	if (!json_is_array(list) || *count > most)
		return model_expected(list, at->name, key, "a list of lists", err);
	for (size_t i = 0; i < *count; i++) {
		json_t *row = json_pack("{s:O}", "row", json_array_get(list, i));
		char name[96];
		size_t got = 0;
		snprintf(name, sizeof name, "%s.%s[%zu]", at->name, key, i);
		struct model_place place = {row, name, at->least, at->most};
		int status = model_list(&place, "row", rows + i * width, width, &got, err);
		json_decref(row);
		if (status == 0 && got != width)
			status = ipf_error_set(err, IPF_INPUT, "%s: expected %zu numbers, got %zu", name, width, got);
		if (status < 0)
			return -1;
	}
	return 0;
}

static int read_hits(struct traffic_figures *f, const json_t *map, struct ipf_error *err)
{
	double rows[PROMPT_CACHES][2], distinct = 0;
	size_t count = PROMPT_CACHES;
	struct model_place at = {map, "figures.prefixes", 0, 1e18};
	if (model_need(&at, "distinct_tokens", &distinct, err) < 0 || read_rows(&at, "caches", rows[0], 2, &count, err) < 0)
		return -1;
	at.most = 1;
	if (model_need(&at, "hit_rate", &f->hit_rate, err) < 0)
		return -1;
	f->distinct_tokens = (int64_t)distinct;
	f->cache_count = (int)count;
	for (size_t i = 0; i < count; i++)
		f->caches[i] = (struct prompt_cache){(int64_t)rows[i][0], rows[i][1]};
	return 0;
}

static int read_dispersion(struct traffic_figures *f, const json_t *map, struct ipf_error *err)
{
	double rows[DISPERSION_SCALES][3];
	size_t count = DISPERSION_SCALES;
	struct model_place at = {map, "figures", 0, 1e18};
	if (read_rows(&at, "dispersion", rows[0], 3, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		for (int k = 0; k < DISPERSION_SCALES; k++)
			if (rows[i][0] == dispersion_seconds[k]) {
				f->windows[k] = (int64_t)rows[i][1];
				f->dispersion[k] = rows[i][2];
			}
	return 0;
}

int traffic_figures_read(struct traffic_figures *f, const json_t *map, struct ipf_error *err)
{
	*f = (struct traffic_figures){.rank_correlation = NAN, .hit_rate = NAN};
	struct model_place at = {map, "figures", 1, 1e15};
	double number;
	for (int i = 0; i < DISPERSION_SCALES; i++)
		f->dispersion[i] = NAN;
	if (!json_is_object(map))
		return model_expected(map, "figures", "", "an object", err);
	if (model_need(&at, "requests", &number, err) < 0)
		return -1;
	f->requests = (int64_t)number;
	if (model_need(&at, "starts", &number, err) < 0)
		return -1;
	f->starts = (int64_t)number;
	at.least = -1;
	at.most = 1;
	if (model_optional(&at, "rank_correlation", &f->rank_correlation, err) < 0 || read_dispersion(f, map, err) < 0)
		return -1;
	for (int i = 0; i < TRAFFIC_NUMBERS; i++) {
		struct model_place table = {json_object_get(map, traffic_number_names[i]), traffic_number_names[i], 0, 1e15};
		if (!table.map)
			continue;
		if (model_need(&table, "count", &number, err) < 0)
			return -1;
		table.least = -1e10;
		if (quantile_table_read(&f->numbers[i], &table, "quantiles", err) < 0)
			return -1;
		f->numbers[i].count = (int64_t)number;
	}
	const json_t *prefixes = json_object_get(map, "prefixes");
	return prefixes ? read_hits(f, prefixes, err) : 0;
}
