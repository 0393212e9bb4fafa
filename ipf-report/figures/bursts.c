#include "figures/bursts.h"

#include "absent.h"
#include "figures/load_episodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool changes_as_planned(const struct schedule_stage *stage)
{
	static const char *const planned[] = {"ramp", "sine", "spike", "steps", "rates", "closed", "rest", "burst"};
	for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
		if (strcmp(stage->kind, planned[i]) == 0)
			return true;
	return false;
}

/* For one run, or all shards of it. */
static double of_part(const struct run_data *run, int32_t stage, int part, double *due)
{
	int64_t count;
	const struct row *rows = run_data_stage_rows(run, stage, &count);
	const struct stage_window w = run_data_part_window(run, part, stage);
	double last = 0;
	size_t used = 0;
	if (w.begin_ns == IPF_ABSENT)
		return INFINITY;
	for (int64_t i = 0; i < count; i++)
		if (rows[i].due_ns != IPF_ABSENT && (run->shards || rows[i].part == part)) {
			due[used] = (double)(rows[i].due_ns - w.begin_ns) / 1e9;
			last = fmax(last, due[used++]);
		}
	/* that a stage goes on without arrivals, as when its trace has ended, is no change of the load */
	return load_episodes(due, used, last * ((double)used + 1) / (double)used);
}

int bursts_seen(double *episodes, const struct run_data *run, struct ipf_error *err)
{
	double *due = malloc((size_t)(run->row_count + 1) * sizeof *due);
	*episodes = INFINITY;
	if (!due)
		return ipf_error_memory(err);
	for (size_t s = 0; s < run->schedule.count; s++) {
		double sum = 0;
		if (!run->schedule.stages[s].measured || changes_as_planned(&run->schedule.stages[s]))
			continue;
		for (int p = 0; p < (run->shards ? 1 : run->part_count); p++)
			sum += of_part(run, (int32_t)s, p, due);
		*episodes = fmin(*episodes, sum);
	}
	free(due);
	return 0;
}
