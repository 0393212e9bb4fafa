#include "results/run_data.h"

#include "stream/observed.h"

#include "absent.h"
#include "array.h"
#include "hash_index.h"
#include "stream/provenance.h"
#include "stream/record.h"
#include "clock.h"
#include "cli/units.h"
#include "safe_text.h"
#include "text_hash.h"
#include "cli/interrupt.h"
#include "verdict/declared_cache.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

const char *const sources[SOURCES] = {"usage", "tokenizer", "ids", "events", "none", "other"};
const char *const groupings[GROUPINGS] = {"model",        "target",  "session", "time",
                                          "input_tokens", "replica", "tag",     "inputs"};

int run_data_init(struct run_data *run, const struct slo *slo, struct ipf_error *err)
{
	*run = (struct run_data){.slo = slo,
	                         .tag = run->tag,
	                         .any_schedules = run->any_schedules,
	                         .only_stage = run->only_stage,
	                         .columns = {.with_req = run->columns.with_req},
	                         .verdict = verdict_new(),
	                         .samples = sample_store_new(SAMPLE_STORE_BYTES),
	                         .positions = itl_positions_new(),
	                         .clocks = clock_offsets_new()};
	run->servers.store = run->accelerators.store = run->samples;
	return run->verdict && run->samples && run->positions && run->clocks ? 0 : ipf_error_memory(err);
}

int run_data_keep_lines(struct run_data *run, struct ipf_error *err)
{
	run->lines = row_lines_new(err);
	return run->lines ? 0 : -1;
}

static void string_table_release(struct string_table *table)
{
	for (int i = 0; i < table->count; i++)
		free(table->list[i]);
	free(table->list);
	free(table->slots);
}

void run_data_release(struct run_data *run)
{
	for (int i = 0; i < run->part_count; i++) {
		free(run->parts[i].name);
		free(run->parts[i].windows);
		free(run->parts[i].loads);
		json_decref(run->parts[i].header);
		json_decref(run->parts[i].clients);
		json_decref(run->parts[i].stages);
		json_decref(run->parts[i].digests);
		steady_free(run->parts[i].steady);
		client_delays_release(&run->parts[i].delays);
		json_decref(run->parts[i].trailer);
	}
	for (int i = 0; i < run->pooled_count; i++)
		histogram_free(run->pooled[i].gaps);
	itl_positions_free(run->positions);
	json_decref(run->steady);
	free(run->parts);
	free(run->pooled);
	free(run->stage_models);
	free(run->rows);
	row_columns_release(&run->columns);
	for (enum grouping by = 0; by < GROUPINGS; by++)
		string_table_release(&run->groups[by]);
	string_table_release(&run->finishes);
	schedule_release(&run->schedule);
	shard_set_release(&run->shard_set);
	verdict_free(run->verdict);
	server_samples_release(&run->servers);
	gpu_samples_release(&run->accelerators);
	sample_store_free(run->samples);
	clock_offsets_free(run->clocks);
	series_free(run->windows);
	row_lines_free(run->lines);
	free(run->line_places);
	stated_free(run->stated);
	jdoc_release(&run->doc);
	*run = (struct run_data){0};
}

struct string_slot {
	uint64_t key;
	int32_t number;
};

/* The number of a text in the table, to which it is added if necessary; -2: out of memory. */
static int32_t string_number(struct string_table *table, struct slice text)
{
	if (table->count == INT32_MAX || !hash_index_room(table->slots, table->slot_count, (size_t)table->count + 1))
		return -2;
	const uint64_t key = hash_index_key(text_hash(text));
	struct string_slot *slot = hash_index_find(table->slots, table->slot_count, key);
	while (slot->key && !slice_is(text, table->list[slot->number]))
		slot = hash_index_next(table->slots, table->slot_count, slot);
	if (slot->key)
		return slot->number;
	if (!array_one_more(table->list, table->count) || !(table->list[table->count] = strndup(text.data, text.len)))
		return -2;
	*slot = (struct string_slot){key, table->count};
	return table->count++;
}

/* The number of a JSON text with escapes. */
static int32_t unescaped_number(struct run_data *run, struct string_table *table, struct slice text)
{
	struct ipf_error ignored = {0};
	struct buffer plain = {0};
	if (jdoc_parse(&run->doc, text.data, text.len, &ignored) < 0)
		return -1;
	jdoc_text(&run->doc, JDOC_ROOT, &plain);
	buffer_byte(&plain, 0);
	int32_t found = plain.failed ? -2 : string_number(table, slice_of(plain.data));
	buffer_release(&plain);
	return found;
}

/* The number of a JSON text, with its quotes; -1: absent; -2: out of memory. */
static int32_t decoded_number(struct run_data *run, struct string_table *table, struct slice text)
{
	if (!text.data)
		return -1;
	if (memchr(text.data, '\\', text.len))
		return unescaped_number(run, table, text);
	return string_number(table, (struct slice){text.data + 1, text.len - 2});
}

const char *run_part_target(const struct run_part *part, int64_t target)
{
	json_t *list = json_object_get(part->records, "targets");
	return json_string_value(!list                  ? json_object_get(part->records, "target")
	                         : target == IPF_ABSENT ? NULL
	                                                : json_array_get(list, (size_t)target));
}

/* The number of the target of a request. -1: not known; -2: out of memory. */
static int32_t target_number(struct run_data *run, const struct run_part *part, const struct result *result)
{
	if (result->target == IPF_ABSENT && part->only_target != TARGET_UNSEEN)
		return part->only_target;
	const char *url = run_part_target(part, result->target);
	return url ? string_number(&run->groups[BY_TARGET], slice_of(url)) : -1;
}

/* Behind a balancer, the replica the answer named; else the target. */
static int32_t replica_number(struct run_data *run, const struct result *result, int32_t target)
{
	struct string_table *replicas = &run->groups[BY_REPLICA];
	if (result->replica.data)
		return decoded_number(run, replicas, result->replica);
	return target < 0 ? target : string_number(replicas, slice_of(run->groups[BY_TARGET].list[target]));
}

/* The value of the tag in a map, or whether a list has it: its number in the table, -1 or -2. */
static int32_t tag_number(struct run_data *run, struct slice tags)
{
	struct ipf_error ignored = {0};
	struct string_table *values = &run->groups[BY_TAG];
	const struct jdoc *doc = &run->doc;
	if (!run->tag || !tags.data)
		return -1;
	if (!*run->tag)
		return string_number(values, tags);
	if (jdoc_parse(&run->doc, tags.data, tags.len, &ignored) < 0)
		return -1;
	if (jdoc_type_of(doc, JDOC_ROOT) == JDOC_MAP) {
		jdoc_id value = jdoc_get(doc, JDOC_ROOT, run->tag);
		if (jdoc_is_null(doc, value))
			return -1;
		struct slice raw = jdoc_raw(doc, value);
		return jdoc_type_of(doc, value) == JDOC_TEXT ? decoded_number(run, values, raw) : string_number(values, raw);
	}
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);)
		if (jdoc_text_is(doc, e.value, run->tag))
			return string_number(values, slice_of("yes"));
	return string_number(values, slice_of("no"));
}

static int8_t source_number(struct slice text)
{
	if (!text.data)
		return -1;
	for (int i = 0; i < SOURCES - 1; i++)
		if (text.len == strlen(sources[i]) + 2 && memcmp(text.data + 1, sources[i], text.len - 2) == 0)
			return (int8_t)i;
	return SOURCES - 1;
}

static void later(int64_t *latest, int64_t moment)
{
	if (moment != IPF_ABSENT && moment > *latest)
		*latest = moment;
}

#define STAGE_MOST 100000

static int check_bounds(const struct result *result, struct ipf_error *err)
{
	const struct {
		const char *name;
		int64_t value;
	} times[] = {{"due_ns", result->due_ns}, {"start_ns", result->start_ns}, {"end_ns", result->end_ns}};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i].value != IPF_ABSENT && (times[i].value > ROW_TIME_MOST || times[i].value < -ROW_TIME_MOST))
			return ipf_error_set(err, IPF_INPUT, "%s: %lld is out of range", times[i].name, (long long)times[i].value);
	if (result->stage > STAGE_MOST)
		return ipf_error_set(err, IPF_INPUT, "stage: expected at most %d, got %lld", STAGE_MOST,
		                     (long long)result->stage);
	return 0;
}

static int check_schedule(const struct schedule *schedule, const char *file, struct ipf_error *err)
{
	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *stage = &schedule->stages[i];
		if (stage->begin_ns > ROW_TIME_MOST || stage->end_ns > ROW_TIME_MOST || stage->arrivals > ROW_COUNT_MOST ||
		    stage->all_arrivals > ROW_COUNT_MOST)
			return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu]: times or arrivals are out of range", i);
	}
	return 0;
}

bool run_data_line(const struct run_data *run, const struct row *row, struct result *result)
{
	return row_lines_read(run->lines, run->line_places[row->at], result);
}

static int make_room(struct run_data *run, struct ipf_error *err)
{
	if (run->row_count < run->row_cap)
		return 0;
	int64_t cap = run->row_cap ? 2 * run->row_cap : 1024;
	struct row *rows = realloc(run->rows, (size_t)cap * sizeof *rows);
	run->rows = rows ? rows : run->rows;
	int64_t *places = run->lines ? realloc(run->line_places, (size_t)cap * sizeof *places) : NULL;
	run->line_places = places ? places : run->line_places;
	if (!rows || (run->lines && !places))
		return ipf_error_set(err, IPF_SYSTEM, "out of memory after %lld rows", (long long)run->row_count);
	run->row_cap = cap;
	return 0;
}

/* Those of measured stages, and the texts in them that are not valid. Disconnecting on purpose is no failure, nor is a
 * part not captured. */
static int tally_failure(struct run_data *run, const struct result *result)
{
	bool known = result->stage < (int64_t)run->schedule.count;
	if (result_uncounted(result) || (known && !run->schedule.stages[result->stage].measured))
		return 0;
	if (!result->ok)
		return failure_tally_add_row(&run->failures, result);
	if (result_output_check(result) == OUTPUT_VALID || result_output_check(result) == OUTPUT_COUNT)
		return 0;
	return failure_tally_add_json(&run->invalid_outputs, result->output_check, IPF_ABSENT, result->output_invalid);
}

/* In run_data.stage_models, besides numbers of models. */
enum { MODEL_NONE = -1, MODEL_SEVERAL = -2, MODEL_UNSEEN = -3 };

/* Keeps in mind whether a stage of the part has one model or several. */
static int note_model(struct run_data *run, int32_t stage, int32_t model)
{
	if (stage >= run->stage_models_count) {
		int32_t *more = realloc(run->stage_models, (size_t)(stage + 1) * sizeof *more);
		if (!more)
			return -1;
		run->stage_models = more;
		while (run->stage_models_count <= stage)
			more[run->stage_models_count++] = MODEL_UNSEEN;
	}
	int32_t *seen = &run->stage_models[stage];
	*seen = *seen == MODEL_UNSEEN || *seen == model ? model : MODEL_SEVERAL;
	return 0;
}

/* Did memory suffice for the names of a row? */
static bool has_names(const struct row *row)
{
	bool all = row->finish != -2;
	for (enum grouping by = 0; by < GROUPINGS; by++)
		all &= row->group[by] != -2;
	return all;
}

static int add_row(struct run_data *run, const struct result *result, struct slice line, struct ipf_error *err)
{
	struct run_part *part = &run->parts[run->part_count - 1];
	if (check_bounds(result, err) < 0)
		return -1;
	const struct result *whole = result;
	struct result counted;
	if (result_check(result) != RESULT_CHECKS) {
		counted = *result;
		result_forget_latencies(&counted);
		counted.tags = (struct slice){0}; /* each canary has one of its own */
		result = &counted;
	}
	struct slo_marks marks;
	int goodness = slo_judge(run->slo, result, &run->doc, &marks, err);
	if (goodness < 0)
		return -1;
	if (make_room(run, err) < 0 || row_columns_add(&run->columns, run->row_count, result, err) < 0)
		return -1;
	if (run->lines)
		run->line_places[run->row_count] = row_lines_add(run->lines, line);
	struct row *row = &run->rows[run->row_count];
	*row = (struct row){
		.n = result->n,
		.columns = &run->columns,
		.at = run->row_count,
		.part = run->part_count - 1,
		.stage = (int32_t)result->stage,
		.group = {decoded_number(run, &run->groups[BY_MODEL], result->model), target_number(run, part, result),
	              decoded_number(run, &run->groups[BY_SESSION], result->session), -1, -1, -1,
	              tag_number(run, result->tags), -1},
		.finish = decoded_number(run, &run->finishes, result->finish),
		.error = result->ok ? -1 : (int8_t)verdict_kind_of(result->error_kind),
		.source = source_number(result->tokens_source),
		.ok = result->ok,
		.stale = result->stale,
		.goodness = (uint8_t)goodness,
		.not_streamed = (uint8_t)result_not_streamed(result),
		.output_check = (uint8_t)result_output_check(result),
		.checked = result_check(result) < RESULT_CHECKS,
		.check = (uint8_t)result_check(result),
		.judged = (uint8_t)result_judged(result),
		.compared = (uint8_t)result_compared(result),
		.marks = marks,
		.due_ns = result->due_ns,
		.start_ns = result->start_ns,
		.end_ns = result->end_ns,
	};
	if (result->target == IPF_ABSENT)
		part->only_target = row->group[BY_TARGET];
	row->group[BY_REPLICA] = replica_number(run, result, row->group[BY_TARGET]);
	if (!has_names(row) || (row->ok && note_model(run, row->stage, row->group[BY_MODEL]) < 0))
		return ipf_error_memory(err);
	later(&part->last_ns, row->start_ns);
	later(&part->last_ns, row->end_ns);
	run->row_count++;
	part->rows++;
	verdict_row(run->verdict, whole);
	return tally_failure(run, result) < 0 ? ipf_error_memory(err) : 0;
}

static struct histogram *find_gaps(const struct run_data *run, enum gaps_kind kind, int32_t stage, int32_t model)
{
	for (int i = 0; i < run->pooled_count; i++)
		if (run->pooled[i].kind == kind && run->pooled[i].stage == stage && run->pooled[i].model == model)
			return run->pooled[i].gaps;
	return NULL;
}

/* Merges gaps into those of a stage and model; takes them over. */
static int pool_kind(struct run_data *run, enum gaps_kind kind, int32_t stage, int32_t model, struct histogram *gaps)
{
	struct histogram *found = find_gaps(run, kind, stage, model);
	if (found) {
		histogram_merge(found, gaps);
		histogram_free(gaps);
		return 0;
	}
	if (!array_one_more(run->pooled, run->pooled_count)) {
		histogram_free(gaps);
		return -1;
	}
	run->pooled[run->pooled_count++] = (struct pooled_gaps){.kind = kind, .stage = stage, .model = model, .gaps = gaps};
	return 0;
}

static int pool_gaps(struct run_data *run, int32_t stage, int32_t model, struct histogram *gaps)
{
	return pool_kind(run, GAPS, stage, model, gaps);
}

/* The gaps of a stage with one model, which has no histogram of its own, are those of the model. */
static int pool_stage_gaps(struct run_data *run, int32_t stage, int32_t only_model, struct histogram *gaps)
{
	if (only_model < 0)
		return pool_gaps(run, stage, MODEL_NONE, gaps);
	struct histogram *copy = histogram_new();
	if (copy)
		histogram_merge(copy, gaps);
	int bad = pool_gaps(run, stage, MODEL_NONE, gaps);
	return !copy || pool_gaps(run, stage, only_model, copy) < 0 ? -1 : bad;
}

static int add_gaps(struct run_data *run, struct slice line, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	struct slice name;
	int64_t stage;
	if (jdoc_parse(&run->doc, line.data, line.len, err) < 0)
		return -1;
	jdoc_id title = jdoc_get(&run->doc, JDOC_ROOT, "histogram");
	enum gaps_kind kind = jdoc_text_is(&run->doc, title, "itl_low_ns")    ? GAPS_LOW
	                      : jdoc_text_is(&run->doc, title, "itl_high_ns") ? GAPS_HIGH
	                                                                      : GAPS;
	bool positions = jdoc_text_is(&run->doc, title, ITL_POSITIONS_NAME);
	if (kind == GAPS && !positions && !jdoc_text_is(&run->doc, title, "itl_ns"))
		return 0;
	int got = jdoc_get_uint(&run->doc, JDOC_ROOT, "stage", &stage, err);
	if (got != 1)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "stage: missing in a histogram");
	if (jdoc_get_raw(&run->doc, JDOC_ROOT, "model", JDOC_TEXT, &name, &ignored) < 0)
		name = (struct slice){0};
	if (stage > STAGE_MOST)
		return ipf_error_set(err, IPF_INPUT, "stage: expected at most %d, got %lld", STAGE_MOST, (long long)stage);
	if (positions)
		return itl_positions_read(run->positions, stage, &run->doc, err);
	struct histogram *gaps = histogram_new();
	if (!gaps || histogram_read(gaps, &run->doc, JDOC_ROOT, err) < 0) {
		histogram_free(gaps);
		return ipf_error_memory(err); /* the first error wins: that of histogram_read, if it failed */
	}
	if (kind != GAPS)
		return pool_kind(run, kind, (int32_t)stage, MODEL_NONE, gaps) < 0 ? ipf_error_memory(err) : 0;
	/* decoded_number parses run->doc anew */
	int32_t model = decoded_number(run, &run->groups[BY_MODEL], name);
	int32_t only = stage < run->stage_models_count ? run->stage_models[stage] : MODEL_UNSEEN;
	if (model == MODEL_NONE && !name.data)
		return pool_stage_gaps(run, (int32_t)stage, only, gaps) < 0 ? ipf_error_memory(err) : 0;
	if (model >= 0 && model != only)
		return pool_gaps(run, (int32_t)stage, model, gaps) < 0 ? ipf_error_memory(err) : 0;
	histogram_free(gaps); /* for a model alone in its stage: counted already */
	return model == -2 ? ipf_error_memory(err) : 0;
}

static int add_sample(struct run_data *run, struct slice line, struct ipf_error *err)
{
	int number = run->part_count - 1;
	struct run_part *part = &run->parts[number];
	int64_t t_ns;
	if (jdoc_parse(&run->doc, line.data, line.len, err) < 0)
		return -1;
	jdoc_id kind = jdoc_get(&run->doc, JDOC_ROOT, "sample");
	if (jdoc_text_is(&run->doc, kind, "server"))
		return server_samples_add(&run->servers, number, part->shift_ns, &run->doc, err);
	if (jdoc_text_is(&run->doc, kind, "gpu"))
		return gpu_samples_add(&run->accelerators, number, part->shift_ns, &run->doc, err);
	if (jdoc_to_int(&run->doc, jdoc_get(&run->doc, JDOC_ROOT, "t_ns"), &t_ns) && t_ns <= ROW_TIME_MOST)
		later(&part->last_ns, t_ns);
	if (!jdoc_text_is(&run->doc, kind, "client"))
		return 0;
	client_delays_read(&part->delays, &run->doc, JDOC_ROOT);
	if (part->client >= 0 && clock_offsets_read(run->clocks, part->client, &run->doc, JDOC_ROOT, err) < 0)
		return -1;
	return verdict_client(run->verdict, line, err);
}

/* Joins windows to ones of a length that is a multiple of theirs. */
static int lengthen_windows(struct run_data *run, int64_t every_ns, struct ipf_error *err)
{
	struct series *longer = series_new(every_ns, 0);
	const struct window *w;
	int bad = longer ? 0 : ipf_error_memory(err);
	for (size_t i = 0; bad == 0 && (w = series_get(run->windows, i)); i++)
		bad = series_add(longer, w, 0, err);
	series_free(run->windows);
	run->windows = longer;
	return bad;
}

static int add_window(struct run_data *run, struct slice line, struct ipf_error *err)
{
	const struct run_part *part = &run->parts[run->part_count - 1];
	if (steady_read(part->steady, line, err) < 0)
		return -1;
	if (!run->windows)
		return 0; /* the header has no length of windows */
	if (series_read(run->windows, line, part->shift_ns, err) < 0)
		return -1;
	if (series_memory(run->windows) <= RUN_WINDOWS_BYTES || series_every_ns(run->windows) > SERIES_EVERY_MOST_NS)
		return 0;
	return lengthen_windows(run, 2 * series_every_ns(run->windows), err);
}

/* The windows of all parts are as long as the longest of any. */
static int begin_windows(struct run_data *run, const struct run_part *part, struct ipf_error *err)
{
	json_t *every = json_object_get(json_object_get(part->header, "series"), "every_ns");
	int64_t every_ns = json_is_integer(every) ? json_integer_value(every) : 0;
	if (every_ns < SERIES_EVERY_LEAST_NS || every_ns > SERIES_EVERY_MOST_NS)
		return 0;
	if (!run->windows)
		return (run->windows = series_new(every_ns, 0)) ? 0 : ipf_error_memory(err);
	return every_ns > series_every_ns(run->windows) ? lengthen_windows(run, every_ns, err) : 0;
}

/* Checks a part has the same stages as the first one. */
static int check_same_schedule(const struct schedule *a, const struct schedule *b, const char *file, const char *first,
                               struct ipf_error *err)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++) {
		const struct schedule_stage *x = &a->stages[i], *y = &b->stages[i];
		same = strcmp(x->name, y->name) == 0 && strcmp(x->kind, y->kind) == 0 && x->begin_ns == y->begin_ns &&
		       x->end_ns == y->end_ns && x->measured == y->measured && x->closed == y->closed && x->cycle == y->cycle;
	}
	return same ? 0
	            : ipf_error_at(err, IPF_INPUT, file, 0, "not the same run: its stages differ from those of %s", first);
}

/* The header of the records the results were made from. If there are several, as from pooled shards, they must have the
 * same targets; else NULL. */
static json_t *records_of(json_t *header)
{
	json_t *found = NULL, *entry, *records;
	size_t i;
	json_array_foreach(json_object_get(header, "from"), i, entry)
	{
		if (!(records = provenance_find(entry, "records")))
			continue;
		if (found && !json_equal(json_object_get(found, "target"), json_object_get(records, "target")))
			return NULL;
		found = records;
	}
	return found;
}

/* Numbers targets in the order in which they were given to ipf-fire, not in the order of their answers. */
static int number_targets(struct run_data *run, const struct run_part *part)
{
	json_t *url;
	size_t i;
	json_array_foreach(json_object_get(part->records, "targets"), i, url)
	{
		if (json_is_string(url) && string_number(&run->groups[BY_TARGET], slice_of(json_string_value(url))) < 0)
			return -1;
	}
	return 0;
}

const char *run_data_itl(const struct run_data *run, int part)
{
	const char *itl = json_string_value(json_object_get(run->parts[part].header, "itl"));
	return itl ? itl : "gap";
}

void stage_load_add(struct stage_load *sum, const struct stage_load *more)
{
	sum->arrivals += more->arrivals == IPF_ABSENT ? 0 : more->arrivals;
	sum->slots = sum->slots == IPF_ABSENT || more->slots == IPF_ABSENT ? IPF_ABSENT : sum->slots + more->slots;
	sum->rate += more->rate;
}

static struct stage_load load_of(const struct schedule_stage *stage)
{
	return (struct stage_load){.arrivals = stage->arrivals, .slots = stage->slots, .rate = stage->rate};
}

/* Adds the stages' counts in the schedules of all shards, given those of their records. */
static int add_loads(const struct run_part *part, struct stage_load *sums, size_t count, struct ipf_error *err)
{
	json_t *entry;
	size_t i;
	json_array_foreach(json_object_get(part->header, "from"), i, entry)
	{
		struct schedule one = {0};
		json_t *header = schedule_find_header(entry);
		if (!header)
			return 0;
		if (schedule_from_header(&one, header, part->name, err) < 0)
			return -1;
		int bad = check_schedule(&one, part->name, err);
		for (size_t k = 0; bad == 0 && k < count && k < one.count; k++) {
			struct stage_load load = load_of(&one.stages[k]);
			stage_load_add(&sums[k], &load);
		}
		schedule_release(&one);
		if (bad < 0)
			return -1;
	}
	return 0;
}

/* Results collected from the records of several shards have the schedule of one of them: gives it the load of all that
 * are there. */
static int join_shards(const struct run_part *part, struct schedule *schedule, struct ipf_error *err)
{
	struct stage_load *sums = calloc(schedule->count + 1, sizeof *sums);
	if (!sums)
		return ipf_error_memory(err);
	int bad = add_loads(part, sums, schedule->count, err);
	for (size_t k = 0; bad == 0 && k < schedule->count; k++) {
		schedule->stages[k].arrivals = sums[k].arrivals;
		schedule->stages[k].slots = sums[k].slots;
		schedule->stages[k].rate = sums[k].rate;
	}
	free(sums);
	return bad;
}

/* Which shards a part has. One that has all is a whole run, of which there may be others. */
static int add_shards(struct run_data *run, struct run_part *part, struct schedule *schedule, struct ipf_error *err)
{
	struct shard_set own = {0};
	int bad = shard_set_add(&own, part->header, part->name, err);
	if (bad == 0)
		bad = shard_set_complete(&own) ? shard_set_add_whole(&run->shard_set, part->name, err)
		                               : shard_set_add(&run->shard_set, part->header, part->name, err);
	if (bad == 0 && own.count > 1)
		bad = join_shards(part, schedule, err);
	part->sharded = own.of > 0;
	if (shard_set_complete(&own)) /* a run on its own, as for a schedule that was not divided */
		schedule->shard = schedule->shards = 0;
	else if (own.of > 0) /* which the stages in the results' own header do not say */
		schedule->shards = own.of;
	int64_t last, spread_ns = shard_set_spread_ns(&own, &last);
	if (spread_ns > run->spread_ns) {
		run->spread_ns = spread_ns;
		run->last_shard = last;
	}
	shard_set_release(&own);
	return bad;
}

/* --stage: no other stage is measured. */
static int measure_only(struct schedule *schedule, const char *name, struct ipf_error *err)
{
	bool found = !name;
	for (size_t i = 0; name && i < schedule->count; i++) {
		schedule->stages[i].measured = strcmp(schedule->stages[i].name, name) == 0;
		found |= schedule->stages[i].measured;
	}
	return found ? 0 : ipf_error_set(err, IPF_USAGE, "--stage: no stage is called \"%s\"", name);
}

const char *run_data_definition(const struct run_data *run, int part)
{
	const char *tool = json_string_value(
		json_object_get(json_object_get(run->parts[part].header, "definition"), "tool"));
	return tool ? tool : "ipf";
}

static int check_same_definition(const struct run_data *run, const struct run_part *part, struct ipf_error *err)
{
	json_t *first = json_object_get(run->parts[0].header, "definition");
	json_t *own = json_object_get(part->header, "definition");
	if (first == own || json_equal(first, own))
		return 0;
	return ipf_error_at(err, IPF_INPUT, part->name, 0, "has the definitions of %.40s, but %s those of %.40s",
	                    run_data_definition(run, run->part_count - 1), run->parts[0].name, run_data_definition(run, 0));
}

static int check_same_prediction(const struct run_data *run, const struct run_part *part, struct ipf_error *err)
{
	return predicted_check((struct predicted_stream){run->parts[0].name, run->parts[0].predicted},
	                       (struct predicted_stream){part->name, part->predicted}, err);
}

bool run_data_cache_filled(const struct run_data *run)
{
	json_t *entry;
	size_t i;
	for (int p = 0; p < run->part_count; p++)
		json_array_foreach(
			json_object_get(run->parts[p].header, "from"), i,
			entry) if (!strcmp(declared_cache_state(provenance_find(entry, "records")), "warm")) return true;
	return false;
}

static int begin_verdict(struct verdict *verdict, const struct run_part *part, const struct schedule *schedule,
                         struct ipf_error *err)
{
	if (verdict_part(verdict, schedule) < 0)
		return ipf_error_memory(err);
	if (part->predicted)
		verdict_predicted(verdict);
	if (part->observed)
		verdict_observed(verdict, NULL);
	if (record_history_is_live(part->records))
		verdict_live_histories(verdict);
	json_t *entry;
	size_t i;
	json_array_foreach(json_object_get(part->header, "from"), i, entry)
		declared_cache_begin(verdict, provenance_find(entry, "records"));
	if (json_array_size(json_object_get(part->header, "from")) > 1)
		verdict_several_clients(verdict);
	return 0;
}

/* If any_schedules, the first may have more stages, of which this part has nothing. */
static int set_loads(const struct run_data *run, struct run_part *part, const struct schedule *schedule,
                     struct ipf_error *err)
{
	const size_t most = schedule->count > run->schedule.count ? schedule->count : run->schedule.count;
	if (!(part->loads = calloc(most + 1, sizeof *part->loads)))
		return ipf_error_memory(err);
	for (size_t i = 0; i < schedule->count; i++)
		part->loads[i] = load_of(&schedule->stages[i]);
	return 0;
}

int run_data_begin(struct run_data *run, const char *name, json_t *header, struct ipf_error *err)
{
	if (!array_one_more(run->parts, run->part_count))
		return ipf_error_memory(err);
	struct run_part *part = &run->parts[run->part_count];
	*part = (struct run_part){.name = strdup(name),
	                          .header = json_incref(header),
	                          .t0_ns = IPF_ABSENT,
	                          .capture_t0_ns = IPF_ABSENT,
	                          .stopped_ns = IPF_ABSENT,
	                          .stopped_stage = IPF_ABSENT};
	part->predicted = predicted_find(part->header);
	part->observed = observed_find(part->header);
	json_t *t0 = json_object_get(provenance_find(part->header, "records"), "t0_unix_ns");
	if (!part->predicted && json_is_integer(t0) && json_integer_value(t0) >= 0 &&
	    json_integer_value(t0) < 4 * ROW_TIME_MOST)
		part->t0_ns = json_integer_value(t0);
	if (part->t0_ns != IPF_ABSENT && run->parts[0].t0_ns != IPF_ABSENT)
		part->shift_ns = part->t0_ns - run->parts[0].t0_ns;
	part->records = records_of(part->header);
	part->client = -1;
	part->only_target = TARGET_UNSEEN;
	if (part->records && !part->predicted && json_array_size(json_object_get(part->header, "from")) == 1)
		part->client = clock_offsets_client(run->clocks, part->records);
	if (part->client == -2)
		return ipf_error_memory(err);
	run->part_count++;
	run->stage_models_count = 0;
	part->steady = steady_new();
	if (!part->name || !part->steady || number_targets(run, part) < 0)
		return ipf_error_memory(err);

	struct schedule schedule = {0};
	json_t *stages = json_object_get(part->header, "stages") ? part->header : schedule_find_header(part->header);
	if (stages && schedule_from_header(&schedule, stages, part->name, err) < 0)
		return -1;
	int bad = add_shards(run, part, &schedule, err);
	if (bad == 0)
		bad = check_schedule(&schedule, part->name, err);
	if (bad == 0)
		bad = measure_only(&schedule, run->only_stage, err);
	if (bad == 0 && run->part_count > 1 && !run->any_schedules)
		bad = check_same_schedule(&run->schedule, &schedule, part->name, run->parts[0].name, err);
	if (bad == 0 && strcmp(run_data_itl(run, 0), run_data_itl(run, run->part_count - 1)) != 0)
		bad = ipf_error_at(err, IPF_INPUT, part->name, 0, "was collected with --itl %.20s, but %s with --itl %.20s",
		                   run_data_itl(run, run->part_count - 1), run->parts[0].name, run_data_itl(run, 0));
	if (bad == 0 && (check_same_definition(run, part, err) < 0 || check_same_prediction(run, part, err) < 0))
		bad = -1;
	if (bad == 0)
		bad = begin_verdict(run->verdict, part, &schedule, err);
	if (bad == 0)
		bad = set_loads(run, part, &schedule, err);
	if (run->part_count == 1)
		run->schedule = schedule;
	else
		schedule_release(&schedule);
	return bad;
}

/* Waits until a line can be read; false if the user interrupts the waiting. */
static bool await_input(struct stream_reader *stream)
{
	int fd;
	while (!interrupted()) {
		if (stream_reader_ready(stream, &fd))
			return true;
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		/* with a timeout, since a signal may arrive between the check and the wait */
		int got = poll(&wait, 1, 500);
		if (got > 0 || (got < 0 && errno != EINTR))
			return true;
	}
	return false;
}

static int read_lines(struct run_data *run, struct result_reader *reader, struct progress *progress,
                      struct ipf_error *err)
{
	struct stream_reader *stream = result_reader_stream(reader);
	struct result result;
	struct slice line;
	for (;;) {
		if (!await_input(stream))
			return ipf_error_at(err, IPF_CUT, stream_reader_name(stream), 0, "interrupted after %lld good lines",
			                    (long long)stream_reader_lines(stream));
		int got = result_reader_next(reader, &result, &line, err);
		if (got <= 0)
			return got;
		int bad = got == RESULT_ROW         ? add_row(run, &result, line, err)
		          : got == RESULT_HISTOGRAM ? add_gaps(run, line, err)
		          : got == RESULT_SAMPLE    ? add_sample(run, line, err)
		                                    : add_window(run, line, err);
		if (bad < 0) {
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
			return -1;
		}
		if (progress->on && progress_due(progress, clock_now()))
			progress_show(progress, "%lld requests read", (long long)run->row_count);
	}
}

static bool integer_of(json_t *object, const char *key, int64_t most, int64_t *value)
{
	json_t *found = json_object_get(object, key);
	if (!json_is_integer(found) || json_integer_value(found) > most || json_integer_value(found) < -most)
		return false;
	*value = json_integer_value(found);
	return true;
}

/* The result of ipf-collect --until-stable. */
static void read_stability(struct run_data *run, struct run_part *part)
{
	json_t *stable = json_object_get(json_object_get(part->trailer, "stopped"), "until_stable");
	const char *reason = json_string_value(json_object_get(json_object_get(part->trailer, "not_stable"), "reason"));
	int64_t end_ns, stage, windows, window_ns;
	char window[32];
	if (reason)
		verdict_note(run->verdict, VERDICT_SAMPLES, VERDICT_DOUBTFUL, "not stable at its end (--until-stable): %.200s",
		             shown(reason).text);
	if (!integer_of(stable, "to_ns", ROW_TIME_MOST, &end_ns) || !integer_of(stable, "stage", STAGE_MOST, &stage) ||
	    !integer_of(stable, "windows", STAGE_MOST, &windows) ||
	    !integer_of(stable, "window_ns", ROW_TIME_MOST, &window_ns) || stage < 0)
		return;
	part->stopped_ns = end_ns;
	part->stopped_stage = stage;
	verdict_stopped(run->verdict, stage);
	verdict_note(run->verdict, VERDICT_SAMPLES, VERDICT_OK,
	             "ended when stable (--until-stable): %lld windows of %s agree within %.3g %%", (long long)windows,
	             format_duration(window_ns, window), 100 * json_number_value(json_object_get(stable, "tolerance")));
}

/* Sets `key` to the begin that another client had, if that is earlier or, with `later`, later. */
static void note_begin(json_t *stage, const char *key, json_t *begin, bool later)
{
	const json_int_t now = json_integer_value(json_object_get(stage, key)), other = json_integer_value(begin);
	if (json_is_integer(begin) && (later ? other > now : other < now))
		json_object_set(stage, key, begin);
}

/* The times of the stages as the clients had them: a stage began when the first of them began it, and the last one at
 * last_begin_ns. They differ after a stage without a planned end. NULL: one did not say. */
static json_t *stages_of_clients(json_t *from)
{
	json_t *all = NULL, *entry, *stage;
	size_t i, k;
	json_array_foreach(from, i, entry)
	{
		json_t *stages = json_object_get(entry, "stages");
		if (!json_is_array(stages) || (all && json_array_size(all) != json_array_size(stages))) {
			json_decref(all);
			return NULL;
		}
		if (!all)
			all = json_deep_copy(stages);
		json_array_foreach(stages, k, stage)
		{
			json_t *begin = json_object_get(stage, "begin_ns"), *of_all = json_array_get(all, k);
			if (json_is_integer(begin) && !json_object_get(of_all, "last_begin_ns"))
				json_object_set(of_all, "last_begin_ns", begin);
			note_begin(of_all, "begin_ns", begin, false);
			note_begin(of_all, "last_begin_ns", begin, true);
		}
	}
	return all;
}

/* Takes missing values from the trailer, and the real times of the stages. */
static void read_trailer(const struct run_data *run, struct run_part *part, json_t *trailer)
{
	const char *why = json_string_value(json_object_get(trailer, "incomplete"));
	json_t *from = json_object_get(trailer, "from");
	if (why && !part->incomplete[0])
		snprintf(part->incomplete, sizeof part->incomplete, "%.100s: %.200s", part->name, why);
	json_t *entry;
	size_t i;
	part->clients = json_array();
	json_array_foreach(from, i, entry)
	{
		if (json_is_object(json_object_get(entry, "client")))
			json_array_append(part->clients, json_object_get(entry, "client"));
		declared_cache_resets(run->verdict, entry, &run->schedule);
	}
	part->stages = stages_of_clients(from);
}

static void note_digests(struct run_part *part, const char *sha256)
{
	json_t *entry;
	size_t i;
	part->digests = json_array();
	json_array_append_new(part->digests, json_string(sha256));
	json_array_foreach(json_object_get(part->trailer, "from"), i, entry)
	{
		json_t *digest = json_object_get(entry, "sha256");
		if (json_integer_value(json_object_get(entry, "lines")) > 0 && json_is_string(digest))
			json_array_append(part->digests, digest);
	}
}

int run_data_add(struct run_data *run, const struct result *row, struct slice line, struct ipf_error *err)
{
	return add_row(run, row, line, err);
}

int run_data_add_gaps(struct run_data *run, int32_t stage, struct histogram *gaps, struct ipf_error *err)
{
	int32_t only = stage < run->stage_models_count ? run->stage_models[stage] : MODEL_UNSEEN;
	return pool_stage_gaps(run, stage, only, gaps) < 0 ? ipf_error_memory(err) : 0;
}

void run_data_end(struct run_data *run, json_t *trailer, const char *sha256, int64_t last_ns)
{
	struct run_part *part = &run->parts[run->part_count - 1];
	part->trailer = json_incref(trailer);
	read_trailer(run, part, trailer);
	note_digests(part, sha256);
	later(&part->last_ns, last_ns);
	if (part->incomplete[0])
		verdict_incomplete(run->verdict, part->incomplete);
}

int run_data_read(struct run_data *run, struct stream_reader *input, struct progress *progress, struct ipf_error *err)
{
	struct result_reader *reader;
	if (result_reader_begin(&reader, input, err) < 0)
		return -1;
	struct stream_reader *stream = result_reader_stream(reader);
	int bad = run_data_begin(run, stream_reader_name(stream), stream_reader_header(stream), err);
	if (bad < 0) {
		result_reader_close(reader);
		return -1;
	}
	struct run_part *part = &run->parts[run->part_count - 1];
	bad = begin_windows(run, part, err);
	if (bad == 0)
		bad = read_lines(run, reader, progress, err);
	if (bad < 0 && (err->kind == IPF_CUT || err->kind == IPF_INPUT)) {
		if (err->line > 0)
			snprintf(part->incomplete, sizeof part->incomplete, "%.100s:%lld: %.200s", part->name, (long long)err->line,
			         err->text);
		else
			snprintf(part->incomplete, sizeof part->incomplete, "%.100s: %.200s", part->name, err->text);
	}
	part->trailer = json_incref(stream_reader_trailer(stream));
	read_trailer(run, part, part->trailer);
	if (part->client >= 0 && json_array_size(part->clients) == 1)
		clock_offsets_end(run->clocks, part->client, json_array_get(part->clients, 0));
	read_stability(run, part);
	note_digests(part, stream_reader_sha256(stream));
	if (part->observed)
		verdict_observed(run->verdict, observed_capture(part->trailer));
	if (verdict_transport(run->verdict, json_object_get(part->trailer, "transport")) < 0 && bad == 0)
		bad = ipf_error_memory(err);
	if (part->incomplete[0])
		verdict_incomplete(run->verdict, part->incomplete);
	result_reader_close(reader);
	const struct run_part *twice = part->sharded ? run_data_find_duplicate(run, run->part_count - 1) : NULL;
	if (bad == 0 && twice)
		bad = ipf_error_at(err, IPF_INPUT, part->name, 0, "has the shards of %s: a shard counts once", twice->name);
	return bad;
}

/* Do the gaps of the models of a stage add up to those of the stage? */
static bool has_gaps_of_models(const struct run_data *run, int32_t stage)
{
	int64_t missing = 0;
	for (int i = 0; i < run->pooled_count; i++)
		if (run->pooled[i].stage == stage && run->pooled[i].kind == GAPS)
			missing += (run->pooled[i].model == MODEL_NONE ? 1 : -1) * histogram_count(run->pooled[i].gaps);
	return missing == 0;
}

const struct histogram *run_data_gaps(const struct run_data *run, int32_t stage, int32_t model)
{
	if (model != MODEL_NONE && !has_gaps_of_models(run, stage))
		return NULL;
	return find_gaps(run, GAPS, stage, model);
}

const struct histogram *run_data_gap_bounds(const struct run_data *run, int32_t stage, enum gaps_kind kind)
{
	const struct histogram *gaps = find_gaps(run, GAPS, stage, MODEL_NONE),
						   *bounds = find_gaps(run, kind, stage, MODEL_NONE);
	return gaps && bounds && histogram_count(gaps) == histogram_count(bounds) ? bounds : NULL;
}

bool run_data_has_positions(const struct run_data *run, int32_t stage)
{
	const struct histogram *gaps = find_gaps(run, GAPS, stage, MODEL_NONE), *one;
	int64_t sum = 0;
	for (int bin = 0; gaps && bin < ITL_POSITION_BINS; bin++)
		if ((one = itl_positions_get(run->positions, (size_t)stage, bin)))
			sum += histogram_count(one);
	return gaps && sum == histogram_count(gaps);
}

/* ---- inputs ---- */

/* Do two parts have the same lines, or lines from the same records? */
static bool share_lines(const struct run_part *a, const struct run_part *b)
{
	json_t *x, *y;
	size_t i, k;
	json_array_foreach(a->digests, i, x)
	{
		json_array_foreach(b->digests, k, y)
		{
			if (json_equal(x, y))
				return true;
		}
	}
	return false;
}

json_t *run_part_prometheus(const struct run_part *part)
{
	json_t *member = json_object_get(part->trailer, "prometheus");
	return json_is_object(member) ? member : NULL;
}

json_t *run_data_extrapolated(const struct run_data *run)
{
	json_t *names = json_array();
	for (int i = 0; i < run->part_count; i++)
		predicted_add_extrapolated(names, run->parts[i].trailer);
	return names;
}

json_t *run_data_clocks(const struct run_data *run)
{
	json_t *collected = json_object_get(run->parts[0].trailer, "clocks");
	if (run->part_count == 1)
		return json_is_object(collected) ? json_incref(collected) : NULL;
	return run->shards && clock_offsets_clients(run->clocks) == run->part_count ? clock_offsets_json(run->clocks)
	                                                                            : NULL;
}

const struct run_part *run_data_find_duplicate(const struct run_data *run, int part)
{
	for (int k = 0; k < part; k++)
		if (run->parts[part].rows > 0 && share_lines(&run->parts[part], &run->parts[k]))
			return &run->parts[k];
	return NULL;
}

/* The index of the first row of a stage. */
static int64_t begin_of(const struct run_data *run, int32_t stage)
{
	int64_t low = 0, high = run->row_count;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (run->rows[middle].stage < stage)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct row *run_data_stage_rows(const struct run_data *run, int32_t stage, int64_t *count)
{
	int64_t begin = begin_of(run, stage);
	*count = begin_of(run, stage + 1) - begin;
	return run->rows ? run->rows + begin : NULL;
}

struct stage_window run_data_window(const struct run_data *run, int32_t stage)
{
	struct stage_window all = run->parts[0].windows[stage];
	for (int i = 1; i < run->part_count; i++) {
		const struct stage_window *w = &run->parts[i].windows[stage];
		if (w->begin_ns == IPF_ABSENT)
			continue;
		if (all.begin_ns == IPF_ABSENT || w->begin_ns < all.begin_ns)
			all.begin_ns = w->begin_ns;
		if (w->end_ns > all.end_ns)
			all.end_ns = w->end_ns;
		if (w->drain_ns > all.drain_ns)
			all.drain_ns = w->drain_ns;
	}
	return all;
}

struct stage_window run_data_part_window(const struct run_data *run, int part, int32_t stage)
{
	return run->shards ? run_data_window(run, stage) : run->parts[part].windows[stage];
}

bool run_data_is_steady(const struct run_data *run, const struct row *row)
{
	const struct stage_window *w = &run->parts[row->part].windows[row->stage];
	return !w->steady || (row->start_ns >= w->begin_ns && row->start_ns < w->end_ns);
}
