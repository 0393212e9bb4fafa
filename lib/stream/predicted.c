#include "stream/predicted.h"

#include "safe_text.h"
#include "stream/provenance.h"

#include <math.h>
#include <string.h>

const char *const twin_error_names[TWIN_ERROR_COUNT] = {"ttft", "tpot", "e2e"};

static json_t *member_of(json_t *header)
{
	json_t *member = json_object_get(header, "predicted");
	return json_is_object(member) || json_is_true(member) ? member : NULL;
}

json_t *predicted_find(json_t *header)
{
	json_t *own = member_of(header);
	return own ? own : member_of(provenance_find(header, "records"));
}

static const char *twin_name(const json_t *predicted)
{
	const char *name = json_string_value(json_object_get(predicted, "twin"));
	return name && *name ? name : "a twin";
}

struct predicted_name predicted_by(const json_t *predicted)
{
	struct predicted_name by;
	struct buffer text = {0};
	const char *name, *before = " with ";
	json_t *value;
	buffer_format(&text, "%.120s", twin_name(predicted));
	json_object_foreach(json_object_get(predicted, "assumed"), name, value)
	{
		if (json_is_number(value))
			buffer_format(&text, "%s%.60s=%.7g", before, name, json_number_value(value));
		else if (json_is_string(value))
			buffer_format(&text, "%s%.60s=%.60s", before, name, json_string_value(value));
		before = ", ";
	}
	safe_text(by.text, sizeof by.text, text.failed ? slice_of("a twin") : buffer_all(&text));
	buffer_release(&text);
	return by;
}

static double error_in(const json_t *of, const char *metric, const char *percentile)
{
	const json_t *error = json_object_get(json_object_get(json_object_get(of, "error"), metric), percentile);
	const double share = json_is_number(error) ? json_number_value(error) : NAN;
	return isfinite(share) && share >= 0 ? share : NAN;
}

/* The level of the runs whose load is nearest; NULL: there is none. */
static const json_t *level_at(const json_t *predicted, double in_flight)
{
	const json_t *nearest = NULL;
	double least = INFINITY;
	json_t *level;
	size_t i;
	json_array_foreach(json_object_get(predicted, "levels"), i, level)
	{
		const double by = fabs(log(json_number_value(json_object_get(level, "in_flight")) / in_flight));
		if (by < least) {
			least = by;
			nearest = level;
		}
	}
	return nearest;
}

double predicted_error(const json_t *predicted, enum twin_error_of of, double percentile, double in_flight)
{
	const char *name = percentile > 90 ? "p99" : "p50";
	const double error = error_in(level_at(predicted, in_flight), twin_error_names[of], name);
	return isnan(error) ? error_in(predicted, twin_error_names[of], name) : error;
}

/* ---- the prediction's scope ---- */

static bool has_text(json_t *list, json_t *text)
{
	json_t *one;
	size_t i;
	json_array_foreach(list, i, one)
	{
		if (json_equal(one, text))
			return true;
	}
	return false;
}

static void add_names(json_t *list, json_t *names)
{
	json_t *name;
	size_t i;
	json_array_foreach(names, i, name)
	{
		if (json_is_string(name) && !has_text(list, name))
			json_array_append(list, name);
	}
}

void predicted_add_extrapolated(json_t *list, json_t *trailer)
{
	json_t *input;
	size_t i;
	add_names(list, json_object_get(trailer, "extrapolated"));
	json_array_foreach(json_object_get(trailer, "from"), i, input)
		add_names(list, json_object_get(input, "extrapolated"));
}

const char *predicted_beyond(const char *parameter)
{
	static const struct {
		const char *name, *what;
	} beyond[] = {
		{TWIN_NAME_STEP_TOKENS, "more tokens of prompts in a step than any run showed"},
		{TWIN_NAME_SEQUENCES, "more sequences in flight than any run showed"},
		{TWIN_NAME_KV_BLOCKS, "more of the KV cache in use than any run showed"},
	};
	for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
		if (strcmp(parameter, beyond[i].name) == 0)
			return beyond[i].what;
	return "a load outside that of any run";
}

/* ---- runs that do not mix ---- */

/* By its digest; one without it is known by its name only. With other assumptions it is another twin. */
static bool same_twin(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "sha256"), *y = json_object_get(b, "sha256");
	json_t *assumed = json_object_get(a, "assumed"), *other = json_object_get(b, "assumed");
	return (x && y ? json_equal(x, y) : strcmp(twin_name(a), twin_name(b)) == 0) &&
	       (json_equal(assumed, other) || (!assumed && !other));
}

int predicted_check(struct predicted_stream first, struct predicted_stream other, struct ipf_error *err)
{
	const json_t *a = first.predicted, *b = other.predicted;
	if (a && b && !same_twin(a, b))
		return ipf_error_at(err, IPF_INPUT, other.name, 0, "was predicted by another twin (%.90s) than %s (%.90s)",
		                    predicted_by(b).text, first.name, predicted_by(a).text);
	if (!a == !b)
		return 0;
	return ipf_error_at(err, IPF_INPUT, other.name, 0,
	                    b ? "was predicted by a twin, but %s was measured"
	                      : "was measured, but %s was predicted by a twin",
	                    first.name);
}
