#include "stages.h"

#include "absent.h"
#include "array.h"
#include "clock.h"
#include "cli/nearest.h"
#include "cli/units.h"
#include "safe_text.h"
#include "stream/fields.h"
#include "stream/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one value -------------------------------------------------------------------------------------------------- */

static int expected(const char *wanted, const char *text, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%.200s\"", wanted, text);
}

static int read_rate(const char *text, double *rate, struct ipf_error *err)
{
	if (parse_rate(text, rate, err) < 0)
		return -1;
	if (*rate <= 0)
		return expected("a rate above 0", text, err);
	/* Lower rates do not fit into the times of a schedule, higher ones put several arrivals into a nanosecond. */
	if (*rate < 1e-9 || *rate > 1e9)
		return expected("a rate between 0.000000001 and 1G per second", text, err);
	return 0;
}

static int read_rate_0(const char *text, double *rate, struct ipf_error *err)
{
	if (parse_rate(text, rate, err) < 0)
		return -1;
	return *rate == 0 ? 0 : read_rate(text, rate, err);
}

static int read_gaps(const char *text, enum gaps_kind *gaps, struct ipf_error *err)
{
	for (enum gaps_kind kind = GAPS_POISSON; kind <= GAPS_UNIFORM; kind++)
		if (strcmp(text, gaps_kind_name(kind)) == 0) {
			*gaps = kind;
			return 0;
		}
	return expected("one of poisson, constant, gamma, weibull and uniform", text, err);
}

static int read_by(const char *text, enum replay_by *by, struct ipf_error *err)
{
	for (enum replay_by i = REPLAY_TIME; i <= REPLAY_COPIES; i++)
		if (strcmp(text, replay_by_name(i)) == 0) {
			*by = i;
			return 0;
		}
	return expected("one of time, thin and copies", text, err);
}

static int read_cache(const char *text, bool *cold, struct ipf_error *err)
{
	*cold = !strcmp(text, "cold");
	return *cold || !strcmp(text, "as-is") ? 0 : expected("cold or as-is", text, err);
}

static int read_number(const char *text, double *number, struct ipf_error *err)
{
	if (parse_number(text, number, err) < 0)
		return -1;
	return *number > 0 ? 0 : expected("a number above 0", text, err);
}

static int read_ratio(const char *text, struct ratio *ratio, struct ipf_error *err)
{
	return ratio_parse(text, ratio) ? 0 : expected("a decimal number above 0 such as 2 or 0.5", text, err);
}

static int read_duration(const char *text, bool zero, int64_t *ns, struct ipf_error *err)
{
	if (parse_duration(text, ns, err) < 0)
		return -1;
	if (*ns == 0 && !zero)
		return expected("a duration above 0", text, err);
	return *ns <= FIELD_INT_MAX ? 0 : expected("a duration of less than 73 years", text, err);
}

static int read_count(const char *text, int64_t *count, struct ipf_error *err)
{
	if (parse_count(text, count, err) < 0)
		return -1;
	return *count > 0 ? 0 : expected("a count of at least 1", text, err);
}

/* "32", or "1..32": of users= or of concurrency=. */
static int read_slots(struct stage *stage, const char *text, struct ipf_error *err)
{
	struct ipf_error what = {0};
	const char *dots = strstr(text, "..");
	char first[32];

	if (stage->slots != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "expected either users= or concurrency=, got both");
	snprintf(first, sizeof first, "%.*s", dots ? (int)(dots - text) : 31, text);
	if ((dots && dots - text >= (int)sizeof first) || read_count(first, &stage->slots, &what) < 0 ||
	    (dots && read_count(dots + 2, &stage->to_slots, &what) < 0))
		return expected(dots ? "two counts of at least 1 such as 1..32" : "a count of at least 1, or two such as 1..32",
		                text, err);
	if (stage->slots > SCHEDULE_SLOTS_MAX || stage->to_slots > SCHEDULE_SLOTS_MAX)
		return ipf_error_set(err, IPF_USAGE, "expected at most %d, got \"%s\"", SCHEDULE_SLOTS_MAX, shown(text).text);
	return 0;
}

static int read_count_as_double(const char *text, double *value, struct ipf_error *err)
{
	int64_t count = 0;
	int status = read_count(text, &count, err);

	*value = (double)count;
	return status;
}

/* Changes `text` and restores it. */
static int read_list(char *text, struct rates *rates,
                     int (*one)(const char *text, double *value, struct ipf_error *err), struct ipf_error *err)
{
	size_t count = 1;

	if (rates->list)
		return ipf_error_set(err, IPF_USAGE, "rates=, users= and concurrency= cannot be combined");
	for (const char *at = text; *at; at++)
		count += *at == ',';
	rates->list = calloc(count, sizeof *rates->list);
	if (!rates->list)
		return ipf_error_memory(err);
	for (char *at = text, *comma; at; at = comma ? comma + 1 : NULL) {
		int status;
		comma = strchr(at, ',');
		if (comma)
			*comma = '\0';
		status = one(at, &rates->list[rates->count++], err);
		if (comma)
			*comma = ',';
		if (status < 0)
			return -1;
	}
	return 0;
}

static int read_text(const char *text, char **copy, struct ipf_error *err)
{
	if (!*text || !safe_text_is_safe(slice_of(text)))
		return expected(*text ? "a name in UTF-8, without control characters" : "a name", text, err);
	free(*copy);
	*copy = strdup(text);
	return *copy ? 0 : ipf_error_memory(err);
}

static int read_value(struct stage *stage, const struct stage_key *key, char *text, struct ipf_error *err)
{
	void *where = (char *)stage + key->offset;

	stage->by_concurrency |= strcmp(key->name, "concurrency") == 0;
	switch (key->type) {
	case KEY_RATE:
		return read_rate(text, where, err);
	case KEY_RATE_0:
		return read_rate_0(text, where, err);
	case KEY_RATES:
		return read_list(text, where, read_rate_0, err);
	case KEY_COUNTS:
		stage->rates.counts = true;
		return read_list(text, where, read_count_as_double, err);
	case KEY_GAPS:
		stage->process_given = true;
		return read_gaps(text, where, err);
	case KEY_BY:
		stage->by_given = true;
		return read_by(text, where, err);
	case KEY_CACHE:
		return read_cache(text, where, err);
	case KEY_NUMBER:
		return read_number(text, where, err);
	case KEY_DURATION:
		return read_duration(text, false, where, err);
	case KEY_TIME:
		return read_duration(text, true, where, err);
	case KEY_COUNT:
		return read_count(text, where, err);
	case KEY_SLOTS_OR_RANGE:
		return read_slots(stage, text, err);
	case KEY_RATIO:
		return read_ratio(text, where, err);
	case KEY_SHARE:
		return parse_share(text, where, err);
	case KEY_GOALS:
		return search_goals_parse(text, where, err);
	case KEY_TEXT:
		return read_text(text, where, err);
	case KEY_FLAG:
		*(bool *)where = true;
		return 0;
	}
	return 0;
}

/* ---- one spec --------------------------------------------------------------------------------------------------- */

static const struct stage_key *key_find(const struct stage_kind *kind, const char *name)
{
	for (const struct stage_key *key = kind->keys; key->name; key++)
		if (strcmp(key->name, name) == 0)
			return key;
	return NULL;
}

static int unknown_kind(const char *name, struct ipf_error *err)
{
	struct buffer known = {0};
	struct nearest near = {0};

	for (size_t i = 0; stage_kinds[i]; i++) {
		buffer_format(&known, " %s", stage_kinds[i]->name);
		nearest_try(&near, name, strlen(name), stage_kinds[i]->name);
	}
	ipf_error_set(err, IPF_USAGE, "unknown kind of stage \"%.100s\"%s%s%s (known:%s)", name,
	              near.name ? ", did you mean \"" : "", near.name ? near.name : "", near.name ? "\"?" : "",
	              known.failed ? "" : known.data);
	buffer_release(&known);
	return -1;
}

/* `list` is the key of the list before it, of which it may be meant as a part; NULL: there is no list. */
static int unknown_key(const struct stage_kind *kind, const char *name, const char *list, struct ipf_error *err)
{
	struct buffer known = {0}, what = {0};
	struct nearest near = {0};

	for (const struct stage_key *key = kind->keys; key->name; key++) {
		buffer_format(&known, " %s%s", key->name, key->argument ? "=" : "");
		nearest_try(&near, name, strlen(name), key->name);
	}
	if (list)
		buffer_format(&what, "%s: expected another value or a key after the comma, got", list);
	else
		buffer_text(&what, "unknown key");
	ipf_error_set(err, IPF_USAGE, "%s \"%.100s\"%s%s%s (%s takes:%s)", what.failed ? "unknown key" : what.data, name,
	              near.name ? ", did you mean \"" : "", near.name ? near.name : "", near.name ? "\"?" : "", kind->name,
	              known.failed ? "" : known.data);
	buffer_release(&what);
	buffer_release(&known);
	return -1;
}

/* Prefixes the text of an error with the key. */
static int at_key(const char *key, const struct ipf_error *what, struct ipf_error *err)
{
	return ipf_error_set(err, what->kind, "%s: %s", key, what->text);
}

/* Does this key take a list, which may continue behind a comma? */
static bool holds_list(const struct stage_kind *kind, const char *name)
{
	const struct stage_key *key = name ? key_find(kind, name) : NULL;
	return key && (key->type == KEY_RATES || key->type == KEY_COUNTS || key->type == KEY_GOALS);
}

/* Reads a part between commas: "key=value" or "flag". `before` is the key of the previous part, NULL for the first. */
static int read_part(struct stage *stage, char *part, const char *before, uint64_t *given, struct ipf_error *err)
{
	struct ipf_error what = {0};
	const struct stage_key *key;
	char *value = strchr(part, '=');
	uint64_t bit;

	if (value)
		*value++ = '\0';
	key = key_find(stage->kind, part);
	if (!key && before && !value && *part >= '0' && *part <= '9') /* 1,5 */
		return ipf_error_set(err, IPF_USAGE, "%s: expected one value, got a second one after the comma: \"%.200s\"",
		                     before, part);
	if (!key)
		return unknown_key(stage->kind, part, holds_list(stage->kind, before) ? before : NULL, err);
	bit = UINT64_C(1) << (key - stage->kind->keys);
	if (*given & bit)
		return ipf_error_set(err, IPF_USAGE, "%s: given twice", part);
	*given |= bit;
	if (key->type == KEY_FLAG && value)
		return ipf_error_set(err, IPF_USAGE, "%s: takes no value, got \"%.200s\"", part, value);
	if (key->type != KEY_FLAG && !value)
		return ipf_error_set(err, IPF_USAGE, "%s: expected %s=%s", part, part, key->argument);
	return read_value(stage, key, value, &what) < 0 ? at_key(part, &what, err) : 0;
}

static bool list_goes_on(enum key_type type, const char *text)
{
	if (type == KEY_GOALS)
		return objective_begins(text);
	return (type == KEY_RATES || type == KEY_COUNTS) && *text >= '0' && *text <= '9';
}

/* The comma ending a part; in a list, a comma before a digit or another goal does not. NULL: the last part. */
static char *part_end(const struct stage_kind *kind, char *part)
{
	const char *value = strchr(part, '=');
	enum key_type type = KEY_FLAG;
	char *comma;

	for (const struct stage_key *key = kind->keys; value && key->name; key++)
		if (strlen(key->name) == (size_t)(value - part) && strncmp(key->name, part, (size_t)(value - part)) == 0)
			type = key->type;
	for (comma = strchr(part, ','); comma && list_goes_on(type, comma + 1); comma = strchr(comma + 1, ','))
		;
	return comma;
}

/* Cuts `text`, which is the spec, into pieces. */
static int read_spec(struct stage *stage, char *text, struct ipf_error *err)
{
	char *parts = strchr(text, ':'), *comma, *before = NULL;
	const struct stage_key *key;
	uint64_t given = 0;

	if (parts)
		*parts++ = '\0';
	stage->kind = stage_kind_find(text);
	if (!stage->kind)
		return unknown_kind(text, err);
	for (char *part = parts; part; before = part, part = comma) {
		comma = part_end(stage->kind, part);
		if (comma)
			*comma++ = '\0';
		if (!*part && holds_list(stage->kind, before))
			return ipf_error_set(err, IPF_USAGE, "%s: expected another value or a key after the comma, got nothing",
			                     before);
		if (!*part)
			return ipf_error_set(err, IPF_USAGE, "expected key=value after the %s, got nothing",
			                     before ? "comma" : "colon");
		if (read_part(stage, part, before, &given, err) < 0)
			return -1;
	}
	for (key = stage->kind->keys; key->name; key++)
		if (key->required && !(given >> (key - stage->kind->keys) & 1))
			return ipf_error_set(err, IPF_USAGE, "%s=%s is required", key->name, key->argument);
	if (stage->drain && stage->overlap)
		return ipf_error_set(err, IPF_USAGE, "drain and overlap cannot be combined");
	return stage->kind->check ? stage->kind->check(stage, err) : 0;
}

static struct stage empty_stage(const char *spec)
{
	return (struct stage){
		.spec = spec,
		.for_ns = IPF_ABSENT,
		.n = IPF_ABSENT,
		.times = IPF_ABSENT,
		.slots = IPF_ABSENT,
		.from_ns = IPF_ABSENT,
		.to_ns = IPF_ABSENT,
		.to_slots = IPF_ABSENT,
		.steps = IPF_ABSENT,
		.think_ns = IPF_ABSENT,
		.idle_max_ns = IPF_ABSENT,
		.rampup_ns = IPF_ABSENT,
		.every_ns = IPF_ABSENT,
		.width_ns = IPF_ABSENT,
		.on_ns = IPF_ABSENT,
		.off_ns = IPF_ABSENT,
		.time_ns = IPF_ABSENT,
		.rate = NAN,
		.cv = NAN,
		.from_rate = NAN,
		.to_rate = NAN,
		.base = NAN,
		.peak = NAN,
		.process = GAPS_POISSON,
		.low = NAN,
		.high = NAN,
		.precision = 0.05,
		.confidence = 0.95,
		.upto = 1.2,
		.most = 60,
		.point_number = IPF_ABSENT,
	};
}

static void label(struct stage *stage, int number, const char *kind)
{
	stage->number = number;
	snprintf(stage->label, sizeof stage->label, "stage %d (%.*s)", number, (int)strcspn(kind, ":"), kind);
}

static int parse_stage(struct stage *stage, const char *spec, int number, struct ipf_error *err)
{
	struct ipf_error what = {0};
	char *text = strdup(spec);

	*stage = empty_stage(spec);
	label(stage, number, spec);
	if (!text)
		return ipf_error_memory(err);
	if (read_spec(stage, text, &what) < 0)
		ipf_error_set(err, what.kind, "%s: %s", stage->label, what.text);
	free(text);
	return what.kind == IPF_OK ? 0 : -1;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static bool name_taken(const struct stages *stages, const char *name, const struct stage *except)
{
	for (size_t i = 0; i < stages->count; i++)
		if (&stages->list[i] != except && stages->list[i].name && strcmp(stages->list[i].name, name) == 0)
			return true;
	return false;
}

/* Names the stage `base`, or base-2, base-3, … if that name is taken. */
static int name_after(const struct stages *stages, struct stage *stage, const char *base, struct ipf_error *err)
{
	struct buffer name = {0};

	buffer_text(&name, base);
	for (int number = 2; !name.failed && name_taken(stages, name.data, stage); number++) {
		buffer_clear(&name);
		buffer_format(&name, "%s-%d", base, number);
	}
	if (name.failed) {
		buffer_release(&name);
		return ipf_error_memory(err);
	}
	stage->name = name.data;
	return 0;
}

static void stage_release(struct stage *stage)
{
	free(stage->own_spec);
	free(stage->name);
	free(stage->rates.list);
	free(stage->file);
	free(stage->points.list);
}

/* Appends the stage and takes it over, also when it fails. */
static int add(struct stages *stages, const struct stage *stage, struct ipf_error *err)
{
	if (!array_one_more(stages->list, stages->count)) {
		struct stage lost = *stage;
		stage_release(&lost);
		return ipf_error_memory(err);
	}
	struct stage *added = &stages->list[stages->count];
	*added = *stage;
	for (size_t i = 0; i < stages->count; i++)
		added->ordinal += stages->list[i].kind == stage->kind;
	stages->count++;
	if (added->name && name_taken(stages, added->name, added))
		return ipf_error_set(err, IPF_USAGE, "%s: name: another stage is already called \"%.200s\"", added->label,
		                     added->name);
	return 0;
}

/* Appends one of the stages that `of` is shorthand for: 1; 0: there is no such stage; -1. */
static int add_point(struct stages *stages, const struct stage *of, size_t index, struct ipf_error *err)
{
	struct stage stage = empty_stage(of->spec);
	int got = of->kind->expand(of, index, &stage, err);
	label(&stage, of->number, of->kind->name);
	char *base = stage.name; /* not unique if a rate occurs twice */

	stage.name = NULL;
	if (got == 1 && name_after(stages, &stage, base, err) < 0)
		got = -1;
	if (got == 1)
		got = add(stages, &stage, err) < 0 ? -1 : 1;
	else
		stage_release(&stage);
	free(base);
	return got;
}

/* Appends a stage, or the stages it is shorthand for. */
static int add_all(struct stages *stages, struct stage *parsed, struct ipf_error *err)
{
	int got = 1;

	if (!parsed->kind->expand || (parsed->kind->is_short && !parsed->kind->is_short(parsed)))
		return add(stages, parsed, err);
	for (size_t i = 0; got == 1; i++)
		got = add_point(stages, parsed, i, err);
	stage_release(parsed);
	return got;
}

static const char *file_key(const struct stage_kind *kind)
{
	const struct stage_key *key = kind->keys;

	while (key->name && key->offset != offsetof(struct stage, file))
		key++;
	return key->name ? key->name : "";
}

static int resolve(struct stage *stage, struct stage_inputs *inputs, struct ipf_error *err)
{
	struct ipf_error what = {0};
	char file[sizeof what.file];

	if (!stage->kind->resolve || !inputs || stage->kind->resolve(stage, inputs, &what) == 0)
		return 0;
	safe_text(file, sizeof file, slice_of(stage->file));
	bool own = stage->file && !strcmp(what.file, file); /* other files come from options */
	if (what.file[0] && own)
		return ipf_error_at(err, what.kind, what.file, what.line, "%s (%s= of %s)", what.text, file_key(stage->kind),
		                    stage->label);
	if (what.file[0])
		return ipf_error_at(err, what.kind, what.file, what.line, "%s", what.text);
	return ipf_error_set(err, what.kind, "%s: %s", stage->label, what.text);
}

int stages_parse(struct stages *stages, char *const *specs, int count, struct stage_inputs *inputs,
                 struct ipf_error *err)
{
	struct stage stage;

	*stages = (struct stages){0};
	for (int i = 0; i < count; i++) {
		if (parse_stage(&stage, specs[i], i + 1, err) < 0 || resolve(&stage, inputs, err) < 0) {
			stage_release(&stage);
			return -1;
		}
		if (add_all(stages, &stage, err) < 0)
			return -1;
	}
	/* Only now that all names from specs are known. */
	for (size_t i = 0; i < stages->count; i++)
		if (!stages->list[i].name && name_after(stages, &stages->list[i], stages->list[i].kind->name, err) < 0)
			return -1;
	return 0;
}

void stages_release(struct stages *stages)
{
	for (size_t i = 0; i < stages->count; i++)
		stage_release(&stages->list[i]);
	free(stages->list);
	*stages = (struct stages){0};
}

/* The characters of a UTF-8 text. */
static int text_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* Writes "rate=RATE" or "warmup"; returns its width. */
static int key_form(const struct stage_key *key, char text[64])
{
	snprintf(text, 64, "%s%s%s", key->name, key->argument ? "=" : "", key->argument ? key->argument : "");
	return text_width(text);
}

static void describe_kind(const struct stage_kind *kind, struct buffer *out)
{
	char text[64];
	int column = 14; /* wider if a key is */

	buffer_format(out, "%s: %s\n", kind->name, kind->summary);
	for (const struct stage_key *key = kind->keys; key->name; key++)
		if (key_form(key, text) > column)
			column = text_width(text);
	for (const struct stage_key *key = kind->keys; key->name; key++) {
		int padding = column - key_form(key, text);
		buffer_format(out, "  %s%*s %s%s\n", text, padding, "", key->help, key->required ? " (required)" : "");
	}
}

void stages_describe(struct buffer *out)
{
	for (size_t i = 0; stage_kinds[i]; i++) {
		if (i > 0)
			buffer_byte(out, '\n');
		describe_kind(stage_kinds[i], out);
	}
}
