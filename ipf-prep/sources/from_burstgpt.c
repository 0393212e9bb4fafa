/* burstgpt: BurstGPT, calls of ChatGPT and GPT-4 recorded at a university.
 *
 * Origin: github.com/HPMLL/BurstGPT, data/BurstGPT_….csv. CSV with a header; columns are found by their names:
 *
 *     Timestamp        seconds from midnight of the first day
 *     Session ID       conversation (only the third file; empty for API calls)
 *     Elapsed time     seconds until the answer ended (only the third file)
 *     Model            ChatGPT or GPT-4
 *     Request tokens   length of the prompt, in tokens
 *     Response tokens  length of the answer, in tokens; 0: the call failed
 *     Log Type         Conversation log or API log
 *
 * Arrivals count from the file's first row. Prompts are synthetic. Model, Log Type and Elapsed time become the tags
 * "model", "log" and "elapsed_s": the model is the one that was recorded, not the one to request. Total tokens is
 * ignored.
 */
#include "clock.h"
#include "json/jout.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

struct state {
	int timestamp, model, request, response, type;
	int session, elapsed; /* -1: there is no such column */
	struct time_origin origin;
	struct buffer tags;
};

static void close_state(void *opened)
{
	buffer_release(&((struct state *)opened)->tags);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	s->origin = (struct time_origin){0};
	s->session = csv_column(csv, "Session ID");
	s->elapsed = csv_column(csv, "Elapsed time");
	if (need_column(csv, "Timestamp", &s->timestamp, err) < 0 || need_column(csv, "Model", &s->model, err) < 0 ||
	    need_column(csv, "Request tokens", &s->request, err) < 0 ||
	    need_column(csv, "Response tokens", &s->response, err) < 0 || need_column(csv, "Log Type", &s->type, err) < 0)
		return -1;
	return 0;
}

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

static int read_row(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct csv *csv = record->csv;
	struct draft *d = &sink->draft;
	int64_t ns;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (column_time(csv, s->timestamp, NS_PER_S, &ns, err) < 0 ||
	    column_tokens(csv, s->request, &r->input_tokens, err) < 0 ||
	    column_tokens(csv, s->response, &r->output_tokens, err) < 0)
		return -1;
	r->at_ns = since_origin(&s->origin, ns);
	r->tags = make_tags(s, csv, d);
	if (s->session >= 0 && csv->fields[s->session].len > 0)
		d->session = csv->fields[s->session];
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff->csv && csv_column(sniff->csv, "Request tokens") >= 0 &&
	       csv_column(sniff->csv, "Response tokens") >= 0;
}

const struct source_format source_burstgpt = {
	.name = "burstgpt",
	.about = "BurstGPT (CSV, with or without sessions): arrivals, lengths and failures",
	.kind = SOURCE_TRACE,
	.unit = UNIT_CSV,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each row",
	.state_size = sizeof(struct state),
	.begin_file = begin_file,
	.read_record = read_row,
	.recognises = recognises,
	.close = close_state,
};
