#include "run/load_shape.h"

#include "absent.h"
#include "cli/units.h"
#include "clock.h"
#include "stream/schedule.h"
#include "stream/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STREAMS_MOST 1e6
#define LENGTH_MOST  (3600 * NS_PER_S)

int64_t load_shape_length(const struct load_shape *shape)
{
	return shape->stream.first_ns + (shape->stream.events - 1) * shape->stream.gap_ns;
}

double load_shape_rate(const struct load_shape *shape)
{
	return shape->streams / ((double)load_shape_length(shape) / 1e9);
}

static int set(struct load_shape *shape, double *rate, const char *name, const char *value, struct ipf_error *err)
{
	struct stream_shape *a = &shape->stream;
	int64_t count;
	if (shape->load_given && (!strcmp(name, "streams") || !strcmp(name, "rate")))
		return ipf_error_set(err, IPF_USAGE, "expected either streams or rate, and only once");
	if (!strcmp(name, "streams")) {
		if (parse_count(value, &count, err) < 0)
			return -1;
		shape->streams = (double)count;
		shape->load_given = true;
		return 0;
	}
	if (!strcmp(name, "rate")) {
		shape->load_given = true;
		return parse_rate(value, rate, err);
	}
	if (!strcmp(name, "events")) {
		shape->events_given = true;
		return parse_count(value, &a->events, err);
	}
	if (!strcmp(name, "first"))
		return parse_duration(value, &a->first_ns, err);
	if (!strcmp(name, "gap"))
		return parse_duration(value, &a->gap_ns, err);
	if (!strcmp(name, "for"))
		return parse_duration(value, &shape->for_ns, err);
	return ipf_error_set(err, IPF_USAGE, "expected streams, rate, events, first, gap or for");
}

int load_shape_parse(const char *text, struct load_shape *shape, struct ipf_error *err)
{
	double rate = NAN;
	*shape = (struct load_shape)LOAD_SHAPE_DEFAULTS;
	shape->given = true;
	for (;; text++) {
		char name[64], *value;
		size_t len = strcspn(text, ",");
		struct ipf_error why = {0};
		snprintf(name, sizeof name, "%.*s", (int)len, text);
		value = strchr(name, '=');
		if (!value || len >= sizeof name)
			return ipf_error_set(err, IPF_USAGE,
			                     "expected a list such as streams=1000,events=100,first=50ms,gap=10ms, got \"%.*s\"",
			                     (int)len, text);
		*value++ = '\0';
		if (set(shape, &rate, name, value, &why) < 0)
			return ipf_error_set(err, IPF_USAGE, "%s: %s", name, why.text);
		text += len;
		if (!*text)
			break;
	}
	const struct stream_shape *a = &shape->stream;
	if (a->events < 1 || a->events > 1000000 || a->gap_ns < 1 || a->first_ns < 1 ||
	    a->gap_ns > LENGTH_MOST / a->events || a->first_ns > LENGTH_MOST)
		return ipf_error_set(err, IPF_USAGE,
		                     "expected at least one event, a gap above 0, and streams of at most one hour");
	if (shape->for_ns < NS_PER_MS || shape->for_ns > LENGTH_MOST)
		return ipf_error_set(err, IPF_USAGE, "for: expected 1ms to 1h");
	if (!isnan(rate))
		shape->streams = rate * (double)load_shape_length(shape) / 1e9;
	if (!(shape->streams > 0) || shape->streams > STREAMS_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected more than 0 and at most %.0f streams, got %.0f", STREAMS_MOST,
		                     shape->streams);
	return 0;
}

static int mean_output(const char *trace, int64_t *mean, struct ipf_error *err)
{
	struct trace_reader *reader;
	struct trace_request request;
	double sum = 0, count = 0;
	int got;
	if (trace_reader_open(&reader, trace, err) < 0)
		return -1;
	while ((got = trace_reader_next(reader, &request, err)) > 0)
		if (request.output_tokens != IPF_ABSENT) {
			sum += (double)request.output_tokens;
			count++;
		}
	trace_reader_close(reader);
	if (got == 0 && sum >= count && count > 0)
		*mean = llround(sum / count);
	return got;
}

int load_shape_of(struct load_shape *shape, const char *schedule, const char *trace, struct ipf_error *err)
{
	struct schedule_reader *reader;
	if (trace && !shape->events_given && mean_output(trace, &shape->stream.events, err) < 0)
		return -1;
	if (!schedule || shape->load_given)
		return 0;
	if (schedule_reader_open(&reader, schedule, err) < 0)
		return -1;
	const struct schedule *header = schedule_reader_header(reader);
	double most = 0;
	for (size_t i = 0; i < header->count; i++) {
		const struct schedule_stage *s = &header->stages[i];
		double streams = isfinite(s->rate) ? s->rate * (double)load_shape_length(shape) / 1e9 : 0;
		if (s->slots != IPF_ABSENT && (s->closed || streams > (double)s->slots))
			streams = (double)s->slots;
		most = fmax(most, streams);
	}
	schedule_reader_close(reader);
	if (most > 0)
		shape->streams = fmin(most, STREAMS_MOST);
	return 0;
}
