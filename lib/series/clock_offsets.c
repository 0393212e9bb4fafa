#include "series/clock_offsets.h"

#include "absent.h"
#include "array.h"
#include "loopback.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_S      60
#define TIME_MOST     INT64_C(1000000000000000000) /* sums and differences of a few do not overflow */
#define ERROR_MOST_NS INT64_C(1000000000000)

/* The answers of a server with one Date. */
struct date {
	int64_t date_s, seen_ns, start_ns;
};

struct dates {
	int server;
	struct date *list; /* in order */
	size_t count, cap;
};

struct client {
	json_t *header; /* borrowed */
	int64_t t0_ns;  /* its wall clock at the start of its run; IPF_ABSENT */
	bool synchronised;
	int64_t max_error_ns; /* the most the clock can be away from UTC */
	struct dates *servers;
	size_t count;
};

struct clock_offsets {
	struct client *clients;
	int count;
	char *servers[CLOCK_SERVERS_MOST];
	int servers_count;
};

struct clock_offsets *clock_offsets_new(void)
{
	return calloc(1, sizeof(struct clock_offsets));
}

void clock_offsets_free(struct clock_offsets *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->clients[i].count; k++)
			free(c->clients[i].servers[k].list);
		free(c->clients[i].servers);
	}
	for (int i = 0; i < c->servers_count; i++)
		free(c->servers[i]);
	free(c->clients);
	free(c);
}

/* Takes the system's report of its clock; the worse of two states counts. */
static void note_state(struct client *client, json_t *system)
{
	json_t *most = json_object_get(system, "max_error_ns");
	int64_t error_ns = json_is_integer(most) ? json_integer_value(most) : -1;
	if (!json_is_true(json_object_get(system, "synchronised")) || error_ns < 0 || error_ns > ERROR_MOST_NS)
		client->synchronised = false;
	else if (error_ns > client->max_error_ns)
		client->max_error_ns = error_ns;
}

int clock_offsets_client(struct clock_offsets *c, json_t *header)
{
	if (c->count == CLOCK_CLIENTS_MOST)
		return -1;
	if (!array_one_more(c->clients, c->count))
		return -2;
	json_t *t0 = json_object_get(header, "t0_unix_ns");
	int64_t t0_ns = json_is_integer(t0) ? json_integer_value(t0) : -1;
	c->clients[c->count] = (struct client){
		.header = header, .t0_ns = t0_ns >= 0 && t0_ns < 4 * TIME_MOST ? t0_ns : IPF_ABSENT, .synchronised = true};
	note_state(&c->clients[c->count], json_object_get(header, "system_clock"));
	return c->count++;
}

void clock_offsets_end(struct clock_offsets *c, int client, json_t *of_trailer)
{
	json_t *system = json_object_get(of_trailer, "system_clock");
	if (system)
		note_state(&c->clients[client], system);
}

int clock_offsets_clients(const struct clock_offsets *c)
{
	return c->count;
}

/* -1: too many; -2: out of memory. */
static int server_number(struct clock_offsets *c, struct slice name)
{
	for (int i = 0; i < c->servers_count; i++)
		if (slice_is(name, c->servers[i]))
			return i;
	if (c->servers_count == CLOCK_SERVERS_MOST)
		return -1;
	c->servers[c->servers_count] = slice_dup(name);
	return c->servers[c->servers_count] ? c->servers_count++ : -2;
}

/* The dates of a server; NULL: out of memory. */
static struct dates *dates_of(struct client *client, int server)
{
	for (size_t i = 0; i < client->count; i++)
		if (client->servers[i].server == server)
			return &client->servers[i];
	if (!array_one_more(client->servers, client->count))
		return NULL;
	client->servers[client->count] = (struct dates){.server = server};
	return &client->servers[client->count++];
}

static int insert(struct dates *d, size_t at, const struct date *date)
{
	if (!array_room(d->list, d->cap, d->count + 1))
		return -1;
	memmove(d->list + at + 1, d->list + at, (d->count - at) * sizeof *d->list);
	d->list[at] = *date;
	d->count++;
	return 0;
}

/* Adds answers to those of the server with the same Date. -1: out of memory. */
static int add_date(struct dates *d, const struct date *date)
{
	size_t at = d->count;
	while (at > 0 && d->list[at - 1].date_s >= date->date_s) /* they come nearly in order */
		at--;
	if (at < d->count && d->list[at].date_s == date->date_s) {
		struct date *known = &d->list[at];
		known->seen_ns = date->seen_ns < known->seen_ns ? date->seen_ns : known->seen_ns;
		known->start_ns = date->start_ns > known->start_ns ? date->start_ns : known->start_ns;
		return 0;
	}
	return d->count == CLOCK_DATES_MOST ? 0 : insert(d, at, date);
}

/* The name of a server, by which clients recognise they share it. */
static void server_name(const struct client *client, int64_t target, struct buffer *name)
{
	json_t *list = json_object_get(client->header, "targets");
	const char *url = json_string_value(list ? json_array_get(list, (size_t)target)
	                                         : json_object_get(client->header, "target"));
	const char *host = json_string_value(json_object_get(json_object_get(client->header, "host"), "name"));
	if (!url)
		return;
	if (url_is_loopback(url))
		buffer_format(name, "%s ", host ? host : "");
	buffer_text(name, url);
}

static int read_date(struct clock_offsets *c, struct client *client, const struct jdoc *doc, jdoc_id entry,
                     struct ipf_error *err)
{
	int64_t v[4];
	struct buffer name = {0};
	for (uint32_t i = 0; i < 4; i++)
		if (jdoc_type_of(doc, entry) != JDOC_LIST || !jdoc_to_int(doc, jdoc_at(doc, entry, i), &v[i]) ||
		    v[i] > TIME_MOST || v[i] < -TIME_MOST)
			return ipf_error_set(err, IPF_INPUT, "dates: expected lists of four integers");
	if (client->t0_ns == IPF_ABSENT || v[0] < 0)
		return 0;
	server_name(client, v[0], &name);
	int number = name.failed ? -2 : name.len ? server_number(c, buffer_all(&name)) : -1;
	buffer_release(&name);
	struct dates *d = number >= 0 ? dates_of(client, number) : NULL;
	if (number == -2 || (number >= 0 && !d))
		return ipf_error_memory(err);
	const struct date date = {v[1], client->t0_ns + v[2], client->t0_ns + v[3]};
	return d && add_date(d, &date) < 0 ? ipf_error_memory(err) : 0;
}

int clock_offsets_read(struct clock_offsets *c, int client, const struct jdoc *doc, jdoc_id line, struct ipf_error *err)
{
	for (struct jdoc_each e = jdoc_each(doc, jdoc_get(doc, line, "dates")); jdoc_step(&e);)
		if (read_date(c, &c->clients[client], doc, e.value, err) < 0)
			return -1;
	return 0;
}

/* ---- between two clients ---- */

static struct clock_offset unknown(void)
{
	return (struct clock_offset){.low_ns = IPF_ABSENT, .high_ns = IPF_ABSENT};
}

/* Narrows an interval by another. If they exclude each other, it becomes the hull of both. */
static void intersect(struct clock_offset *o, int64_t low_ns, int64_t high_ns)
{
	if (o->low_ns == IPF_ABSENT) {
		o->low_ns = low_ns;
		o->high_ns = high_ns;
		return;
	}
	if (o->contradiction || low_ns > o->high_ns || high_ns < o->low_ns) {
		o->contradiction = true;
		o->low_ns = low_ns < o->low_ns ? low_ns : o->low_ns;
		o->high_ns = high_ns > o->high_ns ? high_ns : o->high_ns;
		return;
	}
	o->low_ns = low_ns > o->low_ns ? low_ns : o->low_ns;
	o->high_ns = high_ns < o->high_ns ? high_ns : o->high_ns;
}

static void join(struct clock_offset *all, const struct clock_offset *part)
{
	if (part->low_ns == IPF_ABSENT)
		return;
	all->contradiction |= part->contradiction;
	all->low_ns = all->low_ns == IPF_ABSENT || part->low_ns < all->low_ns ? part->low_ns : all->low_ns;
	all->high_ns = all->high_ns == IPF_ABSENT || part->high_ns > all->high_ns ? part->high_ns : all->high_ns;
}

/* Each Date the two may know the beginning of: the change to date_s happened, on the clock of each, after the latest
 * start of a request with an earlier Date and before the earliest first byte with this or a later one. */
struct change {
	int64_t after_ns, before_ns;
};

/* For the changes to each second in the list of `d` but the first. */
static bool change_at(const struct dates *d, const int64_t *earliest, const int64_t *latest, int64_t date_s,
                      struct change *change)
{
	size_t low = 0, high = d->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (d->list[middle].date_s < date_s)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || low == d->count)
		return false;
	*change = (struct change){latest[low - 1], earliest[low]};
	return change->after_ns < change->before_ns;
}

/* For each Date: the earliest first byte from there on, and the latest start up to there. NULL: out of memory. */
static int64_t *running(const struct dates *d)
{
	int64_t *list = malloc((2 * d->count + 1) * sizeof *list), *latest = list ? list + d->count : NULL;
	for (size_t i = d->count; list && i-- > 0;)
		list[i] = i + 1 < d->count && list[i + 1] < d->list[i].seen_ns ? list[i + 1] : d->list[i].seen_ns;
	for (size_t i = 0; list && i < d->count; i++)
		latest[i] = i > 0 && latest[i - 1] > d->list[i].start_ns ? latest[i - 1] : d->list[i].start_ns;
	return list;
}

/* The next Date of either list, in order; false: there is none. */
static bool next_date(const struct dates *a, const struct dates *b, size_t *i, size_t *k, int64_t *date_s)
{
	if (*i == a->count && *k == b->count)
		return false;
	if (*k == b->count || (*i < a->count && a->list[*i].date_s <= b->list[*k].date_s))
		*date_s = a->list[*i].date_s;
	else
		*date_s = b->list[*k].date_s;
	*i += *i < a->count && a->list[*i].date_s == *date_s;
	*k += *k < b->count && b->list[*k].date_s == *date_s;
	return true;
}

/* Clocks drift apart, a millisecond in a minute or less: changes of about a minute are intersected, and the results for
 * each minute are joined. */
static void compare_dates(struct clock_offset *o, const struct dates *a, const struct dates *b)
{
	int64_t *of_a = running(a), *of_b = running(b), date_s, part = -1;
	int64_t begin = a->list[0].date_s, span = a->list[a->count - 1].date_s - begin + 1, parts = span / MINUTE_S + 1,
			piece = (span + parts - 1) / parts;
	struct clock_offset minute = unknown(), all = unknown();
	for (size_t i = 0, k = 0; of_a && of_b && next_date(a, b, &i, &k, &date_s);) {
		struct change x, y;
		if (!change_at(a, of_a, of_a + a->count, date_s, &x) || !change_at(b, of_b, of_b + b->count, date_s, &y))
			continue;
		int64_t now = (date_s - begin) / piece;
		if (now != part) {
			join(&all, &minute);
			minute = unknown();
			part = now;
		}
		intersect(&minute, y.after_ns - x.before_ns, y.before_ns - x.after_ns);
	}
	join(&all, &minute);
	if (all.low_ns != IPF_ABSENT) {
		o->contradiction |= all.contradiction;
		o->by_date = true;
		intersect(o, all.low_ns, all.high_ns);
	}
	free(of_a);
	free(of_b);
}

/* Since it was started, a machine has one clock. */
static bool on_one_machine(const struct client *x, const struct client *y)
{
	const char *boot = json_string_value(json_object_get(json_object_get(x->header, "host"), "boot_id")),
			   *other = json_string_value(json_object_get(json_object_get(y->header, "host"), "boot_id"));
	return boot && other && *boot && strcmp(boot, other) == 0;
}

struct clock_offset clock_offsets_between(const struct clock_offsets *c, int a, int b)
{
	const struct client *x = &c->clients[a], *y = &c->clients[b];
	struct clock_offset o = unknown();
	if (on_one_machine(x, y))
		return (struct clock_offset){.one_clock = true};
	for (size_t i = 0; i < x->count; i++)
		for (size_t k = 0; k < y->count; k++)
			if (x->servers[i].server == y->servers[k].server)
				compare_dates(&o, &x->servers[i], &y->servers[k]);
	if (x->synchronised && y->synchronised) {
		int64_t most_ns = x->max_error_ns + y->max_error_ns;
		intersect(&o, -most_ns, most_ns);
		o.by_ntp = true;
	}
	return o;
}

/* ---- for the results ---- */

static json_t *offset_json(const struct clock_offset *o, int client)
{
	json_t *json = json_pack("{s:i}", "client", client), *by = json_array();
	int bad = !json || !by;
	if (o->one_clock)
		bad |= json_array_append_new(by, json_string("machine"));
	if (o->by_date)
		bad |= json_array_append_new(by, json_string("date"));
	if (o->by_ntp)
		bad |= json_array_append_new(by, json_string("ntp"));
	if (o->low_ns != IPF_ABSENT) {
		bad |= json_object_set_new(json, "low_ns", json_integer(o->low_ns));
		bad |= json_object_set_new(json, "high_ns", json_integer(o->high_ns));
		bad |= json_object_set(json, "by", by);
	}
	if (o->contradiction)
		bad |= json_object_set_new(json, "contradiction", json_true());
	json_decref(by);
	if (!bad)
		return json;
	json_decref(json);
	return NULL;
}

/* How far apart the two clocks can be. */
static double size_of(const struct clock_offset *o)
{
	double low = fabs((double)o->low_ns), high = fabs((double)o->high_ns);
	return low > high ? low : high;
}

/* When the clients started, in ns after the first client did: by their own clocks, and truly, within bounds. */
struct starts {
	int64_t first_ns, last_ns, low_ns[CLOCK_CLIENTS_MOST], high_ns[CLOCK_CLIENTS_MOST];
	int last;
	bool known, bounded;
};

static void note_start(struct starts *s, const struct clock_offsets *c, int client, const struct clock_offset *o)
{
	int64_t start_ns, t0_ns = c->clients[client].t0_ns, first_ns = c->clients[0].t0_ns;
	s->known &= t0_ns != IPF_ABSENT && first_ns != IPF_ABSENT;
	if (!s->known)
		return;
	start_ns = t0_ns - first_ns;
	if (start_ns > s->last_ns) {
		s->last_ns = start_ns;
		s->last = client;
	}
	s->first_ns = start_ns < s->first_ns ? start_ns : s->first_ns;
	s->bounded &= o->low_ns != IPF_ABSENT && !__builtin_sub_overflow(start_ns, o->high_ns, &s->low_ns[client]) &&
	              !__builtin_sub_overflow(start_ns, o->low_ns, &s->high_ns[client]);
}

/* The most that one of them can have started after another one; IPF_ABSENT: not known. */
static int64_t most_apart(const struct starts *s, int count)
{
	int64_t most_ns = 0, apart_ns;
	for (int i = 0; s->bounded && i < count; i++)
		for (int k = 0; k < count; k++) {
			if (i != k && __builtin_sub_overflow(s->high_ns[i], s->low_ns[k], &apart_ns))
				return IPF_ABSENT;
			most_ns = i != k && apart_ns > most_ns ? apart_ns : most_ns;
		}
	return s->bounded ? most_ns : IPF_ABSENT;
}

/* The index of the client's shard, from the header of its records or, within results, of the schedule it names. */
static json_t *shard_of(json_t *header)
{
	json_t *shard = json_object_get(header, "shard"), *from = json_object_get(header, "from");
	if (!shard)
		shard = json_object_get(json_array_get(from, 0), "shard");
	json_t *index = json_object_get(shard, "index");
	return json_is_integer(index) ? index : NULL;
}

static json_t *starts_json(const struct starts *s, const struct clock_offsets *c)
{
	int64_t most_ns = most_apart(s, c->count);
	json_t *json = json_pack("{s:I, s:i}", "apart_ns", (json_int_t)(s->last_ns - s->first_ns), "last", s->last);
	json_t *shard = shard_of(c->clients[s->last].header);
	int bad = !json;
	if (most_ns != IPF_ABSENT)
		bad |= json_object_set_new(json, "at_most_ns", json_integer(most_ns));
	if (shard)
		bad |= json_object_set(json, "last_shard", shard);
	if (!bad)
		return json;
	json_decref(json);
	return NULL;
}

static int add_starts(json_t *json, const struct starts *starts, const struct clock_offsets *c)
{
	json_t *unknown_clocks = json_array();
	int bad = !unknown_clocks;
	for (int i = 0; i < c->count; i++)
		if (!c->clients[i].synchronised)
			bad |= json_array_append_new(unknown_clocks, json_integer(i));
	if (json_array_size(unknown_clocks) > 0)
		bad |= json_object_set(json, "unsynchronised", unknown_clocks);
	json_decref(unknown_clocks);
	if (starts->known)
		bad |= json_object_set_new(json, "starts", starts_json(starts, c));
	return bad;
}

json_t *clock_offsets_json(const struct clock_offsets *c)
{
	json_t *offsets = c->count > 1 ? json_array() : NULL;
	struct starts starts = {.known = true, .bounded = true};
	int bad = !offsets;
	for (int i = 1; !bad && i < c->count; i++) {
		struct clock_offset o = clock_offsets_between(c, 0, i);
		note_start(&starts, c, i, &o);
		bad |= json_array_append_new(offsets, offset_json(&o, i));
	}
	json_t *json = bad ? NULL : json_pack("{s:i, s:O}", "clients", c->count, "offsets", offsets);
	json_decref(offsets);
	if (json && add_starts(json, &starts, c) == 0)
		return json;
	json_decref(json);
	return NULL;
}

struct clock_offset clock_offsets_worst(json_t *clocks, int *client)
{
	struct clock_offset worst = unknown();
	json_t *entry;
	size_t i;
	*client = 0;
	json_array_foreach(json_object_get(clocks, "offsets"), i, entry)
	{
		json_t *low = json_object_get(entry, "low_ns"), *high = json_object_get(entry, "high_ns");
		if (!json_is_integer(low) || !json_is_integer(high)) {
			*client = (int)json_integer_value(json_object_get(entry, "client"));
			return unknown();
		}
		struct clock_offset o = {.low_ns = json_integer_value(low),
		                         .high_ns = json_integer_value(high),
		                         .contradiction = json_is_true(json_object_get(entry, "contradiction"))};
		if (worst.low_ns != IPF_ABSENT && size_of(&o) <= size_of(&worst))
			continue;
		worst = o;
		*client = (int)json_integer_value(json_object_get(entry, "client"));
	}
	return worst;
}
