#include "check_records.h"

#include "absent.h"
#include "api/api.h"
#include "cli/text_output.h"
#include "collect_sandbox.h"
#include "safe_text.h"
#include "seen_numbers.h"
#include "stream/fields.h"
#include "stream/record.h"
#include "stream/record_attempt.h"
#include "stream/schedule.h"
#include "stream/observed.h"
#include "stream/predicted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct check {
	FILE *to;
	const char *name; /* the input's */
	int64_t line;
	int64_t violations, all_violations, requests, clients;
	struct record_reader *parser;
	struct schedule schedule;
	bool has_schedule;
	int64_t targets; /* the header's; 0: one that has no list */
	bool observed;   /* no schedule, trace or client: a capture shows the requests */
	bool predicted;  /* a request may have waited for a replica in vain */
	struct seen_numbers seen;
};

/* ---- saying so ---- */

static void violation(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void violation(struct check *c, const char *format, ...)
{
	char text[1024];
	va_list args;
	c->violations++;
	if (c->violations > CHECK_SHOWN)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(c->to, "%s:", shown(c->name).text);
	if (c->line > 0)
		fprintf(c->to, "%" PRId64 ":", c->line);
	fputc(' ', c->to);
	safe_text_write(c->to, slice_of(text));
	fputc('\n', c->to);
}

static void unreadable(struct check *c, const struct ipf_error *bad)
{
	violation(c, "%s", bad->text);
}

/* ---- the header ---- */

static void check_start(struct check *c, json_t *header)
{
	json_t *t0 = json_object_get(header, "t0_unix_ns");
	if (!json_is_integer(t0) || json_integer_value(t0) < 0 || json_integer_value(t0) > FIELD_INT_MAX)
		violation(c, "t0_unix_ns: %s: expected the start of the run in nanoseconds since 1970",
		          t0 ? "out of range" : "missing");
	if (!json_is_string(json_object_get(header, "tool")))
		violation(c, "tool: missing: expected the name and version of the program");
}

static void check_api(struct check *c, json_t *header, const char *requested)
{
	json_t *descriptor = json_object_get(header, "api");
	struct ipf_error bad = {0};
	struct api *api = NULL;
	if (requested ? api_open(&api, requested, &bad) < 0
	              : json_is_object(descriptor) && api_from_records(&api, descriptor, c->name, &bad) < 0)
		violation(c, "api: %s", bad.text);
	else if (!requested && !json_is_object(descriptor))
		violation(c, "api: %s: expected the API descriptor as ipf-api(5) describes it (or give its name with --api)",
		          descriptor ? "no object" : "missing");
	api_close(api);
}

/* Without stages nothing is known of a request's but its number. */
static void check_stages(struct check *c, json_t *header)
{
	struct ipf_error bad = {0};
	json_t *with_stages = schedule_find_header(header);
	if (!with_stages) {
		violation(c, "stages: missing: expected a list here, or the header of a schedule in \"from\"");
		return;
	}
	if (schedule_from_header(&c->schedule, with_stages, c->name, &bad) < 0)
		unreadable(c, &bad);
	else
		c->has_schedule = true;
	for (size_t i = 0; c->has_schedule && i < c->schedule.count; i++)
		if (!*c->schedule.stages[i].name)
			violation(c, "stages[%zu].name: missing: expected its name in reports", i);
}

static void check_header(struct check *c, json_t *header, const char *api)
{
	json_t *targets = json_object_get(header, "targets");
	c->line = 1;
	check_start(c, header);
	check_api(c, header, api);
	check_stages(c, header);
	if (targets && !json_is_array(targets))
		violation(c, "targets: expected a list of URLs");
	c->targets = (int64_t)json_array_size(targets);
	c->predicted = predicted_find(header) != NULL;
	c->observed = observed_find(header) != NULL;
}

/* ---- requests ---- */

/* In the order in which they happen, if present. */
static void check_order(struct check *c, const struct record *r)
{
	const struct {
		const char *name;
		int64_t ns;
	} times[] = {{"start_ns", r->start_ns},           {"attempt_ns", r->attempt_ns}, {"dns_ns", r->dns_ns},
	             {"connect_ns", r->connect_ns},       {"tls_ns", r->tls_ns},         {"sent_ns", r->sent_ns},
	             {"first_byte_ns", r->first_byte_ns}, {"end_ns", r->end_ns}};
	size_t before = 0;
	for (size_t i = 1; i < sizeof times / sizeof *times; i++) {
		if (times[i].ns == IPF_ABSENT || times[before].ns == IPF_ABSENT) {
			before = times[before].ns == IPF_ABSENT ? i : before;
			continue;
		}
		if (times[i].ns < times[before].ns)
			violation(c, "%s: expected %s (%" PRId64 ") or more, got %" PRId64, times[i].name, times[before].name,
			          times[before].ns, times[i].ns);
		before = i;
	}
}

/* For a request sent again: the attempts before the recorded one. */
static void check_attempts(struct check *c, const struct record *r)
{
	struct jdoc doc = {0};
	struct record_attempts sums;
	struct ipf_error bad = {0};
	if (r->attempt_ns != IPF_ABSENT && !r->attempts.data)
		violation(c, "attempt_ns: expected none without attempts, got %" PRId64, r->attempt_ns);
	if (record_attempts_sum(r, &doc, &sums, &bad) < 0)
		violation(c, "attempts: %s", bad.text);
	else if (!sums.in_order)
		violation(c, "attempts: expected each to end before the next one begins, within the times of the request");
	jdoc_release(&doc);
}

static void check_times(struct check *c, const struct record *r)
{
	if (r->start_ns == IPF_ABSENT)
		violation(c, "start_ns: missing: expected the time at which the request was sent");
	if (r->end_ns == IPF_ABSENT)
		violation(c, "end_ns: missing: expected the time at which the response or the attempt ended");
	if (r->ready_ns == IPF_ABSENT && c->observed)
		;
	else if (r->ready_ns == IPF_ABSENT)
		violation(c, "ready_ns: missing: expected the due time, or in a closed loop the time at which a slot was free");
	else if (r->due_ns != IPF_ABSENT && r->ready_ns < r->due_ns)
		violation(c, "ready_ns: expected due_ns (%" PRId64 ") or more, got %" PRId64, r->due_ns, r->ready_ns);
	if (r->start_ns != IPF_ABSENT && r->ready_ns != IPF_ABSENT && r->start_ns < r->ready_ns)
		violation(c, "start_ns: expected ready_ns (%" PRId64 ") or more, got %" PRId64, r->ready_ns, r->start_ns);
	check_order(c, r);
	check_attempts(c, r);
}

static void check_reads(struct check *c, const struct record *r)
{
	for (size_t i = 0; i < r->reads_count; i++) {
		const struct record_read *read = &r->reads[i];
		int64_t before = i ? read[-1].t_ns : r->first_byte_ns != IPF_ABSENT ? r->first_byte_ns : r->start_ns;
		const char *what = i                                ? "the time of the read before it"
		                   : r->first_byte_ns != IPF_ABSENT ? "first_byte_ns"
		                                                    : "start_ns";
		if (before != IPF_ABSENT && read->t_ns < before)
			violation(c, "reads[%zu]: expected %s (%" PRId64 ") or more, got %" PRId64, i, what, before, read->t_ns);
		else if (read->own_ns < read->t_ns)
			violation(c, "reads[%zu]: expected own_ns to be t_ns (%" PRId64 ") or more, got %" PRId64, i, read->t_ns,
			          read->own_ns);
		else if (read->bytes == 0)
			violation(c, "reads[%zu]: expected a number of bytes above 0, got 0", i);
		else
			continue;
		return; /* its consequences would be repeated */
	}
	if (r->reads_count && r->end_ns != IPF_ABSENT && r->end_ns < r->reads[r->reads_count - 1].t_ns)
		violation(c, "end_ns: expected the time of the last read (%" PRId64 ") or more, got %" PRId64,
		          r->reads[r->reads_count - 1].t_ns, r->end_ns);
	if (r->reads_count && r->first_byte_ns == IPF_ABSENT)
		violation(c, "first_byte_ns: missing, but there are reads");
}

static void check_answer(struct check *c, const struct record *r)
{
	if (r->error == RECORD_OK && r->status == IPF_ABSENT)
		violation(c, "status: missing: expected the status of the response, or an error");
	if (r->status != IPF_ABSENT && (r->status < 100 || r->status > 999))
		violation(c, "status: expected a status of HTTP, got %" PRId64, r->status);
	if (r->status != IPF_ABSENT && r->first_byte_ns == IPF_ABSENT)
		violation(c, "first_byte_ns: missing, but there is a status");
	if (r->error != RECORD_OK && !r->error_text.len)
		violation(c, "error.text: expected a message");
}

static void check_place(struct check *c, const struct record *r)
{
	if (seen_numbers_add(&c->seen, r->n))
		violation(c, "n: expected a unique number, got %" PRId64 " again", r->n);
	if (c->has_schedule && (uint64_t)r->stage >= c->schedule.count)
		violation(c, "stage: expected less than %zu, the number of stages, got %" PRId64, c->schedule.count, r->stage);
	if (r->req == IPF_ABSENT && c->observed)
		;
	else if (r->req == IPF_ABSENT)
		violation(c, "req: missing: expected the index of the request in the trace");
	else if (c->has_schedule && c->schedule.trace_requests != IPF_ABSENT && r->req >= c->schedule.trace_requests)
		violation(c, "req: expected less than %" PRId64 ", the requests of the trace, got %" PRId64,
		          c->schedule.trace_requests, r->req);
	if (c->targets && r->target == IPF_ABSENT && !c->predicted && !c->observed)
		violation(c, "target: missing: expected an index into \"targets\" of the header");
	else if (c->targets && r->target >= c->targets)
		violation(c, "target: expected less than %" PRId64 ", the number of \"targets\", got %" PRId64, c->targets,
		          r->target);
	if (!c->targets && r->target != IPF_ABSENT)
		violation(c, "target: expected none without \"targets\" in the header, got %" PRId64, r->target);
}

static void check_line(struct check *c, struct slice line)
{
	struct record record;
	struct slice other;
	struct ipf_error bad = {0};
	int got = record_reader_parse(c->parser, line, &record, &other, &bad);
	if (got < 0) {
		unreadable(c, &bad);
		c->requests++;
	} else if (got == 2) {
		c->clients++;
	} else if (got == 1) {
		c->requests++;
		check_place(c, &record);
		check_times(c, &record);
		check_reads(c, &record);
		check_answer(c, &record);
	}
}

/* ---- an input ---- */

static void summarise(struct check *c)
{
	if (c->violations > CHECK_SHOWN)
		fprintf(c->to, "%s: … and %" PRId64 " more\n", shown(c->name).text, c->violations - CHECK_SHOWN);
	fprintf(c->to, "%s: %" PRId64 " violation%s in %" PRId64 " request%s and %" PRId64 " line%s about the client\n",
	        shown(c->name).text, c->violations, c->violations == 1 ? "" : "s", c->requests, c->requests == 1 ? "" : "s",
	        c->clients, c->clients == 1 ? "" : "s");
}

/* The rest after the last good line is a violation like any other; a failing system is not. */
static int check_lines(struct check *c, struct stream_reader *stream, struct ipf_error *err)
{
	struct ipf_error bad = {0};
	struct slice line;
	int got;
	while ((got = stream_reader_next(stream, &line, &bad)) == 1) {
		c->line = stream_reader_line(stream);
		check_line(c, line);
	}
	if (got < 0 && bad.kind == IPF_SYSTEM) {
		*err = bad;
		return -1;
	}
	c->line = bad.line;
	if (got < 0)
		unreadable(c, &bad);
	return 0;
}

static int check_input(struct check *c, const char *path, const char *api, struct ipf_error *err)
{
	struct stream_reader *stream;
	struct ipf_error bad = {0};
	c->name = path && strcmp(path, "-") != 0 ? path : "standard input";
	c->line = c->violations = c->requests = c->clients = 0;
	int status = 0;
	if (stream_reader_open(&stream, path, "records", &bad) < 0) {
		if (bad.kind == IPF_SYSTEM) {
			*err = bad;
			return -1;
		}
		c->line = bad.line;
		unreadable(c, &bad);
	} else {
		check_header(c, stream_reader_header(stream), api);
		status = check_lines(c, stream, err);
		stream_reader_close(stream);
	}
	if (c->has_schedule)
		schedule_release(&c->schedule);
	c->has_schedule = false;
	seen_numbers_release(&c->seen);
	c->seen = (struct seen_numbers){0};
	if (status == 0)
		summarise(c);
	c->all_violations += c->violations;
	return status;
}

/* ---- the run ---- */

static int check_all(struct check *c, const struct collect_options *options, const struct operands *records,
                     struct ipf_error *err)
{
	if (!(c->parser = record_reader_new()))
		return ipf_error_memory(err);
	for (int i = 0; i < (records->count ? records->count : 1); i++)
		if (check_input(c, records->count ? records->items[i] : NULL, options->api, err) < 0)
			return -1;
	if (c->all_violations)
		return ipf_error_set(err, IPF_INPUT, "%" PRId64 " violation%s of ipf-records(5)", c->all_violations,
		                     c->all_violations == 1 ? "" : "s");
	return 0;
}

int check_run(const struct collect_options *options, const struct operands *records, struct ipf_error *err)
{
	struct text_output out;
	struct ipf_error unwritten = {0};
	if (text_output_open(&out, options->common.output, err) < 0)
		return -1;
	struct check c = {.to = out.to};
	if (collect_sandbox_enter(options, records, err) == 0 && collect_sandbox_close_files(options, err) == 0)
		check_all(&c, options, records, err);
	record_reader_close(c.parser);
	if (text_output_close(&out, &unwritten) < 0)
		*err = unwritten;
	return err->kind ? -1 : 0;
}
