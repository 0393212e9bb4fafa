/* Rates over time from a file. */
#include "kinds/varying_rate.h"

#include "absent.h"
#include "inputs/stage_inputs.h"

static const struct stage_key rates_keys[] = {
	REQUIRED_KEY("file", "FILE", KEY_TEXT, file, "CSV file: lines with a time in seconds and a rate"),
	STAGE_KEY("linear", NULL, KEY_FLAG, linear, "change the rate linearly from line to line (default: in steps)"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage (default: up to the last line)"),
	PROCESS_KEYS,
	KEY_SLOTS,
	KEY_NAME,
	KEY_PHASES,
	KEY_END,
};

static int rates_begin(struct arrival_process *p, struct ipf_error *err)
{
	const struct stage *stage = p->stage;

	if (!stage->points.list)
		return ipf_error_set(err, IPF_USAGE, "%s: file: not read", stage->label);
	if (stage->for_ns == IPF_ABSENT)
		p->end_ns = stage->points.list[stage->points.count - 1].at_ns;
	return varying_begin(p, err);
}

/* The rate of the last line continues to the end of the stage. */
static bool rates_advance(struct arrival_process *p, struct rate_piece *piece)
{
	const struct stage *stage = p->stage;
	const struct varying_rate *s = p->state;
	const struct rate_point *point = &stage->points.list[s->index];

	if ((size_t)s->index >= stage->points.count)
		return false;
	if ((size_t)s->index + 1 < stage->points.count)
		*piece = linear_piece((double)(point[1].at_ns - point->at_ns), point->rate,
		                      stage->linear ? point[1].rate : point->rate);
	else if (stage->for_ns != IPF_ABSENT && stage->for_ns > point->at_ns)
		*piece = linear_piece((double)(stage->for_ns - point->at_ns), point->rate, point->rate);
	else
		return false;
	return true;
}

static int64_t rates_next(struct arrival_process *p)
{
	return varying_next(p, rates_advance, linear_solve);
}

static double rates_rate(const struct stage *stage)
{
	const struct rate_point *points = stage->points.list;
	int64_t end = stage->for_ns == IPF_ABSENT ? points[stage->points.count - 1].at_ns : stage->for_ns;
	double mass = 0;

	for (size_t i = 0; i < stage->points.count && points[i].at_ns < end; i++) {
		int64_t to = i + 1 < stage->points.count ? points[i + 1].at_ns : end;
		double length = (double)((to < end ? to : end) - points[i].at_ns), last = points[i].rate;
		if (stage->linear && i + 1 < stage->points.count)
			last += (points[i + 1].rate - points[i].rate) * length / (double)(to - points[i].at_ns);
		mass += (points[i].rate + last) / 2 * length;
	}
	return mass / (double)end;
}

static int rates_resolve(struct stage *stage, struct stage_inputs *inputs, struct ipf_error *err)
{
	json_t *entry = NULL;

	if (rate_file_read(stage->file, &stage->points, &entry, err) < 0)
		return -1;
	if (!inputs->files)
		inputs->files = json_array();
	if (json_array_append_new(inputs->files, entry) < 0)
		return ipf_error_memory(err);
	if (stage->points.count == 0 || (stage->points.count == 1 && stage->for_ns == IPF_ABSENT))
		return ipf_error_at(err, IPF_INPUT, stage->file, 0, "expected at least two lines with a time and a rate");
	return 0;
}

const struct stage_kind kind_rates = {
	.name = "rates",
	.summary = "rates over time from a file",
	.type = STAGE_OPEN,
	.keys = rates_keys,
	.check = varying_check,
	.state_size = sizeof(struct varying_rate),
	.begin = rates_begin,
	.next = rates_next,
	.rate = rates_rate,
	.resolve = rates_resolve,
};
