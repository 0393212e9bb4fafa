#include "run/run_options.h"

#include "cli/progress.h"
#include "cli/units.h"
#include "safe_text.h"

#include <string.h>
#include <unistd.h>

#define NAME_MOST       200
#define MAX_ANSWER_MOST INT64_C(400000000) /* its record fits in a line of 1 GiB, however it is written */

const char *const history_names[] = {[HISTORY_RECORDED] = "recorded",
                                     [HISTORY_LIVE] = "live",
                                     [HISTORY_LIVE_REASONING] = "live-reasoning",
                                     [HISTORY_SERVER] = "server",
                                     NULL};

int run_option_cancel(const char *value, void *variable, struct ipf_error *err)
{
	return cancels_add(variable, value, err);
}

int run_option_stop_on(const char *value, void *variable, struct ipf_error *err)
{
	return stop_rule_parse(value, variable, err);
}

int run_option_max_answer(const char *value, void *variable, struct ipf_error *err)
{
	int64_t *bytes = variable;
	if (parse_size(value, bytes, err) < 0)
		return -1;
	if (*bytes < 1 || *bytes > MAX_ANSWER_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected 1 to 400MB, got \"%.200s\"", value);
	return 0;
}

int run_options_check(const struct run_options *o, struct ipf_error *err)
{
	if (o->name && (strlen(o->name) > NAME_MOST || !safe_text_is_safe(slice_of(o->name))))
		return ipf_error_set(err, IPF_USAGE,
		                     "--name: expected at most %d bytes of text without control characters, got \"%s\"",
		                     NAME_MOST, shown(o->name).text);
	return 0;
}

int run_options_check_terminal(const struct common_options *common, struct ipf_error *err)
{
	return common->output || !isatty(STDOUT_FILENO)
	           ? 0
	           : ipf_error_set(
					 err, IPF_USAGE,
					 "raw records are not printed on a terminal: use -o FILE, | ipf-collect, or -o - to print them");
}

bool run_options_leave_progress(const struct run_options *o, const struct common_options *common)
{
	return (o->no_progress && !common->progress) || progress_is_left(common->output, false, common->progress);
}
