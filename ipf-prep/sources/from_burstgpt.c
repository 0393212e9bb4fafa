/* BurstGPT: CSV with Timestamp (seconds from midnight of the first day), Model, Request tokens, Response tokens, Total
 * tokens and Log Type; the third file also has Session ID and Elapsed time. Columns are found by their names. Calls
 * that failed have no response.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"

#include <stdlib.h>

struct state {
	int timestamp, model, request, response, type, session, elapsed; /* the last two may be -1 */
	int64_t first_ns;
	struct buffer tags;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	return source_state(opened, sizeof(struct state), err);
}

static void close_source(void *opened)
{
	if (opened)
		buffer_release(&((struct state *)opened)->tags);
	free(opened);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	s->first_ns = IPF_ABSENT;
	s->session = csv_column(csv, "Session ID");
	s->elapsed = csv_column(csv, "Elapsed time");
	return need_column(csv, "Timestamp", &s->timestamp, err) < 0 || need_column(csv, "Model", &s->model, err) < 0 ||
	               need_column(csv, "Request tokens", &s->request, err) < 0 ||
	               need_column(csv, "Response tokens", &s->response, err) < 0 ||
	               need_column(csv, "Log Type", &s->type, err) < 0
	           ? -1
	           : 0;
}

/* The model is that of the service which was recorded, not one to ask: it goes along as a tag. */
static struct slice make_tags(struct state *s, const struct csv *csv, struct draft *d)
{
	struct jout w = {.out = &s->tags};
	buffer_clear(&s->tags);
	jout_begin_map(&w);
	jout_member_string(&w, "model", csv->fields[s->model]);
	jout_member_string(&w, "log", csv->fields[s->type]);
	if (s->elapsed >= 0 && csv->fields[s->elapsed].len > 0)
		jout_member_string(&w, "elapsed_s", csv->fields[s->elapsed]);
	jout_end_map(&w);
	d->failed |= s->tags.failed;
	return draft_keep(d, buffer_all(&s->tags));
}

static int one_row(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct csv *csv = record->csv;
	struct draft *d = &sink->draft;
	int64_t ns;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (csv_time(csv, s->timestamp, NS_PER_S, &ns, err) < 0 || csv_count(csv, s->request, &r->input_tokens, err) < 0 ||
	    csv_count(csv, s->response, &r->output_tokens, err) < 0)
		return -1;
	if (s->first_ns == IPF_ABSENT)
		s->first_ns = ns;
	r->at_ns = ns - s->first_ns;
	r->tags = make_tags(s, csv, d);
	if (s->session >= 0 && csv->fields[s->session].len > 0)
		d->session = csv->fields[s->session];
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff->csv && csv_column(sniff->csv, "Request tokens") >= 0 &&
	       csv_column(sniff->csv, "Response tokens") >= 0;
}

const struct source_format source_burstgpt = {
	.name = "burstgpt",
	.about = "BurstGPT (CSV, with and without sessions): arrivals and lengths, failed calls marked",
	.kind = SOURCE_TRACE,
	.unit = UNIT_CSV,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each row",
	.open = open_source,
	.begin = begin_file,
	.knows = knows,
	.record = one_row,
	.close = close_source,
};
