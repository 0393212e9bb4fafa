#include "commands/read_inputs.h"

#include "figures/steady_windows.h"
#include "imports/import_operands.h"
#include "results/merge_parts.h"

int read_inputs(struct run_data *run, const struct report_options *options, const struct operands *operands,
                struct ipf_error *bad, struct ipf_error *err)
{
	const struct import_options about = {.program = REPORT_PROGRAM, .common = &options->common, .from = options->from};
	return import_operands(run, &about, operands, bad, err) < 0 || merge_parts(run, err) < 0 ||
	               make_groups(run, &options->by, err) < 0 ||
	               steady_windows_find(run, options->figures.window == WINDOW_STEADY, err) < 0
	           ? -1
	           : 0;
}
