/* How exchanges end that have no whole answer when their connection ends: each combination by hand. */
#include "unit.h"

#include "absent.h"
#include "capture/talk.h"

static const char reset[] = "the client reset it", broke[] = "it broke", left[] = "the client closed the connection",
				  closed[] = "the server closed the connection before the end of its answer";

/* Times: it began at 10, and the connection ended at 50. */
static const struct {
	int64_t first_byte_ns, read_ns, left_ns;
	bool server_finished;
	enum record_error ended;
	enum capture_damage damage;
	enum record_error error;
	const char *why;
	int64_t end_ns;
} cases[] = {
	/* the server went */
	{IPF_ABSENT, 0, IPF_ABSENT, true, RECORD_OK, DAMAGE_NONE, RECORD_RESET, closed, 50},
	{20, 0, IPF_ABSENT, true, RECORD_OK, DAMAGE_NONE, RECORD_CUT, closed, 50},
	{20, 30, IPF_ABSENT, true, RECORD_OK, DAMAGE_NONE, RECORD_CUT, closed, 50},
	{20, 0, IPF_ABSENT, false, RECORD_RESET, DAMAGE_NONE, RECORD_RESET, broke, 50},
	/* the client went, and read no more */
	{20, 30, 30, false, RECORD_OK, DAMAGE_NONE, RECORD_HUNG_UP, left, 30},
	{20, 30, 40, false, RECORD_OK, DAMAGE_NONE, RECORD_HUNG_UP, left, 40},
	{20, 0, 40, false, RECORD_RESET, DAMAGE_NONE, RECORD_HUNG_UP, left, 40},
	{IPF_ABSENT, 0, 40, true, RECORD_OK, DAMAGE_NONE, RECORD_HUNG_UP, left, 40},
	/* it read on after it had sent all */
	{20, 31, 30, true, RECORD_OK, DAMAGE_NONE, RECORD_CUT, closed, 50},
	{35, 0, 30, true, RECORD_OK, DAMAGE_NONE, RECORD_CUT, closed, 50},
	{35, 0, 30, true, RECORD_RESET, DAMAGE_NONE, RECORD_RESET, broke, 50},
	/* it reset the connection */
	{20, 30, IPF_ABSENT, false, RECORD_HUNG_UP, DAMAGE_NONE, RECORD_HUNG_UP, reset, 50},
	{20, 45, 40, false, RECORD_HUNG_UP, DAMAGE_NONE, RECORD_HUNG_UP, reset, 45},
	{20, 30, 40, true, RECORD_HUNG_UP, DAMAGE_NONE, RECORD_HUNG_UP, reset, 40},
	{20, 30, IPF_ABSENT, true, RECORD_HUNG_UP, DAMAGE_NONE, RECORD_CUT, closed, 50},
	/* the capture has not all of it */
	{20, 30, 40, false, RECORD_OK, DAMAGE_OPEN, RECORD_OK, NULL, 50},
	{20, 60, IPF_ABSENT, false, RECORD_OK, DAMAGE_LOST, RECORD_OK, NULL, 60},
	{70, 0, IPF_ABSENT, false, RECORD_OK, DAMAGE_LOST, RECORD_OK, NULL, 70},
};

static void exchanges_end_as_their_connections_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct captured_memory memory = {0};
		struct captured *x = captured_new();
		assert_non_null(x);
		x->start_ns = 10;
		x->first_byte_ns = cases[i].first_byte_ns;
		if (cases[i].read_ns) {
			x->reads = calloc(2, sizeof *x->reads);
			x->reads[0].t_ns = 25;
			x->reads[1].t_ns = cases[i].read_ns;
			x->reads_count = 2;
		}
		const struct talk_closing closing = {cases[i].left_ns, cases[i].server_finished};
		const struct talk_end end = {cases[i].ended, cases[i].damage, cases[i].ended == RECORD_HUNG_UP ? reset : broke,
		                             50};
		const int64_t end_ns = talk_end_exchange(x, &closing, &end);
		if (x->error != cases[i].error || x->damage != cases[i].damage || end_ns != cases[i].end_ns ||
		    (cases[i].why ? !x->why || strcmp(x->why, cases[i].why) != 0 : x->why != NULL))
			fail_msg("case %zu: error %d (%s), damage %d, at %lld", i, x->error, x->why ? x->why : "", x->damage,
			         (long long)end_ns);
		captured_free(x, &memory);
	}
}

static void exchanges_are_numbered(void **state)
{
	struct tcp_connection tcp = {.ends = {{.port = 1}, {.port = 2}}};
	struct talk_context context = {0};
	(void)state;
	for (int before = 0; before < 2; before++) {
		struct talk_about about = {.tcp = &tcp, .number = 5 + before, .began_before = before};
		for (int64_t i = 0; i < 2; i++) {
			struct captured *x = talk_begin(&context, &about, 100 + i);
			assert_int_equal(x->number, 2 * before + i);
			assert_int_equal(x->reused, before || i > 0);
			assert_int_equal(x->connection, 5 + before);
			assert_int_equal(x->client.port, 1);
			assert_int_equal(x->server.port, 2);
			assert_int_equal(x->start_ns, 100 + i);
			captured_free(x, &context.memory);
		}
		assert_int_equal(about.exchanges, 2);
	}
	assert_int_equal(context.exchanges, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchanges_end_as_their_connections_do),
		cmocka_unit_test(exchanges_are_numbered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
