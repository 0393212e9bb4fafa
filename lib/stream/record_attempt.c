#include "stream/record_attempt.h"

#include "absent.h"
#include "stream/fields.h"

#define INT(member_)  FIELD(FIELD_INT, struct record_attempt, member_)
#define UINT(member_) FIELD(FIELD_UINT, struct record_attempt, member_)
static const struct field fields[] = {
	UINT(status),         REQUIRED_FIELD(FIELD_INT, struct record_attempt, start_ns),
	INT(first_byte_ns),   REQUIRED_FIELD(FIELD_INT, struct record_attempt, end_ns),
	UINT(retry_after_ns), UINT(wait_ns),
	UINT(target),         UINT(connection),
	UINT(body_bytes),
};
enum { FIELDS = sizeof fields / sizeof *fields };
const struct field_table record_attempt_fields = FIELD_TABLE(fields);

void record_attempt_write(const struct record_attempt *attempt, int64_t count, struct buffer *list)
{
	struct jout w = {.out = list};
	if (count)
		buffer_byte(list, ',');
	jout_begin_map(&w);
	fields_write(fields, FIELDS, attempt, &w);
	if (attempt->error != RECORD_OK) {
		jout_key(&w, "error");
		jout_begin_map(&w);
		jout_member_string(&w, "kind", slice_of(record_error_name(attempt->error)));
		jout_member_string(&w, "text", attempt->error_text);
		jout_end_map(&w);
	}
	struct slice body = attempt->body;
	body.len = body.len > RECORD_ATTEMPT_BODY ? RECORD_ATTEMPT_BODY : body.len;
	if (body.len)
		jout_member_string(&w, "body", body);
	jout_end_map(&w);
}

/* Adds a value that a record may claim: the sum stays an integer of a stream. */
static void add(int64_t *sum, int64_t value)
{
	*sum = value > FIELD_INT_MAX - *sum ? FIELD_INT_MAX : *sum + value;
}

static bool is_refusal(int64_t status)
{
	return status == 429 || status == 503;
}

static void count_answer(struct record_attempts *sums, int64_t status, int64_t asked_ns)
{
	sums->count++;
	sums->refusals += is_refusal(status);
	if (asked_ns == IPF_ABSENT)
		return;
	sums->asked++;
	add(&sums->asked_sum_ns, asked_ns);
	sums->asked_max_ns = greater_of(sums->asked_max_ns, asked_ns);
	if (sums->asked_min_ns == IPF_ABSENT || asked_ns < sums->asked_min_ns)
		sums->asked_min_ns = asked_ns;
}

/* The time between an attempt and its successor: the start of the next one, or the end of the request. */
static void count_wait(struct record_attempts *sums, const struct record_attempt *before, int64_t next_ns, bool sent)
{
	if (next_ns == IPF_ABSENT || next_ns < before->end_ns)
		return;
	add(&sums->waited_ns, next_ns - before->end_ns);
	sums->early += sent && before->retry_after_ns != IPF_ABSENT && next_ns - before->end_ns < before->retry_after_ns;
}

int record_attempts_sum(const struct record *record, struct jdoc *doc, struct record_attempts *sums,
                        struct ipf_error *err)
{
	struct record_attempt before = {0}, attempt;
	*sums = (struct record_attempts){.in_order = true, .asked_min_ns = IPF_ABSENT, .asked_max_ns = IPF_ABSENT};
	if (record->attempts.data && jdoc_parse(doc, record->attempts.data, record->attempts.len, err) < 0)
		return -1;
	if (record->attempts.data)
		for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e); before = attempt) {
			fields_init(fields, FIELDS, &attempt);
			if (jdoc_type_of(doc, e.value) != JDOC_MAP)
				return jdoc_expected(doc, e.value, "attempts", "a list of objects", err);
			if (fields_read(fields, FIELDS, &attempt, doc, e.value, err) < 0)
				return -1;
			int64_t after_ns = sums->count ? before.end_ns : record->start_ns;
			sums->in_order &= attempt.start_ns >= after_ns && attempt.end_ns >= attempt.start_ns;
			if (sums->count)
				count_wait(sums, &before, attempt.start_ns, true);
			count_answer(sums, attempt.status, attempt.retry_after_ns);
		}
	bool sent = record->attempt_ns != IPF_ABSENT || !sums->count;
	int64_t next_ns = sent ? record->attempt_ns : record->end_ns;
	sums->in_order &= !sums->count || next_ns >= before.end_ns;
	if (sums->count)
		count_wait(sums, &before, next_ns, sent);
	if (sent)
		count_answer(sums, record->status, record->retry_after_ns);
	return 0;
}
