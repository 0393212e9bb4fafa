/* `ipf-twin predict TWIN [SCHEDULE]`: records of a run that no server had. */
#include "commands/command.h"
#include "predict/predict.h"

#define OPTIONS struct predict_options

/* clang-format off */
static const struct option_spec specs[] = {
	OPTION_HEADING("Load"),
	RUN_ROW_TRACE(OPTIONS, run),
	RUN_ROW_MODEL(OPTIONS, run, "the one in the trace, or the twin's"),
	RUN_ROW_HISTORY(OPTIONS, run),
	OPTION_HEADING("Servers"),
	OPTION(OPTION_LIST, 0, "assume", "NAME=VALUE", OPTIONS, assume,
	     "override a parameter; xFACTOR scales the fitted value: kv_blocks=x2. input_tokens and output_tokens scale the "
	     "load; repeatable"),
	OPTION_PARSED_BY(0, "replicas", "N|MIN:MAX[,KEY=VALUE…]|N,N@TIME…", OPTIONS, replicas, replicas_parse_any,
	     "number of servers of the twin's kind, at most 1024; --balance chooses among them (default: 1). MIN:MAX: by "
	     "the load, with delay=TIME until one is ready (5s), idle=TIME before one goes (10s), scale-at=N requests for "
	     "each (8), on=load|running|waiting (load). N,N@TIME: another number from that time of the run on"),
	RUN_ROW_BALANCE(OPTIONS, run, "replicas", "the twin's, if it is known, or round-robin"),
	OPTION(OPTION_SEED, 0, "seed", "N", OPTIONS, common, "seed of the twin's random times (default: the schedule's, or 1)"),
	OPTION_HEADING("Time limits and stopping"),
	RUN_ROWS_TIMEOUT(OPTIONS, run),
	RUN_ROW_CANCEL(OPTIONS, run),
	RUN_ROW_GRACE(OPTIONS, run),
	RUN_ROW_STOP_ON(OPTIONS, run),
	RUN_ROWS_MEMORY(OPTIONS, run),
	OPTION_HEADING("Records"),
	RUN_ROWS_RECORDS(OPTIONS, run),
	OPTION_HEADING("Common options"),
	OUTPUT_OPTION(OPTIONS, common),
	COMMAND_OPTIONS(OPTIONS, common),
	RUN_ROW_NO_PROGRESS(OPTIONS, run),
};
/* clang-format on */

static int run(int argc, char **argv)
{
	struct predict_options options = {.common = COMMON_DEFAULTS, .run = RUN_OPTIONS_DEFAULTS};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&command_predict.program, argc, argv, &options, &operands, &status))
		return status;
	if (run_options_check(&options.run, &err) < 0 || run_options_check_terminal(&options.common, &err) < 0)
		return program_misuse(&command_predict.program, &err);
	json_t *header_argv = options_argv(&command_predict.program, argc, argv, true, options.common.reproducible);
	return predict(&options, operands.items[0], operands.count > 1 ? operands.items[1] : NULL, header_argv);
}

const struct command command_predict = {
	.program = {.name = "ipf-twin predict",
                .operands = "TWIN [SCHEDULE]",
                .summary = "run a schedule against a model of a server, in virtual time",
                .details = "Without SCHEDULE, the schedule is read from standard input. The output is records\n"
                           "as of ipf-fire, marked as predicted.\n"
                           "\n"
                           "  ipf-twin predict server.json -t chat.trace.zst chat.sched -o chat.records.zst\n"
                           "  ipf-twin predict server.json --replicas 1:8 -t t.zst day.sched | ipf-collect | …\n",
                .manual = "man ipf-twin; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .min_operands = 1,
                .max_operands = 2,
                .variables = "ipf-twin"},
	.run = run,
};
