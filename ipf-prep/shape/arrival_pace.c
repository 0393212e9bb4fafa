#include "shape/arrival_pace.h"

#include "clock.h"
#include "cli/options.h"
#include "cli/units.h"
#include "safe_text.h"

#include <math.h>
#include <string.h>

#define REQUESTS_MIN     48
#define RATE_MAX         2000.0
#define PARTIAL_RATE_MAX 100.0 /* if times have fractions of a millisecond or a smaller unit */
#define GAP_MAX_NS       (6 * 3600 * NS_PER_S)

/* From the smallest unit to the largest. */
static const struct {
	const char *field, *name;
	int64_t ns;
} units[] = {{"at_ns", "nanoseconds", 1},
             {"at_us", "microseconds", NS_PER_US},
             {"at_ms", "milliseconds", NS_PER_MS},
             {"at", "seconds", NS_PER_S},
             {"at_s", "seconds", NS_PER_S}};
enum { UNITS = sizeof units / sizeof *units };

void arrival_pace_add(struct arrival_pace *p, int64_t at_ns)
{
	if (p->requests++ == 0)
		p->origin_ns = p->first_ns = p->last_ns = at_ns;
	p->first_ns = at_ns < p->first_ns ? at_ns : p->first_ns;
	p->last_ns = at_ns > p->last_ns ? at_ns : p->last_ns;
	p->part_ms += (at_ns - p->origin_ns) % NS_PER_MS != 0;
	p->part_us += (at_ns - p->origin_ns) % NS_PER_US != 0;
}

/* Requests per second as they were recorded; NAN: there are too few. */
static double rate_of(const struct arrival_pace *p, double scale)
{
	double span_ns = (double)p->last_ns - (double)p->first_ns;
	if (p->requests < REQUESTS_MIN || span_ns <= 0)
		return NAN;
	return (double)(p->requests - 1) / span_ns * 1e9 / (isnan(scale) ? 1 : scale);
}

enum pace_verdict arrival_pace_judge(const struct arrival_pace *p, double scale, int64_t unit_ns)
{
	double rate = rate_of(p, scale);
	int64_t partial = unit_ns == NS_PER_MS ? p->part_ms : unit_ns == NS_PER_US ? p->part_us : 0;
	if (rate > RATE_MAX || (rate > PARTIAL_RATE_MAX && partial > p->requests / 2))
		return PACE_TOO_FAST;
	return rate * (double)GAP_MAX_NS < 1e9 ? PACE_TOO_SLOW : PACE_PLAUSIBLE;
}

/* The unit bringing the rate between one per hour and 2,000 per second; `unit` itself: none does. */
static size_t unit_that_fits(double rate, size_t unit, enum pace_verdict verdict)
{
	for (size_t i = unit; verdict == PACE_TOO_FAST ? ++i < UNITS : i-- > 0;) {
		double fitting = rate * (double)units[unit].ns / (double)units[i].ns;
		if (fitting <= RATE_MAX && fitting * 3600 >= 1)
			return i;
	}
	return unit;
}

/* The unit of the arrival among the fields, and its place in the data; UNITS: there is none. */
static size_t unit_of(const struct string_list *fields, const char **place)
{
	for (size_t f = 0; f < fields->count; f++)
		for (size_t i = 0; i < UNITS; i++) {
			size_t len = strlen(units[i].field);
			if (strncmp(fields->items[f], units[i].field, len) == 0 && fields->items[f][len] == '=') {
				*place = fields->items[f] + len + 1;
				return i;
			}
		}
	return UNITS;
}

void arrival_pace_print(const struct arrival_pace *p, double scale, const struct string_list *fields, FILE *to)
{
	const char *place = NULL;
	char text[32];
	size_t unit = unit_of(fields, &place);
	double rate = rate_of(p, scale);
	enum pace_verdict verdict = arrival_pace_judge(p, scale, unit < UNITS ? units[unit].ns : 0);
	if (verdict == PACE_PLAUSIBLE)
		return;
	if (verdict == PACE_TOO_FAST)
		fprintf(to, "ipf-prep: arrivals give %s requests per second", format_whole((int64_t)rate, text));
	else
		fprintf(to, "ipf-prep: arrivals give one request in %s", format_duration((int64_t)(1e9 / rate), text));
	size_t fits = unit < UNITS ? unit_that_fits(rate, unit, verdict) : unit;
	if (fits != unit)
		fprintf(to, ": if the times are in %s, --field %s=%s reads them so", units[fits].name, units[fits].field,
		        shown(place).text);
	fputc('\n', to);
}
