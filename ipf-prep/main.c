/* ipf-prep: makes a request trace from datasets and production traces. */
#include "anonymize.h"
#include "cli/text_output.h"
#include "config/prep_config.h"
#include "config/source_help.h"
#include "convert.h"
#include "fit.h"
#include "input/remote.h"
#include "memory.h"
#include "source_operands.h"
#include "stat/trace_stat.h"
#include "tokenize.h"

#include <string.h>
#include <sys/stat.h>

static int list_formats(void)
{
	static const char *const groups[] = {[SOURCE_GROUP_DATASET] = "dataset",
	                                     [SOURCE_GROUP_TRACE] = "trace",
	                                     [SOURCE_GROUP_AGENTS] = "agents",
	                                     [SOURCE_GROUP_LOG] = "log",
	                                     [SOURCE_GROUP_GENERATED] = "generated"};
	const struct source_format *format;
	struct buffer text = {0};
	struct ipf_error err = {0};
	int widest = 0;
	for (size_t i = 0; (format = source_at(i)); i++)
		if ((int)strlen(format->name) > widest)
			widest = (int)strlen(format->name);
	for (enum source_group group = 0; group < SOURCE_GROUPS; group++)
		for (size_t i = 0; (format = source_at(i)); i++)
			if (source_group_of(format) == group)
				buffer_format(&text, "%-*s %-9s %s\n", widest, format->name, groups[group], format->about);
	if (text.failed)
		ipf_error_memory(&err);
	else
		text_output_write(NULL, &text, &err);
	buffer_release(&text);
	return ipf_error_report(&err, stderr, "ipf-prep");
}

static bool is_device(const char *path)
{
	struct stat file;
	return stat(path, &file) == 0 && !S_ISREG(file.st_mode);
}

/* Without -o, records alone are written. */
static int set_capture(struct prep_config *c, int argc, char **argv, struct ipf_error *err)
{
	struct capture_settings *s = &c->capture;
	s->reproducible = c->common.reproducible;
	s->quiet = c->common.quiet;
	if (!s->records)
		return 0;
	s->records_only = !c->common.output;
	if (s->records_only)
		c->common.output = "/dev/null";
	else if (strcmp(s->records, "-") != 0 && strcmp(s->records, c->common.output) == 0 && !is_device(s->records))
		return ipf_error_set(err, IPF_USAGE, "--records: \"%s\" is also the trace; choose another file", s->records);
	if (strcmp(s->records, "-") == 0 && strcmp(c->common.output, "-") == 0)
		return ipf_error_set(err, IPF_USAGE, "--records -: standard output is the trace's: give -o another FILE");
	s->argv = options_argv(&prep_program, argc, argv, true, s->reproducible);
	return s->argv ? 0 : ipf_error_memory(err);
}

int main(int argc, char **argv)
{
	struct prep_config config = PREP_CONFIG_DEFAULTS;
	struct operands operands;
	struct input_paths paths = {0};
	struct input *first = NULL;
	const struct source_format *format;
	struct ipf_error err = {0};
	int status = -1;
	if (argc > 1 && strcmp(argv[1], "stat") == 0)
		return trace_stat_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "anonymize") == 0)
		return anonymize_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "tokenize") == 0)
		return tokenize_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "fit") == 0)
		return fit_main(argc - 1, argv + 1);
	if (source_help_is_asked(argc, argv))
		return source_help(source_find(argv[1], &err));
	if (!program_start(&prep_program, argc, argv, &config, &operands, &status)) {
		prep_config_release(&config);
		return status;
	}
	if (config.list) {
		prep_config_release(&config);
		return list_formats();
	}
	if (prep_config_check(&config, &err) == 0 && set_capture(&config, argc, argv, &err) == 0 &&
	    (format = source_operands_open(&config, prep_program.name, &operands, &paths, &first, &err)) &&
	    prep_config_open(&config, format, paths.count, &err) == 0) {
		status = convert(&config, &paths, first, argc, argv, &err);
		first = NULL; /* convert() has closed it */
	} else {
		status = -1;
	}
	input_close(first);
	prep_config_release(&config);
	input_paths_release(&paths);
	remote_release();
	if (err.kind == IPF_USAGE)
		return program_misuse(&prep_program, &err);
	return status > 0 && !memory_ran_out() ? status : ipf_error_report(&err, stderr, "ipf-prep");
}
