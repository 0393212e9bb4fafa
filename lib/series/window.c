#include "series/window.h"

#include "array.h"
#include "json/jout.h"
#include "memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* More kinds than there will ever be: a file's demand on memory is limited. */
enum { KINDS_MAX = 64 };

/* The members that are sums, and those that are histograms, in the order in which they are written. */
struct member {
	const char *name;
	size_t offset;
};
#define MEMBER(name_)                                                                                                  \
	{                                                                                                                  \
#name_, offsetof(struct window, name_)                                                                         \
	}
/* The failures are written before sum number BEFORE_FAILURES. */
enum { BEFORE_FAILURES = 3 };
static const struct member sums[] = {MEMBER(scheduled),
                                     MEMBER(started),
                                     MEMBER(ok),
                                     MEMBER(hung_up),
                                     MEMBER(unseen),
                                     MEMBER(in_flight_ns),
                                     MEMBER(slot_wait_ns),
                                     MEMBER(pool_wait_ns),
                                     MEMBER(input_tokens),
                                     MEMBER(output_tokens),
                                     MEMBER(failed_output_tokens),
                                     MEMBER(events)};
static const struct member histograms[] = {MEMBER(ttft_ns), MEMBER(itl_ns), MEMBER(e2e_ns), MEMBER(lag_ns)};
#define EACH(i, members) (size_t i = 0; i < sizeof(members) / sizeof *(members); i++)

static int64_t *sum_of(struct window *w, const struct member *m)
{
	return (int64_t *)((char *)w + m->offset);
}

static struct histogram **histogram_of(struct window *w, const struct member *m)
{
	return (struct histogram **)((char *)w + m->offset);
}

const char *window_sum_name(size_t i)
{
	return i < sizeof sums / sizeof *sums ? sums[i].name : NULL;
}

int64_t window_sum(const struct window *w, size_t i)
{
	return *(const int64_t *)((const char *)w + sums[i].offset);
}

const char *window_histogram_name(size_t i)
{
	return i < sizeof histograms / sizeof *histograms ? histograms[i].name : NULL;
}

const struct histogram *window_histogram(const struct window *w, size_t i)
{
	return *(struct histogram *const *)((const char *)w + histograms[i].offset);
}

struct window *window_new(int64_t number, int64_t stage, int64_t length_ns)
{
	struct window *w = calloc(1, sizeof *w);
	if (w) {
		w->number = number;
		w->stage = stage;
		w->length_ns = length_ns;
	}
	return w;
}

void window_free(struct window *w)
{
	if (!w)
		return;
	for
		EACH(i, histograms)
	histogram_free(*histogram_of(w, &histograms[i]));
	free(w->failures);
	free(w);
}

int64_t window_begin_ns(const struct window *w)
{
	return w->number * w->length_ns;
}

int64_t window_failed(const struct window *w)
{
	int64_t sum = 0;
	for (size_t i = 0; i < w->failures_count; i++)
		window_count(&sum, w->failures[i].count);
	return sum;
}

/* ---- adding ---- */

void window_count(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = INT64_MAX;
}

static bool is_kind(struct slice kind)
{
	const size_t size = sizeof((struct window_failure *)0)->kind;
	for (size_t i = 0; i < kind.len && i < size; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", kind.data[i]) || !kind.data[i])
			return false;
	return kind.len > 0 && kind.len < size;
}

void window_fail(struct window *w, struct slice kind, int64_t count)
{
	struct window_failure new = {.count = count};
	size_t at = 0;
	if (!is_kind(kind) || count <= 0)
		return;
	memcpy(new.kind, kind.data, kind.len);
	while (at < w->failures_count && strcmp(w->failures[at].kind, new.kind) < 0)
		at++;
	if (at < w->failures_count && strcmp(w->failures[at].kind, new.kind) == 0) {
		window_count(&w->failures[at].count, count);
		return;
	}
	if (!array_one_more(w->failures, w->failures_count))
		return;
	memmove(w->failures + at + 1, w->failures + at, (w->failures_count++ - at) * sizeof *w->failures);
	w->failures[at] = new;
}

void window_sample(struct histogram **h, int64_t value, int64_t count)
{
	if (*h || (*h = histogram_new_coarse()))
		histogram_add(*h, value, count);
}

void window_merge(struct window *into, const struct window *from)
{
	for
		EACH(i, sums)
	window_count(sum_of(into, &sums[i]), window_sum(from, i));
	for (size_t i = 0; i < from->failures_count; i++)
		window_fail(into, slice_of(from->failures[i].kind), from->failures[i].count);
	for
		EACH(i, histograms)
		{
			const struct histogram *values = window_histogram(from, i);
			struct histogram **to = histogram_of(into, &histograms[i]);
			if (values && (*to || (*to = histogram_new_coarse())))
				histogram_merge(*to, values);
		}
}

size_t window_memory(const struct window *w)
{
	/* with the overhead of the allocator and the set for each piece */
	size_t sum = sizeof *w + 48 + (w->failures ? w->failures_count * sizeof *w->failures + 16 : 0);
	for
		EACH(i, histograms)
	if (window_histogram(w, i))
		sum += histogram_memory(window_histogram(w, i)) + 32;
	return sum;
}

/* ---- writing ---- */

static void write_sum(const struct window *w, size_t i, struct jout *out)
{
	if (window_sum(w, i))
		jout_member_int(out, sums[i].name, window_sum(w, i));
}

void window_write_failures(const struct window *w, struct buffer *out)
{
	struct jout map = {.out = out};
	jout_begin_map(&map);
	for (size_t i = 0; i < w->failures_count; i++)
		jout_member_int(&map, w->failures[i].kind, w->failures[i].count);
	jout_end_map(&map);
}

void window_write(const struct window *w, struct buffer *line)
{
	struct jout out = {.out = line};
	buffer_clear(line);
	jout_begin_map(&out);
	jout_member_int(&out, "window", w->number);
	jout_member_int(&out, "t_ns", window_begin_ns(w));
	jout_member_int(&out, "length_ns", w->length_ns);
	jout_member_int(&out, "stage", w->stage);
	for
		EACH(i, sums)
		{
			if (i == BEFORE_FAILURES && w->failures_count) {
				jout_key(&out, "failed");
				window_write_failures(w, line);
				out.comma = true;
			}
			write_sum(w, i, &out);
		}
	for
		EACH(i, histograms)
		{
			const struct histogram *values = window_histogram(w, i);
			if (!values)
				continue;
			jout_key(&out, histograms[i].name);
			histogram_write(values, line);
			out.comma = true;
		}
	jout_end_map(&out);
}

/* ---- reading ---- */

static int read_place(struct window *w, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	static const char *const names[] = {"window", "t_ns", "length_ns", "stage"};
	int64_t t_ns = 0, begin_ns, *const values[] = {&w->number, &t_ns, &w->length_ns, &w->stage};
	for
		EACH(i, names)
		{
			int got = i < 2 ? jdoc_get_int(doc, map, names[i], values[i], err)
			                : jdoc_get_uint(doc, map, names[i], values[i], err);
			if (got < 0)
				return -1;
			if (got == 0)
				return ipf_error_set(err, IPF_INPUT, "%s: missing", names[i]);
		}
	if (w->length_ns == 0)
		return ipf_error_set(err, IPF_INPUT, "length_ns: expected a time above 0, got 0");
	if (__builtin_mul_overflow(w->number, w->length_ns, &begin_ns) || begin_ns != t_ns)
		return ipf_error_set(err, IPF_INPUT, "t_ns: expected window * length_ns, got %lld", (long long)t_ns);
	return 0;
}

static int read_sums(struct window *w, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	for
		EACH(i, sums)
	if (jdoc_get_uint(doc, map, sums[i].name, sum_of(w, &sums[i]), err) < 0)
		return -1;
	return 0;
}

static int read_failures(struct window *w, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	jdoc_id failed = jdoc_get(doc, map, "failed");
	if (jdoc_is_null(doc, failed))
		return 0;
	if (jdoc_type_of(doc, failed) != JDOC_MAP || jdoc_count(doc, failed) > KINDS_MAX)
		return jdoc_expected(doc, failed, "failed", "the number of each kind of failure", err);
	for (struct jdoc_each e = jdoc_each(doc, failed); jdoc_step(&e);) {
		struct slice key = jdoc_raw(doc, e.key), kind = {key.data + 1, key.len - 2};
		int64_t count;
		if (!is_kind(kind))
			return jdoc_expected(doc, e.key, "failed", "a kind of failure", err);
		if (!jdoc_to_int(doc, e.value, &count) || count < 0)
			return jdoc_expected(doc, e.value, "failed", "a number of requests", err);
		window_fail(w, kind, count);
	}
	return 0;
}

static int read_histograms(struct window *w, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	for
		EACH(i, histograms)
		{
			struct histogram **h = histogram_of(w, &histograms[i]);
			struct ipf_error why = {0};
			jdoc_id values = jdoc_get(doc, map, histograms[i].name);
			if (jdoc_is_null(doc, values))
				continue;
			if (!(*h = histogram_new_coarse()))
				return ipf_error_memory(err);
			if (histogram_read(*h, doc, values, &why) < 0)
				return ipf_error_set(err, why.kind, "%s: %s", histograms[i].name, why.text);
			if (histogram_count(*h) == 0)
				return jdoc_expected(doc, values, histograms[i].name, "a histogram with values", err);
		}
	return 0;
}

struct window *window_read(const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	struct window *w = window_new(0, 0, 0);
	if (!w) {
		ipf_error_memory(err);
		return NULL;
	}
	if (read_place(w, doc, map, err) < 0 || read_sums(w, doc, map, err) < 0 || read_failures(w, doc, map, err) < 0 ||
	    read_histograms(w, doc, map, err) < 0 || (memory_ran_out() && ipf_error_memory(err) < 0)) {
		window_free(w);
		return NULL;
	}
	return w;
}
