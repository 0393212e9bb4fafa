/* When stages begin and end, by schedule and records, and the tokens coming before. */
#include "unit.h"

#include "absent.h"
#include "measure/stage_edges.h"

#include <string.h>

enum { EVENTS = 10 };

/* Ten events of a token each, from 50 on every 100, of a stage; the lists of its row, or "". */
static const char *lists(struct stage_edges *edges, int64_t stage)
{
	static struct edge_lists room;
	static char text[200];
	struct response_event events[EVENTS];
	int64_t tokens[EVENTS];
	struct response response = {.events = events, .events_count = EVENTS};
	struct result row;
	memset(events, 0, sizeof events);
	for (int i = 0; i < EVENTS; i++) {
		events[i].t_ns = 50 + 100 * i;
		tokens[i] = 1;
	}
	result_init(&row);
	row.stage = stage;
	row.output_tokens = EVENTS;
	stage_edges_measure(edges, &response, tokens, &room, &row);
	snprintf(text, sizeof text, "%.*s%.*s", (int)row.edge_ns.len, row.edge_ns.data ? row.edge_ns.data : "",
	         (int)row.edge_tokens.len, row.edge_tokens.data ? row.edge_tokens.data : "");
	buffer_release(&room.times);
	buffer_release(&room.tokens);
	return text;
}

static void ended(struct stage_edges *edges, int64_t stage, int64_t end_ns)
{
	struct result row;
	result_init(&row);
	row.stage = stage;
	row.end_ns = end_ns;
	stage_edges_add(edges, &row);
}

static void edges_follow_the_schedule(void **state)
{
	(void)state;
	struct schedule_stage stages[] = {{.begin_ns = 0, .end_ns = 300}, {.begin_ns = 300, .end_ns = 650}};
	const struct schedule schedule = {.stages = stages, .count = 2};
	struct stage_edges *edges = stage_edges_new(&schedule);
	assert_non_null(edges);
	assert_string_equal(lists(edges, 0), "[300,650][3,6]"); /* an event at 650 comes after it */
	stages[0].end_ns = stages[1].begin_ns = 2000;
	stages[1].end_ns = 3000;
	stage_edges_free(edges);
	assert_non_null(edges = stage_edges_new(&schedule));
	assert_string_equal(lists(edges, 0), ""); /* no edge during the answer */
	stage_edges_free(edges);
}

static void after_a_burst(void **state)
{
	(void)state;
	struct schedule_stage stages[] = {{.begin_ns = 0, .end_ns = IPF_ABSENT, .arrivals = 2},
	                                  {.begin_ns = 0, .end_ns = 500, .arrivals = 1}};
	const struct schedule schedule = {.stages = stages, .count = 2};
	struct stage_edges *edges = stage_edges_new(&schedule);
	assert_non_null(edges);
	ended(edges, 0, 100);
	assert_string_equal(lists(edges, 1), ""); /* one of its requests is still in flight */
	ended(edges, 0, 200);
	assert_string_equal(lists(edges, 1), "[200,201,700][2,2,7]"); /* the next stage began when the last one ended */
	assert_string_equal(lists(edges, 0), "");                     /* which its own requests do not see */
	stage_edges_free(edges);
}

static void after_a_drain(void **state)
{
	(void)state;
	struct schedule_stage stages[] = {{.begin_ns = 0, .end_ns = 200, .arrivals = 1, .drain = true},
	                                  {.begin_ns = 200, .end_ns = 400, .arrivals = 1}};
	const struct schedule schedule = {.stages = stages, .count = 2};
	struct stage_edges *edges = stage_edges_new(&schedule);
	assert_non_null(edges);
	ended(edges, 0, 100); /* before its planned end, which then counts */
	assert_string_equal(lists(edges, 1), "[200,400][2,4]");
	stage_edges_free(edges);
	assert_non_null(edges = stage_edges_new(&schedule));
	ended(edges, 0, 320);
	assert_string_equal(lists(edges, 1), "[200,320,520][2,3,5]");
	ended(edges, 7, 999); /* no stage's */
	stages[0].arrivals = 0;
	stage_edges_free(edges);
	assert_non_null(edges = stage_edges_new(&schedule));
	assert_string_equal(lists(edges, 1), "[200,400][2,4]"); /* a rest that drains has nothing to wait for */
	stage_edges_add(NULL, NULL);
	stage_edges_free(edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_follow_the_schedule),
		cmocka_unit_test(after_a_burst),
		cmocka_unit_test(after_a_drain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
