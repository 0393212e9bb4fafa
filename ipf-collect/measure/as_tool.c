#include "measure/as_tool.h"

#include "absent.h"
#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double since(int64_t t_ns, const struct record *record)
{
	return t_ns == IPF_ABSENT || record->start_ns == IPF_ABSENT ? NAN : (double)(t_ns - record->start_ns);
}

static int64_t rounded(double ns)
{
	return isnan(ns) || ns < 0 ? IPF_ABSENT : (int64_t)(ns + 0.5);
}

/* ---- chunks ---- */

static int make_room(struct measure *m, const struct response *r, struct ipf_error *err)
{
	return array_room(m->chunks, m->chunks_cap, r->events_count + r->others_count) ? 0 : ipf_error_memory(err);
}

static void add_chunk(struct measure *m, const struct tool_rules *rules, enum event_kind kind,
                      struct measure_chunk chunk)
{
	if (tool_counts(rules, kind))
		m->chunks[m->chunks_count++] = chunk;
}

/* Counted ones, in the order of arrival. */
static void find_chunks(struct measure *m, const struct response *r, const struct tool_rules *rules)
{
	size_t other = 0;
	m->chunks_count = 0;
	for (size_t i = 0; i <= r->events_count; i++) {
		for (; other < r->others_count && r->others[other].before <= i; other++) {
			const struct response_other *o = &r->others[other];
			add_chunk(m, rules, (enum event_kind)o->kind, (struct measure_chunk){o->t_ns, o->early_ns, 0});
		}
		if (i == r->events_count)
			break;
		const struct response_event *e = &r->events[i];
		int64_t tokens = m->event_tokens_known ? m->event_tokens[i] : 1;
		add_chunk(m, rules, (enum event_kind)e->kind, (struct measure_chunk){e->t_ns, e->early_ns, tokens});
	}
}

static struct tool_times times_of(const struct measure *m, const struct record *record, const struct response *r,
                                  const struct result *row)
{
	struct tool_times t = {NAN, NAN, NAN, since(record->end_ns, record), (int64_t)m->chunks_count};
	int64_t last_ns = r->events_count ? r->events[r->events_count - 1].t_ns : IPF_ABSENT;
	if (r->others_count && r->others[r->others_count - 1].t_ns > last_ns)
		last_ns = r->others[r->others_count - 1].t_ns;
	t.event = since(last_ns, record);
	if (m->chunks_count) {
		t.first = row->not_streamed.data ? NAN : since(m->chunks[0].t_ns, record);
		t.last = since(m->chunks[m->chunks_count - 1].t_ns, record);
	}
	return t;
}

/* ---- samples ---- */

/* `count` samples of the time between two chunks, a share of it each for `parts` of them. */
static int add_sample(struct measure *m, const struct measure_chunk *from, const struct measure_chunk *to,
                      int64_t parts, int64_t count, struct ipf_error *err)
{
	int64_t gap = to->t_ns - from->t_ns, low = gap > to->early_ns ? gap - to->early_ns : 0, high = gap + from->early_ns;
	if (parts < 1 || count < 1)
		return 0;
	if (!array_room(m->samples, m->samples_cap, m->samples_count + 1))
		return ipf_error_memory(err);
	m->samples[m->samples_count++] = (struct itl_sample){.value_ns = (gap + parts / 2) / parts,
	                                                     .count = count,
	                                                     .t_ns = to->t_ns,
	                                                     .low_ns = low / parts,
	                                                     .high_ns = (high + parts - 1) / parts};
	return 0;
}

static int sample_gaps(struct measure *m, bool tokens, struct ipf_error *err)
{
	for (size_t i = 0; i < m->chunks_count; i++) {
		const struct measure_chunk *c = &m->chunks[i];
		const struct measure_chunk at_once = {.t_ns = c->t_ns};
		if ((i > 0 && add_sample(m, c - 1, c, 1, 1, err) < 0) ||
		    (tokens && add_sample(m, &at_once, &at_once, 1, c->tokens - 1, err) < 0))
			return -1;
	}
	return 0;
}

/* A response in one piece has no time between its tokens. */
static int sample(struct measure *m, const struct tool_rules *rules, const struct tool_times *t, int64_t tokens,
                  struct ipf_error *err)
{
	const struct measure_chunk *last = m->chunks_count ? &m->chunks[m->chunks_count - 1] : NULL;
	m->samples_count = 0;
	m->tokens_unknown = false;
	m->samples_are_means = rules->itl != TOOL_ITL_GAPS && rules->itl != TOOL_ITL_TOKENS;
	if (!last || rules->itl == TOOL_ITL_NONE)
		return 0;
	if (!m->samples_are_means)
		return sample_gaps(m, rules->itl == TOOL_ITL_TOKENS, err);
	if (isnan(tool_request_itl(rules, t, tokens)))
		return 0;
	return add_sample(m, m->chunks, last, tokens - 1, rules->itl == TOOL_ITL_REQUESTS ? 1 : tokens - 1, err);
}

static int64_t mean_of_samples(const struct measure *m)
{
	double sum = 0, count = 0;
	for (size_t i = 0; i < m->samples_count; i++) {
		sum += (double)m->samples[i].value_ns * (double)m->samples[i].count;
		count += (double)m->samples[i].count;
	}
	return count > 0 ? rounded(sum / count) : IPF_ABSENT;
}

/* ---- the row ---- */

static void judge(const struct record *record, const struct response *r, const struct tool_rules *rules,
                  struct result *row)
{
	struct tool_outcome outcome = {.ok = row->ok,
	                               .error = slice_is(row->error_kind, "\"in-band\""),
	                               .malformed = slice_is(row->error_kind, "\"malformed\"") && r->malformed,
	                               .incomplete = slice_is(row->error_kind, "\"cut\"") ||
	                                             (slice_is(row->error_kind, "\"malformed\"") && !r->malformed),
	                               .closed = r->parsed && record->error == RECORD_OK,
	                               .end_mark = r->ended,
	                               .chunks = row->events == IPF_ABSENT ? 0 : row->events};
	bool ok = tool_success(rules, &outcome);
	if (ok == row->ok)
		return;
	row->ok = ok;
	row->stale = false;
	row->error_kind = ok ? (struct slice){0} : slice_of("\"malformed\"");
	row->error_text = ok ? (struct slice){0} : slice_of("\"no chunk that counts as a token\"");
}

static void count_output(const struct tool_rules *rules, struct result *row)
{
	static const char *const names[] = {"\"none\"", "\"usage\"", "\"tokenizer\"", "\"asked\"", "\"events\""};
	struct tool_counts counts = {row->output_tokens_usage, row->output_tokens_tokenizer, row->asked_output_tokens,
	                             row->events};
	enum tool_tokens source;
	row->output_tokens = tool_output_tokens(rules, &counts, &source);
	row->tokens_source = slice_of(names[source]);
}

int as_tool(struct measure *m, const struct record *record, const struct response *r, const struct tool_rules *rules,
            struct result *row, struct ipf_error *err)
{
	if (!r->parsed)
		return 0;
	if (make_room(m, r, err) < 0)
		return -1;
	find_chunks(m, r, rules);
	struct tool_times t = times_of(m, record, r, row);
	row->events = (int64_t)m->chunks_count;
	if (row->coalesced > row->events)
		row->coalesced = row->events;
	judge(record, r, rules, row);
	count_output(rules, row);
	if (sample(m, rules, &t, row->output_tokens, err) < 0)
		return -1;
	row->ttft_ns = rounded(tool_ttft(rules, &t));
	row->ttst_ns = m->chunks_count > 1 ? m->chunks[1].t_ns - m->chunks[0].t_ns : IPF_ABSENT;
	row->e2e_ns = rounded(tool_e2e(rules, &t));
	row->tpot_ns = rounded(tool_tpot(rules, &t, row->output_tokens));
	row->tpot_corrected_ns = IPF_ABSENT;
	bool tokens = row->output_tokens != IPF_ABSENT && row->output_tokens > 0 && row->e2e_ns != IPF_ABSENT;
	row->ntpot_ns = tokens ? rounded((double)row->e2e_ns / (double)row->output_tokens) : IPF_ABSENT;
	if (m->chunks_count) {
		row->first_early_ns = m->chunks[0].early_ns;
		row->last_early_ns = m->chunks[m->chunks_count - 1].early_ns;
	}
	row->itl_mean_ns = mean_of_samples(m);
	if (row->itl_mean_ns == IPF_ABSENT)
		row->itl_max_ns = IPF_ABSENT;
	return 0;
}
