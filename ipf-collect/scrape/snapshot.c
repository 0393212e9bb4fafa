#include "scrape/snapshot.h"

#include "text_hash.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void own_metrics_release(struct own_metrics *own)
{
	for (size_t i = 0; i < own->count; i++)
		free(own->list[i].name);
	free(own->list);
	own->list = NULL;
	own->count = 0;
}

void snapshot_clear(struct snapshot *s)
{
	s->count = 0;
	s->too_many = s->no_memory = false;
	s->duplicates = 0;
	if (s->index)
		memset(s->index, 0, s->index_cap * sizeof *s->index);
}

void snapshot_release(struct snapshot *s)
{
	free(s->entries);
	free(s->index);
	*s = (struct snapshot){0};
}

int snapshot_failed(const struct snapshot *s, struct ipf_error *err)
{
	if (s->no_memory)
		return ipf_error_memory(err);
	if (s->too_many)
		return ipf_error_set(err, IPF_INPUT, "more than %d series of known metrics", SNAPSHOT_SERIES_MAX);
	return 0;
}

/* ---- the table ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	a ^= b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2);
	return a * UINT64_C(0xff51afd7ed558ccd) ^ (a >> 33);
}

/* Whether the series is of one of several processes, whose greatest value counts. */
static bool is_of_process(const struct exposition_series *series, unsigned metric)
{
	return metric < server_metrics_count && common_metrics[server_metrics[metric].common].greatest &&
	       exposition_label(series, "pid").data;
}

static uint64_t series_hash(const struct exposition_series *series, bool of_process)
{
	uint64_t hash = text_hash_mixed(series->name);
	for (size_t i = 0; i < series->labels_count; i++)
		if (!of_process || !slice_is(series->labels[i].name, "pid"))
			hash = mix(mix(hash, text_hash_mixed(series->labels[i].name)), text_hash_mixed(series->labels[i].value));
	return hash;
}

/* The place of the entry, or the free one where it belongs. */
static uint32_t *place(const struct snapshot *s, uint64_t series, unsigned metric)
{
	size_t i = (size_t)mix(series, metric) & (s->index_cap - 1);
	while (s->index[i]) {
		const struct snapshot_entry *e = &s->entries[s->index[i] - 1];
		if (e->series == series && e->metric == metric)
			break;
		i = (i + 1) & (s->index_cap - 1);
	}
	return &s->index[i];
}

const struct snapshot_entry *snapshot_find(const struct snapshot *s, const struct snapshot_entry *entry)
{
	if (!s->index_cap)
		return NULL;
	uint32_t at = *place(s, entry->series, entry->metric);
	return at ? &s->entries[at - 1] : NULL;
}

static bool grow(struct snapshot *s)
{
	size_t cap = s->cap ? s->cap * 2 : 256;
	struct snapshot_entry *entries = realloc(s->entries, cap * sizeof *entries);
	if (entries)
		s->entries = entries;
	uint32_t *index = entries ? calloc(cap * 2, sizeof *index) : NULL;
	if (!index)
		return false;
	free(s->index);
	s->index = index;
	s->index_cap = cap * 2;
	s->cap = cap;
	for (size_t i = 0; i < s->count; i++)
		*place(s, s->entries[i].series, s->entries[i].metric) = (uint32_t)i + 1;
	return true;
}

static void put(struct snapshot *s, const struct exposition_series *series, struct snapshot_entry *entry)
{
	const bool of_process = is_of_process(series, entry->metric);
	entry->series = series_hash(series, of_process);
	if (s->count == SNAPSHOT_SERIES_MAX)
		s->too_many = true;
	else if (s->count == s->cap && !grow(s))
		s->no_memory = true;
	if (s->too_many || s->no_memory)
		return;
	uint32_t *at = place(s, entry->series, entry->metric);
	if (*at) {
		struct snapshot_entry *other = &s->entries[*at - 1];
		if (!of_process)
			s->duplicates++;
		else if (entry->value > other->value)
			other->value = entry->value;
		return;
	}
	s->entries[s->count++] = *entry;
	*at = (uint32_t)s->count;
}

/* ---- which metric a series belongs to ---- */

static struct slice without(struct slice name, const char *suffix)
{
	size_t len = strlen(suffix);
	if (name.len > len && memcmp(name.data + name.len - len, suffix, len) == 0)
		name.len -= len;
	return name;
}

/* Whether the series is part of a histogram of this name; sets which part. */
static bool part_of(struct slice series, struct slice name, struct snapshot_entry *entry)
{
	static const struct {
		const char *suffix;
		enum metric_part part;
	} parts[] = {{"_bucket", PART_ALL}, {"_sum", PART_SUM}, {"_count", PART_COUNT}};
	if (series.len <= name.len || memcmp(series.data, name.data, name.len) != 0)
		return false;
	for (size_t i = 0; i < 3; i++)
		if (slice_is((struct slice){series.data + name.len, series.len - name.len}, parts[i].suffix)) {
			entry->part = parts[i].part;
			entry->is_bucket = i == 0;
			return true;
		}
	return false;
}

/* A label's value matches a text, or a text ending in "*". */
static bool value_matches(struct slice value, const char *wanted)
{
	size_t len = strlen(wanted);
	if (wanted[len - 1] == '*')
		return value.len >= len - 1 && memcmp(value.data, wanted, len - 1) == 0;
	return slice_is(value, wanted);
}

static double count_names(struct slice list)
{
	double count = list.len > 0;
	for (size_t i = 0; i < list.len; i++)
		count += list.data[i] == ',';
	return count;
}

/* The bound in the label, in the unit of the common name. False: there is none. */
static bool read_bound(const struct exposition_series *series, double scale, struct snapshot_entry *entry)
{
	struct slice le = exposition_label(series, "le");
	if (!le.data || !exposition_number(le, &entry->bound) || isnan(entry->bound))
		return false;
	entry->bound = scale == 1 ? entry->bound : round(entry->bound * scale);
	return true;
}

static bool matches_name(const struct server_metric *row, struct slice series, struct snapshot_entry *entry)
{
	/* most rows end here: all of them are tried for each line of an answer */
	if (!series.len || series.len + 8 < row->name.len || series.len > row->name.len + 8 ||
	    series.data[0] != row->name.data[0])
		return false;
	enum metric_kind kind = common_metrics[row->common].kind;
	entry->part = row->part;
	if (kind == METRIC_HISTOGRAM && row->part == PART_ALL)
		return part_of(series, row->name, entry);
	return kind == METRIC_GAUGE ? slice_equal(series, row->name)
	                            : slice_equal(without(series, "_total"), without(row->name, "_total"));
}

bool snapshot_keeps(struct slice name)
{
	struct snapshot_entry ignored;
	for (size_t i = 0; i < server_metrics_count; i++)
		if (matches_name(&server_metrics[i], name, &ignored))
			return true;
	return false;
}

static bool matches_row(const struct server_metric *row, const struct exposition_series *series,
                        struct snapshot_entry *entry)
{
	if (!matches_name(row, series->name, entry))
		return false;
	struct slice label = row->label ? exposition_label(series, row->label) : (struct slice){0};
	if (row->value && (!label.data || !value_matches(label, row->value)))
		return false;
	if (row->part == PART_NAMES)
		entry->bound = count_names(label);
	return row->part != PART_LABEL || (label.data && exposition_number(label, &entry->bound) && isfinite(entry->bound));
}

static void add_known(struct snapshot *s, const struct exposition_series *series, struct snapshot_entry *entry)
{
	for (unsigned i = 0; i < server_metrics_count; i++) {
		const struct server_metric *row = &server_metrics[i];
		entry->is_bucket = false;
		entry->bound = 0;
		if (!matches_row(row, series, entry) || (entry->is_bucket && !read_bound(series, row->scale, entry)))
			continue;
		entry->metric = i;
		entry->value = series->value * (entry->is_bucket || entry->part == PART_COUNT ? 1 : row->scale);
		if (row->part == PART_NAMES)
			entry->value = series->value;
		if (row->part == PART_LABEL)
			entry->value = entry->bound;
		put(s, series, entry);
	}
}

/* ---- the user's own ---- */

static unsigned own_index(struct snapshot *s, struct own_metrics *own, struct slice name, enum metric_kind kind)
{
	for (size_t i = 0; i < own->count; i++)
		if (slice_is(name, own->list[i].name))
			return (unsigned)i;
	struct own_metric *list = own->count < METRIC_NAMES_MAX ? realloc(own->list, (own->count + 1) * sizeof *list)
	                                                        : NULL;
	if (list)
		own->list = list;
	char *copy = list ? slice_dup(name) : NULL;
	if (!copy) {
		if (own->count < METRIC_NAMES_MAX)
			s->no_memory = true;
		return UINT32_MAX;
	}
	own->list[own->count] = (struct own_metric){copy, kind};
	return (unsigned)own->count++;
}

static bool is_wanted(const struct own_metrics *own, struct slice name)
{
	char text[256];
	if (name.len >= sizeof text || memchr(name.data, '\0', name.len))
		return false;
	memcpy(text, name.data, name.len);
	text[name.len] = '\0';
	for (size_t i = 0; i < own->patterns_count; i++)
		if (fnmatch(own->patterns[i], text, 0) == 0)
			return true;
	return false;
}

static const char *const histogram_parts[] = {"_bucket", "_sum", "_count"};
enum { HISTOGRAM_PARTS = sizeof histogram_parts / sizeof *histogram_parts };

bool own_metrics_keep(const struct own_metrics *own, struct slice name)
{
	bool wanted = is_wanted(own, name);
	for (size_t i = 0; i < HISTOGRAM_PARTS && !wanted; i++) {
		struct slice base = without(name, histogram_parts[i]);
		wanted = base.len < name.len && is_wanted(own, base);
	}
	return wanted;
}

static void add_own(struct snapshot *s, struct own_metrics *own, const struct exposition_series *series,
                    struct snapshot_entry *entry)
{
	struct slice name = series->name;
	enum metric_kind kind = METRIC_GAUGE;
	entry->part = PART_ALL;
	entry->is_bucket = false;
	if (series->type == EXPOSITION_HISTOGRAM) {
		for (size_t i = 0; i < HISTOGRAM_PARTS && name.len == series->name.len; i++)
			name = without(name, histogram_parts[i]);
		if (name.len == series->name.len || !part_of(series->name, name, entry))
			return;
		kind = METRIC_HISTOGRAM;
	} else if (series->type == EXPOSITION_COUNTER || without(name, "_total").len != name.len) {
		kind = METRIC_COUNTER;
	}
	if (!is_wanted(own, name) || (entry->is_bucket && !read_bound(series, 1, entry)))
		return;
	if (kind == METRIC_COUNTER)
		name = without(name, "_total");
	unsigned index = own_index(s, own, name, kind);
	if (index == UINT32_MAX)
		return;
	entry->metric = (unsigned)server_metrics_count + index;
	entry->value = series->value;
	put(s, series, entry);
}

void snapshot_add(struct snapshot *s, struct own_metrics *own, const struct exposition_series *series)
{
	struct snapshot_entry entry = {0};
	if (!isfinite(series->value) || without(series->name, "_created").len != series->name.len)
		return;
	add_known(s, series, &entry);
	if (own->patterns_count)
		add_own(s, own, series, &entry);
}
