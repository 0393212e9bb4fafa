#include "anonymize/anonymous_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A request that owns its hashes and its model's name, which follow it. */
struct held_request {
	struct anonymous_request request;
	uint64_t sequence; /* of requests with one arrival, the first comes first */
	uint64_t hashes[];
};

/* ---- lines ---- */

enum { DIGITS = 20 }; /* of 64 bits */

/* Returns the end of the digits. */
static char *write_number(char *to, uint64_t number)
{
	char digits[DIGITS], *at = digits + sizeof digits;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	const size_t len = (size_t)(digits + sizeof digits - at);
	memcpy(to, at, len);
	return to + len;
}

static void put_number(struct buffer *line, uint64_t number)
{
	char digits[DIGITS];
	buffer_append(line, digits, (size_t)(write_number(digits, number) - digits));
}

/* Nanoseconds as the decimal number of milliseconds that is exactly as much. */
static void put_ms(struct buffer *line, int64_t ns)
{
	int64_t rest = ns % 1000000;
	put_number(line, (uint64_t)(ns / 1000000));
	if (rest)
		buffer_byte(line, '.');
	for (int64_t unit = 100000; rest; rest %= unit, unit /= 10)
		buffer_byte(line, (char)('0' + rest / unit));
}

static void put_hashes(struct buffer *line, const struct anonymous_request *r)
{
	buffer_text(line, ", \"hash_ids\": [");
	char *to = buffer_reserve(line, r->hash_count * (DIGITS + 2)), *at = to;
	for (size_t i = 0; to && i < r->hash_count; i++) {
		if (i)
			at = (char *)memcpy(at, ", ", 2) + 2;
		at = write_number(at, r->hashes[i]);
	}
	line->len += to ? (size_t)(at - to) : 0;
	buffer_byte(line, ']');
}

/* A turn without an arrival starts after the one before it; any other request without one, at the beginning. */
static void put_times(struct buffer *line, const struct anonymous_request *r)
{
	const bool later_turn = r->turn != IPF_ABSENT && r->turn > 0;
	if (r->at_ns != IPF_ABSENT || !later_turn) {
		buffer_text(line, "\"timestamp\": ");
		put_ms(line, r->at_ns == IPF_ABSENT ? 0 : r->at_ns);
		buffer_text(line, ", ");
	}
	if (r->wait_ns != IPF_ABSENT || (later_turn && r->at_ns == IPF_ABSENT)) {
		buffer_text(line, "\"delay\": ");
		put_ms(line, r->wait_ns == IPF_ABSENT ? 0 : r->wait_ns);
		buffer_text(line, ", ");
	}
}

static int write_line(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	struct buffer *line = &t->line;
	buffer_clear(line);
	buffer_byte(line, '{');
	put_times(line, r);
	buffer_text(line, "\"input_length\": ");
	put_number(line, (uint64_t)r->input_tokens);
	buffer_text(line, ", \"output_length\": ");
	put_number(line, (uint64_t)r->output_tokens);
	put_hashes(line, r);
	if (r->turn != IPF_ABSENT)
		buffer_format(line, ", \"session_id\": \"%016llx\"", (unsigned long long)r->session);
	if (r->model.data) {
		buffer_text(line, ", \"model\": ");
		buffer_slice(line, r->model);
	} else if (r->model_key) {
		buffer_format(line, ", \"model\": \"%016llx\"", (unsigned long long)r->model_key);
	}
	if (t->block_tokens != MOONCAKE_BLOCK)
		buffer_format(line, ", \"block_size\": %lld", (long long)t->block_tokens);
	buffer_byte(line, '}');
	remains_note(t->remains, r);
	return remains_failed(t->remains) ? ipf_error_memory(err) : stream_writer_line(t->writer, line, err);
}

/* ---- rare lengths ---- */

static int spool_failed(struct ipf_error *err)
{
	return ipf_error_errno(err, errno ? errno : EIO, NULL, "--k: cannot use a temporary file");
}

static int put_into_spool(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	errno = 0;
	if (!length_groups_add(&t->groups, r))
		return ipf_error_memory(err);
	if (fwrite(r, sizeof *r, 1, t->spool) != 1 ||
	    fwrite(r->hashes, sizeof *r->hashes, r->hash_count, t->spool) != r->hash_count ||
	    fwrite(r->model.data ? r->model.data : "", 1, r->model.len, t->spool) != r->model.len)
		return spool_failed(err);
	return 0;
}

/* Fits the hashes to another length: those of blocks beyond the recorded ones are like no others. */
static int set_length(struct anonymous_trace *t, struct anonymous_request *r, struct block_hashes *hashes,
                      const struct lengths *lengths)
{
	const size_t known = hashes->count, blocks = (size_t)((lengths->input + t->block_tokens - 1) / t->block_tokens);
	if (!block_hashes_resize(hashes, blocks))
		return -1;
	for (size_t i = known; i < blocks; i++) {
		struct salted_hash hash;
		salted_hash_begin(&hash, t->salt, SALTED_FILLER);
		salted_hash_add_number(&hash, r->number);
		salted_hash_add_number(&hash, i);
		hashes->ids[i] = salted_hash_number(&hash, t->salt);
	}
	r->input_tokens = lengths->input;
	r->output_tokens = lengths->output;
	r->hashes = hashes->ids;
	r->hash_count = blocks;
	return 0;
}

/* 1: the next request; 0: there are no more; -1. */
static int read_spool(struct anonymous_trace *t, struct anonymous_request *r, struct block_hashes *hashes,
                      struct buffer *model, struct ipf_error *err)
{
	errno = 0;
	if (fread(r, sizeof *r, 1, t->spool) != 1)
		return ferror(t->spool) ? spool_failed(err) : 0;
	char *name = buffer_reserve(model, r->model.len);
	if (!block_hashes_resize(hashes, r->hash_count) || !name)
		return ipf_error_memory(err);
	if (fread(hashes->ids, sizeof *hashes->ids, r->hash_count, t->spool) != r->hash_count ||
	    fread(name, 1, r->model.len, t->spool) != r->model.len)
		return spool_failed(err);
	r->model.data = r->model.data ? name : NULL;
	return 1;
}

static int write_spooled(struct anonymous_trace *t, struct ipf_error *err)
{
	struct block_hashes hashes = {0};
	struct buffer model = {0};
	struct anonymous_request r;
	struct lengths lengths;
	int got = length_groups_settle(&t->groups) ? 1 : ipf_error_memory(err);
	errno = 0;
	if (got > 0 && (fflush(t->spool) != 0 || fseek(t->spool, 0, SEEK_SET) != 0))
		got = spool_failed(err);
	while (got > 0 && (got = read_spool(t, &r, &hashes, &model, err)) > 0) {
		if (!length_groups_find(&t->groups, &r, &lengths)) {
			t->too_few++;
			continue;
		}
		got = set_length(t, &r, &hashes, &lengths) < 0 ? ipf_error_memory(err) : write_line(t, &r, err) < 0 ? -1 : 1;
	}
	block_hashes_release(&hashes);
	buffer_release(&model);
	return got;
}

static int pass_on(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	return t->k ? put_into_spool(t, r, err) : write_line(t, r, err);
}

/* ---- order of arrival ---- */

static bool comes_before(const struct held_request *a, const struct held_request *b)
{
	return a->request.at_ns < b->request.at_ns || (a->request.at_ns == b->request.at_ns && a->sequence < b->sequence);
}

static int hold(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	if (t->held == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		struct held_request **heap = reallocarray(t->heap, cap, sizeof(void *));
		if (!heap)
			return ipf_error_memory(err);
		t->heap = heap;
		t->cap = cap;
	}
	struct held_request *h = malloc(sizeof *h + r->hash_count * sizeof *h->hashes + r->model.len);
	if (!h)
		return ipf_error_memory(err);
	h->request = *r;
	h->sequence = t->sequence++;
	if (r->hash_count)
		memcpy(h->hashes, r->hashes, r->hash_count * sizeof *h->hashes);
	h->request.hashes = h->hashes;
	if (r->model.data)
		h->request.model.data = memcpy(h->hashes + r->hash_count, r->model.data, r->model.len);
	size_t at = t->held++;
	for (; at && comes_before(h, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
		t->heap[at] = t->heap[(at - 1) / 2];
	t->heap[at] = h;
	return 0;
}

static struct held_request *take_first(struct anonymous_trace *t)
{
	struct held_request *first = t->heap[0], *last = t->heap[--t->held];
	size_t at = 0, child;
	while ((child = 2 * at + 1) < t->held) {
		if (child + 1 < t->held && comes_before(t->heap[child + 1], t->heap[child]))
			child++;
		if (!comes_before(t->heap[child], last))
			break;
		t->heap[at] = t->heap[child];
		at = child;
	}
	t->heap[at] = last;
	return first;
}

/* Passes on what arrives before `until_ns`. */
static int let_go(struct anonymous_trace *t, int64_t until_ns, struct ipf_error *err)
{
	int status = 0;
	while (status == 0 && t->held && t->heap[0]->request.at_ns <= until_ns) {
		struct held_request *first = take_first(t);
		status = pass_on(t, &first->request, err);
		free(first);
	}
	return status;
}

/* ---- the whole ---- */

int anonymous_trace_open(struct anonymous_trace *t, const char *path, struct ipf_error *err)
{
	t->groups.k = t->k;
	errno = 0;
	if (t->k && !(t->spool = tmpfile()))
		return spool_failed(err);
	return stream_writer_open(&t->writer, path, NULL, err);
}

int anonymous_trace_put(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	if (!t->jitter_ns || r->at_ns == IPF_ABSENT)
		return pass_on(t, r, err);
	return let_go(t, r->recorded_ns, err) < 0 ? -1 : hold(t, r, err);
}

int anonymous_trace_close(struct anonymous_trace *t, struct ipf_error *err)
{
	struct stream_writer *writer = t->writer;
	if (let_go(t, INT64_MAX, err) < 0 || (t->k && write_spooled(t, err) < 0))
		return -1;
	t->writer = NULL;
	return stream_writer_close(writer, NULL, err);
}

void anonymous_trace_release(struct anonymous_trace *t)
{
	while (t->held)
		free(t->heap[--t->held]);
	free(t->heap);
	length_groups_release(&t->groups);
	if (t->spool)
		fclose(t->spool);
	stream_writer_abandon(t->writer);
	buffer_release(&t->line);
}
