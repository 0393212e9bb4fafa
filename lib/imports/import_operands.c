#include "imports/import_operands.h"

#include "cli/interrupt.h"
#include "imports/import.h"
#include "safe_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* At the end of a pipeline, a signal ends the programs before this one in good order: their measurements are still
 * reported. */
static void leave_signals_to_others(const struct operands *operands)
{
	bool standard = operands->count == 0;
	for (int i = 0; i < operands->count; i++)
		standard |= strcmp(operands->items[i], "-") == 0;
	if (standard && input_is_live(STDIN_FILENO))
		interrupt_watch(2);
}

/* Lists the inputs (-v), and requests counting twice. */
static void say_part(const struct run_data *run, int number, const struct import_options *options, bool warn,
                     struct progress *progress)
{
	const struct run_part *part = &run->parts[number];
	if (options->common->verbose) {
		progress_end(progress);
		fprintf(stderr, "%s: %s: %lld request%s\n", options->program, shown(part->name).text, (long long)part->rows,
		        part->rows == 1 ? "" : "s");
	}
	const struct run_part *duplicate = warn ? run_data_find_duplicate(run, number) : NULL;
	if (duplicate) {
		progress_end(progress);
		fprintf(stderr, "%s: %s: has requests of the same records as %s; they count twice\n", options->program,
		        shown(part->name).text, shown(duplicate->name).text);
	}
}

/* Reads one file. 0; 1: with an error, but part of it can be used; -1: nothing of it can. */
static int read_one(struct run_data *run, const char *path, const struct import_options *options,
                    struct progress *progress, struct ipf_error *err)
{
	int parts = run->part_count;
	int got = import_read(run, path, options->from, progress, err);
	bool usable = run->part_count > parts && run->parts[parts].incomplete[0];
	if (run->part_count > parts)
		say_part(run, parts, options, (got == 0 || usable) && !options->common->quiet, progress);
	return got == 0 ? 0 : usable ? 1 : -1;
}

int import_operands(struct run_data *run, const struct import_options *options, const struct operands *operands,
                    struct ipf_error *bad, struct ipf_error *err)
{
	struct progress progress;
	int status = 0;
	progress_init(&progress, options->common->progress, options->common->quiet || !options->common->progress);
	leave_signals_to_others(operands);
	for (int i = 0; i < (operands->count ? operands->count : 1) && status >= 0; i++) {
		struct ipf_error now = {0};
		status = read_one(run, operands->count ? operands->items[i] : NULL, options, &progress, &now);
		if (status < 0)
			*err = now;
		else if (status > 0 && bad->kind == IPF_OK)
			*bad = now;
	}
	progress_end(&progress);
	return status < 0 ? -1 : 0;
}
