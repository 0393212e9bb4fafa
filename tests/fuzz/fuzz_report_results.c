/* Lines of results, of one part or, with a NUL between them, of several, through the whole of ipf-report: refused with
 * a reason, or a report whose JSON can be written, whose shares are shares and whose percentiles increase. The first
 * byte chooses the grouping and the format. */
#define FUZZ_JSON_LINES
#include "fuzz_input.h"

#include "absent.h"
#include "commands/build_report.h"
#include "commands/read_inputs.h"
#include "commands/report_options.h"
#include "json_report/json_report.h"

#include <math.h>

enum { PARTS = 3 };

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* For every distribution in the report. */
static void check_order(const json_t *value)
{
	static const char *const order[] = {"min", "p1",  "p5",  "p10", "p25",   "p50",
	                                    "p75", "p90", "p95", "p99", "p99.9", "max"};
	const char *key;
	json_t *item;
	size_t i;
	double last = NAN;
	for (i = 0; json_is_object(value) && json_object_get(value, "p50") && json_object_get(value, "min") &&
	            i < sizeof order / sizeof *order;
	     i++) {
		double now = number(value, order[i]);
		must(!(now < last - 1e-9 * fabs(last)));
		last = isnan(now) ? last : now;
	}
	json_object_foreach((json_t *)(uintptr_t)value, key,
	                    item) if (strcmp(key, "accuracy") != 0) /* a percentile's error bars are no percentiles */
		check_order(item);
	json_array_foreach(value, i, item) check_order(item);
}

static void report(const struct run_data *run, const struct report_options *options)
{
	struct built_report built;
	struct report_output to = {0};
	struct ipf_error err = {0};
	if (build_report(&built, run, options, &to, &err) < 0) {
		must_explain(&err);
	} else {
		json_t *json = report_json(&built.report);
		must(json != NULL);
		check_order(json);
		char *text = json_dumps(json, 0);
		must(text != NULL);
		free(text);
		json_decref(json);
		judge_strictly(&built.report, &err);
	}
	built_report_release(&built);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file files[PARTS];
	struct slice rest = {(const char *)data + 1, size - 1};
	struct report_options options;
	struct run_data run = {0};
	struct ipf_error err = {0}, bad = {0};
	char *items[PARTS + 1] = {0};
	struct operands operands = {.items = items, .before_mark = -1};
	if (size < 2)
		return 0;
	do {
		struct buffer sealed = {0};
		char *text = take_text(&rest);
		seal_stream(slice_of(text), "results", &sealed);
		items[operands.count] = (char *)(uintptr_t)memory_file_set(&files[operands.count], buffer_all(&sealed));
		operands.count++;
		buffer_release(&sealed);
		free(text);
	} while (rest.len && operands.count < PARTS);
	report_options_init(&options);
	options.common.quiet = options.common.reproducible = options.full = true;
	options.format = 0;
	must(slo_parse(&options.slo, "ttft=500ms,p99:e2e=2s", &err) == 0);
	static const char *const by[] = {"model", "target", "session", "time=1s", "input_tokens", "replica", "tag=a"};
	if (data[0] % 8 < 7 && grouping_choice_parse(&options.by, by[data[0] % 8], &err) < 0)
		must_explain(&err);
	run.tag = options.by.tag;
	ipf_error_clear(&err);
	if (report_options_check(&options, &err) < 0 || run_data_init(&run, &options.slo, &err) < 0 ||
	    read_inputs(&run, &options, &operands, &bad, &err) < 0)
		must_explain(&err);
	else
		report(&run, &options);
	run_data_release(&run);
	return 0;
}
