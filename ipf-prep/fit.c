#include "fit.h"

#include "cli/text_output.h"
#include "convert.h"
#include "input/remote.h"
#include "memory.h"
#include "model/traffic_model.h"
#include "source_operands.h"
#include "stream/provenance.h"

#include <stdlib.h>
#include <string.h>

/* Hands the requests of a source to the model. */
struct fit_sink {
	struct request_sink sink; /* must be first: take() casts it */
	struct traffic_fit *fit;
};

static int take(struct request_sink *sink, const struct trace_request *request, struct ipf_error *err)
{
	return traffic_fit_add(((struct fit_sink *)sink)->fit, request, err);
}

/* ---- inputs ---- */

/* A trace of ipf-prep. *cut: it was cut, and the model is of the part before it. */
static int fit_trace(struct traffic_fit *fit, const char *path, json_t *from, struct ipf_error *cut,
                     struct ipf_error *err)
{
	struct trace_reader *reader = NULL;
	struct trace_request request;
	int got = trace_reader_open(&reader, path, err);
	while (got == 0 && (got = trace_reader_next(reader, &request, err)) == 1) {
		struct stream_reader *stream = trace_reader_stream(reader);
		got = traffic_fit_add(fit, &request, err);
		if (got < 0)
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
	}
	if (got < 0 && err->kind == IPF_CUT) {
		*cut = *err;
		ipf_error_clear(err);
		got = 0;
	}
	if (got == 0)
		json_array_append_new(from, provenance_stream(trace_reader_stream(reader)));
	trace_reader_close(reader);
	return got;
}

/* Files of any source. 0; 3 if some of the input is missing, which has been reported; -1. */
static int fit_source(struct traffic_fit *fit, struct prep_config *c, const struct operands *operands, json_t *from,
                      struct ipf_error *err)
{
	struct fit_sink to = {.sink = {take}, .fit = fit};
	struct input_paths paths = {0};
	struct input *first = NULL;
	struct convert_read read = {0};
	const struct source_format *format = source_operands_open(c, "ipf-prep fit", operands, &paths, &first, err);
	int status = -1;
	c->prompt = PROMPT_RECORDED; /* texts are needed only for common beginnings of prompts */
	if (format && prep_config_open(c, format, paths.count, err) == 0) {
		status = convert_requests(c, &paths, first, &to.sink, &read, err);
		first = NULL; /* it is closed */
	}
	if (read.from)
		json_array_extend(from, read.from);
	json_decref(read.from);
	input_close(first);
	input_paths_release(&paths);
	return status;
}

/* ---- the operands ---- */

/* Files without a source are of formats to be detected; without any, a trace comes on standard input. */
static int fit_operands(struct traffic_fit *fit, struct prep_config *c, const struct operands *operands, json_t *from,
                        struct ipf_error *err)
{
	struct ipf_error cut = {0};
	const char *trace = source_operands_trace(operands);
	if (trace && fit_trace(fit, trace, from, &cut, err) < 0)
		return -1;
	if (trace)
		return cut.kind ? ipf_error_report(&cut, stderr, "ipf-prep") : 0;
	if (source_operands_is_source(operands->items[0]))
		return fit_source(fit, c, operands, from, err);
	char *items[3] = {(char[]){"auto"}, operands->items[0], NULL};
	struct operands detected = {.items = items, .count = 2};
	if (operands->count > 1)
		return ipf_error_set(err, IPF_USAGE, "several files need a SOURCE: ipf-prep fit auto FILE…");
	return fit_source(fit, c, &detected, from, err);
}

/* ---- the model ---- */

static int write_model(struct traffic_fit *fit, const struct prep_config *c, int argc, char **argv, json_t *from,
                       struct ipf_error *err)
{
	struct buffer text = {0};
	struct traffic_model *model = calloc(1, sizeof *model);
	struct provenance p = {.tool = "ipf-prep",
	                       .argv = options_argv(&fit_program, argc, argv, true, c->common.reproducible),
	                       .from = from,
	                       .reproducible = c->common.reproducible};
	int status = model ? traffic_fit_end(fit, model, err) : ipf_error_memory(err);
	if (status < 0) {
		json_decref(p.argv);
		json_decref(from);
	} else {
		status = traffic_model_text(model, stream_header("traffic-model", &p), &text, err);
	}
	if (status == 0)
		status = text_output_write(c->common.output, &text, err);
	buffer_release(&text);
	free(model);
	return status;
}

int fit_main(int argc, char **argv)
{
	struct prep_config config = PREP_CONFIG_DEFAULTS;
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&fit_program, argc, argv, &config, &operands, &status)) {
		prep_config_release(&config);
		return status;
	}
	struct traffic_fit *fit = traffic_fit_new();
	json_t *from = json_array();
	status = fit && from ? prep_config_check_all_turns(&config, &err) : ipf_error_memory(&err);
	if (status == 0)
		status = fit_operands(fit, &config, &operands, from, &err);
	if (status >= 0 && write_model(fit, &config, argc, argv, json_incref(from), &err) < 0)
		status = -1;
	json_decref(from);
	traffic_fit_free(fit);
	prep_config_release(&config);
	remote_release();
	if (err.kind == IPF_USAGE)
		return program_misuse(&fit_program, &err);
	return status >= 0 && !memory_ran_out() ? status : ipf_error_report(&err, stderr, "ipf-prep");
}
