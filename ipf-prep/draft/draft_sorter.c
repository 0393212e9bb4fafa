#include "draft/draft_sorter.h"

#include "draft/draft_record.h"

int draft_sorter_add(struct draft_sorter *s, const void *facts, size_t size, const struct draft *d,
                     struct ipf_error *err)
{
	buffer_clear(&s->record);
	buffer_append(&s->record, facts, size);
	draft_record_write(d, &s->record);
	int status = s->key.failed || s->record.failed
	                 ? ipf_error_memory(err)
	                 : record_sorter_add(&s->records, buffer_all(&s->key), buffer_all(&s->record), err);
	buffer_clear(&s->key);
	return status;
}

int draft_sorter_begin(struct draft_sorter *s, struct ipf_error *err)
{
	return record_sorter_sort(&s->records, err);
}

int draft_sorter_next(struct draft_sorter *s, void *facts, size_t size, struct draft *d, struct ipf_error *err)
{
	const struct sorted_record *record;
	int got = record_sorter_next(&s->records, &record, err);
	if (got <= 0)
		return got;
	struct slice bytes = sorted_record_bytes(record);
	if (size > 0)
		memcpy(facts, bytes.data, size);
	draft_record_read(d, (struct slice){bytes.data + size, bytes.len - size});
	s->record_bytes = bytes.len;
	return d->failed ? ipf_error_memory(err) : 1;
}

void draft_sorter_clear(struct draft_sorter *s)
{
	record_sorter_clear(&s->records);
}

void draft_sorter_release(struct draft_sorter *s)
{
	record_sorter_release(&s->records);
	buffer_release(&s->key);
	buffer_release(&s->record);
}
