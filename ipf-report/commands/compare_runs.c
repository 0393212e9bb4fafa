#include "commands/compare_runs.h"

#include "commands/read_inputs.h"
#include "commands/show_run.h"
#include "commands/split_sides.h"
#include "compare/compare_format.h"
#include "compare/observed_replay.h"
#include "memory.h"
#include "results/cache_condition.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int read_side(struct run_data *run, const struct report_options *options, const struct operands *operands,
                     struct ipf_error *bad, struct ipf_error *err)
{
	*run = (struct run_data){.only_stage = options->stage};
	return run_data_init(run, &options->slo, err) < 0 ? -1 : read_inputs(run, options, operands, bad, err);
}

static int write_comparison(const struct comparison *comparison, const struct report_options *options,
                            const char *format, struct report_output *to, struct ipf_error *err)
{
	const struct compare_style style = {.text = report_style(options)};
	struct buffer out = {0};
	compare_render(comparison, format, &style, &out);
	int status = memory_ran_out() || out.failed ? ipf_error_memory(err) : report_output_put(to, &out, err);
	buffer_release(&out);
	return status;
}

/* A cold and a warm cache answer differently, whatever else changed. */
static int check_cache(const struct run_data runs[SIDES], struct ipf_error *err)
{
	json_t *base = cache_condition_text(&runs[SIDE_BASE]), *value = cache_condition_text(&runs[SIDE_NEW]);
	int result = base && value ? 0 : ipf_error_memory(err);
	bool mixed = cache_condition_mixed(&runs[SIDE_BASE]) || cache_condition_mixed(&runs[SIDE_NEW]);
	if (result == 0 && (mixed || !json_equal(base, value)))
		result = ipf_error_set(
			err, IPF_INPUT,
			"the declared states of the prefix cache differ: %s in the base, %s in the new side; use "
			"--as-is to compare them anyway",
			json_string_value(base), json_string_value(value));
	json_decref(base);
	json_decref(value);
	return result;
}

/* IPF_INVALID if it is not a comparison of valid runs, if the new answers are wrong, or if a condition of --fail-if
 * holds, or is undecided. */
static void judge(const struct comparison *comparison, struct ipf_error *invalid)
{
	if (comparison->outcome == OUTCOME_INVALID)
		ipf_error_set(invalid, IPF_INVALID, "not compared: the verdict of a side is INVALID");
	if (comparison->outcome == OUTCOME_WRONG)
		ipf_error_set(invalid, IPF_INVALID,
		              "new gives wrong answers: more canaries are wrong than in base, beyond chance");
	for (size_t i = 0; i < comparison->condition_count; i++)
		if (comparison->conditions[i].failed)
			ipf_error_set(invalid, IPF_INVALID, "--fail-if %s: %s%s", shown(comparison->conditions[i].text).text,
			              comparison->conditions[i].undecided ? "undecided: " : "", comparison->conditions[i].detail);
}

int compare_runs(const struct report_options *options, const struct operands *operands,
                 const struct compare_wanted *wanted)
{
	struct ipf_error err = {0}, bad = {0}, invalid = {0};
	struct report_output to = {.path = options->common.output};
	struct operands sides[SIDES];
	struct run_data runs[SIDES] = {0};
	struct comparison comparison = {0};
	const struct comparison_options how = {.effect = isnan(options->min_effect) ? DIFFERENCE_EFFECT
	                                                                            : options->min_effect,
	                                       .share_effect = 0.01,
	                                       .figures = &options->figures,
	                                       .fail_if = &options->fail_if,
	                                       .undecided_passes = options->undecided == UNDECIDED_PASS};
	int status = split_sides(operands, "BASE… -- NEW…", sides, &err);
	for (int s = 0; s < SIDES && status == 0; s++)
		status = read_side(&runs[s], options, &sides[s], &bad, &err);
	if (status == 0 && !options->as_is)
		status = check_cache(runs, &err);
	if (status == 0)
		status = observed_replay_join((struct run_data *[]){&runs[SIDE_BASE], &runs[SIDE_NEW]}, &err);
	if (status == 0)
		status = comparison_build(&comparison, (const struct run_data *[]){&runs[SIDE_BASE], &runs[SIDE_NEW]}, &how,
		                          &err);
	if (status == 0)
		status = write_comparison(&comparison, options, wanted->format, &to, &err);
	if (status == 0)
		judge(&comparison, &invalid);
	comparison_release(&comparison);
	for (int s = 0; s < SIDES; s++)
		run_data_release(&runs[s]);
	if (err.kind == IPF_OK && memory_ran_out())
		ipf_error_memory(&err);
	report_output_close(&to, &err);
	if (err.kind == IPF_OK)
		err = bad.kind != IPF_OK ? bad : invalid;
	return command_end(&err, wanted->command);
}
