#include "draft/reorder.h"

#include "absent.h"
#include "draft/draft_record.h"
#include "sort/sort_key.h"

#define NO_ARRIVAL INT64_MAX

/* Before a draft: in `members` its additions to its session, in `sorted` its place. */
struct member {
	int64_t at_ns, index, requests;
};
struct place {
	int64_t group; /* the index of its first draft */
	struct unit unit;
};
/* A session. */
struct session {
	int64_t at_ns; /* the first arrival */
	int64_t timed; /* 1: every draft has an arrival */
	struct place place;
};

static int64_t first_arrival(const struct draft *d)
{
	return d->count && d->requests[0].at_ns != IPF_ABSENT ? d->requests[0].at_ns : NO_ARRIVAL;
}

static int add_record(struct reorder *h, struct record_sorter *to, struct ipf_error *err)
{
	return h->key.failed || h->record.failed ? ipf_error_memory(err)
	                                         : record_sorter_add(to, buffer_all(&h->key), buffer_all(&h->record), err);
}

static int add_single(struct reorder *h, const struct draft *d, int64_t at_ns, int64_t index, struct ipf_error *err)
{
	struct place place = {.group = index, .unit = {.drafts = 1, .requests = (int64_t)d->count}};
	sort_key_number(&h->key, at_ns);
	sort_key_number(&h->key, index);
	buffer_append(&h->record, &place, sizeof place);
	draft_record_write(d, &h->record);
	return add_record(h, &h->sorted, err);
}

static int add_member(struct reorder *h, const struct draft *d, int64_t at_ns, int64_t index, struct ipf_error *err)
{
	struct member member = {.at_ns = at_ns, .index = index, .requests = (int64_t)d->count};
	sort_key_text(&h->key, d->session);
	buffer_append(&h->record, &member, sizeof member);
	draft_record_write(d, &h->record);
	return add_record(h, &h->members, err);
}

int reorder_add(struct reorder *h, const struct draft *d, struct ipf_error *err)
{
	int64_t at_ns = first_arrival(d), index = h->drafts++;
	h->first_ns = index == 0 || at_ns < h->first_ns ? at_ns : h->first_ns;
	buffer_clear(&h->key);
	buffer_clear(&h->record);
	return d->session.data && !d->chain ? add_member(h, d, at_ns, index, err) : add_single(h, d, at_ns, index, err);
}

/* ---- sessions ---- */

/* Does a record belong to the session of the one before? */
static bool continues(struct reorder *h, const struct sorted_record *record, bool first)
{
	struct slice key = sorted_record_key(record);
	if (!first && slice_equal(key, buffer_all(&h->session)))
		return true;
	buffer_clear(&h->session);
	buffer_slice(&h->session, key);
	return false;
}

static int add_session(struct reorder *h, const struct session *session, struct ipf_error *err)
{
	return record_sorter_add(&h->sessions, (struct slice){0}, (struct slice){(const char *)session, sizeof *session},
	                         err);
}

/* Makes the list of sessions. */
static int find_sessions(struct reorder *h, struct ipf_error *err)
{
	struct session session = {0};
	const struct sorted_record *record;
	struct member member;
	int got;
	while ((got = record_sorter_next(&h->members, &record, err)) > 0) {
		bool first = session.place.unit.drafts == 0;
		memcpy(&member, sorted_record_bytes(record).data, sizeof member);
		if (!continues(h, record, first)) {
			if (!first && add_session(h, &session, err) < 0)
				return -1;
			session = (struct session){.at_ns = NO_ARRIVAL, .timed = 1, .place = {.group = member.index}};
		}
		session.at_ns = member.at_ns < session.at_ns ? member.at_ns : session.at_ns;
		session.timed &= member.at_ns != NO_ARRIVAL;
		session.place.unit.drafts++;
		session.place.unit.requests += member.requests;
	}
	return got < 0 || (session.place.unit.drafts > 0 && add_session(h, &session, err) < 0) ? -1 : 0;
}

static int next_session(struct reorder *h, struct session *session, struct ipf_error *err)
{
	const struct sorted_record *record;
	int got = record_sorter_next(&h->sessions, &record, err);
	if (got > 0)
		memcpy(session, sorted_record_bytes(record).data, sizeof *session);
	return got;
}

/* Puts the drafts of sessions among all others. */
static int place_members(struct reorder *h, struct ipf_error *err)
{
	struct session session = {0};
	const struct sorted_record *record;
	struct member member;
	uint64_t left = 0; /* the session's */
	int got;
	while ((got = record_sorter_next(&h->members, &record, err)) > 0) {
		struct slice bytes = sorted_record_bytes(record);
		memcpy(&member, bytes.data, sizeof member);
		if (left == 0 && next_session(h, &session, err) <= 0)
			return -1;
		left = (left ? left : session.place.unit.drafts) - 1;
		buffer_clear(&h->key);
		buffer_clear(&h->record);
		sort_key_number(&h->key, session.at_ns);
		sort_key_number(&h->key, session.place.group);
		sort_key_number(&h->key, session.timed ? member.at_ns : 0);
		buffer_append(&h->record, &session.place, sizeof session.place);
		buffer_append(&h->record, bytes.data + sizeof member, bytes.len - sizeof member);
		if (add_record(h, &h->sorted, err) < 0)
			return -1;
	}
	return got;
}

int reorder_sort(struct reorder *h, struct ipf_error *err)
{
	int status = record_sorter_sort(&h->members, err);
	if (status == 0)
		status = find_sessions(h, err);
	if (status == 0)
		status = record_sorter_sort(&h->members, err);
	if (status == 0)
		status = record_sorter_sort(&h->sessions, err);
	if (status == 0)
		status = place_members(h, err);
	record_sorter_release(&h->members);
	record_sorter_release(&h->sessions);
	h->group = -1;
	return status == 0 ? record_sorter_sort(&h->sorted, err) : -1;
}

/* ---- reading ---- */

/* Moves the arrivals of a draft to their final place. */
static void shift_arrivals(const struct reorder *h, struct draft *d)
{
	int64_t shift_ns = h->first_ns - h->shift_ns < 0 ? h->first_ns : h->shift_ns;
	for (size_t i = 0; i < d->count && shift_ns; i++)
		if (d->requests[i].at_ns != IPF_ABSENT)
			d->requests[i].at_ns -= shift_ns;
}

int reorder_next(struct reorder *h, struct unit *unit, struct draft *d, struct ipf_error *err)
{
	const struct sorted_record *record;
	struct place place;
	int got = record_sorter_next(&h->sorted, &record, err);
	if (got <= 0)
		return got;
	struct slice bytes = sorted_record_bytes(record);
	memcpy(&place, bytes.data, sizeof place);
	draft_record_read(d, (struct slice){bytes.data + sizeof place, bytes.len - sizeof place});
	if (d->failed)
		return ipf_error_memory(err);
	shift_arrivals(h, d);
	h->turn = place.group == h->group ? h->turn : 0;
	h->group = place.group;
	d->turn = h->turn;
	h->turn += (int64_t)d->count;
	*unit = place.unit;
	return 1;
}

void reorder_release(struct reorder *h)
{
	record_sorter_release(&h->members);
	record_sorter_release(&h->sessions);
	record_sorter_release(&h->sorted);
	buffer_release(&h->key);
	buffer_release(&h->record);
	buffer_release(&h->session);
	*h = (struct reorder){0};
}
