#include "draft/reorder.h"

#include "absent.h"
#include "memory_limit.h"
#include "unit.h"

struct row {
	const char *session; /* NULL: none */
	int64_t at_ns;
};

static void add(struct reorder *h, struct row row, int64_t number)
{
	struct draft d = {0};
	draft_reset(&d);
	d.number = number;
	d.session = slice_of(row.session);
	struct draft_request *r = draft_request(&d);
	r->at_ns = row.at_ns;
	draft_message(&d, ROLE_USER, slice_of("text"));
	struct ipf_error err = {0};
	assert_int_equal(reorder_add(h, &d, &err), 0);
	draft_release(&d);
}

/* The numbers of the drafts in their order, a bar before each group. */
static void gives(const struct row *rows, size_t count, const char *expected)
{
	struct reorder h = {0};
	struct buffer out = {0};
	for (size_t i = 0; i < count; i++)
		add(&h, rows[i], (int64_t)i);
	struct draft d = {0};
	struct unit unit;
	struct ipf_error err = {0};
	uint64_t left = 0;
	int got;
	assert_int_equal(reorder_sort(&h, &err), 0);
	while ((got = reorder_next(&h, &unit, &d, &err)) > 0) {
		if (left == 0) {
			buffer_byte(&out, '|');
			left = unit.drafts;
			assert_int_equal(unit.requests, unit.drafts);
		}
		buffer_format(&out, "%lld", (long long)d.number);
		assert_int_equal(d.turn, unit.drafts - left);
		assert_true(slice_is(d.messages[0].text, "text"));
		left--;
	}
	assert_int_equal(got, 0);
	draft_release(&d);
	assert_string_equal(out.data ? out.data : "", expected);
	buffer_release(&out);
	reorder_release(&h);
}

#define GIVES(expected, ...)                                                                                           \
	gives((const struct row[]){__VA_ARGS__}, sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row), expected)

static void orders(void **state)
{
	(void)state;
	gives(NULL, 0, "");
	GIVES("|0|1|2", {NULL, IPF_ABSENT}, {NULL, IPF_ABSENT}, {NULL, IPF_ABSENT});
	GIVES("|2|0|1", {NULL, 5}, {NULL, 7}, {NULL, 3});
	/* equal arrivals stay in the order of adding */
	GIVES("|0|1|2", {NULL, 3}, {NULL, 3}, {NULL, 3});
	/* a session's turns come together, at its first arrival; by arrival if all have one */
	GIVES("|31|0|2", {NULL, 5}, {"a", 7}, {NULL, 6}, {"a", 3});
	GIVES("|02|1", {"a", 1}, {NULL, 2}, {"a", 9});
	/* else in the order of adding */
	GIVES("|1|02", {"a", 7}, {NULL, 2}, {"a", IPF_ABSENT});
	GIVES("|02|13", {"a", IPF_ABSENT}, {"b", IPF_ABSENT}, {"a", IPF_ABSENT}, {"b", IPF_ABSENT});
}

static void no_arrival_is_negative(void **state)
{
	(void)state;
	struct reorder h = {0};
	struct draft d = {0};
	struct unit unit;
	struct ipf_error err = {0};
	add(&h, (struct row){NULL, 0}, 0);
	add(&h, (struct row){NULL, -5}, 1);
	assert_int_equal(reorder_sort(&h, &err), 0);
	for (int64_t at_ns = 0; at_ns <= 5; at_ns += 5) {
		assert_int_equal(reorder_next(&h, &unit, &d, &err), 1);
		assert_true(d.requests[0].at_ns == at_ns);
	}
	draft_release(&d);
	reorder_release(&h);
}

/* Checks the order of `count` drafts: none is lost or doubled, sessions are complete, arrivals ascend. */
static void check_order(struct reorder *h, size_t count)
{
	bool *there = calloc(count + 1, sizeof *there);
	struct draft d = {0};
	struct unit unit;
	struct ipf_error err = {0};
	struct buffer session = {0};
	int64_t unit_ns = 0, last_ns = 0;
	uint64_t left = 0;
	size_t seen = 0;
	for (; reorder_next(h, &unit, &d, &err) > 0; seen++, left--) {
		int64_t at_ns = d.requests[0].at_ns;
		assert_false(there[d.number]);
		there[d.number] = true;
		if (left == 0) {
			left = unit.drafts;
			assert_true(at_ns >= unit_ns);
			unit_ns = at_ns;
			buffer_clear(&session);
			buffer_slice(&session, d.session);
			assert_true(d.session.data || left == 1);
		} else {
			assert_true(slice_equal(d.session, buffer_all(&session)));
			assert_true(at_ns >= last_ns);
		}
		last_ns = at_ns;
	}
	assert_int_equal(seen, count);
	free(there);
	buffer_release(&session);
	draft_release(&d);
}

static void property(void **state)
{
	(void)state;
	uint64_t random = test_seed("property");
	for (int round = 0; round < 50; round++) {
		struct reorder h = {0};
		struct ipf_error err = {0};
		size_t count = (size_t)(test_random(&random) % 2000);
		char name[16];
		memory_limit_set(round % 2 ? (size_t)10000 << test_random(&random) % 10 : 0);
		for (size_t i = 0; i < count; i++) {
			snprintf(name, sizeof name, "s%llu", (unsigned long long)(test_random(&random) % 300));
			add(&h, (struct row){test_random(&random) % 3 ? name : NULL, (int64_t)(test_random(&random) % 1000)},
			    (int64_t)i);
		}
		assert_int_equal(reorder_sort(&h, &err), 0);
		check_order(&h, count);
		reorder_release(&h);
	}
	memory_limit_set(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders),
		cmocka_unit_test(no_arrival_is_negative),
		cmocka_unit_test(property),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
