#include "gateway/pairing.h"

#include "hash_index.h"
#include "stats/samples.h"

#include <stdlib.h>
#include <string.h>

const char *const pairing_key_names[PAIRING_KEYS] = {"request_id", "trace_id", "response_id", "content"};

/* Requests with the same id: a chain through `same`. */
struct id_entry {
	uint64_t key;
	int32_t first, count;
};

struct id_index {
	struct id_entry *table;
	size_t room, used;
	int32_t *same; /* for each request: the next with its id; -1 */
};

static void id_index_release(struct id_index *index)
{
	free(index->table);
	free(index->same);
	*index = (struct id_index){0};
}

static int id_index_make(struct id_index *index, const struct gateway_requests *side, enum gateway_id id)
{
	*index = (struct id_index){.same = malloc((side->count + 1) * sizeof *index->same)};
	if (!index->same)
		return -1;
	for (size_t i = side->count; i-- > 0;) {
		const uint64_t key = side->list[i].ids[id];
		index->same[i] = -1;
		if (!key)
			continue;
		if (!hash_index_room(index->table, index->room, index->used + 1))
			return -1;
		struct id_entry *entry = hash_index_find(index->table, index->room, key);
		if (!entry->key) {
			*entry = (struct id_entry){.key = key, .first = -1};
			index->used++;
		}
		index->same[i] = entry->first;
		entry->first = (int32_t)i;
		entry->count++;
	}
	return 0;
}

/* NULL: no request has it. */
static const struct id_entry *id_index_find(const struct id_index *index, uint64_t key)
{
	const struct id_entry *entry = key && index->used ? hash_index_find(index->table, index->room, key) : NULL;
	return entry && entry->key ? entry : NULL;
}

/* ---- the clock ---- */

static int64_t end_of(const struct gateway_request *r)
{
	return r->end_ns == IPF_ABSENT ? INT64_MAX - PAIRING_SLACK_NS : r->end_ns;
}

/* How far `inner` reaches out of `outer`, without the slack; 0: it is within. */
static int64_t outside_ns(const struct gateway_request *outer, const struct gateway_request *inner)
{
	const int64_t before = outer->start_ns - inner->start_ns, after = inner->end_ns - outer->end_ns;
	const int64_t most = before > after ? before : after;
	return most > PAIRING_SLACK_NS ? most : 0;
}

/* Whole answers on both sides, with an id unique on both, which no earlier id has checked. */
static void check_id(struct pairing *p, struct samples *apart, const struct gateway_requests *sides[2],
                     const struct id_index indexes[2], enum gateway_id id)
{
	struct pairing_clock *clock = &p->clock;
	for (size_t b = 0; b < sides[1]->count; b++) {
		const struct gateway_request *back = &sides[1]->list[b];
		const struct id_entry *own = id_index_find(&indexes[1], back->ids[id]),
							  *other = id_index_find(&indexes[0], back->ids[id]);
		if (!own || own->count != 1 || !other || other->count != 1 || !back->ok || p->front[b] >= 0)
			continue;
		const struct gateway_request *front = &sides[0]->list[other->first];
		if (!front->ok || front->end_ns == IPF_ABSENT || back->end_ns == IPF_ABSENT)
			continue;
		const int64_t out = outside_ns(front, back);
		p->front[b] = other->first;
		clock->checked++;
		clock->outside += out > 0;
		if (out > 0)
			samples_add(apart, (double)out);
	}
}

static int check_clock(struct pairing *p, const struct gateway_requests *sides[2])
{
	struct samples apart = {0};
	struct id_index indexes[2] = {0};
	int bad = 0;
	for (enum gateway_id id = 0; id < GATEWAY_IDS && bad == 0; id++) {
		for (int s = 0; s < 2 && bad == 0; s++)
			bad = id_index_make(&indexes[s], sides[s], id);
		if (bad == 0)
			check_id(p, &apart, sides, indexes, id);
		for (int s = 0; s < 2; s++)
			id_index_release(&indexes[s]);
	}
	for (size_t b = 0; b < sides[1]->count; b++)
		p->front[b] = -1;
	p->clock.one = 2 * p->clock.outside <= p->clock.checked;
	if (!p->clock.one)
		p->clock.apart_ns = (int64_t)samples_percentile(&apart, 50);
	bad = apart.failed ? -1 : bad;
	samples_release(&apart);
	return bad;
}

/* ---- by ids ---- */

static bool began_during(const struct gateway_request *front, const struct gateway_request *back)
{
	return back->start_ns >= front->start_ns - PAIRING_SLACK_NS && back->start_ns <= end_of(front) + PAIRING_SLACK_NS;
}

static void assign(struct pairing *p, int32_t front, int32_t back, int key)
{
	p->front[back] = front;
	p->key[back] = (int8_t)key;
	p->keys[key]++;
}

/* The only request in front with this id during which the one behind began; -1: none, or several. */
static int32_t owner_by_id(const struct pairing *p, const struct gateway_requests *front, const struct id_index *index,
                           const struct gateway_request *back, enum gateway_id id)
{
	const struct id_entry *entry = id_index_find(index, back->ids[id]);
	int32_t found = -1;
	for (int32_t f = entry ? entry->first : -1; f >= 0; f = index->same[f]) {
		if (p->clock.one && !began_during(&front->list[f], back))
			continue;
		if (found >= 0)
			return -1;
		found = f;
	}
	return found;
}

static int pair_by_id(struct pairing *p, const struct gateway_requests *front, const struct gateway_requests *back,
                      enum gateway_id id)
{
	struct id_index index;
	const int bad = id_index_make(&index, front, id);
	for (size_t b = 0; b < back->count && bad == 0; b++) {
		const int32_t f = p->front[b] < 0 ? owner_by_id(p, front, &index, &back->list[b], id) : -1;
		if (f >= 0)
			assign(p, f, (int32_t)b, (int)id);
	}
	id_index_release(&index);
	return bad;
}

/* ---- by content ---- */

static bool may_equal(uint64_t a, uint64_t b)
{
	return a == 0 || b == 0 || a == b;
}

static bool may_count(int64_t a, int64_t b)
{
	return a == IPF_ABSENT || b == IPF_ABSENT || a == b;
}

/* May they be one request, by all both sides know of it? `models`: names are those of the other
 * side, so they can be compared. */
static bool same_content(const struct pairing *p, const struct gateway_request *front,
                         const struct gateway_request *back, bool models)
{
	for (int id = 0; id < GATEWAY_IDS; id++)
		if (p->keys[id] > 0 && !may_equal(front->ids[id], back->ids[id]))
			return false;
	return front->ok == back->ok && may_count(front->status, back->status) &&
	       may_count(front->input_tokens, back->input_tokens) && may_count(front->output_tokens, back->output_tokens) &&
	       may_equal(front->text, back->text) && (!models || may_equal(front->model, back->model));
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Models of the side, sorted; NULL: out of memory. */
static uint64_t *models_of(const struct gateway_requests *side)
{
	uint64_t *models = malloc((side->count + 1) * sizeof *models);
	for (size_t i = 0; models && i < side->count; i++)
		models[i] = side->list[i].model;
	if (models)
		qsort(models, side->count, sizeof *models, by_value);
	return models;
}

/* The first request beginning at this time or later. */
static size_t first_from(const struct gateway_requests *side, int64_t t_ns)
{
	size_t low = 0, high = side->count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (side->list[middle].start_ns < t_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* For each request without a pair: how many candidates it has, and the last of them. */
struct candidates {
	int32_t *front_count, *front_last, *back_count;
};

static void find_candidates(const struct pairing *p, const struct gateway_requests *front,
                            const struct gateway_requests *back, const uint64_t *models, struct candidates *c)
{
	for (size_t f = 0; f < front->count; f++) {
		const struct gateway_request *outer = &front->list[f];
		if (p->first[f] >= 0 || outer->unseen)
			continue;
		const bool named = bsearch(&outer->model, models, back->count, sizeof *models, by_value) != NULL;
		for (size_t b = first_from(back, outer->start_ns - PAIRING_SLACK_NS);
		     b < back->count && began_during(outer, &back->list[b]); b++) {
			const struct gateway_request *inner = &back->list[b];
			if (p->front[b] >= 0 || inner->unseen || end_of(inner) > end_of(outer) + PAIRING_SLACK_NS ||
			    !same_content(p, outer, inner, named))
				continue;
			c->front_count[f]++;
			c->front_last[f] = (int32_t)b;
			c->back_count[b]++;
		}
	}
}

static int pair_by_content(struct pairing *p, const struct gateway_requests *front, const struct gateway_requests *back)
{
	uint64_t *models = models_of(back);
	struct candidates c = {calloc(front->count + 1, sizeof *c.front_count),
	                       calloc(front->count + 1, sizeof *c.front_last),
	                       calloc(back->count + 1, sizeof *c.back_count)};
	const int bad = models && c.front_count && c.front_last && c.back_count ? 0 : -1;
	if (bad == 0)
		find_candidates(p, front, back, models, &c);
	for (size_t f = 0; f < front->count && bad == 0; f++) {
		const int32_t b = c.front_count[f] == 1 ? c.front_last[f] : -1;
		if (b >= 0 && c.back_count[b] == 1)
			assign(p, (int32_t)f, b, PAIRED_BY_CONTENT);
		else
			p->unclear_front[f] = c.front_count[f] > 0;
	}
	for (size_t b = 0; b < back->count && bad == 0; b++)
		p->unclear_back[b] = p->front[b] < 0 && c.back_count[b] > 0;
	free(models);
	free(c.front_count);
	free(c.front_last);
	free(c.back_count);
	return bad;
}

/* ---- all ---- */

/* Lists the requests behind each one in front, by their start. */
static void list_attempts(struct pairing *p, size_t fronts, size_t backs)
{
	for (size_t f = 0; f < fronts; f++) {
		p->first[f] = p->last[f] = -1;
		p->count[f] = 0;
	}
	for (size_t b = 0; b < backs; b++) {
		const int32_t f = p->front[b];
		p->next[b] = -1;
		if (f < 0)
			continue;
		if (p->last[f] >= 0)
			p->next[p->last[f]] = (int32_t)b;
		else
			p->first[f] = (int32_t)b;
		p->last[f] = (int32_t)b;
		p->count[f]++;
	}
}

static int allocate(struct pairing *p, size_t fronts, size_t backs)
{
	p->front = malloc((backs + 1) * sizeof *p->front);
	p->key = malloc(backs + 1);
	p->next = malloc((backs + 1) * sizeof *p->next);
	p->first = malloc((fronts + 1) * sizeof *p->first);
	p->last = malloc((fronts + 1) * sizeof *p->last);
	p->count = malloc((fronts + 1) * sizeof *p->count);
	p->unclear_front = calloc(fronts + 1, sizeof *p->unclear_front);
	p->unclear_back = calloc(backs + 1, sizeof *p->unclear_back);
	if (!p->front || !p->key || !p->next || !p->first || !p->last || !p->count || !p->unclear_front || !p->unclear_back)
		return -1;
	for (size_t b = 0; b < backs; b++)
		p->front[b] = p->key[b] = -1;
	return 0;
}

int pairing_make(struct pairing *p, const struct gateway_requests *front, const struct gateway_requests *back,
                 struct ipf_error *err)
{
	const struct gateway_requests *sides[2] = {front, back};
	*p = (struct pairing){0};
	if (front->count >= INT32_MAX || back->count >= INT32_MAX)
		return ipf_error_memory(err);
	int bad = allocate(p, front->count, back->count);
	if (bad == 0)
		bad = check_clock(p, sides);
	for (enum gateway_id id = 0; id < GATEWAY_IDS && bad == 0; id++)
		bad = pair_by_id(p, front, back, id);
	if (bad == 0)
		list_attempts(p, front->count, back->count);
	if (bad == 0 && p->clock.one)
		bad = pair_by_content(p, front, back);
	if (bad == 0)
		list_attempts(p, front->count, back->count);
	return bad == 0 ? 0 : ipf_error_memory(err);
}

void pairing_release(struct pairing *p)
{
	void *all[] = {p->front, p->key, p->next, p->first, p->last, p->count, p->unclear_front, p->unclear_back};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	*p = (struct pairing){0};
}
