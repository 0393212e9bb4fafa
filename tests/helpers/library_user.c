/* The uses of libipf in library.t, as by a user of it: only the installed headers.
 *
 *     walk STREAM              the kind of each line, and the line
 *     rows RECORDS             the rows that ipf-collect would write
 *     trace FILE               writes three requests, and tries some that are none
 *     schedule FILE TRACE SEED STAGE…
 *     times FILE TRACE NS…
 *     tokens TOKENIZER TEXT    ids, count and text again
 *     figures RESULTS          percentiles of TTFT, by samples and by a histogram
 *     stop WHO URL TRACE SCHEDULE SHORT RECORDS
 *                              fires a long schedule, which WHO ends after three requests: the callback "start",
 *                              "first_byte", "part" or "end", or a "thread"; then a short one with the same run. Prints
 *                              what was called
 *     two URL TRACE SCHEDULE RECORDS OTHER-RECORDS
 *                              fires it twice at the same time; prints how many requests ended in each run
 */
#include <ipf/ipf.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct ipf_error err;

static int walk(const char *path)
{
	struct ipf_reader *reader;
	struct ipf_line *line;
	int got = ipf_reader_open(&reader, path, NULL, &err);
	if (got < 0)
		return -1;
	printf("%s %s\n", ipf_reader_kind(reader), ipf_line_json(ipf_reader_header(reader), NULL));
	while ((got = ipf_reader_next(reader, &line, &err)) == 1)
		printf("%d %" PRId64 " %s\n", (int)ipf_line_kind(line), ipf_line_number(line), ipf_line_json(line, NULL));
	if (got == 0)
		printf("end %s\n", ipf_line_json(ipf_reader_trailer(reader), NULL));
	ipf_reader_close(reader);
	return got;
}

static int rows(const char *path)
{
	struct ipf_reader *reader;
	struct ipf_measure *measure = NULL;
	struct ipf_measure_options options = IPF_MEASURE_INIT;
	struct ipf_line *row;
	if (ipf_reader_open(&reader, path, "records", &err) < 0)
		return -1;
	options.keep_events = 1;
	int got = ipf_measure_open(&measure, reader, &options, &err);
	while (got >= 0 && (got = ipf_measure_next(measure, &row, &err)) == 1)
		puts(ipf_line_json(row, NULL));
	ipf_measure_close(measure);
	ipf_reader_close(reader);
	return got;
}

static void refused(struct ipf_writer *writer, const struct ipf_request *request)
{
	struct ipf_error why = {0};
	if (ipf_writer_request(writer, request, &why) < 0)
		puts(why.text);
}

static int trace(const char *path)
{
	struct ipf_writer *writer;
	struct ipf_request request = IPF_REQUEST_INIT, bad = IPF_REQUEST_INIT;
	if (ipf_writer_open(&writer, path, "trace", "library_user 1", "{\"note\":\"by hand\"}", &err) < 0)
		return -1;
	request.output_tokens = 8;
	for (int i = 0; i < 3; i++) {
		char id[16];
		snprintf(id, sizeof id, "r%d", i);
		request.id = id;
		request.prompt = i < 2 ? "Say \"a\"\n" : NULL;
		request.messages = i < 2 ? NULL : "[{\"role\":\"user\",\"content\":\"b\"}]";
		request.at_ns = i * 1000;
		if (ipf_writer_request(writer, &request, &err) < 0)
			break;
	}
	request.id = "ranking";
	request.messages = NULL;
	request.inputs = "[\"one\",\"two\"]";
	request.query = "which \"one\"?";
	request.at_ns = request.output_tokens = IPF_ABSENT;
	if (!err.kind)
		ipf_writer_request(writer, &request, &err);
	bad.prompt = "x";
	refused(writer, &bad);
	bad.id = "bad";
	bad.messages = "[]";
	refused(writer, &bad);
	bad.messages = "[],\"n\":[]";
	refused(writer, &bad);
	bad.messages = NULL;
	bad.prompt = "\xff";
	refused(writer, &bad);
	bad.prompt = "x";
	bad.output_tokens = -1;
	refused(writer, &bad);
	return err.kind ? (ipf_writer_abandon(writer), -1) : ipf_writer_close(writer, &err);
}

static int times(char **argv, int argc)
{
	int64_t at_ns[16];
	for (int i = 2; i < argc; i++)
		at_ns[i - 2] = strtoll(argv[i], NULL, 10);
	return ipf_schedule_times(argv[0], argv[1], "mine", at_ns, (size_t)argc - 2, &err);
}

static int tokens(const char *path, const char *text)
{
	struct ipf_tokenizer *t;
	uint32_t ids[256];
	char back[1024];
	if (ipf_tokenizer_open(&t, path, &err) < 0)
		return -1;
	struct ipf_text bytes = {text, strlen(text)};
	struct ipf_ids list = {ids, 0};
	int64_t count = ipf_tokenizer_encode(t, bytes, 0, ids, 256, &err);
	for (int64_t i = 0; i < count; i++)
		printf("%" PRIu32 "%c", ids[i], i + 1 < count ? ' ' : '\n');
	printf("%" PRId64 "\n", ipf_tokenizer_count(t, bytes, 0, &err));
	list.count = count < 0 ? 0 : (size_t)count;
	if (count >= 0 && ipf_tokenizer_decode(t, list, 0, back, sizeof back, &err) >= 0)
		puts(back);
	ipf_tokenizer_close(t);
	return err.kind ? -1 : 0;
}

static int figures(const char *path)
{
	struct ipf_reader *reader;
	struct ipf_line *line;
	struct ipf_samples *s = ipf_samples_new();
	struct ipf_histogram *h = ipf_histogram_new(), *itl = ipf_histogram_new();
	int64_t ns;
	int got = ipf_reader_open(&reader, path, "results", &err);
	if (got < 0 || !s || !h || !itl)
		return -1;
	while ((got = ipf_reader_next(reader, &line, &err)) == 1) {
		const char *name;
		size_t len;
		if (ipf_line_kind(line) == IPF_LINE_HISTOGRAM && ipf_line_text(line, "histogram", &name, &len, &err) == 1 &&
		    len == strlen("itl_ns") && memcmp(name, "itl_ns", len) == 0 &&
		    ipf_histogram_add_line(itl, line, "", &err) < 0)
			return -1;
		if (ipf_line_kind(line) == IPF_LINE_ROW && ipf_line_integer(line, "ttft_ns", &ns, &err) == 1) {
			ipf_samples_add(s, (double)ns);
			ipf_histogram_add(h, ns, 1);
		}
	}
	printf("{\"count\":%zu,\"p50\":%.17g,\"mean\":%.17g,\"histogram_count\":%" PRId64
	       ",\"histogram_p50\":%.17g,\"itl\":%" PRId64 "}\n",
	       ipf_samples_count(s), ipf_samples_percentile(s, 50), ipf_samples_mean(s), ipf_histogram_count(h),
	       ipf_histogram_percentile(h, 50), ipf_histogram_count(itl));
	ipf_samples_free(s);
	ipf_histogram_free(h);
	ipf_histogram_free(itl);
	ipf_reader_close(reader);
	return got;
}

/* ---- runs ---- */

struct seen {
	struct ipf_run *run;
	const char *who;                        /* ends the run; NULL: nobody */
	long starts, first_bytes, parts, bytes; /* by the thread that sends */
	long ends, failed;                      /* by the one that records */
	atomic_long ended;                      /* for the one that waits */
	struct ipf_error error;
};

static void maybe_stop(struct seen *s, const char *who, long times)
{
	if (s->who && !strcmp(s->who, who) && times >= 3)
		ipf_run_stop(s->run);
}

static void on_start(void *data, int64_t n, int64_t t_ns)
{
	struct seen *s = data;
	(void)n;
	s->starts += t_ns >= 0;
	maybe_stop(s, "start", s->starts);
}

static void on_first_byte(void *data, int64_t n, int64_t t_ns)
{
	struct seen *s = data;
	(void)n;
	s->first_bytes += t_ns >= 0;
	maybe_stop(s, "first_byte", s->first_bytes);
}

static void on_part(void *data, int64_t n, int64_t t_ns, const char *bytes, size_t len)
{
	struct seen *s = data;
	(void)n;
	s->parts += t_ns >= 0 && bytes;
	s->bytes += (long)len;
	maybe_stop(s, "part", s->parts);
}

static void on_end(void *data, struct ipf_line *record)
{
	struct seen *s = data;
	int64_t status;
	s->ends++;
	s->failed += ipf_line_integer(record, "status", &status, &s->error) != 1 || status != 200;
	atomic_fetch_add(&s->ended, 1);
	maybe_stop(s, "end", s->ends);
}

static void *stop_from_outside(void *data)
{
	struct seen *s = data;
	const struct timespec nap = {0, 1000000};
	while (atomic_load(&s->ended) < 3)
		nanosleep(&nap, NULL);
	ipf_run_stop(s->run);
	return NULL;
}

static int open_run(struct seen *s, const char *url, const char *trace, const char *records)
{
	const char *options[][2] = {{"url", url},    {"model", "sim"}, {"trace", trace}, {"output", records},
	                            {"grace", "0s"}, {"force", NULL},  {"threads", "1"}};
	struct ipf_run_callbacks callbacks = IPF_RUN_CALLBACKS_INIT;
	if (ipf_run_open(&s->run, &s->error) < 0)
		return -1;
	callbacks.data = s;
	callbacks.start = on_start;
	callbacks.first_byte = on_first_byte;
	callbacks.part = on_part;
	callbacks.end = on_end;
	int got = ipf_run_observe(s->run, &callbacks, &s->error);
	for (size_t i = 0; got == 0 && i < sizeof options / sizeof *options; i++)
		got = ipf_run_set(s->run, options[i][0], options[i][1], &s->error);
	return got;
}

static int fire(struct seen *s, const char *schedule)
{
	s->starts = s->first_bytes = s->parts = s->bytes = s->ends = s->failed = 0;
	atomic_store(&s->ended, 0);
	int got = ipf_run_fire(s->run, schedule, &s->error);
	printf("%d: %ld started, %ld answered, %d with text, %ld ended, %ld failed\n", got, s->starts, s->first_bytes,
	       s->bytes > 0, s->ends, s->failed);
	return got;
}

static int stop(char **argv)
{
	struct seen s = {.who = argv[0]};
	pthread_t thread;
	int waits = !strcmp(s.who, "thread");
	int got = open_run(&s, argv[1], argv[2], argv[5]);
	if (got == 0 && waits && pthread_create(&thread, NULL, stop_from_outside, &s) != 0)
		return -1;
	if (got == 0)
		got = fire(&s, argv[3]);
	if (got == 0 && waits)
		pthread_join(thread, NULL);
	s.who = NULL;
	if (got == 0)
		got = fire(&s, argv[4]);
	ipf_run_close(s.run);
	err = s.error;
	return got;
}

struct one_run {
	struct seen seen;
	const char *schedule;
	int got;
};

static void *fire_one(void *data)
{
	struct one_run *r = data;
	r->got = ipf_run_fire(r->seen.run, r->schedule, &r->seen.error);
	return NULL;
}

static int two(char **argv)
{
	static struct one_run runs[2];
	pthread_t threads[2];
	for (int i = 0; i < 2; i++) {
		runs[i].schedule = argv[2];
		if (open_run(&runs[i].seen, argv[0], argv[1], argv[3 + i]) < 0 ||
		    pthread_create(&threads[i], NULL, fire_one, &runs[i]) != 0)
			return -1;
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		printf("%d: %ld ended, %ld failed\n", runs[i].got, runs[i].seen.ends, runs[i].seen.failed);
		ipf_run_close(runs[i].seen.run);
		if (runs[i].got < 0)
			err = runs[i].seen.error;
	}
	return err.kind ? -1 : 0;
}

int main(int argc, char **argv)
{
	char text[IPF_ERROR_TEXT];
	int got = -1;
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "walk"))
		got = walk(argv[2]);
	else if (!strcmp(argv[1], "rows"))
		got = rows(argv[2]);
	else if (!strcmp(argv[1], "trace"))
		got = trace(argv[2]);
	else if (!strcmp(argv[1], "schedule") && argc > 5)
		got = ipf_schedule_write(argv[2], argv[3], (const char *const *)argv + 5, (size_t)argc - 5,
		                         strtoull(argv[4], NULL, 10), &err);
	else if (!strcmp(argv[1], "times") && argc > 3)
		got = times(argv + 2, argc - 2);
	else if (!strcmp(argv[1], "tokens") && argc == 4)
		got = tokens(argv[2], argv[3]);
	else if (!strcmp(argv[1], "figures"))
		got = figures(argv[2]);
	else if (!strcmp(argv[1], "stop") && argc == 8)
		got = stop(argv + 2);
	else if (!strcmp(argv[1], "two") && argc == 7)
		got = two(argv + 2);
	if (got < 0)
		fprintf(stderr, "%s\n", ipf_error_describe(&err, text, sizeof text));
	return ipf_error_status(&err);
}
