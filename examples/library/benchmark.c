/* A benchmark as code: prepares requests, fires them at a server, measures each answer when it ends, and prints.
 *
 *     cc -o benchmark benchmark.c $(pkg-config --cflags --libs ipf)
 *     ./benchmark http://localhost:8000 llama-3.1-8b 20 30        # 20 requests/s for 30 s
 */
#include <ipf/ipf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE    "benchmark.trace.zst"
#define SCHEDULE "benchmark.sched"
#define RECORDS  "benchmark.records.zst"

struct benchmark {
	struct ipf_measure *measure;
	struct ipf_samples *ttft, *e2e;
	long sent, answered, failed;
	struct ipf_error err; /* the recording thread's */
};

static int prepare(long requests, struct ipf_error *err)
{
	struct ipf_writer *trace;
	struct ipf_request request = IPF_REQUEST_INIT;
	char id[32], prompt[128];
	if (ipf_writer_open(&trace, TRACE, "trace", "benchmark 1", NULL, err) < 0)
		return -1;
	request.id = id;
	request.prompt = NULL;
	request.output_tokens = 64;
	request.messages = prompt;
	for (long i = 0; i < requests; i++) {
		snprintf(id, sizeof id, "%ld", i);
		snprintf(prompt, sizeof prompt, "[{\"role\":\"user\",\"content\":\"Tell me about the number %ld.\"}]", i);
		if (ipf_writer_request(trace, &request, err) < 0) {
			ipf_writer_abandon(trace);
			return -1;
		}
	}
	return ipf_writer_close(trace, err);
}

/* By the sending thread: it must return at once. */
static void on_start(void *data, int64_t n, int64_t t_ns)
{
	struct benchmark *b = data;
	(void)n;
	(void)t_ns;
	b->sent++;
}

/* By the recording thread, which does not delay the sending. An absent duration is no sample. */
static void on_end(void *data, struct ipf_line *record)
{
	struct benchmark *b = data;
	struct ipf_line *row;
	int64_t ttft_ns, e2e_ns;
	int ok;
	if (ipf_measure_line(b->measure, record, &row, &b->err) != 1 || ipf_line_flag(row, "ok", &ok, &b->err) < 0)
		return;
	b->answered += ok;
	b->failed += !ok;
	if (ok && ipf_line_integer(row, "ttft_ns", &ttft_ns, &b->err) == 1)
		ipf_samples_add(b->ttft, (double)ttft_ns / 1e6);
	if (ok && ipf_line_integer(row, "e2e_ns", &e2e_ns, &b->err) == 1)
		ipf_samples_add(b->e2e, (double)e2e_ns / 1e6);
}

static int fire(struct benchmark *b, const char *url, const char *model, struct ipf_error *err)
{
	const char *options[][2] = {{"url", url},        {"model", model}, {"trace", TRACE},
	                            {"output", RECORDS}, {"threads", "1"}, {"force", NULL}};
	struct ipf_run_callbacks callbacks = IPF_RUN_CALLBACKS_INIT;
	struct ipf_run *run;
	int got = ipf_run_open(&run, err);
	if (got < 0)
		return -1;
	callbacks.data = b;
	callbacks.start = on_start;
	callbacks.end = on_end;
	got = ipf_run_observe(run, &callbacks, err);
	for (size_t i = 0; got == 0 && i < sizeof options / sizeof *options; i++)
		got = ipf_run_set(run, options[i][0], options[i][1], err);
	if (got == 0)
		got = ipf_run_fire(run, SCHEDULE, err);
	ipf_run_close(run);
	return got;
}

static int benchmark(struct benchmark *b, char **argv, struct ipf_error *err)
{
	struct ipf_measure_options options = IPF_MEASURE_INIT;
	char stage[128];
	const char *stages[] = {stage};
	snprintf(stage, sizeof stage, "poisson:rate=%s,for=%ss", argv[3], argv[4]);
	options.api = "openai-chat";
	b->ttft = ipf_samples_new();
	b->e2e = ipf_samples_new();
	if (!b->ttft || !b->e2e)
		return -1;
	return prepare((long)(atof(argv[3]) * atof(argv[4])) + 1, err) < 0 ||
	               ipf_schedule_write(SCHEDULE, TRACE, stages, 1, 1, err) < 0 ||
	               ipf_measure_open(&b->measure, NULL, &options, err) < 0 || fire(b, argv[1], argv[2], err) < 0
	           ? -1
	           : 0;
}

int main(int argc, char **argv)
{
	struct benchmark b = {0};
	struct ipf_error err = {0};
	char text[IPF_ERROR_TEXT];
	if (argc != 5) {
		fprintf(stderr, "usage: benchmark URL MODEL RATE SECONDS\n");
		return 2;
	}
	benchmark(&b, argv, &err);
	if (!err.kind)
		err = b.err;
	if (err.kind)
		fprintf(stderr, "benchmark: %s\n", ipf_error_describe(&err, text, sizeof text));
	printf("%ld sent, %ld answered, %ld failed\n", b.sent, b.answered, b.failed);
	if (b.answered)
		printf("TTFT p50 %.2f ms, p99 %.2f ms; E2E p50 %.2f ms\n", ipf_samples_percentile(b.ttft, 50),
		       ipf_samples_percentile(b.ttft, 99), ipf_samples_percentile(b.e2e, 50));
	ipf_measure_close(b.measure);
	ipf_samples_free(b.ttft);
	ipf_samples_free(b.e2e);
	return ipf_error_status(&err);
}
