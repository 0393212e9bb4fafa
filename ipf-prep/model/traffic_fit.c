#include "model/traffic_model.h"

#include "absent.h"
#include "canary/canary.h"

#include <stdlib.h>
#include <string.h>

struct traffic_fit {
	struct traffic_watch watch;
	struct arrival_fit arrivals;
	struct length_fit lengths;
	struct reuse_fit prefixes;
	struct traffic_names models, recorded;
	struct jdoc doc;
	struct buffer text;
	int64_t measured, starts, timed_starts, session_starts, later, waits, gaps;
	int64_t failed, with_tools, tools;
};

struct traffic_fit *traffic_fit_new(void)
{
	return calloc(1, sizeof(struct traffic_fit));
}

/* ---- names ---- */

/* Counts a name; those too long or too many are not counted. */
static void count_name(struct traffic_names *names, struct slice name)
{
	int i = 0;
	if (!name.data || name.len == 0 || name.len >= TRAFFIC_NAME_BYTES)
		return;
	while (i < names->count &&
	       (strlen(names->items[i].name) != name.len || memcmp(names->items[i].name, name.data, name.len) != 0))
		i++;
	if (i == TRAFFIC_NAMES)
		return;
	if (i == names->count) {
		memcpy(names->items[i].name, name.data, name.len);
		names->count++;
	}
	names->items[i].share++;
}

static struct slice decoded(struct traffic_fit *f, const struct jdoc *j, jdoc_id node)
{
	buffer_clear(&f->text);
	if (jdoc_type_of(j, node) == JDOC_TEXT)
		jdoc_text(j, node, &f->text);
	return buffer_all(&f->text);
}

static void add_names(struct traffic_fit *f, const struct trace_request *r)
{
	struct ipf_error ignored = {0};
	if (r->model.data && jdoc_parse(&f->doc, r->model.data, r->model.len, &ignored) == 0)
		count_name(&f->models, decoded(f, &f->doc, JDOC_ROOT));
	if (r->tools.data && jdoc_parse(&f->doc, r->tools.data, r->tools.len, &ignored) == 0) {
		f->with_tools++;
		f->tools += jdoc_count(&f->doc, JDOC_ROOT);
	}
	if (!r->tags.data || jdoc_parse(&f->doc, r->tags.data, r->tags.len, &ignored) < 0)
		return;
	bool failed = false;
	jdoc_get_bool(&f->doc, JDOC_ROOT, "failed", &failed, &ignored);
	f->failed += failed && r->output_tokens != 0;
	count_name(&f->recorded, decoded(f, &f->doc, jdoc_get(&f->doc, JDOC_ROOT, "model")));
}

/* ---- requests ---- */

static int add_start(struct traffic_fit *f, const struct trace_request *r, struct ipf_error *err)
{
	f->starts++;
	f->session_starts += r->session.data != NULL;
	if (r->at_ns == IPF_ABSENT)
		return 0;
	f->timed_starts++;
	return arrival_fit_add(&f->arrivals, r->at_ns, err);
}

static void add_lengths(struct traffic_fit *f, const struct trace_request *r, int64_t turn)
{
	if (r->input_tokens == IPF_ABSENT || r->output_tokens == IPF_ABSENT)
		return;
	length_fit_add(&f->lengths, turn, r->input_tokens, r->output_tokens);
	f->measured++;
}

int traffic_fit_add(struct traffic_fit *f, const struct trace_request *r, struct ipf_error *err)
{
	if (canary_is_tagged(r->tags, &f->doc)) /* no traffic of users */
		return 0;
	if (traffic_watch_add(&f->watch, r, err) < 0)
		return -1;
	const int64_t turn = f->watch.turn;
	if (turn == 0 && add_start(f, r, err) < 0)
		return -1;
	if (turn > 0) {
		f->later++;
		f->waits += r->wait_ns != IPF_ABSENT;
		f->gaps += r->at_ns != IPF_ABSENT;
	}
	add_lengths(f, r, turn);
	add_names(f, r);
	return f->text.failed ? ipf_error_memory(err) : 0;
}

/* ---- the model ---- */

static void make_shares(struct traffic_names *to, const struct traffic_names *counts, int64_t requests)
{
	*to = *counts;
	for (int i = 0; i < to->count; i++)
		to->items[i].share /= (double)requests;
}

static double share_of(int64_t count, int64_t all)
{
	return all ? (double)count / (double)all : 0;
}

int traffic_fit_end(struct traffic_fit *f, struct traffic_model *m, struct ipf_error *err)
{
	*m = (struct traffic_model){.requests = f->watch.requests,
	                            .starts = f->starts,
	                            .session_share = share_of(f->session_starts, f->starts),
	                            .wait_share = share_of(f->waits, f->later),
	                            .gap_share = share_of(f->gaps, f->later),
	                            .failed = share_of(f->failed, f->watch.requests),
	                            .tool_share = share_of(f->with_tools, f->watch.requests),
	                            .tools = share_of(f->tools, f->with_tools)};
	if (f->measured == 0)
		return ipf_error_set(err, IPF_INPUT, "no request has the lengths of prompt and answer: nothing to fit");
	if (traffic_watch_end(&f->watch, reuse_fit_note, &f->prefixes, &m->figures, err) < 0)
		return -1;
	m->turns = m->figures.numbers[TRAFFIC_TURNS];
	m->wait = m->figures.numbers[TRAFFIC_WAIT];
	m->gap = m->figures.numbers[TRAFFIC_GAP];
	m->hang_up = m->figures.numbers[TRAFFIC_HANG_UP];
	m->hang_up_share = share_of(m->hang_up.count, m->requests);
	if (f->timed_starts == f->starts)
		arrival_fit_end(&f->arrivals, &m->arrivals);
	make_shares(&m->models, &f->models, m->requests);
	make_shares(&m->recorded, &f->recorded, m->requests);
	return length_fit_end(&f->lengths, &m->turns, &m->lengths, err) < 0 ||
	               reuse_fit_end(&f->prefixes, f->watch.blocks.block_tokens, &m->prefixes, err) < 0
	           ? -1
	           : 0;
}

void traffic_fit_free(struct traffic_fit *f)
{
	if (!f)
		return;
	traffic_watch_release(&f->watch);
	length_fit_release(&f->lengths);
	reuse_fit_release(&f->prefixes);
	jdoc_release(&f->doc);
	buffer_release(&f->text);
	free(f);
}
