#include "calibrate/accuracy.h"

#include "absent.h"
#include "calibrate/calibration_server.h"
#include "stats/histogram.h"
#include "stream/record.h"

#include <stdlib.h>
#include <string.h>

int accuracy_init(struct accuracy *a, struct ipf_error *err)
{
	*a = (struct accuracy){
		.ttft = histogram_new(), .itl = histogram_new(), .event = histogram_new(), .lag = histogram_new()};
	if (a->ttft && a->itl && a->event && a->lag)
		return 0;
	accuracy_release(a);
	return ipf_error_memory(err);
}

void accuracy_release(struct accuracy *a)
{
	histogram_free(a->ttft);
	histogram_free(a->itl);
	histogram_free(a->event);
	histogram_free(a->lag);
	*a = (struct accuracy){0};
}

static void add_error(struct histogram *h, int64_t error)
{
	histogram_add(h, llabs(error), 1);
}

static void add_record(struct accuracy *a, const struct record *r, int64_t zero_ns)
{
	size_t at = 0, read = 0;
	int64_t until = r->reads_count ? r->reads[0].bytes : 0, asked, sent, last = 0, last_sent = 0, count = 0;
	a->requests++;
	if (r->due_ns != IPF_ABSENT)
		histogram_add(a->lag, r->start_ns - r->due_ns, 1);
	while (calibration_server_next(r->body.data, r->body.len, &at, &asked, &sent)) {
		while (until < (int64_t)at && read + 1 < r->reads_count)
			until += r->reads[++read].bytes;
		int64_t t = zero_ns + r->reads[read].t_ns;
		add_error(a->event, t - sent);
		if (!count++)
			add_error(a->ttft, t - (zero_ns + r->start_ns) - (sent - asked));
		else
			add_error(a->itl, (t - last) - (sent - last_sent));
		last = t;
		last_sent = sent;
	}
	a->events += count;
	a->failed += r->error != RECORD_OK || !count;
}

int accuracy_read(struct accuracy *a, const char *records, int64_t from_ns, int64_t until_ns, struct ipf_error *err)
{
	struct record_reader *reader;
	struct record record;
	struct slice client;
	int got;
	if (record_reader_open(&reader, records, err) < 0)
		return -1;
	struct stream_reader *stream = record_reader_stream(reader);
	int64_t zero_ns = json_integer_value(json_object_get(stream_reader_header(stream), "t0_clock_ns"));
	while ((got = record_reader_next(reader, &record, &client, err)) > 0)
		if (got == 1 && record.due_ns >= from_ns && record.due_ns < until_ns)
			add_record(a, &record, zero_ns);
	a->interrupted = json_is_true(json_object_get(stream_reader_trailer(stream), "interrupted"));
	record_reader_close(reader);
	return got;
}

bool accuracy_within(const struct accuracy *a, int64_t ns)
{
	const struct histogram *const all[] = {a->ttft, a->itl, a->lag};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (histogram_count(all[i]) > 0 && histogram_percentile(all[i], 99) > (double)ns)
			return false;
	return a->requests > 0 && !a->failed;
}
