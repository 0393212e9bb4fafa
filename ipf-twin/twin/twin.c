#include "twin/twin.h"

#include "json/json_tree.h"
#include "safe_text.h"
#include "whole_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_VERSION 1
#define LENGTH_LEAST 0.01
#define LENGTH_MOST  100.0

static const struct {
	const char *name;
	double least, most, without;
	const char *about;
} parameters[] = {
#define PARAMETER_ROW(id_, name_, least_, most_, without_, about_) {name_, least_, most_, without_, about_},
	TWIN_PARAMETERS(PARAMETER_ROW)
#undef PARAMETER_ROW
};

#define PARAMETER_NAME(id_, name_, least_, most_, without_, about_) name_,
const char *const twin_parameter_names[TWIN_PARAMETER_COUNT] = {TWIN_PARAMETERS(PARAMETER_NAME)};
#undef PARAMETER_NAME

const char *const twin_length_names[TWIN_LENGTHS] = {"input_tokens", "output_tokens"};

void twin_init(struct twin *twin)
{
	*twin = (struct twin){.balancing = BALANCE_KINDS, .balancing_share = NAN, .times = {1, 1}};
	for (int i = 0; i < TWIN_PARAMETER_COUNT; i++)
		twin->p[i] = (struct twin_parameter){.value = NAN, .low = NAN, .high = NAN, .at_least = NAN};
	for (int i = 0; i < TWIN_ERROR_COUNT; i++)
		twin->errors[i] = (struct twin_error){NAN, NAN};
}

void twin_release(struct twin *twin)
{
	json_decref(twin->from);
	free(twin->model);
	twin->from = NULL;
	twin->model = NULL;
}

static double within(enum twin_parameter_id id, double value)
{
	return fmin(fmax(value, parameters[id].least), parameters[id].most);
}

void twin_set(struct twin *twin, enum twin_parameter_id id, double value, double low, double high)
{
	twin->p[id] = (struct twin_parameter){
		.value = within(id, value), .low = within(id, low), .high = within(id, high), .at_least = NAN};
}

void twin_set_unknown(struct twin *twin, enum twin_parameter_id id, double at_least, const char *why)
{
	struct twin_parameter *p = &twin->p[id];
	*p = (struct twin_parameter){.value = NAN, .low = NAN, .high = NAN, .at_least = at_least};
	safe_text(p->why, sizeof p->why, slice_of(why));
}

double twin_value(const struct twin *twin, enum twin_parameter_id id)
{
	return isnan(twin->p[id].value) ? parameters[id].without : twin->p[id].value;
}

/* ---- assuming ---- */

/* A step of no length would never end. */
static bool takes_time(const struct twin *twin)
{
	return twin->p[TWIN_STEP_BASE].value + twin->p[TWIN_STEP_SEQUENCE].value >= 1000;
}

static bool is_count(enum twin_parameter_id id)
{
	return id == TWIN_STEP_TOKENS || id == TWIN_SEQUENCES || id == TWIN_KV_BLOCKS || id == TWIN_DRAFT_TOKENS;
}

static bool has_name(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && strncmp(name, text, len) == 0;
}

static int assume_length(struct twin *twin, enum twin_length id, double factor, const char *text, struct ipf_error *err)
{
	if (*text != 'x' || !(factor >= LENGTH_LEAST && factor <= LENGTH_MOST))
		return ipf_error_set(err, IPF_USAGE, "%s: expected a factor from x%g to x%g, got \"%s\"", twin_length_names[id],
		                     LENGTH_LEAST, LENGTH_MOST, shown(text).text);
	if (twin->times[id] != 1)
		return ipf_error_set(err, IPF_USAGE, "%s is given twice", twin_length_names[id]);
	twin->times[id] = factor;
	return 0;
}

static int assume_parameter(struct twin *twin, enum twin_parameter_id id, double value, const char *text,
                            struct ipf_error *err)
{
	struct twin_parameter *p = &twin->p[id];
	const char *name = parameters[id].name;
	const bool times = *text == 'x';
	if (p->assumed)
		return ipf_error_set(err, IPF_USAGE, "%s is given twice", name);
	if (times && isnan(p->value))
		return ipf_error_set(err, IPF_USAGE, "%s: the twin does not know it, so it has no multiple: give a value",
		                     name);
	value *= times ? p->value : 1;
	value = is_count(id) ? floor(value) : value;
	if (!(value >= parameters[id].least && value <= parameters[id].most))
		return ipf_error_set(err, IPF_USAGE, "%s: expected a value from %g to %g, got %s%s%.7g", name,
		                     parameters[id].least, parameters[id].most, times ? text : "", times ? ": " : "", value);
	twin_set(twin, id, value, value, value);
	p->assumed = true;
	return takes_time(twin) ? 0 : ipf_error_set(err, IPF_USAGE, "%s: a step would take less than a microsecond", name);
}

int twin_assume(struct twin *twin, const char *text, struct ipf_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals)
		return ipf_error_set(err, IPF_USAGE, "expected NAME=VALUE or NAME=xFACTOR, got \"%s\"", shown(text).text);
	const size_t len = (size_t)(equals - text);
	const char *number = equals + 1 + (equals[1] == 'x');
	char *end;
	int id = 0, length = 0;
	while (id < TWIN_PARAMETER_COUNT && !has_name(parameters[id].name, text, len))
		id++;
	while (length < TWIN_LENGTHS && !has_name(twin_length_names[length], text, len))
		length++;
	if (id == TWIN_PARAMETER_COUNT && length == TWIN_LENGTHS)
		return ipf_error_set(err, IPF_USAGE, "a twin has no parameter \"%s\" (ipf-twin(1))",
		                     shown_slice((struct slice){text, len}).text);
	const double value = strtod(number, &end);
	if (!*number || number[strspn(number, "0123456789.eE+-")] || *end)
		return ipf_error_set(err, IPF_USAGE, "%.*s: expected a number or a factor such as x2, got \"%s\"", (int)len,
		                     text, shown(equals + 1).text);
	return length < TWIN_LENGTHS ? assume_length(twin, (enum twin_length)length, value, equals + 1, err)
	                             : assume_parameter(twin, (enum twin_parameter_id)id, value, equals + 1, err);
}

/* ---- reading ---- */

/* A number within its range; NAN if there is none and it may be missing. */
static int read_number(const json_t *of, const char *key, enum twin_parameter_id id, double *value,
                       struct ipf_error *err)
{
	json_t *member = json_object_get(of, key);
	*value = NAN;
	if (!member)
		return 0;
	*value = json_number_value(member);
	if (!json_is_number(member) || !(*value >= parameters[id].least && *value <= parameters[id].most))
		return ipf_error_set(err, IPF_INPUT, "parameters/%s/%s: expected a number from %g to %g", parameters[id].name,
		                     key, parameters[id].least, parameters[id].most);
	return 0;
}

static int read_parameter(struct twin *twin, enum twin_parameter_id id, const json_t *of, struct ipf_error *err)
{
	struct twin_parameter *p = &twin->p[id];
	if (!of)
		return 0;
	if (!json_is_object(of))
		return ipf_error_set(err, IPF_INPUT, "parameters/%s: expected an object", parameters[id].name);
	if (read_number(of, "value", id, &p->value, err) < 0 || read_number(of, "low", id, &p->low, err) < 0 ||
	    read_number(of, "high", id, &p->high, err) < 0 || read_number(of, "at_least", id, &p->at_least, err) < 0)
		return -1;
	const char *why = json_string_value(json_object_get(of, "not_known"));
	if (isnan(p->value) == !why)
		return ipf_error_set(err, IPF_INPUT, "parameters/%s: expected either \"value\" or \"not_known\"",
		                     parameters[id].name);
	safe_text(p->why, sizeof p->why, slice_of(why ? why : ""));
	p->low = isnan(p->low) ? p->value : p->low;
	p->high = isnan(p->high) ? p->value : p->high;
	return p->low > p->value || p->high < p->value
	           ? ipf_error_set(err, IPF_INPUT, "parameters/%s: the value is not between \"low\" and \"high\"",
	                           parameters[id].name)
	           : 0;
}

static int read_parameters(struct twin *twin, const json_t *of, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	if (!json_is_object(of))
		return ipf_error_set(err, IPF_INPUT, "parameters: expected an object");
	json_object_foreach((json_t *)of, key, value)
	{
		int id = 0;
		while (id < TWIN_PARAMETER_COUNT && strcmp(key, parameters[id].name) != 0)
			id++;
		if (id == TWIN_PARAMETER_COUNT)
			return ipf_error_set(err, IPF_INPUT, "parameters: unknown parameter \"%s\"", key);
		if (read_parameter(twin, (enum twin_parameter_id)id, value, err) < 0)
			return -1;
	}
	if (isnan(twin->p[TWIN_STEP_BASE].value) || isnan(twin->p[TWIN_STEP_SEQUENCE].value))
		return ipf_error_set(err, IPF_INPUT, "parameters: %s and %s must be known", parameters[TWIN_STEP_BASE].name,
		                     parameters[TWIN_STEP_SEQUENCE].name);
	if (!takes_time(twin))
		return ipf_error_set(err, IPF_INPUT, "parameters: a step takes less than a microsecond");
	return 0;
}

static double error_of(const json_t *errors, const char *metric, const char *percentile)
{
	json_t *value = json_object_get(json_object_get(errors, metric), percentile);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void read_errors(struct twin_error to[TWIN_ERROR_COUNT], const json_t *of)
{
	const json_t *errors = json_object_get(of, "error");
	for (int i = 0; i < TWIN_ERROR_COUNT; i++)
		to[i] = (struct twin_error){error_of(errors, twin_error_names[i], "p50"),
		                            error_of(errors, twin_error_names[i], "p99")};
}

/* Those saying at which load they are. */
static void read_levels(struct twin *twin, const json_t *fit)
{
	json_t *level;
	size_t i;
	json_array_foreach(json_object_get(fit, "levels"), i, level)
	{
		const double in_flight = json_number_value(json_object_get(level, "in_flight"));
		if (!(in_flight > 0) || twin->level_count == TWIN_LEVELS)
			continue;
		twin->levels[twin->level_count].in_flight = in_flight;
		read_errors(twin->levels[twin->level_count++].errors, level);
	}
}

static int read_balancing(struct twin *twin, const json_t *of, struct ipf_error *err)
{
	const char *name = json_string_value(json_object_get(of, "value"));
	int kind = 0;
	if (!of || json_object_get(of, "not_known"))
		return 0;
	while (name && kind < BALANCE_KINDS && strcmp(name, balance_names[kind]) != 0)
		kind++;
	if (!name || kind == BALANCE_KINDS)
		return ipf_error_set(err, IPF_INPUT, "balancing/value: expected round-robin, least or session");
	twin->balancing = (enum balance_kind)kind;
	return 0;
}

static int read_members(struct twin *twin, const json_t *file, struct ipf_error *err)
{
	const char *kind = json_string_value(json_object_get(file, "ipf"));
	json_int_t version = json_integer_value(json_object_get(file, "version"));
	if (!kind || strcmp(kind, "twin") != 0)
		return ipf_error_set(err, IPF_INPUT, "not a twin: expected {\"ipf\": \"twin\", …} (ipf-twin fit)");
	if (version != FILE_VERSION)
		return ipf_error_set(err, IPF_INPUT, "version %lld of twins is not known, only %d", (long long)version,
		                     FILE_VERSION);
	if (read_parameters(twin, json_object_get(file, "parameters"), err) < 0 ||
	    read_balancing(twin, json_object_get(file, "balancing"), err) < 0)
		return -1;
	const json_t *fit = json_object_get(file, "fit");
	twin->requests = json_integer_value(json_object_get(fit, "requests"));
	twin->steps = json_integer_value(json_object_get(fit, "steps"));
	twin->by_spans = json_is_true(json_object_get(fit, "by_spans"));
	read_errors(twin->errors, fit);
	read_levels(twin, fit);
	const char *model = json_string_value(json_object_get(file, "model"));
	twin->from = json_incref(json_object_get(file, "from"));
	if (model && !(twin->model = strdup(model)))
		return ipf_error_memory(err);
	return 0;
}

#define TWIN_MOST ((size_t)16 << 20) /* bytes */

int twin_read(struct twin *twin, const char *path, struct ipf_error *err)
{
	json_error_t why;
	struct buffer text = {0};
	twin_init(twin);
	if (whole_file_read(path, (struct whole_file){"a twin of ipf-twin fit", TWIN_MOST}, &text, err) < 0) {
		buffer_release(&text);
		return -1;
	}
	json_t *file = json_tree_load(buffer_all(&text), TWIN_MOST, JSON_REJECT_DUPLICATES, &why);
	buffer_release(&text);
	int result = file ? read_members(twin, file, err)
	                  : ipf_error_at(err, IPF_INPUT, path, why.line > 0 ? why.line : 0, "not JSON: %s", why.text);
	json_decref(file);
	if (result < 0) {
		ipf_error_place(err, path, 0);
		twin_release(twin);
	}
	return result;
}

/* ---- writing ---- */

/* Seven digits: more is never known. */
static json_t *number(double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.7g", value);
	double rounded = strtod(text, NULL);
	return rounded == floor(rounded) && fabs(rounded) < 1e15 ? json_integer((json_int_t)rounded) : json_real(rounded);
}

static int put(json_t *to, const char *key, double value)
{
	return isnan(value) ? 0 : json_object_set_new(to, key, number(value));
}

static int put_parameter(json_t *to, const struct twin_parameter *p, enum twin_parameter_id id)
{
	json_t *one = json_object();
	int bad = put(one, "value", p->value) | put(one, "low", p->low) | put(one, "high", p->high) |
	          put(one, "at_least", p->at_least);
	if (isnan(p->value))
		bad |= json_object_set_new(one, "not_known", json_string(*p->why ? p->why : "not looked at"));
	bad |= json_object_set_new(one, "about", json_string(parameters[id].about));
	return bad | json_object_set_new(to, parameters[id].name, one);
}

static int put_errors(json_t *to, const struct twin_error errors[TWIN_ERROR_COUNT])
{
	json_t *all = json_object();
	int bad = 0;
	for (int i = 0; i < TWIN_ERROR_COUNT; i++) {
		json_t *one = json_object();
		bad |= put(one, "p50", errors[i].p50) | put(one, "p99", errors[i].p99);
		bad |= json_object_size(one) ? json_object_set(all, twin_error_names[i], one) : 0;
		json_decref(one);
	}
	return bad | json_object_set_new(to, "error", all);
}

int twin_errors_to_json(const struct twin *twin, json_t *to)
{
	json_t *levels = json_array();
	int bad = put_errors(to, twin->errors);
	for (int i = 0; i < twin->level_count; i++) {
		json_t *level = json_object();
		bad |= put(level, "in_flight", twin->levels[i].in_flight) | put_errors(level, twin->levels[i].errors);
		bad |= json_array_append_new(levels, level);
	}
	bad |= json_object_set_new(to, "levels", levels);
	return bad ? -1 : 0;
}

/* Only for several servers. */
static int put_balancing(const struct twin *twin, json_t *to)
{
	json_t *one;
	if (isnan(twin->balancing_share))
		return 0;
	if (twin->balancing == BALANCE_KINDS)
		one = json_pack("{s:s}", "not_known", "requests were spread over the servers in no known way");
	else
		one = json_pack("{s:s, s:o}", "value", balance_names[twin->balancing], "share", number(twin->balancing_share));
	return json_object_set_new(to, "balancing", one);
}

int twin_to_json(const struct twin *twin, json_t *to)
{
	json_t *all = json_object(), *fit = json_object();
	int bad = 0;
	for (int i = 0; i < TWIN_PARAMETER_COUNT; i++)
		bad |= put_parameter(all, &twin->p[i], (enum twin_parameter_id)i);
	if (twin->model)
		bad |= json_object_set_new(to, "model", json_string(twin->model));
	bad |= json_object_set_new(to, "parameters", all);
	bad |= put_balancing(twin, to);
	bad |= json_object_set_new(fit, "requests", json_integer(twin->requests));
	bad |= json_object_set_new(fit, "steps", json_integer(twin->steps));
	bad |= json_object_set_new(fit, "by_spans", json_boolean(twin->by_spans));
	bad |= twin_errors_to_json(twin, fit);
	bad |= json_object_set_new(to, "fit", fit);
	if (twin->from)
		bad |= json_object_set(to, "from", twin->from);
	return bad ? -1 : 0;
}

/* ---- running ---- */

struct batching_options twin_engine(const struct twin *twin, uint64_t seed)
{
	const bool pauses = twin_value(twin, TWIN_PAUSE) > 0;
	return (struct batching_options){
		.step_base_ns = (int64_t)twin_value(twin, TWIN_STEP_BASE),
		.step_per_seq_ns = (int64_t)twin_value(twin, TWIN_STEP_SEQUENCE),
		.step_per_context_ns = twin_value(twin, TWIN_STEP_CONTEXT),
		.step_per_waiting_ns = twin_value(twin, TWIN_STEP_WAITING),
		.prefill_rate = twin_value(twin, TWIN_PREFILL),
		.step_tokens = (int64_t)twin_value(twin, TWIN_STEP_TOKENS),
		.max_batch = (int64_t)twin_value(twin, TWIN_SEQUENCES),
		.kv_blocks = (int64_t)twin_value(twin, TWIN_KV_BLOCKS),
		.prefix_cache = twin_value(twin, TWIN_PREFIX_CACHE) > 0.5,
		.pace = {.jitter = twin_value(twin, TWIN_JITTER),
	             .pause_ns = pauses ? (int64_t)twin_value(twin, TWIN_PAUSE) : 0,
	             .pause_every_ns = pauses ? (int64_t)twin_value(twin, TWIN_PAUSE_EVERY) : 0,
	             .seed = seed},
		.spec = {.tokens = (int64_t)twin_value(twin, TWIN_DRAFT_TOKENS),
	             .accept = twin_value(twin, TWIN_DRAFT_ACCEPTED)},
	};
}
