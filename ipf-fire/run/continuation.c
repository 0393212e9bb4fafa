#include "run/continuation.h"

#include "absent.h"
#include "safe_text.h"
#include "stream/provenance.h"
#include "stream/record.h"

#include <string.h>

/* The requests answered in earlier parts: those we cancelled ourselves are not. */
struct earlier {
	struct seen_numbers ended, recorded;
	int64_t last_end_ns;
	json_t *schedule; /* its header, as the records have it */
};

static int64_t start_of(json_t *header)
{
	json_t *t0 = json_object_get(header, "t0_unix_ns");
	return json_is_integer(t0) ? (int64_t)json_integer_value(t0) : IPF_ABSENT;
}

static int read_records(struct continuation *c, struct earlier *e, const char *path, struct ipf_error *err)
{
	struct record_reader *reader;
	struct record record;
	struct slice other;
	struct ipf_error why = {0};
	int64_t last_ns = 0;
	int got;
	if (record_reader_open(&reader, path, err) < 0)
		return -1;
	json_t *header = stream_reader_header(record_reader_stream(reader));
	json_t *schedule = provenance_find(header, "schedule");
	if (e->schedule && !json_equal(e->schedule, schedule))
		ipf_error_at(err, IPF_INPUT, path, 0, "not of the same schedule as the records before it");
	if (!e->schedule) {
		e->schedule = json_incref(schedule);
		c->t0_unix_ns = start_of(header);
	}
	while (!err->kind && (got = record_reader_next(reader, &record, &other, &why)) > 0) {
		if (got != 1 || record.n >= SCHEDULE_WARMUP_FIRST_N)
			continue;
		seen_numbers_add(&e->recorded, record.n);
		if (record.error != RECORD_CANCELLED)
			seen_numbers_add(&e->ended, record.n);
		if (record.end_ns != IPF_ABSENT && record.end_ns > last_ns)
			last_ns = record.end_ns;
	}
	if (why.kind && why.kind != IPF_CUT && !err->kind)
		*err = why;
	e->last_end_ns = last_ns > e->last_end_ns ? last_ns : e->last_end_ns;
	const int64_t t0_ns = start_of(header);
	c->ended_unix_ns = t0_ns == IPF_ABSENT ? IPF_ABSENT : t0_ns + last_ns;
	record_reader_close(reader);
	return err->kind ? -1 : 0;
}

/* ---- the schedule ---- */

/* Does its length come from for= alone? */
static bool lasts_for_a_time(const struct schedule_stage *s)
{
	const char *time = strstr(s->spec, "for=");
	return s->cycle || (time && !strstr(s->spec, "n=") && strcmp(s->kind, "replay") != 0);
}

static int check_stages(struct continuation *c, const struct schedule *schedule, const char *file,
                        struct ipf_error *err)
{
	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *s = &schedule->stages[i];
		if (strcmp(s->kind, "rest") == 0)
			continue;
		if (lasts_for_a_time(s))
			return ipf_error_set(
				err, IPF_USAGE,
				"--continue: stage %s lasts for a time (%s), of which there is no rest: run it anew; a "
				"replay, or a number of requests (n=), can be continued",
				shown(s->name).text, shown(s->spec).text);
		if (schedule->count > 1 && (s->end_ns == IPF_ABSENT || s->drain))
			return ipf_error_set(
				err, IPF_USAGE,
				"--continue: stage %s of several ends with its last answer, and the times of the others "
				"depend on it: run it anew",
				shown(s->name).text);
		c->closed |= s->closed;
	}
	return schedule->count ? 0 : ipf_error_at(err, IPF_INPUT, file, 0, "the schedule has no stage");
}

/* The lines of a session, or a line without one. */
struct group {
	int64_t first_n, last_n, at_ns;
	bool missing;
};

static void end_group(struct continuation *c, struct earlier *e, const struct group *g)
{
	if (!g->missing)
		return;
	for (int64_t n = g->first_n; n <= g->last_n; n++) {
		seen_numbers_add(&c->sent, n);
		c->lines++;
		if (seen_numbers_has(&e->recorded, n)) {
			c->restarted++;
			json_array_append_new(c->restarted_list, json_integer((json_int_t)n));
		}
	}
	if (g->at_ns != IPF_ABSENT && (c->at_ns == IPF_ABSENT || g->at_ns < c->at_ns))
		c->at_ns = g->at_ns;
}

static int read_schedule(struct continuation *c, struct earlier *e, const char *path, struct ipf_error *err)
{
	struct schedule_reader *reader;
	struct schedule_arrival a;
	struct group g = {.first_n = IPF_ABSENT};
	int got;
	if (schedule_reader_open(&reader, path, err) < 0)
		return -1;
	if (!json_equal(e->schedule, stream_reader_header(schedule_reader_stream(reader))))
		ipf_error_at(err, IPF_INPUT, path, 0, "not the schedule of the records in --continue");
	else
		check_stages(c, schedule_reader_header(reader), path, err);
	while (!err->kind && (got = schedule_reader_next(reader, &a, err)) == 1) {
		if (a.after_count == 0) {
			end_group(c, e, &g);
			g = (struct group){a.n, a.n, a.at_ns, false};
		}
		g.last_n = a.n;
		g.missing |= !seen_numbers_has(&e->ended, a.n);
	}
	end_group(c, e, &g);
	schedule_reader_close(reader);
	return err->kind ? -1 : 0;
}

int continuation_read(struct continuation *c, const struct string_list *records, const char *schedule,
                      struct ipf_error *err)
{
	struct earlier e = {.last_end_ns = 0};
	int bad = 0;
	*c = (struct continuation){.on = true, .at_ns = IPF_ABSENT, .restarted_list = json_array()};
	if (!schedule || strcmp(schedule, "-") == 0)
		bad = ipf_error_set(err, IPF_USAGE, "--continue: expected the schedule as a file, since it is read twice");
	for (size_t i = 0; i < records->count && bad == 0; i++)
		bad = read_records(c, &e, records->items[i], err);
	if (bad == 0)
		bad = read_schedule(c, &e, schedule, err);
	if (bad == 0 && (e.ended.failed || e.recorded.failed || c->sent.failed || !c->restarted_list))
		bad = ipf_error_memory(err);
	if (c->at_ns == IPF_ABSENT || c->closed)
		c->at_ns = e.last_end_ns;
	seen_numbers_release(&e.ended);
	seen_numbers_release(&e.recorded);
	json_decref(e.schedule);
	return bad;
}

bool continuation_sends(const struct continuation *c, int64_t n)
{
	return !c->on || seen_numbers_has(&c->sent, n);
}

json_t *continuation_json(const struct continuation *c, int64_t wall_ns)
{
	json_t *json = json_pack("{s:I, s:O}", "at_ns", (json_int_t)c->at_ns, "restarted", c->restarted_list);
	int bad = !json;
	if (c->t0_unix_ns != IPF_ABSENT)
		bad |= json_object_set_new(json, "t0_unix_ns", json_integer((json_int_t)c->t0_unix_ns));
	if (c->ended_unix_ns != IPF_ABSENT)
		bad |= json_object_set_new(json, "gap_ns", json_integer((json_int_t)(wall_ns + c->at_ns - c->ended_unix_ns)));
	if (bad) {
		json_decref(json);
		return NULL;
	}
	return json;
}

void continuation_release(struct continuation *c)
{
	seen_numbers_release(&c->sent);
	json_decref(c->restarted_list);
	*c = (struct continuation){0};
}
