/* Records in any order: each is returned after the one that it continues, and memory is bounded. */
#include "unit.h"

#include "absent.h"
#include "measure/early_turns.h"
#include "seen_numbers.h"

static void line_of(struct buffer *line, int64_t n, int64_t continues, size_t body)
{
	buffer_clear(line);
	buffer_format(line, "{\"n\":%lld,\"req\":0,\"stage\":0,\"due_ns\":0", (long long)n);
	if (continues != IPF_ABSENT)
		buffer_format(line, ",\"continues\":%lld", (long long)continues);
	buffer_format(line, ",\"reads\":[[1,%zu,0]],\"body\":\"", body);
	for (size_t i = 0; i < body; i++)
		buffer_byte(line, 'b');
	buffer_text(line, "\"}");
}

/* Offers a record; appends the numbers of those that may be used now to `used`. */
static void offer(struct early_turns *e, int64_t n, int64_t continues, struct buffer *used)
{
	struct buffer line = {0};
	struct record record;
	struct ipf_error err = {0};
	line_of(&line, n, continues, 3);
	record_init(&record);
	record.n = n;
	record.continues = continues;
	int held = early_turns_hold(e, &record, buffer_all(&line));
	assert_in_range(held, 0, 1);
	buffer_release(&line);
	if (held == 0) {
		buffer_format(used, "%lld ", (long long)n);
		early_turns_used(e, n);
	}
	while (early_turns_next(e, &record, &err) == 1) {
		assert_int_equal(record.body.len, 3);
		buffer_format(used, "%lld ", (long long)record.n);
		early_turns_used(e, record.n);
	}
	assert_string_equal(err.text, "");
}

static void finish(struct early_turns *e, struct buffer *used)
{
	struct record record;
	struct ipf_error err = {0};
	early_turns_end(e);
	while (early_turns_next(e, &record, &err) == 1) {
		buffer_format(used, "%lld ", (long long)record.n);
		early_turns_used(e, record.n);
	}
	assert_int_equal(err.kind, IPF_OK);
}

static void a_turn_waits_for_the_one_before(void **state)
{
	(void)state;
	struct early_turns *e = early_turns_new();
	struct buffer used = {0};
	offer(e, 0, IPF_ABSENT, &used);
	offer(e, 1, 0, &used);
	assert_string_equal(used.data, "0 1 ");
	buffer_clear(&used);
	offer(e, 9, 8, &used); /* a chain backwards, with a branch, and another session between */
	offer(e, 8, 7, &used);
	offer(e, 10, 8, &used);
	offer(e, 2, 1, &used);
	offer(e, 4104, 4103, &used); /* in the same bucket as 8 */
	offer(e, 7, IPF_ABSENT, &used);
	assert_string_equal(used.data, "2 7 8 9 10 ");
	buffer_clear(&used);
	offer(e, 20, 19, &used); /* the requests they continue never come */
	offer(e, 21, 20, &used);
	offer(e, 5, 5, &used);
	assert_string_equal(used.data, "5 ");
	buffer_clear(&used);
	finish(e, &used);
	assert_string_equal(used.data, "4104 20 21 ");
	buffer_clear(&used);
	offer(e, 1, 0, &used); /* the next input has its own numbers */
	assert_int_equal(used.len, 0);
	offer(e, 0, IPF_ABSENT, &used);
	assert_string_equal(used.data, "0 1 ");
	buffer_release(&used);
	early_turns_free(e);
}

static void numbers_that_cannot_come_are_not_waited_for(void **state)
{
	(void)state;
	static const struct {
		int64_t continues;
		int held;
	} cases[] = {{-1, 0}, {0, 1}, {SEEN_NUMBERS_MOST - 1, 1}, {SEEN_NUMBERS_MOST, 0}, {INT64_MAX, 0}};
	struct early_turns *e = early_turns_new();
	struct record record;
	struct ipf_error err = {0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		record_init(&record);
		record.n = 7;
		record.continues = cases[i].continues;
		assert_int_equal(early_turns_hold(e, &record, slice_of("{}")), cases[i].held);
		assert_int_equal(early_turns_next(e, &record, &err), 0);
	}
	early_turns_free(e);
}

/* Sessions with branches in a random order: whatever that is, all come out once, none before the one it continues. */
static void any_order_will_do(void **state)
{
	enum { TURNS = 60 };
	(void)state;
	uint64_t seed = test_seed("any_order_will_do");
	for (int round = 0; round < 300; round++) {
		struct early_turns *e = early_turns_new();
		struct buffer used = {0};
		int64_t before[TURNS];
		int order[TURNS], place[TURNS];
		for (int n = 0; n < TURNS; n++) {
			before[n] = n == 0 || test_random(&seed) % 5 == 0 ? IPF_ABSENT
			                                                  : (int64_t)(test_random(&seed) % (uint64_t)n);
			order[n] = n;
			place[n] = -1;
		}
		for (int i = TURNS - 1; i > 0; i--) {
			int k = (int)(test_random(&seed) % (uint64_t)(i + 1)), other = order[i];
			order[i] = order[k];
			order[k] = other;
		}
		for (int i = 0; i < TURNS; i++)
			offer(e, order[i], before[order[i]], &used);
		int count = 0;
		for (char *at = used.data, *end; at && *at; at = end + 1, count++) {
			long n = strtol(at, &end, 10);
			assert_int_equal(place[n], -1);
			place[n] = count;
		}
		assert_int_equal(count, TURNS);
		for (int n = 0; n < TURNS; n++)
			assert_true(before[n] == IPF_ABSENT || place[before[n]] < place[n]);
		buffer_release(&used);
		early_turns_free(e);
	}
}

static void memory_is_bounded(void **state)
{
	(void)state;
	enum { BODY = 1 << 20 };
	struct early_turns *e = early_turns_new();
	struct buffer line = {0};
	struct record record;
	struct ipf_error err = {0};
	int64_t held = 0, returned = 0;
	for (int64_t n = 1; n <= 200; n++) {
		line_of(&line, n, 1000, BODY);
		record_init(&record);
		record.n = n;
		record.continues = 1000;
		assert_int_equal(early_turns_hold(e, &record, buffer_all(&line)), 1);
		held++;
		while (early_turns_next(e, &record, &err) == 1)
			assert_int_equal(record.n, ++returned); /* the oldest first */
		assert_true((held - returned) * BODY <= (int64_t)EARLY_TURNS_MOST);
	}
	assert_true(returned > 100);
	buffer_release(&line);
	early_turns_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_waits_for_the_one_before),
		cmocka_unit_test(numbers_that_cannot_come_are_not_waited_for),
		cmocka_unit_test(any_order_will_do),
		cmocka_unit_test(memory_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
