/* -f inferencex: agg_*.json of SemiAnalysisAI/InferenceX at 843c6254 (utils/process_result.py), which that tool makes
 * from a result of vLLM's shape. ipf-exports(5) has a table of it.
 *
 * Seconds, and tokens per second and user for its interactivity. All measured stages are one run. */
#include "exports/row_values.h"
#include "json/jout.h"

#include "absent.h"

#include <math.h>
#include <string.h>

/* "mean_ttft" …; `interactivity`: also 1 / value, as "mean_intvty" … */
static void put(struct jout *w, const char *name, struct row_values *v, bool interactivity)
{
	const struct {
		const char *statistic;
		double value;
	} statistics[] = {{"mean", v->mean},
	                  {"median", row_values_percentile(v, 50)},
	                  {"std", v->std},
	                  {"p90", row_values_percentile(v, 90)},
	                  {"p99", row_values_percentile(v, 99)},
	                  {"p99.9", row_values_percentile(v, 99.9)}};
	char key[40];
	for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
		snprintf(key, sizeof key, "%s_%s", statistics[i].statistic, name);
		jout_member_double(w, key, statistics[i].value);
		if (!interactivity)
			continue;
		snprintf(key, sizeof key, "%s_intvty", statistics[i].statistic);
		jout_member_double(w, key, 1 / statistics[i].value);
	}
	row_values_release(v);
}

/* The value that all requests of the trace ask for; IPF_ABSENT: they differ. */
static int64_t same_length(const struct load *load, bool output)
{
	int64_t length = IPF_ABSENT;
	for_load(load, row)
	{
		int64_t asked = output ? row_get(row, ROW_ASKED_OUTPUT) : row_get(row, ROW_ASKED_INPUT);
		if (asked == IPF_ABSENT || (length != IPF_ABSENT && asked != length))
			return IPF_ABSENT;
		length = asked;
	}
	return length;
}

static void render(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct row_values v;
	struct load load;
	load_init(&load, report, LOAD_ALL);
	jout_begin_map(&w);
	jout_member_int(&w, "conc", load_slots(&load));
	jout_member_string(&w, "model", slice_of(load_model(&load)));
	jout_member_int(&w, "isl", same_length(&load, false));
	jout_member_int(&w, "osl", same_length(&load, true));
	double gpus = (double)report->run->accelerators.count, s = load.duration_s;
	if (gpus > 0) {
		jout_member_double(&w, "tput_per_gpu", (double)(load.input_tokens + load.output_tokens) / s / gpus);
		jout_member_double(&w, "output_tput_per_gpu", (double)load.output_tokens / s / gpus);
		jout_member_double(&w, "input_tput_per_gpu", (double)load.input_tokens / s / gpus);
	}
	row_values_of(&v, &load, LOAD_OK, row_ttft, 1e9);
	put(&w, "ttft", &v, false);
	row_values_of(&v, &load, LOAD_OK, row_tpot, 1e9);
	put(&w, "tpot", &v, true);
	row_values_of_gaps(&v, &load, 1e9);
	put(&w, "itl", &v, false);
	row_values_of(&v, &load, LOAD_OK, row_e2e, 1e9);
	put(&w, "e2el", &v, false);
	jout_end_map(&w);
	buffer_byte(out, '\n');
}

const struct report_format format_inferencex = {.times = true, .render = render};
