#include "job/job.h"

#include "absent.h"
#include "stream/record_attempt.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES    2048 /* in each of its buffers */
#define KEPT_READS    128
#define ERROR_TEXT    255
#define FIRST_READS   8
#define DOUBLED_READS 65536 /* from here on their number grows by a quarter */

/* The memory must be zero. */
static void make_absent(struct job *job)
{
	job->inputs = job->asked_outputs = job->continues = IPF_ABSENT;
	job->turn = job->input_tokens = job->output_tokens = job->hang_up_ns = job->prompt_bytes = IPF_ABSENT;
	job->due_ns = job->ready_ns = job->slot_ns = job->pool_ns = job->start_ns = job->dns_ns = job->connect_ns =
		job->tls_ns = IPF_ABSENT;
	job->left_ns = job->sent_ns = job->first_byte_ns = job->end_ns = job->connected_ns = job->target = job->connection =
		job->http = job->stream_resets = job->stale_idle_ns = job->status = job->date_s = job->date_ns =
			job->retry_after_ns = IPF_ABSENT;
}

struct job *job_new(void)
{
	struct job *job = aligned_alloc(_Alignof(struct job), sizeof *job);
	if (!job)
		return NULL;
	memset(job, 0, sizeof *job);
	make_absent(job);
	return job;
}

static void free_attempts(struct job_attempts *a)
{
	if (a)
		buffer_release(&a->list);
	free(a);
}

void job_free(struct job *job)
{
	if (!job)
		return;
	free(job->after);
	deferred_request_free(job->source);
	free(job->reads);
	buffer_release(&job->text);
	request_body_release(&job->request);
	free(job->url);
	curl_slist_free_all(job->headers_sent);
	free(job->error_text);
	buffer_release(&job->headers);
	buffer_release(&job->body);
	free_attempts(job->earlier);
	free(job);
}

static void keep_small(struct buffer *b)
{
	if (b->cap > KEPT_BYTES)
		buffer_release(b);
	else
		buffer_clear(b);
}

void job_sent(struct job *job, bool reuse)
{
	if (reuse)
		keep_small(&job->request.text);
	else
		buffer_release(&job->request.text);
	request_body_clear(&job->request);
}

/* Without memory for it there is no text. */
void job_fail(struct job *job, enum record_error error, const char *why)
{
	job->error = error;
	free(job->error_text);
	job->error_text = *why ? strndup(why, ERROR_TEXT) : NULL;
}

void job_reset(struct job *job)
{
	struct buffer *buffers[] = {&job->text, &job->request.text, &job->headers, &job->body};
	struct buffer kept[sizeof buffers / sizeof *buffers];
	struct record_read *reads = job->reads;
	uint32_t reads_cap = job->reads_cap;
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
		keep_small(buffers[i]);
		kept[i] = *buffers[i];
	}
	free(job->after);
	request_body_clear(&job->request);
	free(job->url);
	free_attempts(job->earlier);
	deferred_request_free(job->source);
	curl_slist_free_all(job->headers_sent);
	free(job->error_text);
	if (reads_cap > KEPT_READS) {
		free(reads);
		reads = NULL;
		reads_cap = 0;
	}
	memset(job, 0, sizeof *job);
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		*buffers[i] = kept[i];
	job->reads = reads;
	job->reads_cap = reads_cap;
	make_absent(job);
}

size_t job_bytes(const struct job *job)
{
	return sizeof *job + job->text.cap + request_body_memory(&job->request) + job->headers.cap + job->body.cap +
	       (job->earlier ? sizeof *job->earlier + job->earlier->list.cap : 0) + job->reads_cap * sizeof *job->reads +
	       job->arrival.after_count * sizeof *job->after;
}

int64_t job_answer_bytes(const struct job *job)
{
	return (int64_t)(job->body.len + job->reads_count * sizeof *job->reads);
}

static size_t answer_memory(const struct job *job)
{
	return job->body.cap + job->reads_cap * sizeof *job->reads;
}

static void change_count(struct job *job, struct memory_part *part, int64_t to)
{
	int64_t more = to - job->counted_bytes;
	if (!more)
		return;
	job->counted_bytes = to;
	counter_count(&part->taken, more);
	if (job->leaving)
		counter_count(&part->leaving, more);
}

void job_count_memory(struct job *job, struct memory_use *memory, size_t sender)
{
	struct memory_part *part = memory_use_of_sender(memory, sender);
	if (job->growing_bytes)
		counter_count(&part->growing, -job->growing_bytes);
	job->growing_bytes = 0;
	change_count(job, part, (int64_t)job_bytes(job));
}

bool job_count_growth(struct job *job, struct memory_use *memory, size_t sender)
{
	if (answer_memory(job) == job->answer_counted) /* nothing else grows, but for headers, which come before it */
		return false;
	int64_t more = (int64_t)job_bytes(job) - job->counted_bytes;
	job->answer_counted = answer_memory(job);
	struct memory_part *part = memory_use_of_sender(memory, sender);
	job->growing_bytes += more;
	counter_count(&part->growing, more);
	change_count(job, part, job->counted_bytes + more);
	return more > 0;
}

void job_leaves(struct job *job, struct memory_use *memory, size_t sender)
{
	if (!job->leaving)
		counter_count(&memory_use_of_sender(memory, sender)->leaving, job->counted_bytes);
	job->leaving = true;
}

void job_uncount_memory(struct job *job, struct memory_use *memory)
{
	change_count(job, memory_use_of_recorder(memory), 0);
}

int job_received(struct job *job, const void *data, size_t len, int64_t t_ns, int64_t own_ns)
{
	if (!len)
		return 0;
	if (!job->reads_count || t_ns > job->reads[job->reads_count - 1].t_ns) {
		if (job->reads_count == job->reads_cap) {
			uint32_t more = job->reads_cap < DOUBLED_READS ? job->reads_cap : job->reads_cap / 4;
			uint32_t cap = job->reads_cap ? job->reads_cap + more : FIRST_READS;
			struct record_read *reads = cap > job->reads_cap ? realloc(job->reads, cap * sizeof *reads) : NULL;
			if (!reads)
				return -1;
			job->reads = reads;
			job->reads_cap = cap;
		}
		job->reads[job->reads_count++] = (struct record_read){.t_ns = t_ns, .bytes = 0, .own_ns = own_ns};
	}
	buffer_append(&job->body, data, len);
	if (job->body.failed)
		return -1;
	job->reads[job->reads_count - 1].bytes += (int64_t)len;
	return 0;
}

/* Adds an element. Without memory for it the attempt is only counted. */
static void note_attempt(struct job *job, int64_t wait_ns)
{
	const struct record_attempt attempt = {.status = job->status,
	                                       .start_ns = job->start_ns,
	                                       .first_byte_ns = job->first_byte_ns,
	                                       .end_ns = job->end_ns,
	                                       .retry_after_ns = job->retry_after_ns,
	                                       .wait_ns = wait_ns,
	                                       .target = job->target,
	                                       .connection = job->connection,
	                                       .body_bytes = (int64_t)job->body.len,
	                                       .error = job->error,
	                                       .error_text = slice_of(job->error_text),
	                                       .body = buffer_all(&job->body)};
	record_attempt_write(&attempt, job->earlier->count, &job->earlier->list);
}

bool job_may_repeat(struct job *job)
{
	if (!job->earlier && (job->earlier = malloc(sizeof *job->earlier)))
		*job->earlier = (struct job_attempts){
			.job = job, .first_start_ns = IPF_ABSENT, .first_pool_ns = IPF_ABSENT, .attempt_ns = IPF_ABSENT};
	return job->earlier;
}

void job_attempted(struct job *job, int64_t wait_ns)
{
	struct job_attempts *earlier = job->earlier;
	if (!earlier->count) {
		earlier->first_start_ns = job->start_ns;
		earlier->first_pool_ns = job->pool_ns;
	}
	note_attempt(job, wait_ns);
	earlier->count++;
	job->pool_ns = job->start_ns = job->dns_ns = job->connect_ns = job->tls_ns = job->connected_ns = job->sent_ns =
		job->left_ns = job->first_byte_ns = job->end_ns = job->connection = job->http = job->stream_resets =
			job->stale_idle_ns = job->status = job->date_s = job->date_ns = job->retry_after_ns = IPF_ABSENT;
	job->reused = job->resumed = job->stale = false;
	job->asked = (struct retry_after){0};
	job_fail(job, RECORD_OK, "");
	job->headers_count = 0;
	job->reads_count = 0;
	keep_small(&job->headers);
	keep_small(&job->body);
}

bool job_broke_within_answer(const struct job *job)
{
	return job->error != RECORD_OK && job->error != RECORD_HUNG_UP && job->error != RECORD_CANCELLED &&
	       job->status >= 200 && job->status <= 299 && job->body.len;
}

void job_attempts_end(struct job *job)
{
	if (!job_attempts_count(job))
		return;
	job->earlier->attempt_ns = job->start_ns;
	job->start_ns = job->earlier->first_start_ns;
	job->pool_ns = job->earlier->first_pool_ns;
}

void job_record_parts_release(struct job_record_parts *parts)
{
	buffer_release(&parts->headers);
	buffer_release(&parts->attempts);
	buffer_release(&parts->after);
}

/* The members of a JSON map, or the elements of a list, between their brackets. Absent: there are none. */
static struct slice bracketed(const struct buffer *members, const char *brackets, struct buffer *to)
{
	if (!members->len || members->failed)
		return (struct slice){0};
	buffer_clear(to);
	buffer_byte(to, brackets[0]);
	buffer_slice(to, buffer_all(members));
	buffer_byte(to, brackets[1]);
	return buffer_all(to);
}

void job_to_record(const struct job *job, struct job_record_parts *parts, struct record *record)
{
	record_init(record);
	record->n = job->arrival.n;
	record->req = job->arrival.req;
	record->stage = job->arrival.stage;
	record->copy = job->arrival.copy ? job->arrival.copy : IPF_ABSENT;
	record->id = job->id;
	record->session = job->session;
	record->session_requests = job->arrival.session_requests > 1 ? job->arrival.session_requests : IPF_ABSENT;
	record->turn = job->turn;
	record->continues = job->continues;
	buffer_clear(&parts->after);
	schedule_after_write(&job->arrival, &parts->after);
	record->after = parts->after.failed || !parts->after.len ? (struct slice){0} : buffer_all(&parts->after);
	record->model = job->model;
	record->asked_input_tokens = job->input_tokens;
	record->asked_output_tokens = job->output_tokens;
	record->inputs = job->inputs;
	record->asked_outputs = job->asked_outputs;
	record->slo = job->slo;
	record->tags = job->tags;
	record->media = job->media;
	record->due_ns = job->due_ns;
	record->ready_ns = job->ready_ns;
	record->slot_ns = job->slot_ns;
	record->pool_ns = job->pool_ns;
	record->start_ns = job->start_ns;
	record->dns_ns = job->dns_ns;
	record->connect_ns = job->connect_ns;
	record->tls_ns = job->tls_ns;
	record->connected_ns = job->connected_ns;
	record->sent_ns = job->sent_ns;
	record->left_ns = job->left_ns;
	record->first_byte_ns = job->first_byte_ns;
	record->end_ns = job->end_ns;
	record->target = job->target;
	record->connection = job->connection;
	record->reused = job->reused;
	record->http = job->http;
	record->stream_resets = job->stream_resets;
	record->stale_idle_ns = job->stale_idle_ns;
	record->resumed = job->resumed;
	record->status = job->status;
	record->error = job->error;
	record->stale = job->stale;
	if (job->error_text)
		record->error_text = slice_of(job->error_text);
	record->headers = bracketed(&job->headers, "{}", &parts->headers);
	record->attempts = job->earlier ? bracketed(&job->earlier->list, "[]", &parts->attempts) : (struct slice){0};
	record->attempt_ns = job->earlier ? job->earlier->attempt_ns : IPF_ABSENT;
	record->retry_after_ns = job->retry_after_ns;
	record->streamed = job->streamed;
	record->request_bytes = job->request_bytes;
	record->prompt_bytes = job->prompt_bytes;
	record->reads = job->reads;
	record->reads_count = job->reads_count;
	if (job->body.len)
		record->body = buffer_all(&job->body);
}
