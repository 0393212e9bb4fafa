/* The file of a twin, and its answers in virtual time: every time follows by arithmetic from the parameters. */
#include "twin/twin_blocks.h"
#include "twin/twin_server.h"

#include "clock.h"

#include "unit.h"

#include <math.h>
#include <unistd.h>

#define MS NS_PER_MS

static const struct replicas_options one_replica = REPLICAS_DEFAULT;

static void plain(struct twin *t)
{
	twin_init(t);
	twin_set(t, TWIN_STEP_BASE, 10 * MS, 9.5 * MS, 10.5 * MS);
	twin_set(t, TWIN_STEP_SEQUENCE, MS, MS, MS);
	twin_set(t, TWIN_PREFILL, 1000, 900, 1100);
	twin_set(t, TWIN_OVERHEAD, 3 * MS, 2 * MS, 4 * MS);
	twin_set_unknown(t, TWIN_SEQUENCES, 12, "never more than 12 in flight; a closed loop of more users would tell");
}

/* ---- the file ---- */

static void save(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_written_twin_is_read(void **state)
{
	struct twin t, back;
	struct ipf_error err = {0};
	char path[64];
	(void)state;
	plain(&t);
	t.errors[TWIN_ERROR_TTFT] = (struct twin_error){0.01, 0.125};
	t.requests = 7;
	t.steps = 90;
	json_t *file = json_pack("{s:s, s:i}", "ipf", "twin", "version", 1);
	assert_int_equal(twin_to_json(&t, file), 0);
	snprintf(path, sizeof path, "/tmp/ipf-twin-%d.json", (int)getpid());
	assert_int_equal(json_dump_file(file, path, 0), 0);
	assert_int_equal(twin_read(&back, path, &err), 0);
	for (int i = 0; i < TWIN_PARAMETER_COUNT; i++) {
		const struct twin_parameter *a = &t.p[i], *b = &back.p[i];
		assert_true(a->value == b->value || (isnan(a->value) && isnan(b->value)));
		assert_true(a->low == b->low || (isnan(a->low) && isnan(b->low)));
		assert_true(a->at_least == b->at_least || (isnan(a->at_least) && isnan(b->at_least)));
	}
	assert_string_equal(back.p[TWIN_SEQUENCES].why, t.p[TWIN_SEQUENCES].why);
	assert_true(back.errors[TWIN_ERROR_TTFT].p99 == 0.125 && isnan(back.errors[TWIN_ERROR_E2E].p50));
	assert_int_equal(back.requests, 7);
	assert_true(twin_value(&back, TWIN_SEQUENCES) > 1e6);
	twin_release(&back);
	json_decref(file);
	remove(path);
}

static void wrong_files_are_refused(void **state)
{
	static const char *const files[][2] = {
		{"[", "not JSON"},
		{"{\"ipf\":\"results\"}", "not a twin"},
		{"{\"ipf\":\"twin\",\"version\":2}", "version 2"},
		{"{\"ipf\":\"twin\",\"version\":1}", "parameters: expected an object"},
		{"{\"ipf\":\"twin\",\"version\":1,\"parameters\":{\"speed\":{}}}", "unknown parameter \"speed\""},
		{"{\"ipf\":\"twin\",\"version\":1,\"parameters\":{\"step_base_ns\":{}}}", "either \"value\" or \"not_known\""},
		{"{\"ipf\":\"twin\",\"version\":1,\"parameters\":{\"step_base_ns\":{\"value\":-1}}}", "from 0 to 1e+12"},
		{"{\"ipf\":\"twin\",\"version\":1,\"parameters\":{\"step_base_ns\":{\"value\":\"x\"}}}", "expected a number"},
		{"{\"ipf\":\"twin\",\"version\":1,\"parameters\":{\"step_base_ns\":{\"value\":5,\"low\":6}}}", "not between"},
		{"{\"ipf\":\"twin\",\"version\":1,\"parameters\":{\"step_base_ns\":{\"value\":5}}}", "must be known"},
		{"{\"ipf\":\"twin\",\"version\":1,\"parameters\":{\"step_base_ns\":{\"value\":0},"
	     "\"step_per_sequence_ns\":{\"value\":1}}}",
	     "less than a microsecond"},
	};
	char path[64];
	(void)state;
	snprintf(path, sizeof path, "/tmp/ipf-twin-%d.json", (int)getpid());
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct twin t;
		struct ipf_error err = {0};
		save(path, files[i][0]);
		assert_int_equal(twin_read(&t, path, &err), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		if (!strstr(err.text, files[i][1]))
			fail_msg("%s: %s", files[i][0], err.text);
	}
	remove(path);
}

/* ---- the server ---- */

struct seen {
	struct twin_server *server;
	int64_t now_ns, times[64];
	int count;
	int leave_after; /* tokens; 0: stays */
};

static void note(struct twin_answer *a, void *data)
{
	struct seen *s = data;
	assert_true(s->count < 64);
	s->times[s->count++] = s->now_ns;
	if (s->leave_after && a->sequence.produced == s->leave_after)
		twin_server_cancel(s->server, a);
}

/* Up to and with this time. */
static void run_until(struct seen *s, int64_t until_ns)
{
	for (int64_t wake; (wake = twin_server_wake(s->server)) <= until_ns && wake != INT64_MAX;) {
		s->now_ns = wake > s->now_ns ? wake : s->now_ns;
		twin_server_run(s->server, s->now_ns, note, s);
	}
}

static void run_all(struct seen *s)
{
	run_until(s, INT64_MAX);
}

static void one_request_alone(void **state)
{
	struct twin t;
	struct seen s = {0};
	struct twin_answer a = {.sequence.output_tokens = 3};
	struct ipf_error err = {0};
	(void)state;
	plain(&t);
	assert_int_equal(twin_server_open(&s.server, &t, &one_replica, 1, &err), 0);
	twin_answer_prompt(&a, 20);
	twin_server_send(s.server, &a, 5 * MS);
	run_all(&s);
	assert_int_equal(s.count, 3);
	assert_int_equal(s.times[0], (5 + 3 + 11 + 20) * MS);
	assert_int_equal(s.times[2] - s.times[1], 11 * MS);
	twin_answer_release(&a);
	twin_server_close(s.server);
}

/* The second comes while a step is under way; on a replica of its own it waits for none. */
static void replicas_have_their_own_steps(void **state)
{
	(void)state;
	for (size_t replicas = 1; replicas <= 2; replicas++) {
		struct replicas_options number = REPLICAS_DEFAULT;
		struct twin t;
		struct seen s = {0};
		struct twin_answer a[2] = {{.sequence.output_tokens = 1}, {.sequence.output_tokens = 1}};
		struct ipf_error err = {0};
		plain(&t);
		number.least = number.most = (int64_t)replicas;
		assert_int_equal(twin_server_open(&s.server, &t, &number, 1, &err), 0);
		for (int i = 0; i < 2; i++) {
			twin_answer_prompt(&a[i], 20);
			a[i].replica = (size_t)i % replicas;
			twin_server_send(s.server, &a[i], i * MS);
		}
		run_all(&s);
		assert_int_equal(s.times[0], (3 + 31) * MS);
		assert_int_equal(s.times[1], replicas == 1 ? (3 + 31 + 31) * MS : (1 + 3 + 31) * MS);
		for (int i = 0; i < 2; i++)
			twin_answer_release(&a[i]);
		twin_server_close(s.server);
	}
}

static void blocks_are_found_again(void **state)
{
	struct twin t;
	struct seen s = {0};
	struct ipf_error err = {0};
	struct twin_answer a = {.sequence.output_tokens = 14}, b = {.sequence.output_tokens = 1};
	(void)state;
	plain(&t);
	twin_set(&t, TWIN_PREFIX_CACHE, 1, 1, 1);
	assert_int_equal(twin_server_open(&s.server, &t, &one_replica, 1, &err), 0);
	for (uint64_t i = 1; i <= 3; i++)
		twin_answer_block(&a, i); /* the third one is completed by the answer */
	twin_answer_prompt(&a, 36);
	for (uint64_t i = 1; i <= 4; i++)
		twin_answer_block(&b, i);
	twin_answer_prompt(&b, 70);
	twin_server_send(s.server, &a, 0);
	run_all(&s);
	twin_server_send(s.server, &b, 1000 * MS);
	run_all(&s);
	assert_int_equal(a.sequence.cached_tokens, 0);
	assert_int_equal(b.sequence.cached_tokens, 48);
	assert_false(twin_answer_failed(&b));
	twin_answer_release(&a);
	twin_answer_release(&b);
	twin_server_close(s.server);
}

static void clients_can_leave(void **state)
{
	struct twin t;
	struct seen s = {.leave_after = 2};
	struct ipf_error err = {0};
	struct twin_answer a = {.sequence.output_tokens = 9}, b = {.sequence.output_tokens = 9};
	(void)state;
	plain(&t);
	assert_int_equal(twin_server_open(&s.server, &t, &one_replica, 1, &err), 0);
	twin_answer_prompt(&a, 10);
	twin_answer_prompt(&b, 10);
	twin_server_send(s.server, &a, 0);
	twin_server_send(s.server, &b, 0);
	twin_server_cancel(s.server, &b); /* before it arrives */
	run_all(&s);
	assert_int_equal(s.count, 2);
	twin_server_send(s.server, &b, s.times[1] + MS); /* the server is idle again */
	run_all(&s);
	assert_int_equal(s.count, 4);
	twin_answer_release(&a);
	twin_answer_release(&b);
	twin_server_close(s.server);
}

static void blocks_of_other_tokens(void **state)
{
	(void)state;
	assert_true(twin_blocks_factor(0, 10) == 1 && twin_blocks_factor(10, 0) == 1);
	assert_true(twin_blocks_factor(1009, 1000) == 1 && twin_blocks_factor(1500, 1000) == 1.5);
	/* two of the server's tokens for one of ours: two blocks end in each of ours, but differ */
	assert_int_equal(twin_blocks_place(2, 0), 1);
	assert_int_equal(twin_blocks_place(2, 1), 1);
	assert_int_equal(twin_blocks_place(2, 2), 1);
	assert_int_equal(twin_blocks_place(2, 3), 2);
	assert_int_equal(twin_blocks_place(0.5, 0), 2);
	assert_true(twin_blocks_hash(7, 0) != twin_blocks_hash(7, 1) && twin_blocks_hash(7, 0) != twin_blocks_hash(8, 0));
}

static void count_changes(void *data)
{
	++*(int *)data;
}

static size_t choose_the_first(struct twin_answer *answer, void *data)
{
	(void)answer, (void)data;
	return 0;
}

static struct twin_answer with_block(int64_t output)
{
	struct twin_answer a = {.sequence.output_tokens = output};
	twin_answer_block(&a, 7);
	twin_answer_prompt(&a, 20);
	return a;
}

/* One until 1 s, none, and again one from 2 s on. */
static void replicas_come_and_go(void **state)
{
	struct twin t;
	struct seen s = {0};
	struct ipf_error err = {0};
	struct replicas_options series;
	int changes = 0;
	struct twin_answer first = with_block(1), at_the_end = with_block(3), waits = with_block(1), leaves = with_block(1);
	(void)state;
	plain(&t);
	twin_set(&t, TWIN_PREFIX_CACHE, 1, 1, 1);
	assert_int_equal(replicas_parse_any("1,0@1s,1@2s", &series, &err), 0);
	assert_int_equal(twin_server_open(&s.server, &t, &series, 1, &err), 0);
	twin_server_scale(s.server, &(struct twin_scaling){count_changes, choose_the_first, &changes});
	twin_server_send(s.server, &first, 0);
	run_until(&s, 990 * MS);
	twin_server_send(s.server, &at_the_end, 990 * MS);
	run_until(&s, 1500 * MS);
	assert_false(twin_server_is_ready(s.server, 0));
	assert_int_equal(changes, 1);
	waits.replica = leaves.replica = TWIN_NO_REPLICA;
	twin_server_send(s.server, &leaves, 1500 * MS);
	twin_server_send(s.server, &waits, 1500 * MS);
	run_until(&s, 1600 * MS);
	assert_false(waits.arrived);
	twin_server_cancel(s.server, &leaves);
	run_all(&s);
	assert_int_equal(changes, 2);
	assert_int_equal(s.count, 5);
	assert_int_equal(s.times[0], (3 + 31) * MS);
	assert_int_equal(s.times[3], (990 + 3 + 15 + 11 + 11) * MS); /* 16 of 20 tokens were in the cache */
	assert_int_equal(s.times[4], (2000 + 31) * MS);
	assert_int_equal(waits.sequence.cached_tokens, 0); /* a new server has none */
	assert_false(twin_server_failed(s.server));
	twin_answer_release(&first);
	twin_answer_release(&at_the_end);
	twin_answer_release(&waits);
	twin_answer_release(&leaves);
	twin_server_close(s.server);
}

/* ---- changed parameters ---- */

static void a_parameter_can_be_another(void **state)
{
	static const struct {
		const char *text;
		double value; /* NAN: refused */
		const char *says;
	} cases[] = {
		{"kv_blocks=9000", 9000, NULL},
		{"kv_blocks=x2", 2002, NULL},
		{"kv_blocks=x0.5", 500, NULL},
		{"kv_blocks=x1e1", 10010, NULL},
		{"kv_blocks", NAN, "expected NAME=VALUE or NAME=xFACTOR, got \"kv_blocks\""},
		{"blocks=1", NAN, "a twin has no parameter \"blocks\" (ipf-twin(1))"},
		{"kv_block=1", NAN, "a twin has no parameter \"kv_block\" (ipf-twin(1))"},
		{"kv_blocks=", NAN, "kv_blocks: expected a number or a factor such as x2, got \"\""},
		{"kv_blocks=x", NAN, "kv_blocks: expected a number or a factor such as x2, got \"x\""},
		{"kv_blocks=2x", NAN, "kv_blocks: expected a number or a factor such as x2, got \"2x\""},
		{"kv_blocks=0x10", NAN, "kv_blocks: expected a number or a factor such as x2, got \"0x10\""},
		{"kv_blocks=nan", NAN, "kv_blocks: expected a number or a factor such as x2, got \"nan\""},
		{"kv_blocks=0", NAN, "kv_blocks: expected a value from 1 to 1.67772e+07, got 0"},
		{"kv_blocks=-3", NAN, "kv_blocks: expected a value from 1 to 1.67772e+07, got -3"},
		{"kv_blocks=x1e9", NAN, "kv_blocks: expected a value from 1 to 1.67772e+07, got x1e9: 1.001e+12"},
		{"input_tokens=3", NAN, "input_tokens: expected a factor from x0.01 to x100, got \"3\""},
		{"output_tokens=x101", NAN, "output_tokens: expected a factor from x0.01 to x100, got \"x101\""},
		{"most_sequences=x2", NAN, "most_sequences: the twin does not know it, so it has no multiple: give a value"},
		{"step_base_ns=0", NAN, "step_base_ns: a step would take less than a microsecond"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct twin t;
		struct ipf_error err = {0};
		twin_init(&t);
		twin_set(&t, TWIN_STEP_BASE, 1e6, 1e6, 1e6);
		twin_set(&t, TWIN_STEP_SEQUENCE, 0, 0, 0);
		twin_set(&t, TWIN_KV_BLOCKS, 1001, 900, 1100);
		assert_int_equal(twin_assume(&t, cases[i].text, &err), isnan(cases[i].value) ? -1 : 0);
		if (isnan(cases[i].value))
			assert_string_equal(err.text, cases[i].says);
		else
			assert_true(t.p[TWIN_KV_BLOCKS].assumed && twin_engine(&t, 1).kv_blocks == (int64_t)cases[i].value);
		assert_int_equal(err.kind, isnan(cases[i].value) ? IPF_USAGE : IPF_OK);
		twin_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_twin_is_read), cmocka_unit_test(wrong_files_are_refused),
		cmocka_unit_test(one_request_alone),      cmocka_unit_test(replicas_have_their_own_steps),
		cmocka_unit_test(blocks_are_found_again), cmocka_unit_test(clients_can_leave),
		cmocka_unit_test(replicas_come_and_go),   cmocka_unit_test(a_parameter_can_be_another),
		cmocka_unit_test(blocks_of_other_tokens),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
