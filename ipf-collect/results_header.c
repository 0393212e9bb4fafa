#include "results_header.h"

#include "absent.h"
#include "stream/observed.h"
#include "stream/provenance.h"

#include <string.h>

static json_t *stall_rule(const struct measure_options *options)
{
	if (options->stall_ns != IPF_ABSENT)
		return json_pack("{s:I}", "over_ns", (json_int_t)options->stall_ns);
	return json_pack("{s:i, s:I}", "over_medians", STALL_MEDIANS, "over_ns", (json_int_t)STALL_LEAST_NS);
}

/* The name of the run, if its parts agree on one, or the output's. New; NULL: it has none. */
static json_t *run_name(const struct record_inputs *inputs, const char *output)
{
	json_t *name = NULL;
	for (size_t i = 0; i < inputs->count; i++) {
		json_t *own = json_object_get(stream_reader_header(record_reader_stream(inputs->list[i].reader)), "name");
		if (!own || (i && !json_equal(own, name)))
			return provenance_run_name(output);
		name = own;
	}
	return json_incref(name);
}

static json_t *series_rule(const struct record_inputs *inputs, const struct collect_options *options)
{
	json_t *rule = json_pack("{s:I}", "every_ns", (json_int_t)options->every_ns);
	if (inputs->t0_unix_ns != IPF_ABSENT && rule)
		json_object_set_new(rule, "t0_unix_ns", json_integer((json_int_t)inputs->t0_unix_ns));
	return rule;
}

static enum itl_mode itl_mode(const struct collect_options *options)
{
	if (options->definition < 0)
		return options->measure.itl;
	enum tool_itl itl = tool_rules[options->definition].itl;
	return itl == TOOL_ITL_TOKENS ? ITL_TOKEN : itl == TOOL_ITL_GAPS ? ITL_GAP : ITL_REQUEST;
}

/* Whose definitions the rows have, and each rule in words. */
static json_t *definition_json(const struct tool_rules *r)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s}", "name", r->name, "tool", r->tool, "version", r->version, "source",
	                         r->source);
	json_t *rules = json_object();
	for (int i = 0; i < TOOL_FIGURES; i++)
		if (r->figures[i].name && i != TOOL_THROUGHPUT)
			json_object_set_new(rules, tool_figure_names[i], json_string(r->figures[i].rule));
	json_object_set_new(json, "rules", rules);
	return json;
}

json_t *results_header(const struct record_inputs *inputs, const struct collect_options *options,
                       const struct token_counter *tokens, json_t *argv)
{
	json_t *from = json_array();
	for (size_t i = 0; i < inputs->count; i++)
		json_array_append(from, stream_reader_header(record_reader_stream(inputs->list[i].reader)));
	struct provenance p = {.tool = "ipf-collect", .argv = argv, .from = from, .undated = true};
	json_t *header = stream_header("results", &p);
	json_t *schedule = schedule_find_header(stream_reader_header(record_reader_stream(inputs->list[0].reader)));
	int bad = !header;
	json_t *name = run_name(inputs, options->common.output);
	if (name)
		bad |= json_object_set_new(header, "name", name);
	bad |= json_object_set_new(header, "api", json_string(api_name(inputs->list[0].api)));
	if (tokens)
		bad |= json_object_set_new(header, "tokenizer", token_counter_describe(tokens));
	bad |= json_object_set_new(header, "itl", json_string(itl_mode_names[itl_mode(options)]));
	if (options->definition >= 0)
		bad |= json_object_set_new(header, "definition", definition_json(&tool_rules[options->definition]));
	bad |= json_object_set_new(header, "stall", stall_rule(&options->measure));
	bad |= json_object_set_new(header, "series", series_rule(inputs, options));
	if (inputs->predicted)
		bad |= json_object_set(header, "predicted", inputs->predicted);
	if (inputs->observed)
		bad |= json_object_set(header, OBSERVED_MEMBER, inputs->observed);
	if (options->measure.deadline_ns != IPF_ABSENT)
		bad |= json_object_set_new(header, "deadline_ns", json_integer((json_int_t)options->measure.deadline_ns));
	if (json_object_get(schedule, "stages"))
		bad |= json_object_set(header, "stages", json_object_get(schedule, "stages"));
	if (inputs->shards.of)
		bad |= json_object_set_new(header, "shards", shard_set_json(&inputs->shards));
	if (json_object_get(schedule, "trace"))
		bad |= json_object_set(header, "trace", json_object_get(schedule, "trace"));
	if (bad) {
		json_decref(header);
		return NULL;
	}
	return header;
}

/* Line count and digest of an input, and the other members of its trailer. */
static json_t *describe_input(const struct record_input *input)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	json_t *about = provenance_stream(stream), *value;
	const char *key;
	json_object_foreach(stream_reader_trailer(stream), key, value)
	{
		if (!json_object_get(about, key) && strcmp(key, "from") != 0 && strcmp(key, "incomplete") != 0)
			json_object_set(about, key, value);
	}
	return about;
}

/* The parameters of the twin whose known range the run exceeded. */
static void put_extrapolated(json_t *extra, const struct record_inputs *inputs)
{
	json_t *names = json_array();
	for (size_t i = 0; i < inputs->count; i++)
		predicted_add_extrapolated(names, stream_reader_trailer(record_reader_stream(inputs->list[i].reader)));
	if (inputs->predicted && json_array_size(names))
		json_object_set(extra, "extrapolated", names);
	json_decref(names);
}

/* {"stopped": {"until_stable": …}}, or {"not_stable": …} if the run came to its end. */
static void put_stability(json_t *extra, const struct until_stable *u)
{
	if (u && until_stable_finding(u)->stable)
		json_object_set_new(extra, "stopped", json_pack("{s:o}", "until_stable", until_stable_json(u)));
	else if (u)
		json_object_set_new(extra, "not_stable", until_stable_json(u));
}

json_t *results_trailer(const struct record_inputs *inputs, const struct results_findings *findings,
                        struct verdict *verdict)
{
	json_t *extra = json_object(), *from = json_array();
	json_t *steady = steady_list_json(findings->steady, &inputs->list[0].schedule);
	for (size_t i = 0; i < inputs->count; i++) {
		json_t *about = describe_input(&inputs->list[i]);
		if (inputs->continued && i + 1 < inputs->count)
			json_object_del(about, "cut_sessions"); /* the next part sends these again */
		json_array_append_new(from, about);
	}
	json_object_set_new(extra, "from", from);
	if (*findings->incomplete)
		json_object_set_new(extra, "incomplete", json_string(findings->incomplete));
	put_extrapolated(extra, inputs);
	put_stability(extra, findings->until_stable);
	if (json_array_size(steady))
		json_object_set(extra, "steady", steady);
	json_decref(steady);
	if (findings->clocks)
		json_object_set(extra, "clocks", findings->clocks);
	json_object_set_new(extra, "verdict", verdict_json(verdict));
	return extra;
}
