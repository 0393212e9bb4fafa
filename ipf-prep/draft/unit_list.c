#include "draft/unit_list.h"

#include "draft/draft_record.h"

int unit_list_add(struct unit_list *list, struct slice key, const struct unit *unit, const struct draft *d,
                  struct ipf_error *err)
{
	buffer_clear(&list->record);
	buffer_append(&list->record, unit, sizeof *unit);
	draft_record_write(d, &list->record);
	return list->record.failed ? ipf_error_memory(err)
	                           : record_sorter_add(&list->drafts, key, buffer_all(&list->record), err);
}

int unit_list_begin(struct unit_list *list, struct ipf_error *err)
{
	return record_sorter_sort(&list->drafts, err);
}

int unit_list_next(struct unit_list *list, struct unit *unit, struct draft *d, struct ipf_error *err)
{
	const struct sorted_record *record;
	int got = record_sorter_next(&list->drafts, &record, err);
	if (got <= 0)
		return got;
	struct slice bytes = sorted_record_bytes(record);
	memcpy(unit, bytes.data, sizeof *unit);
	draft_record_read(d, (struct slice){bytes.data + sizeof *unit, bytes.len - sizeof *unit});
	return d->failed ? ipf_error_memory(err) : 1;
}

void unit_list_clear(struct unit_list *list)
{
	record_sorter_clear(&list->drafts);
}

void unit_list_release(struct unit_list *list)
{
	record_sorter_release(&list->drafts);
	buffer_release(&list->record);
}
