/* A search over servers made up here, noisy in a way of their own: is its answer as near as it says? And the highest
 * sustained rate of runs whose rate is known. */
#include "unit.h"

#include "absent.h"
#include "stats/rng.h"
#include "search/load_search.h"
#include "search/search_goal.h"
#include "search/sustained_rate.h"

#include <math.h>

struct server {
	double truth; /* meets the objectives up to this load */
	double noise; /* deviation of the logarithm of its capacity, from stage to stage */
	double slips; /* share of stages coming out anyhow */
};

/* One search to its end; how many stages it took. */
static size_t look(const struct load_search *by, const struct server *server, struct rng *rng,
                   struct load_search_answer *answer)
{
	enum { MOST = 80 };
	struct load_search_trial trials[MOST];
	struct ipf_error err = {0};
	size_t n = 0;

	for (;;) {
		assert_int_equal(load_search_next(by, trials, n, answer, &err), 0);
		if (answer->known || n == MOST)
			return n;
		assert_true(answer->next >= by->low && answer->next <= by->high);
		assert_true(!by->whole || answer->next == floor(answer->next));
		bool met = log(answer->next) + server->noise * rng_normal(rng) < log(server->truth);
		if (rng_uniform(rng) < server->slips)
			met = rng_uniform(rng) < 0.5;
		trials[n++] = (struct load_search_trial){answer->next, met ? 0.98 : 0.02};
	}
}

static void check_searches(bool whole, double noise, double slips, int searches, double most_stages)
{
	struct load_search by = {.low = 2, .high = 100, .precision = 0.08, .confidence = 0.95, .whole = whole};
	uint64_t seed = test_seed(__func__);
	size_t stages = 0;
	int right = 0;

	for (int i = 0; i < searches; i++) {
		struct rng rng;
		struct load_search_answer answer;
		rng_init(&rng, seed, "servers", (uint64_t)i);
		struct server server = {2.3 * exp(rng_uniform(&rng) * log(90 / 2.3)), noise, slips};
		stages += look(&by, &server, &rng, &answer);
		double truth = whole ? floor(server.truth) : server.truth;
		right += answer.where == SEARCH_WITHIN && fabs(answer.answer - truth) <= by.precision * truth;
	}
	printf("# noise %g, slips %g: %d of %d right, %.1f stages each\n", noise, slips, right, searches,
	       (double)stages / searches);
	/* 95 % of them, less three deviations of the count */
	assert_true(right >= 0.95 * searches - 3 * sqrt(searches * 0.95 * 0.05));
	assert_true((double)stages / searches <= most_stages);
}

static void test_a_quiet_server(void **state)
{
	(void)state;
	check_searches(false, 0.001, 0, 60, 14);
	check_searches(true, 0.001, 0, 40, 16);
}

static void test_a_noisy_server(void **state)
{
	(void)state;
	check_searches(false, 0.03, 0, 60, 20);
	check_searches(false, 0.03, 0.08, 60, 30);
}

static void test_beyond_the_range(void **state)
{
	struct load_search by = {.low = 2, .high = 100, .precision = 0.05, .confidence = 0.95};
	struct load_search_answer answer;
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, "servers", 0);
	look(&by, &(struct server){0.5, 0.001, 0}, &rng, &answer);
	assert_true(answer.known && answer.where == SEARCH_BELOW && answer.sure >= 0.95);
	look(&by, &(struct server){500, 0.001, 0}, &rng, &answer);
	assert_true(answer.known && answer.where == SEARCH_ABOVE && answer.sure >= 0.95);
}

/* A wrong stage far from the knee is outvoted, and nothing at all is known without one. */
static void test_one_wrong_stage(void **state)
{
	struct load_search by = {.low = 2, .high = 100, .precision = 0.05, .confidence = 0.95};
	struct load_search_trial trials[] = {{14, 0.02}, {12, 0.98}, {14, 0.98}, {30, 0.98},
	                                     {40, 0.02}, {30, 0.98}, {40, 0.02}};
	struct load_search_answer answer;
	struct ipf_error err = {0};

	(void)state;
	assert_int_equal(load_search_next(&by, NULL, 0, &answer, &err), 0);
	assert_false(answer.known);
	assert_true(fabs(answer.next / sqrt(200) - 1) < 0.05);
	assert_int_equal(load_search_next(&by, trials, sizeof trials / sizeof *trials, &answer, &err), 0);
	assert_true(answer.answer > 30 && answer.answer < 40);
}

/* ---- the highest sustained rate --------------------------------------------------------------------------------- */

/* A server that answers `lump` requests at a time, 100 a second in all, after it has filled up for ten seconds at half
 * that, and runs empty for five at a fifth. */
static void run_of(struct earlier_stage *stage, size_t lump, double noise, struct rng *rng)
{
	double t = 1;

	*stage = (struct earlier_stage){.rate = 150, .users = IPF_ABSENT, .measured = true};
	stage->rows = calloc(10000, sizeof *stage->rows);
	assert_non_null(stage->rows);
	while (t < 56) {
		double rate = t < 11 ? 50 : t < 51 ? 100 : 20;
		t += (double)lump / rate * (1 + noise * (rng_uniform(rng) - 0.5));
		for (size_t i = 0; i < lump; i++)
			stage->rows[stage->count++] = (struct earlier_request){
				.start_ns = 0, .end_ns = (int64_t)(t * 1e9), .ok = true};
	}
}

static void test_the_steady_rate(void **state)
{
	static const size_t lumps[] = {1, 10, 25};
	uint64_t seed = test_seed(__func__);
	int inside = 0, runs = 0;

	(void)state;
	for (size_t k = 0; k < 3; k++)
		for (uint64_t i = 0; i < 20; i++, runs++) {
			struct earlier_stage stage;
			struct sustained_rate found;
			struct ipf_error err = {0};
			struct rng rng;
			rng_init(&rng, seed, "answers", i);
			run_of(&stage, lumps[k], i % 2 ? 0.1 : 0.2, &rng);
			assert_int_equal(sustained_rate_find(&stage, &found, &err), 1);
			if (fabs(found.rate - 100) > 3)
				fail_msg("lumps of %zu, run %d: %.2f/s", lumps[k], (int)i, found.rate);
			assert_true(found.saturated);
			inside += found.least <= 100 && found.most >= 100;
			free(stage.rows);
		}
	printf("# the interval holds it in %d of %d\n", inside, runs);
	assert_true(inside >= 0.8 * runs);
}

static void test_few_answers_show_no_rate(void **state)
{
	struct earlier_request rows[SUSTAINED_RATE_LEAST - 1];
	struct earlier_stage stage = {.rate = 1, .users = IPF_ABSENT, .rows = rows, .count = SUSTAINED_RATE_LEAST - 1};
	struct sustained_rate found;
	struct ipf_error err = {0};

	(void)state;
	for (size_t i = 0; i < stage.count; i++)
		rows[i] = (struct earlier_request){.end_ns = (int64_t)i * 1000000000, .ok = true};
	assert_int_equal(sustained_rate_find(&stage, &found, &err), 0);
}

static void goals_have_the_labels_of_their_metrics(void **state)
{
	(void)state;
	struct search_goals goals = {.count = 0};
	struct ipf_error err = {0};
	struct buffer said = {0};
	assert_int_equal(search_goals_parse("p99:ttft=500ms,p90:itl_mean=50ms,ntpot=1s", &goals, &err), 0);
	search_goals_describe(&goals, &said);
	assert_string_equal(said.data, "p99 TTFT < 500 ms, p90 ITL (request mean) < 50 ms and p99 NTPOT < 1 s");
	assert_string_equal(search_goal_of_stream(&goals.list[1]), "itl_mean");
	assert_null(search_goal_of_stream(&goals.list[2]));
	assert_int_equal(search_goals_parse("p99:ttst=1s", &goals, &err), -1);
	buffer_release(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goals_have_the_labels_of_their_metrics),
		cmocka_unit_test(test_a_quiet_server),
		cmocka_unit_test(test_a_noisy_server),
		cmocka_unit_test(test_beyond_the_range),
		cmocka_unit_test(test_one_wrong_stage),
		cmocka_unit_test(test_the_steady_rate),
		cmocka_unit_test(test_few_answers_show_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
