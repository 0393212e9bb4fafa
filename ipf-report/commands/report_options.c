#include "commands/report_options.h"

#include "absent.h"
#include "cli/units.h"
#include "compare/compare_format.h"
#include "compare/fail_if.h"
#include "formats/report_format.h"
#include "imports/import.h"
#include "plots/plots.h"
#include "commands/run_meta.h"
#include "safe_text.h"
#include "sections/sections.h"
#include "workload/cache_truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const option_window_names[] = {
	[WINDOW_STAGE] = "stage", [WINDOW_DRAIN] = "drain", [WINDOW_STEADY] = "steady", NULL};
const char *const option_undecided_names[] = {[UNDECIDED_FAIL] = "fail", [UNDECIDED_PASS] = "pass", NULL};
const char *const certificate_format_names[] = {"text", "json", NULL};

int option_sections(const char *value, void *variable, struct ipf_error *err)
{
	const char **sections = variable;
	*sections = value;
	return sections_check(value, err);
}

int option_percentiles(const char *value, void *variable, struct ipf_error *err)
{
	return percentiles_parse(variable, value, err);
}

const char *offer_grouping(size_t i)
{
	static const char *const words[] = {"model", "target", "replica", "session",      "tag",
	                                    "tag=",  "inputs", "time=",   "input-tokens="};
	return i < sizeof words / sizeof *words ? words[i] : NULL;
}

const char *offer_tool(size_t i)
{
	size_t tools = 0;
	while (tool_names[tools])
		tools++;
	return i < tools ? tool_names[i] : i == tools ? "all" : NULL;
}

int option_by(const char *value, void *variable, struct ipf_error *err)
{
	return grouping_choice_parse(variable, value, err);
}

int option_price(const char *value, void *variable, struct ipf_error *err)
{
	return price_parse(variable, value, err);
}

int option_slo(const char *value, void *variable, struct ipf_error *err)
{
	return slo_parse(variable, value, err);
}

int option_as(const char *value, void *variable, struct ipf_error *err)
{
	return said_choose(variable, value, err);
}

int option_meta(const char *value, void *variable, struct ipf_error *err)
{
	return run_meta_add(variable, value, err);
}

int option_effect(const char *value, void *variable, struct ipf_error *err)
{
	double *effect = variable;
	if (parse_share(value, effect, err) < 0)
		return -1;
	return *effect > 0 && *effect < 1 ? 0 : ipf_error_set(err, IPF_USAGE, "expected more than 0 and less than 100%%");
}

void report_options_init(struct report_options *options)
{
	*options = (struct report_options){.common = COMMON_DEFAULTS,
	                                   .format = -1,
	                                   .compare_format = -1,
	                                   .gateway_format = -1,
	                                   .certificate_format = -1,
	                                   .plot_format = -1,
	                                   .table = -1,
	                                   .from = IMPORT_AUTOMATIC,
	                                   .by = {.by = GROUPINGS},
	                                   .accuracy_ns = IPF_ABSENT,
	                                   .min_effect = NAN,
	                                   .price = {.per_hour = NAN}};
	percentiles_default(&options->figures.percentiles);
}

void report_options_release(struct report_options *options)
{
	json_decref(options->meta);
	options->meta = NULL;
}

static bool is_picture(struct slice ending)
{
	static const char *const endings[] = {"png", "svg", "pdf", "jpg", "jpeg", "gif"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (slice_is(ending, endings[i]))
			return true;
	return false;
}

int format_of_name(int *format, const char *const names[], const struct report_options *options, struct ipf_error *err)
{
	static const struct {
		const char *ending, *format;
	} others[] = {{"htm", "html"}, {"xml", "junit"}, {"prom", "prometheus"}};
	const char *output = options->common.output ? options->common.output : "";
	size_t len = strlen(output), begin;
	if (*format >= 0)
		return 0;
	*format = 0;
	if (len > 4 && strcmp(output + len - 4, ".zst") == 0)
		len -= 4;
	for (begin = len; begin > 0 && output[begin - 1] != '.' && output[begin - 1] != '/';)
		begin--;
	if (begin == 0 || output[begin - 1] != '.')
		return 0;
	struct slice ending = {output + begin, len - begin};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (slice_is(ending, others[i].ending))
			ending = slice_of(others[i].format);
	for (int i = 0; names[i]; i++)
		if (slice_is(ending, names[i]))
			*format = i;
	return is_picture(ending) ? ipf_error_set(err, IPF_USAGE,
	                                          "-o %s: a report is not a picture; \"ipf-report plot FOLDER\" draws "
	                                          "plots, with --plot-format svg, png or pdf",
	                                          output)
	                          : 0;
}

const char *report_format_option(const struct report_options *options)
{
	return options->exported ? "" : "-f ";
}

struct text_style report_style(const struct report_options *options)
{
	const char *forbidden = getenv("NO_COLOR"), *terminal = getenv("TERM");
	const bool on_terminal = !options->common.output && isatty(STDOUT_FILENO);
	struct winsize size;
	return (struct text_style){
		.width = on_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0,
		.colour = on_terminal && !(forbidden && *forbidden) && terminal && strcmp(terminal, "dumb") != 0,
		.ascii = options->ascii,
	};
}

struct report_view wanted_view(const struct report_options *options)
{
	return (struct report_view){.brief = report_formats[options->format] == &format_text && !options->full,
	                            .sections = options->sections};
}

int report_options_check(const struct report_options *options, struct ipf_error *err)
{
	if (options->curve && report_formats[options->format] != &format_csv)
		return ipf_error_set(err, IPF_USAGE, "--curve requires %scsv", report_format_option(options));
	if (options->table >= 0 && report_formats[options->format] != &format_parquet)
		return ipf_error_set(err, IPF_USAGE, "--table requires %sparquet", report_format_option(options));
	if (report_formats[options->format]->binary && !options->common.output && isatty(STDOUT_FILENO))
		return ipf_error_set(err, IPF_USAGE, "%s is not printed on a terminal: use -o FILE, or -o - to print it",
		                     report_format_names[options->format]);
	if (options->by.by != GROUPINGS && !report_formats[options->format]->groups)
		return ipf_error_set(err, IPF_USAGE, "--by: %s%s has no groups; use %s", report_format_option(options),
		                     report_format_names[options->format],
		                     options->exported ? "json, csv or sql" : "text, json, csv, html, md or sql");
	if (options->by.by != GROUPINGS && options->curve)
		return ipf_error_set(err, IPF_USAGE, "--by and --curve exclude each other");
	if (options->plot_format >= 0 && !options->plots)
		return ipf_error_set(err, IPF_USAGE, "--plot-format requires --plots");
	if (options->sections && !report_formats[options->format]->sections)
		return ipf_error_set(err, IPF_USAGE, "--section: -f %s has no sections; use text, html or md",
		                     report_format_names[options->format]);
	if (options->why && !report_formats[options->format]->sections && report_formats[options->format] != &format_json)
		return ipf_error_set(err, IPF_USAGE, "--why: %s%s does not have it; use %s", report_format_option(options),
		                     report_format_names[options->format],
		                     options->exported ? "json" : "text, json, html or md");
	if (options->cache_size && !options->trace)
		return ipf_error_set(err, IPF_USAGE, "--cache-size requires --trace");
	if (options->cache_block && !options->trace)
		return ipf_error_set(err, IPF_USAGE, "--cache-block requires --trace");
	if (options->cache_block && (options->cache_block < PROMPT_BLOCK || options->cache_block > CACHE_BLOCK_MOST))
		return ipf_error_set(err, IPF_USAGE, "--cache-block: expected %d to %lld tokens, got %lld", PROMPT_BLOCK,
		                     (long long)CACHE_BLOCK_MOST, (long long)options->cache_block);
	return delivery_check(&options->delivery, err);
}

int compare_conditions_check(const struct report_options *options, struct ipf_error *err)
{
	for (size_t i = 0; i < options->fail_if.count; i++) {
		struct fail_if condition;
		struct ipf_error wrong = {0};
		if (fail_if_parse(&condition, options->fail_if.items[i], &wrong) < 0)
			return ipf_error_set(err, IPF_USAGE, "--fail-if \"%s\": %s", shown(options->fail_if.items[i]).text,
			                     wrong.text);
	}
	return 0;
}
