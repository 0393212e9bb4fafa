#include "sort/record_sorter.h"

#include "array.h"
#include "memory_limit.h"
#include "sort/sort_runs.h"

#include <stdlib.h>

struct sort_entry {
	uint64_t prefix;
	size_t at; /* in the bytes: ascends in the order of adding */
};

static const struct sorted_record *record_at(const struct record_sorter *s, size_t i)
{
	return (const struct sorted_record *)(const void *)(s->bytes.data + s->entries[i].at);
}

static int by_key(const void *a, const void *b, void *sorter)
{
	const struct sort_entry *x = a, *y = b;
	const struct record_sorter *s = sorter;
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	int order = sorted_record_compare((const void *)(s->bytes.data + x->at), (const void *)(s->bytes.data + y->at));
	return order ? order : x->at < y->at ? -1 : 1;
}

/* Most data are in order already. */
static void sort_entries(struct record_sorter *s)
{
	for (size_t i = 1; i < s->count; i++)
		if (by_key(&s->entries[i - 1], &s->entries[i], s) > 0) {
			qsort_r(s->entries, s->count, sizeof *s->entries, by_key, s);
			return;
		}
}

/* Moves the records in memory into a temporary file. */
static int spill(struct record_sorter *s, struct ipf_error *err)
{
	if ((!s->runs && sort_runs_new(&s->runs, err) < 0) || sort_runs_begin(s->runs, err) < 0)
		return -1;
	sort_entries(s);
	for (size_t i = 0; i < s->count; i++)
		if (sort_runs_add(s->runs, record_at(s, i), err) < 0)
			return -1;
	s->count = 0;
	buffer_clear(&s->bytes);
	return sort_runs_end(s->runs, err);
}

static void append(struct buffer *to, struct slice s)
{
	static const char zeros[8];
	buffer_append(to, s.data, s.len);
	buffer_append(to, zeros, sorted_record_padded(s.len) - s.len);
}

int record_sorter_add(struct record_sorter *s, struct slice key, struct slice record, struct ipf_error *err)
{
	/* qsort_r() needs room for a copy of the entries */
	size_t size = sorted_record_size(key.len, record.len), entries = (s->count + 1) * 2 * sizeof *s->entries;
	if (key.len > SORTED_RECORD_MOST || record.len > SORTED_RECORD_MOST)
		return ipf_error_set(err, IPF_INPUT, "a record takes more than 2 GiB");
	if (s->count > 0 && s->bytes.len + size + entries > memory_limit_share() && spill(s, err) < 0)
		return -1;
	if (!array_room(s->entries, s->cap, s->count + 1))
		return ipf_error_memory(err);
	struct sorted_record head = {.key_len = (uint32_t)key.len, .len = (uint32_t)record.len};
	size_t at = s->bytes.len;
	buffer_append(&s->bytes, &head, sizeof head);
	append(&s->bytes, key);
	append(&s->bytes, record);
	if (s->bytes.failed)
		return ipf_error_memory(err);
	s->entries[s->count].at = at;
	s->entries[s->count].prefix = sorted_record_prefix((const void *)(s->bytes.data + at));
	s->count++;
	s->records++;
	return 0;
}

int record_sorter_sort(struct record_sorter *s, struct ipf_error *err)
{
	s->next = 0;
	if (!s->runs) {
		sort_entries(s);
		return 0;
	}
	if (s->count > 0 && spill(s, err) < 0)
		return -1;
	free(s->entries);
	buffer_release(&s->bytes);
	s->entries = NULL;
	s->cap = 0;
	return sort_runs_read(s->runs, err);
}

int record_sorter_next(struct record_sorter *s, const struct sorted_record **record, struct ipf_error *err)
{
	if (s->runs)
		return sort_runs_next(s->runs, record, err);
	if (s->next == s->count)
		return 0;
	*record = record_at(s, s->next++);
	return 1;
}

void record_sorter_clear(struct record_sorter *s)
{
	sort_runs_free(s->runs);
	s->runs = NULL;
	s->count = s->next = 0;
	s->records = 0;
	buffer_clear(&s->bytes);
}

void record_sorter_release(struct record_sorter *s)
{
	sort_runs_free(s->runs);
	free(s->entries);
	buffer_release(&s->bytes);
	*s = (struct record_sorter){0};
}
