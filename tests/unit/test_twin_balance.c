/* How requests are spread over servers, of choices whose way is known. */
#include "fit/twin_balance.h"

#include "clock.h"
#include "stats/rng.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { SERVERS = 4, REQUESTS = 600, SESSIONS = 50, RANDOM = BALANCE_KINDS };

static int compare_servers(const void *a, const void *b)
{
	const struct measured_request *x = a, *y = b;
	return x->server != y->server ? (x->server > y->server) - (x->server < y->server)
	                              : (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The server of request k, after those before it. */
static int32_t choose(const struct measured_request *list, int64_t k, int way, struct rng *rng)
{
	int64_t in_flight[SERVERS] = {0};
	if (way == BALANCE_SESSION)
		return list[k].session * 7 % SERVERS;
	if (way == RANDOM)
		return (int32_t)(rng_uniform(rng) * SERVERS);
	if (way == BALANCE_ROUND_ROBIN)
		return (int32_t)(k % SERVERS);
	for (int64_t i = 0; i < k; i++)
		in_flight[list[i].server] += list[i].last_ns > list[k].start_ns;
	int32_t least = 0;
	for (int32_t s = 1; s < SERVERS; s++)
		least = in_flight[s] < in_flight[least] ? s : least;
	return least;
}

/* The finding for so many servers, from `parts` runs; ten in flight on average. */
static struct twin find(int way, int parts)
{
	struct twin twin;
	struct ipf_error err = {0};
	struct rng rng;
	struct twin_data data = {.requests = calloc((size_t)(REQUESTS * parts), sizeof *data.requests),
	                         .sessions = SESSIONS,
	                         .servers_each = SERVERS + 3};
	rng_init(&rng, 5, "balance", (uint64_t)way);
	for (int part = 0; part < parts; part++) {
		struct measured_request *list = &data.requests[part * REQUESTS];
		double t_ns = 0;
		for (int64_t k = 0; k < REQUESTS; k++) {
			t_ns += rng_exponential(&rng) * 100 * NS_PER_MS;
			list[k] = (struct measured_request){.start_ns = (int64_t)t_ns,
			                                    .last_ns = (int64_t)(t_ns + rng_exponential(&rng) * NS_PER_S),
			                                    .session = (int32_t)(rng_uniform(&rng) * SESSIONS)};
			list[k].server = choose(list, k, way, &rng);
		}
		for (int64_t k = 0; k < REQUESTS; k++)
			list[k].server += part * data.servers_each + 2; /* numbers that no request has are no servers */
	}
	data.request_count = REQUESTS * parts;
	qsort(data.requests, (size_t)data.request_count, sizeof *data.requests, compare_servers);
	twin_init(&twin);
	assert_int_equal(twin_balance_fit(&twin, &data, &err), 0);
	twin_data_release(&data);
	return twin;
}

static void ways_are_found(void **state)
{
	(void)state;
	for (int way = 0; way < BALANCE_KINDS; way++)
		for (int parts = 1; parts <= 2; parts++) {
			const struct twin found = find(way, parts);
			assert_int_equal(found.balancing, way);
			assert_true(found.balancing_share > 0.97);
		}
}

static void chance_is_no_way(void **state)
{
	(void)state;
	const struct twin found = find(RANDOM, 1);
	assert_int_equal(found.balancing, BALANCE_KINDS);
	assert_true(found.balancing_share < 0.2);
}

static void one_server_has_none(void **state)
{
	struct twin twin;
	struct ipf_error err = {0};
	struct measured_request requests[REQUESTS] = {0};
	struct twin_data data = {.requests = requests, .request_count = REQUESTS, .servers_each = 4};
	(void)state;
	for (int64_t k = 0; k < REQUESTS; k++)
		requests[k] = (struct measured_request){.start_ns = k, .last_ns = k + 5, .server = 1, .session = -1};
	twin_init(&twin);
	assert_int_equal(twin_balance_fit(&twin, &data, &err), 0);
	assert_int_equal(twin.balancing, BALANCE_KINDS);
	assert_true(isnan(twin.balancing_share));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_are_found),
		cmocka_unit_test(chance_is_no_way),
		cmocka_unit_test(one_server_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
