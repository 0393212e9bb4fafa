/* Which requests behind a gateway belong to which request in front of it. */
#include "unit.h"

#include "gateway/pairing.h"

enum { MS = 1000000, MOST = 64 };

/* Both sides, and their pairing. */
struct sides {
	struct gateway_requests side[2];
	struct gateway_request list[2][MOST];
	struct pairing p;
};

static struct sides *sides_new(void)
{
	struct sides *s = calloc(1, sizeof *s);
	assert_non_null(s);
	for (int i = 0; i < 2; i++)
		s->side[i].list = s->list[i];
	return s;
}

/* A successful request from one millisecond to another. */
static struct gateway_request *add(struct sides *s, int side, int from_ms, int to_ms)
{
	struct gateway_request *r = &s->list[side][s->side[side].count++];
	*r = (struct gateway_request){.start_ns = (int64_t)from_ms * MS,
	                              .end_ns = (int64_t)to_ms * MS,
	                              .input_tokens = IPF_ABSENT,
	                              .output_tokens = IPF_ABSENT,
	                              .status = 200,
	                              .ok = true};
	return r;
}

static void make(struct sides *s)
{
	struct ipf_error err = {0};
	assert_int_equal(pairing_make(&s->p, &s->side[0], &s->side[1], &err), 0);
}

static void end(struct sides *s)
{
	pairing_release(&s->p);
	free(s);
}

static void each_id_pairs(void **state)
{
	(void)state;
	for (int id = 0; id < GATEWAY_IDS; id++) {
		struct sides *s = sides_new();
		/* four in flight at once, which nothing but their ids tells apart; behind they begin in another order */
		for (int i = 0; i < 4; i++)
			add(s, 0, i, 100 + i)->ids[id] = (uint64_t)(i + 1);
		for (int i = 0; i < 4; i++)
			add(s, 1, 10 + i, 50 + i)->ids[id] = (uint64_t)(4 - i);
		make(s);
		for (int i = 0; i < 4; i++) {
			assert_int_equal(s->p.front[i], 3 - i);
			assert_int_equal(s->p.key[i], id);
			assert_int_equal(s->p.count[i], 1);
			assert_int_equal(s->p.first[i], 3 - i);
		}
		assert_int_equal(s->p.keys[id], 4);
		assert_int_equal(s->p.clock.checked, 4);
		assert_true(s->p.clock.one);
		end(s);
	}
}

static void the_first_id_counts(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	struct gateway_request *a = add(s, 0, 0, 100), *b = add(s, 0, 1, 100), *behind = add(s, 1, 10, 50);
	a->ids[GATEWAY_REQUEST_ID] = behind->ids[GATEWAY_REQUEST_ID] = 7;
	b->ids[GATEWAY_RESPONSE_ID] = behind->ids[GATEWAY_RESPONSE_ID] = 8;
	make(s);
	assert_int_equal(s->p.front[0], 0);
	assert_int_equal(s->p.key[0], GATEWAY_REQUEST_ID);
	end(s);
}

static void a_shared_id_pairs_by_time(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	/* a trace of two calls, one after another; and of two at once, which the response id tells apart */
	add(s, 0, 0, 100)->ids[GATEWAY_TRACE_ID] = 1;
	add(s, 0, 200, 300)->ids[GATEWAY_TRACE_ID] = 1;
	add(s, 0, 400, 500)->ids[GATEWAY_TRACE_ID] = 2;
	add(s, 0, 401, 500)->ids[GATEWAY_TRACE_ID] = 2;
	s->list[0][2].ids[GATEWAY_RESPONSE_ID] = 10;
	s->list[0][3].ids[GATEWAY_RESPONSE_ID] = 11;
	add(s, 1, 10, 50)->ids[GATEWAY_TRACE_ID] = 1;
	add(s, 1, 210, 250)->ids[GATEWAY_TRACE_ID] = 1;
	for (int i = 0; i < 2; i++) {
		struct gateway_request *r = add(s, 1, 410 + i, 450);
		r->ids[GATEWAY_TRACE_ID] = 2;
		r->ids[GATEWAY_RESPONSE_ID] = (uint64_t)(11 - i);
	}
	make(s);
	assert_int_equal(s->p.front[0], 0);
	assert_int_equal(s->p.front[1], 1);
	assert_int_equal(s->p.front[2], 3);
	assert_int_equal(s->p.front[3], 2);
	assert_int_equal(s->p.keys[GATEWAY_TRACE_ID], 2);
	assert_int_equal(s->p.keys[GATEWAY_RESPONSE_ID], 2);
	end(s);
}

static void retries_belong_to_one_request(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	add(s, 0, 0, 100)->ids[GATEWAY_REQUEST_ID] = 5;
	add(s, 0, 1, 100)->ids[GATEWAY_REQUEST_ID] = 6;
	for (int i = 0; i < 3; i++) {
		struct gateway_request *r = add(s, 1, 10 + 20 * i, 20 + 20 * i);
		r->ids[GATEWAY_REQUEST_ID] = 5;
		r->ok = i == 2;
	}
	make(s);
	assert_int_equal(s->p.count[0], 3);
	assert_int_equal(s->p.first[0], 0);
	assert_int_equal(s->p.next[0], 1);
	assert_int_equal(s->p.next[1], 2);
	assert_int_equal(s->p.next[2], -1);
	assert_int_equal(s->p.last[0], 2);
	assert_int_equal(s->p.count[1], 0);
	assert_int_equal(s->p.first[1], -1);
	assert_false(s->p.unclear_front[1]);
	end(s);
}

static void content_and_order_pair(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	/* overlapping, told apart by their tokens; the third by time alone */
	add(s, 0, 0, 100)->output_tokens = 10;
	add(s, 0, 1, 100)->output_tokens = 20;
	add(s, 0, 300, 400);
	add(s, 1, 10, 50)->output_tokens = 20;
	add(s, 1, 11, 50)->output_tokens = 10;
	add(s, 1, 310, 350)->output_tokens = 30;
	make(s);
	assert_int_equal(s->p.front[0], 1);
	assert_int_equal(s->p.front[1], 0);
	assert_int_equal(s->p.front[2], 2);
	assert_int_equal(s->p.keys[PAIRED_BY_CONTENT], 3);
	assert_int_equal(s->p.clock.checked, 0);
	end(s);
}

static void ambiguous_ones_stay_unpaired(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	add(s, 0, 0, 100);
	add(s, 0, 1, 100);
	add(s, 0, 500, 600);
	add(s, 1, 10, 50);
	add(s, 1, 11, 50);
	add(s, 1, 700, 800);
	make(s);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(s->p.front[i], -1);
		assert_true(s->p.unclear_front[i] && s->p.unclear_back[i]);
	}
	assert_false(s->p.unclear_front[2]); /* nothing behind could be it */
	assert_false(s->p.unclear_back[2]);
	end(s);
}

static void contradictions_keep_apart(void **state)
{
	(void)state;
	enum { MODEL, TEXT, STATUS, INPUT, OUTSIDE, UNSEEN, CASES };
	for (int c = 0; c < CASES; c++) {
		struct sides *s = sides_new();
		struct gateway_request *front = add(s, 0, 0, 100), *back = add(s, 1, 10, c == OUTSIDE ? 150 : 50);
		front->model = front->text = back->model = back->text = 1;
		front->input_tokens = back->input_tokens = 5;
		if (c == MODEL) { /* another request behind has the front's name, so names are those of the servers */
			back->model = 2;
			add(s, 1, 900, 950)->model = 1;
		}
		back->text = c == TEXT ? 2 : 1;
		back->input_tokens = c == INPUT ? 6 : 5;
		if (c == STATUS) {
			front->ok = back->ok = false;
			front->status = 429;
			back->status = 500;
		}
		front->unseen = c == UNSEEN;
		make(s);
		assert_int_equal(s->p.front[0], -1);
		end(s);
	}
}

static void renamed_models_pair(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	add(s, 0, 0, 100)->model = 1;
	add(s, 1, 10, 50)->model = 2;
	make(s);
	assert_int_equal(s->p.front[0], 0);
	end(s);
}

static void a_working_id_keeps_apart(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	add(s, 0, 0, 100)->ids[GATEWAY_REQUEST_ID] = 1;
	add(s, 0, 200, 300)->ids[GATEWAY_REQUEST_ID] = 2; /* answered by the gateway */
	add(s, 1, 10, 50)->ids[GATEWAY_REQUEST_ID] = 1;
	add(s, 1, 210, 250)->ids[GATEWAY_REQUEST_ID] = 3; /* by another client */
	make(s);
	assert_int_equal(s->p.front[0], 0);
	assert_int_equal(s->p.front[1], -1);
	end(s);
}

static void two_clocks_are_found(void **state)
{
	(void)state;
	struct sides *s = sides_new();
	for (int i = 0; i < 10; i++) {
		add(s, 0, 100 * i, 100 * i + 50)->ids[GATEWAY_REQUEST_ID] = (uint64_t)(i + 1);
		add(s, 1, 100 * i + 510, 100 * i + 540)->ids[GATEWAY_REQUEST_ID] = (uint64_t)(i + 1);
	}
	add(s, 0, 2000, 2100); /* by content it would pair */
	add(s, 1, 2010, 2050);
	make(s);
	assert_false(s->p.clock.one);
	assert_int_equal(s->p.clock.outside, 10);
	assert_int_equal(s->p.clock.apart_ns, (int64_t)490 * MS);
	for (int i = 0; i < 10; i++)
		assert_int_equal(s->p.front[i], i);
	assert_int_equal(s->p.front[10], -1);
	end(s);
}

/* Requests of unique ids at random times: each pairs with its own, whatever the order, and the lists agree. */
static void pairs_are_consistent(void **state)
{
	uint64_t random = test_seed("pairing");
	(void)state;
	for (int round = 0; round < few_or_many(300, 10000); round++) {
		struct sides *s = sides_new();
		const int count = 1 + (int)(test_random(&random) % (MOST - 1));
		int64_t paired = 0;
		for (int i = 0, at = 0; i < count; i++) {
			at += (int)(test_random(&random) % 20);
			const int id = (int)(test_random(&random) % (GATEWAY_IDS + 1));
			struct gateway_request *front = add(s, 0, at, at + 100), *back = add(s, 1, at + 2, at + 90);
			if (id < GATEWAY_IDS)
				front->ids[id] = back->ids[id] = test_random(&random) | 1;
		}
		make(s);
		for (int b = 0; b < count; b++) {
			const int32_t f = s->p.front[b];
			assert_true(f == b || f == -1);
			assert_true(f < 0 || s->p.first[f] == b);
			assert_true((f < 0) == (s->p.key[b] < 0));
			paired += f >= 0;
		}
		for (int key = 0; key < PAIRING_KEYS; key++)
			paired -= s->p.keys[key];
		assert_int_equal(paired, 0);
		end(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_id_pairs),
		cmocka_unit_test(the_first_id_counts),
		cmocka_unit_test(a_shared_id_pairs_by_time),
		cmocka_unit_test(retries_belong_to_one_request),
		cmocka_unit_test(content_and_order_pair),
		cmocka_unit_test(ambiguous_ones_stay_unpaired),
		cmocka_unit_test(contradictions_keep_apart),
		cmocka_unit_test(renamed_models_pair),
		cmocka_unit_test(a_working_id_keeps_apart),
		cmocka_unit_test(two_clocks_are_found),
		cmocka_unit_test(pairs_are_consistent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
