/* Writes the records of a run that never was: answers of an OpenAI-compatible server, as many as wanted, in memory that
 * does not grow. For measuring ipf-collect.
 *
 *     recordgen DESCRIPTOR.json REQUESTS EVENTS SECONDS >records
 *
 * REQUESTS start evenly over SECONDS; each is answered by EVENTS events of one token, about 10 ms apart, and a report
 * of usage. The times are drawn with a fixed seed.
 */
#include "absent.h"
#include "stats/rng.h"
#include "stream/provenance.h"
#include "stream/record.h"

#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)

struct run {
	int64_t requests, events;
	int64_t apart_ns; /* between the starts of two requests */
	struct buffer body;
	struct record_read *reads; /* an event each; their times are set for each request */
	size_t reads_count;
	struct rng rng;
};

static void append(struct run *r, const char *json)
{
	size_t before = r->body.len;
	buffer_format(&r->body, "data: %s\n\n", json);
	r->reads[r->reads_count++].bytes = (int64_t)(r->body.len - before);
}

static void make_body(struct run *r)
{
	char json[512];
	for (int64_t i = 0; i < r->events; i++) {
		snprintf(
			json, sizeof json,
			"{\"id\":\"chatcmpl-7f3a9b2c4d5e6f708192a3b4c5d6e7f8\",\"object\":\"chat.completion.chunk\",\"created\":1763620000,"
			"\"model\":\"llama-3.1-8b\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%lld\"},\"logprobs\":null,"
			"\"finish_reason\":null}]}",
			(long long)i);
		append(r, json);
	}
	snprintf(json, sizeof json, "{\"choices\":[],\"usage\":{\"prompt_tokens\":512,\"completion_tokens\":%lld}}",
	         (long long)r->events);
	append(r, json);
	append(r, "[DONE]");
}

static void write_request(struct run *r, int64_t n, struct buffer *line)
{
	struct record record;
	record_init(&record);
	record.n = record.req = n;
	record.stage = 0;
	record.due_ns = record.ready_ns = n * r->apart_ns;
	record.start_ns = record.due_ns + 20000 + (int64_t)rng_below(&r->rng, 60000);
	int64_t t_ns = record.start_ns + 30 * MS + (int64_t)rng_below(&r->rng, 30 * MS);
	record.first_byte_ns = t_ns;
	for (size_t i = 0; i < r->reads_count; i++) {
		r->reads[i].t_ns = t_ns;
		r->reads[i].own_ns = t_ns + 900;
		t_ns += 8 * MS + (int64_t)rng_below(&r->rng, 4 * MS);
	}
	record.end_ns = r->reads[r->reads_count - 1].t_ns;
	record.status = 200;
	record.streamed = true;
	record.reads = r->reads;
	record.reads_count = r->reads_count;
	record.body = buffer_all(&r->body);
	record_write(&record, line);
}

static int write_run(struct run *r, json_t *api, struct ipf_error *err)
{
	struct stream_writer *writer;
	struct provenance p = {.tool = "recordgen", .argv = json_array(), .from = json_array(), .undated = true};
	json_t *header = stream_header("records", &p);
	struct buffer line = {0};
	json_object_set_new(header, "api", api);
	int status = stream_writer_open(&writer, NULL, header, err);
	json_decref(header);
	for (int64_t n = 0; n < r->requests && status == 0; n++) {
		write_request(r, n, &line);
		status = stream_writer_line(writer, &line, err);
	}
	buffer_release(&line);
	return status == 0 ? stream_writer_close(writer, NULL, err) : -1;
}

int main(int argc, char **argv)
{
	struct run r = {0};
	struct ipf_error err = {0};
	if (argc != 5) {
		fputs("usage: recordgen DESCRIPTOR.json REQUESTS EVENTS SECONDS >records\n", stderr);
		return 2;
	}
	json_t *api = json_load_file(argv[1], 0, NULL);
	r.requests = atoll(argv[2]);
	r.events = atoll(argv[3]);
	r.apart_ns = r.requests > 0 ? (int64_t)(atof(argv[4]) * 1e9) / r.requests : 0;
	r.reads = r.events > 0 ? calloc((size_t)r.events + 2, sizeof *r.reads) : NULL;
	if (!api || !r.reads) {
		fputs("recordgen: bad arguments, or no such descriptor\n", stderr);
		return 2;
	}
	make_body(&r);
	rng_init(&r.rng, 1, "recordgen", 0);
	int status = write_run(&r, api, &err) < 0 ? ipf_error_report(&err, stderr, "recordgen") : 0;
	free(r.reads);
	buffer_release(&r.body);
	return status;
}
