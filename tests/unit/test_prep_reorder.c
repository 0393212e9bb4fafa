#include "draft/reorder.h"

#include "absent.h"
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
	assert_int_equal(reorder_add(h, &d), 0);
	draft_release(&d);
}

/* The numbers of the drafts in their order, a bar before each group. */
static void gives(const struct row *rows, size_t count, const char *expected)
{
	struct reorder h = {0};
	struct buffer out = {0};
	for (size_t i = 0; i < count; i++)
		add(&h, rows[i], (int64_t)i);
	assert_int_equal(reorder_sort(&h), 0);
	for (size_t i = 0; i < h.group_count; i++) {
		buffer_byte(&out, '|');
		for (size_t k = 0; k < h.groups[i].count; k++) {
			buffer_format(&out, "%lld", (long long)h.groups[i].drafts[k]->number);
			assert_int_equal(h.groups[i].drafts[k]->turn, k);
			assert_true(slice_is(h.groups[i].drafts[k]->messages[0].text, "text"));
		}
	}
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
	add(&h, (struct row){NULL, 0}, 0);
	add(&h, (struct row){NULL, -5}, 1);
	assert_int_equal(reorder_sort(&h), 0);
	assert_true(h.groups[0].drafts[0]->requests[0].at_ns == 0);
	assert_true(h.groups[1].drafts[0]->requests[0].at_ns == 5);
	reorder_release(&h);
}

/* No draft is lost or doubled, sessions are complete, arrivals ascend. */
static void property(void **state)
{
	(void)state;
	uint64_t random = test_seed("property");
	for (int round = 0; round < 50; round++) {
		struct reorder h = {0};
		size_t count = (size_t)(test_random(&random) % 2000), seen = 0;
		char name[16];
		for (size_t i = 0; i < count; i++) {
			snprintf(name, sizeof name, "s%llu", (unsigned long long)(test_random(&random) % 300));
			add(&h, (struct row){test_random(&random) % 3 ? name : NULL, (int64_t)(test_random(&random) % 1000)},
			    (int64_t)i);
		}
		assert_int_equal(reorder_sort(&h), 0);
		bool *there = calloc(count + 1, sizeof *there);
		int64_t last = 0;
		for (size_t i = 0; i < h.group_count; i++) {
			const struct draft_group *unit = &h.groups[i];
			assert_true(unit->drafts[0]->requests[0].at_ns >= last);
			last = unit->drafts[0]->requests[0].at_ns;
			for (size_t k = 0; k < unit->count; k++, seen++) {
				const struct draft *d = unit->drafts[k];
				assert_false(there[d->number]);
				there[d->number] = true;
				assert_true(slice_equal(d->session, unit->drafts[0]->session));
				if (k)
					assert_true(d->requests[0].at_ns >= unit->drafts[k - 1]->requests[0].at_ns);
			}
			if (!unit->drafts[0]->session.data)
				assert_int_equal(unit->count, 1);
		}
		assert_int_equal(seen, count);
		free(there);
		reorder_release(&h);
	}
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
