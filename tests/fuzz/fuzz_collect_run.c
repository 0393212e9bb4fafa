/* Records of any shape, through the whole of ipf-collect: refused with a reason, or results whose rows and trailer can
 * be read; --check and --explain say something of each. The first byte chooses how requests are measured. */
#define FUZZ_JSON_LINES
#include "fuzz_input.h"

#include "absent.h"
#include "check_records.h"
#include "clock.h"
#include "collect.h"
#include "explain.h"
#include "stream/result.h"

static struct collect_options options_of(uint8_t how, const char *output)
{
	return (struct collect_options){.common = {.seed = 1, .quiet = true, .output = output, .reproducible = true},
	                                .every_ns = NS_PER_S,
	                                .tokenizer = how & 16 ? "approx" : NULL,
	                                .scrape = {.timeout_ns = NS_PER_S, .prometheus_timeout_ns = NS_PER_S},
	                                .output_check = {.rule = how & 4 ? "json" : NULL},
	                                .definition = how & 32 ? how >> 6 : -1,
	                                .measure = {.stall_ns = how & 2 ? 1000 : IPF_ABSENT,
	                                            .deadline_ns = how & 4 ? 1000000 : IPF_ABSENT,
	                                            .itl = how & 1 ? ITL_TOKEN : ITL_GAP,
	                                            .keep_events = how & 8,
	                                            .keep_text = how & 8}};
}

static void read_results(const char *path)
{
	struct result_reader *reader = NULL;
	struct result row;
	struct slice line;
	struct ipf_error err = {0};
	must(result_reader_open(&reader, path, &err) == 0);
	while (result_reader_next(reader, &row, &line, &err) > 0)
		;
	must(err.kind == IPF_OK);
	result_reader_close(reader);
}

static void collect(const struct collect_options *options, const struct operands *records)
{
	struct collect *c = NULL;
	struct buffer notes = {0};
	struct ipf_error err = {0}, failure = {0};
	if (collect_open(&c, options, records, json_array(), &err) < 0 || collect_run(c, &err) < 0) {
		must_explain(&err);
		collect_abandon(c);
		return;
	}
	if (err.kind)
		must_explain(&err);
	must(collect_end(c, err.kind == IPF_OK, true, &notes, &failure) == 0 && collect_close(c, &failure) == 0);
	buffer_release(&notes);
	read_results(options->common.output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file input, output;
	struct buffer sealed = {0};
	struct ipf_error err = {0};
	if (size == 0)
		return 0;
	seal_stream((struct slice){(const char *)data + 1, size - 1}, "records", &sealed);
	char *items[] = {(char *)(uintptr_t)memory_file_set(&input, buffer_all(&sealed)), NULL};
	struct operands records = {.items = items, .count = 1, .before_mark = -1};
	struct collect_options options = options_of(data[0], memory_file_set(&output, (struct slice){0}));
	collect(&options, &records);
	if (check_run(&options, &records, &err) < 0)
		must_explain(&err);
	ipf_error_clear(&err);
	if (explain_run(&options, &records, &err) < 0)
		must_explain(&err);
	buffer_release(&sealed);
	return 0;
}
