#include "stream/schedule.h"

#include "absent.h"
#include "array.h"
#include "safe_text.h"
#include "stream/fields.h"
#include "stream/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct schedule_reader {
	struct stream_reader *stream;
	struct schedule header;
	struct jdoc doc;
	int64_t *after;
	size_t after_cap;
	int64_t last_n;
};

static const struct field fields[] = {
	REQUIRED_FIELD(FIELD_UINT, struct schedule_arrival, n),
	FIELD(FIELD_UINT, struct schedule_arrival, at_ns),
	REQUIRED_FIELD(FIELD_UINT, struct schedule_arrival, req),
	REQUIRED_FIELD(FIELD_UINT, struct schedule_arrival, stage),
	FIELD(FIELD_UINT, struct schedule_arrival, copy),
	FIELD(FIELD_UINT, struct schedule_arrival, wait_ns),
	FIELD(FIELD_UINT, struct schedule_arrival, session_requests),
};
enum { FIELDS = sizeof fields / sizeof *fields };
const struct field_table schedule_fields = FIELD_TABLE(fields);

/* ---- the header ---- */

#define RATE_MAX  1e12 /* per second: more than one a nanosecond */
#define SPEED_MIN 1e-9

/* The flags of a stage; only true ones are written. */
static const struct {
	const char *name;
	size_t offset;
} flags[] = {
	{"closed", offsetof(struct schedule_stage, closed)},     {"cycle", offsetof(struct schedule_stage, cycle)},
	{"sessions", offsetof(struct schedule_stage, sessions)}, {"drain", offsetof(struct schedule_stage, drain)},
	{"overlap", offsetof(struct schedule_stage, overlap)},   {"salt", offsetof(struct schedule_stage, salt)},
	{"cold", offsetof(struct schedule_stage, cold)},
};
enum { FLAGS = sizeof flags / sizeof *flags };

static int add_int(json_t *object, const char *key, int64_t value)
{
	return value == IPF_ABSENT ? 0 : json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *stage_json(const struct schedule_stage *s)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", s->name, "kind", s->kind, "spec", s->spec);
	if (!object)
		return NULL;
	int bad = add_int(object, "begin_ns", s->begin_ns) | add_int(object, "end_ns", s->end_ns) |
	          add_int(object, "slots", s->slots) | add_int(object, "arrivals", s->arrivals) |
	          add_int(object, "first_n", s->first_n);
	if (s->all_arrivals > 0)
		bad |= add_int(object, "all_arrivals", s->all_arrivals);
	if (isfinite(s->rate))
		bad |= json_object_set_new(object, "rate", json_real(s->rate));
	if (s->by && s->by[0])
		bad |= json_object_set_new(object, "by", json_string(s->by)) |
		       json_object_set_new(object, "recorded_rate", json_real(s->recorded_rate));
	if (s->speed > 0)
		bad |= json_object_set_new(object, "speed", json_real(s->speed));
	for (size_t i = 0; i < FLAGS; i++)
		if (*(const bool *)((const char *)s + flags[i].offset))
			bad |= json_object_set_new(object, flags[i].name, json_true());
	bad |= add_int(object, "rampup_ns", s->rampup_ns ? s->rampup_ns : IPF_ABSENT) |
	       add_int(object, "pace_ns", s->pace_ns ? s->pace_ns : IPF_ABSENT) |
	       add_int(object, "idle_max_ns", s->idle_max_ns ? s->idle_max_ns : IPF_ABSENT) |
	       add_int(object, "once", s->once ? s->once : IPF_ABSENT) |
	       add_int(object, "copy", s->copy ? s->copy : IPF_ABSENT) |
	       add_int(object, "sent_before", s->sent_before ? s->sent_before : IPF_ABSENT);
	bad |= json_object_set_new(object, "measured", json_boolean(s->measured));
	if (bad) {
		json_decref(object);
		return NULL;
	}
	return object;
}

int schedule_reuse_to_json(const struct schedule_reuse *reuse, json_t *object)
{
	if (reuse->input_tokens == 0)
		return 0;
	json_t *map = json_object();
	int bad = json_object_set_new(object, "reuse", map);
	bad |= add_int(map, "input_tokens", reuse->input_tokens) | add_int(map, "reusable_tokens", reuse->reusable_tokens);
	if (reuse->answer_tokens > 0)
		bad |= add_int(map, "answer_tokens", reuse->answer_tokens);
	if (reuse->error_tokens > 0)
		bad |= add_int(map, "error_tokens", reuse->error_tokens);
	return bad ? -1 : 0;
}

int schedule_to_header(const struct schedule *schedule, json_t *header)
{
	json_t *stages = json_array();
	int bad = !stages;
	for (size_t i = 0; i < schedule->count; i++)
		bad |= json_array_append_new(stages, stage_json(&schedule->stages[i]));
	bad |= json_object_set_new(header, "stages", stages);
	if (schedule->shards)
		bad |= json_object_set_new(
			header, "shard",
			json_pack("{s:I, s:I}", "index", (json_int_t)schedule->shard, "of", (json_int_t)schedule->shards));
	if (schedule->trace_sha256[0]) {
		json_t *trace = json_pack("{s:s, s:I}", "sha256", schedule->trace_sha256, "requests",
		                          (json_int_t)schedule->trace_requests);
		bad |= json_object_set_new(header, "trace", trace);
		if (schedule->trace_file)
			bad |= json_object_set_new(trace, "file", json_string(schedule->trace_file));
		if (schedule->trace_repeated_prompts > 0)
			bad |= add_int(trace, "repeated_prompts", schedule->trace_repeated_prompts);
		bad |= schedule_reuse_to_json(&schedule->trace_reuse, trace);
	}
	return bad ? -1 : 0;
}

static int64_t get_int(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : IPF_ABSENT;
}

/* A time or a count: 0 if absent; limited so that the sum of two never overflows. */
static int64_t get_limited(json_t *object, const char *key)
{
	int64_t ns = get_int(object, key);
	return ns == IPF_ABSENT ? 0 : ns < INT64_MAX / 4 ? ns : INT64_MAX / 4;
}

static char *get_text(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return strdup(text ? text : "");
}

void schedule_reuse_from_json(struct schedule_reuse *reuse, const json_t *object)
{
	json_t *map = json_object_get(object, "reuse");
	*reuse = (struct schedule_reuse){.input_tokens = get_limited(map, "input_tokens"),
	                                 .reusable_tokens = get_limited(map, "reusable_tokens"),
	                                 .answer_tokens = get_limited(map, "answer_tokens"),
	                                 .error_tokens = get_limited(map, "error_tokens")};
	if (reuse->input_tokens == 0 || reuse->reusable_tokens > reuse->input_tokens)
		*reuse = (struct schedule_reuse){.input_tokens = 0};
}

/* Numbers of which no run has as many, and whose sums would overflow. */
static int check_range(json_t *object, size_t index, const char *file, struct ipf_error *err)
{
	static const char *const integers[] = {"begin_ns", "end_ns",    "arrivals", "all_arrivals",
	                                       "first_n",  "rampup_ns", "pace_ns"};
	static const char *const rates[] = {"rate", "recorded_rate"};
	for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
		if (json_integer_value(json_object_get(object, integers[i])) > FIELD_INT_MAX)
			return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].%s: expected an integer below 2^61, got %lld",
			                    index, integers[i],
			                    (long long)json_integer_value(json_object_get(object, integers[i])));
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		if (json_number_value(json_object_get(object, rates[i])) > RATE_MAX)
			return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].%s: expected at most %g per second, got %g",
			                    index, rates[i], RATE_MAX, json_number_value(json_object_get(object, rates[i])));
	json_int_t slots = json_integer_value(json_object_get(object, "slots"));
	if (slots > SCHEDULE_SLOTS_MAX)
		return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].slots: expected at most %d, got %lld", index,
		                    SCHEDULE_SLOTS_MAX, (long long)slots);
	return 0;
}

/* Without these a stage has no meaning; each is named with the other members of a stage. */
static int check_needed(json_t *object, size_t index, const char *file, struct ipf_error *err)
{
	static const char *const needed[] = {"begin_ns", "arrivals", "first_n"};
	if (!json_is_object(object))
		return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu]: expected an object as in ipf-schedule(5)", index);
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		const json_t *value = json_object_get(object, needed[i]);
		if (!value)
			return ipf_error_at(err, IPF_INPUT, file, 1,
			                    "stages[%zu].%s: missing: a stage requires begin_ns, arrivals and first_n", index,
			                    needed[i]);
		if (get_int(object, needed[i]) == IPF_ABSENT)
			return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].%s: expected an integer of 0 or more", index,
			                    needed[i]);
	}
	return 0;
}

static int stage_from_json(struct schedule_stage *s, json_t *object, size_t index, const char *file,
                           struct ipf_error *err)
{
	if (check_needed(object, index, file, err) < 0)
		return -1;
	s->name = get_text(object, "name");
	s->kind = get_text(object, "kind");
	s->spec = get_text(object, "spec");
	s->by = get_text(object, "by");
	if (!s->name || !s->kind || !s->spec || !s->by)
		return ipf_error_memory(err);
	if (check_range(object, index, file, err) < 0)
		return -1;
	s->begin_ns = get_int(object, "begin_ns");
	s->end_ns = get_int(object, "end_ns");
	s->slots = get_int(object, "slots");
	s->arrivals = get_int(object, "arrivals");
	s->all_arrivals = get_int(object, "all_arrivals");
	if (s->all_arrivals == IPF_ABSENT)
		s->all_arrivals = 0;
	s->first_n = get_int(object, "first_n");
	json_t *rate = json_object_get(object, "rate");
	s->rate = json_is_number(rate) ? json_number_value(rate) : NAN;
	s->recorded_rate = json_number_value(json_object_get(object, "recorded_rate"));
	const double speed = json_number_value(json_object_get(object, "speed"));
	s->speed = speed >= SPEED_MIN && speed <= 1 / SPEED_MIN ? speed : 0;
	for (size_t i = 0; i < FLAGS; i++)
		*(bool *)((char *)s + flags[i].offset) = json_is_true(json_object_get(object, flags[i].name));
	s->rampup_ns = get_limited(object, "rampup_ns");
	s->pace_ns = get_limited(object, "pace_ns");
	s->idle_max_ns = get_limited(object, "idle_max_ns");
	s->measured = !json_is_false(json_object_get(object, "measured"));
	s->once = get_limited(object, "once");
	if (s->once && s->once >= s->arrivals)
		return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].once: expected less than arrivals (%lld), got %lld",
		                    index, (long long)s->arrivals, (long long)s->once);
	s->copy = get_limited(object, "copy");
	s->sent_before = get_limited(object, "sent_before");
	if (s->slots == 0)
		return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].slots: expected at least 1, got 0", index);
	if (s->closed && s->slots == IPF_ABSENT)
		return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].slots: missing: a closed stage requires it", index);
	if (s->end_ns != IPF_ABSENT && s->end_ns < s->begin_ns)
		return ipf_error_at(err, IPF_INPUT, file, 1, "stages[%zu].end_ns: %lld is before begin_ns", index,
		                    (long long)s->end_ns);
	return 0;
}

json_t *schedule_find_header(json_t *header)
{
	json_t *records = provenance_find(header, "records");
	return json_object_get(records, "stages") ? records : provenance_find(header, "schedule");
}

static int shard_from_json(struct schedule *schedule, json_t *shard, const char *file, struct ipf_error *err)
{
	if (!shard || json_is_null(shard))
		return 0;
	schedule->shard = get_int(shard, "index");
	schedule->shards = get_int(shard, "of");
	if (schedule->shard < 1 || schedule->shards < schedule->shard || schedule->shards > SCHEDULE_SHARDS_MOST)
		return ipf_error_at(err, IPF_INPUT, file, 1, "shard: expected an index from 1 to `of`, and `of` up to %d",
		                    SCHEDULE_SHARDS_MOST);
	return 0;
}

int schedule_from_header(struct schedule *schedule, json_t *header, const char *file, struct ipf_error *err)
{
	*schedule = (struct schedule){.trace_requests = IPF_ABSENT};
	json_t *stages = json_object_get(header, "stages"), *object;
	if (!json_is_array(stages))
		return ipf_error_at(err, IPF_INPUT, file, 1, "stages: expected a list in the header");
	size_t count = json_array_size(stages), i;
	schedule->stages = calloc(count ? count : 1, sizeof *schedule->stages);
	if (!schedule->stages)
		return ipf_error_memory(err);
	schedule->count = count;
	json_array_foreach(stages, i, object) if (stage_from_json(&schedule->stages[i], object, i, file, err) < 0)
	{
		schedule_release(schedule);
		return -1;
	}
	if (shard_from_json(schedule, json_object_get(header, "shard"), file, err) < 0) {
		schedule_release(schedule);
		return -1;
	}
	json_t *trace = json_object_get(header, "trace");
	const char *sha256 = json_string_value(json_object_get(trace, "sha256"));
	snprintf(schedule->trace_sha256, sizeof schedule->trace_sha256, "%s", sha256 ? sha256 : "");
	const char *trace_file = json_string_value(json_object_get(trace, "file"));
	if (trace_file && !(schedule->trace_file = strdup(trace_file))) {
		schedule_release(schedule);
		return ipf_error_memory(err);
	}
	schedule->trace_requests = get_int(trace, "requests");
	schedule->trace_repeated_prompts = get_int(trace, "repeated_prompts");
	if (schedule->trace_repeated_prompts == IPF_ABSENT || schedule->trace_repeated_prompts > schedule->trace_requests)
		schedule->trace_repeated_prompts = 0;
	schedule_reuse_from_json(&schedule->trace_reuse, trace);
	return 0;
}

void schedule_release(struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->count; i++) {
		free(schedule->stages[i].name);
		free(schedule->stages[i].kind);
		free(schedule->stages[i].spec);
		free(schedule->stages[i].by);
	}
	free(schedule->stages);
	free(schedule->trace_file);
	*schedule = (struct schedule){0};
}

int schedule_check_header(json_t *header, struct ipf_error *err)
{
	struct schedule schedule;
	if (schedule_from_header(&schedule, header, NULL, err) < 0) {
		err->kind = err->kind == IPF_INPUT ? IPF_USAGE : err->kind;
		return -1;
	}
	schedule_release(&schedule);
	return 0;
}

/* ---- arrivals ---- */

/* Lines are rendered by hand, into room reserved once: ten million of them take a second. */

/* The number of decimal digits. The number of bits times log10(2), in units of 1/4096, is at most one too few. */
static int count_digits(uint64_t value)
{
	static const uint64_t powers[] = {
		1,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		UINT64_C(10000000000),
		UINT64_C(100000000000),
		UINT64_C(1000000000000),
		UINT64_C(10000000000000),
		UINT64_C(100000000000000),
		UINT64_C(1000000000000000),
		UINT64_C(10000000000000000),
		UINT64_C(100000000000000000),
		UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000),
	};
	int few = (64 - __builtin_clzll(value | 1)) * 1233 >> 12;
	return few + (value >= powers[few]);
}

/* Writes the digits from the last to the first, two per division; returns the end. */
static char *put_int(char *at, int64_t value)
{
	static const char pairs[] =
		"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
		"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (value < 0)
		*at++ = '-';
	char *end = at + (left ? count_digits(left) : 1), *first = end;
	for (; left >= 100; left /= 100)
		memcpy(first -= 2, &pairs[left % 100 * 2], 2);
	if (left >= 10)
		memcpy(first - 2, &pairs[left * 2], 2);
	else
		first[-1] = (char)('0' + left);
	return end;
}

#define PUT_MEMBER(at, before, value)                                                                                  \
	(memcpy((at), (before), sizeof(before) - 1), put_int((at) + sizeof(before) - 1, (value)))

enum { LINE_MAX_BYTES = 256, AFTER_MAX_BYTES = 21 }; /* size of a line without its "after", and of an element of that */

void schedule_after_write(const struct schedule_arrival *a, struct buffer *to)
{
	char *start = a->after_count ? buffer_reserve(to, a->after_count * AFTER_MAX_BYTES + 3) : NULL, *at = start;
	if (!start)
		return;
	for (size_t i = 0; i < a->after_count; i++)
		at = i ? PUT_MEMBER(at, ",", a->after[i]) : PUT_MEMBER(at, "[", a->after[i]);
	*at++ = ']';
	*at = '\0';
	to->len += (size_t)(at - start);
}

void schedule_arrival_write(const struct schedule_arrival *a, struct buffer *line)
{
	char *start = buffer_reserve(line, LINE_MAX_BYTES), *at = start;
	if (!start)
		return;
	at = PUT_MEMBER(at, "{\"n\":", a->n);
	if (a->at_ns != IPF_ABSENT)
		at = PUT_MEMBER(at, ",\"at_ns\":", a->at_ns);
	at = PUT_MEMBER(at, ",\"req\":", a->req);
	at = PUT_MEMBER(at, ",\"stage\":", a->stage);
	if (a->copy)
		at = PUT_MEMBER(at, ",\"copy\":", a->copy);
	if (a->wait_ns != IPF_ABSENT)
		at = PUT_MEMBER(at, ",\"wait_ns\":", a->wait_ns);
	if (a->session_requests > 1)
		at = PUT_MEMBER(at, ",\"session_requests\":", a->session_requests);
	line->len += (size_t)(at - start);
	if (a->after_count)
		buffer_text(line, ",\"after\":");
	schedule_after_write(a, line);
	buffer_byte(line, '}');
}

int schedule_reader_open(struct schedule_reader **reader, const char *path, struct ipf_error *err)
{
	*reader = NULL;
	struct schedule_reader *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	r->last_n = -1;
	if (stream_reader_open(&r->stream, path, "schedule", err) < 0 ||
	    schedule_from_header(&r->header, stream_reader_header(r->stream), stream_reader_name(r->stream), err) < 0) {
		schedule_reader_close(r);
		return -1;
	}
	for (size_t i = 0; i < r->header.count; i++)
		if (!safe_text_is_safe(slice_of(r->header.stages[i].name))) {
			ipf_error_at(err, IPF_INPUT, stream_reader_name(r->stream), 1,
			             "stages[%zu].name: expected a name without control characters, got \"%s\"", i,
			             shown(r->header.stages[i].name).text);
			schedule_reader_close(r);
			return -1;
		}
	*reader = r;
	return 0;
}

const struct schedule *schedule_reader_header(const struct schedule_reader *r)
{
	return &r->header;
}

/* "after": an earlier n, or a list of them */
static int parse_after(struct schedule_reader *r, struct schedule_arrival *a, struct ipf_error *err)
{
	jdoc_id after = jdoc_get(&r->doc, JDOC_ROOT, "after");
	bool list = jdoc_type_of(&r->doc, after) == JDOC_LIST;
	size_t count = list ? jdoc_count(&r->doc, after) : !jdoc_is_null(&r->doc, after);
	if (!array_room(r->after, r->after_cap, count))
		return ipf_error_memory(err);
	a->after = r->after;
	a->after_count = count;
	struct jdoc_each e = jdoc_each(&r->doc, after);
	for (size_t i = 0; i < count; i++) {
		jdoc_id node = list && jdoc_step(&e) ? e.value : after;
		if (!jdoc_to_int(&r->doc, node, &r->after[i]) || r->after[i] < 0 || r->after[i] >= a->n)
			return jdoc_expected(&r->doc, node, "after", "the n of an earlier line", err);
	}
	return 0;
}

static int parse(struct schedule_reader *r, struct slice line, struct schedule_arrival *a, struct ipf_error *err)
{
	if (jdoc_parse(&r->doc, line.data, line.len, err) < 0 ||
	    fields_read(fields, FIELDS, a, &r->doc, JDOC_ROOT, err) < 0 || parse_after(r, a, err) < 0)
		return -1;
	if (a->n <= r->last_n)
		return ipf_error_set(err, IPF_INPUT, "n: expected more than %lld, the n of the previous line, got %lld",
		                     (long long)r->last_n, (long long)a->n);
	if ((uint64_t)a->stage >= r->header.count)
		return ipf_error_set(err, IPF_INPUT, "stage: expected less than %zu, the number of stages, got %lld",
		                     r->header.count, (long long)a->stage);
	if (r->header.trace_requests != IPF_ABSENT && a->req >= r->header.trace_requests)
		return ipf_error_set(err, IPF_INPUT,
		                     "req: expected less than %lld, the number of requests in the trace, got %lld",
		                     (long long)r->header.trace_requests, (long long)a->req);
	if (a->copy == IPF_ABSENT)
		a->copy = 0;
	if (a->copy > SCHEDULE_COPIES)
		return ipf_error_set(err, IPF_INPUT, "copy: expected at most %d, got %lld", SCHEDULE_COPIES,
		                     (long long)a->copy);
	const struct schedule_stage *stage = &r->header.stages[a->stage];
	if (a->at_ns == IPF_ABSENT && !stage->closed && a->after_count == 0)
		return ipf_error_set(err, IPF_INPUT, "at_ns: missing: an open-loop request without `after` requires it");
	r->last_n = a->n;
	return 1;
}

int schedule_reader_next(struct schedule_reader *r, struct schedule_arrival *arrival, struct ipf_error *err)
{
	struct slice line;
	int got = stream_reader_next(r->stream, &line, err);
	if (got == 1 && (got = parse(r, line, arrival, err)) < 0)
		ipf_error_place(err, stream_reader_name(r->stream), stream_reader_line(r->stream));
	return got;
}

struct stream_reader *schedule_reader_stream(struct schedule_reader *r)
{
	return r->stream;
}

void schedule_reader_close(struct schedule_reader *r)
{
	if (!r)
		return;
	stream_reader_close(r->stream);
	schedule_release(&r->header);
	jdoc_release(&r->doc);
	free(r->after);
	free(r);
}
