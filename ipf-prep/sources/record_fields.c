#include "sources/record_fields.h"

#include "cli/times.h"
#include "clock.h"
#include "json/jout.h"
#include "text_hash.h"
#include "token_count.h"

#include <ctype.h>
#include <string.h>

static int missing(const char *key, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "%s: missing", key);
}

/* The answer of a field_…() for a required member. */
static int required(int got, const char *key, struct ipf_error *err)
{
	return got == 0 ? missing(key, err) : got < 0 ? -1 : 0;
}

/* ---- members of a JSON object ---- */

int need_object(const struct jdoc *j, jdoc_id node, const char *shown, struct ipf_error *err)
{
	return jdoc_type_of(j, node) == JDOC_MAP ? 0 : jdoc_expected(j, node, shown, "an object", err);
}

int need_list(const struct jdoc *j, jdoc_id map, const char *key, jdoc_id *list, struct ipf_error *err)
{
	*list = jdoc_get(j, map, key);
	if (jdoc_is_null(j, *list))
		return missing(key, err);
	return jdoc_type_of(j, *list) == JDOC_LIST ? 0 : jdoc_expected(j, *list, key, "a list", err);
}

int field_object(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct jdoc *inner,
                 struct ipf_error *err)
{
	jdoc_id node = key ? jdoc_get(j, map, key) : JDOC_NONE;
	if (jdoc_is_null(j, node))
		return 0;
	struct slice text = jdoc_type_of(j, node) == JDOC_TEXT ? draft_text(d, j, node) : jdoc_raw(j, node);
	struct ipf_error wrong = {0};
	if (!text.data || jdoc_parse(inner, text.data, text.len, &wrong) < 0 || jdoc_type_of(inner, JDOC_ROOT) != JDOC_MAP)
		return jdoc_expected(j, node, key, "an object, or a string with one", err);
	put_on_one_line(text);
	return 1;
}

int need_uint(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err)
{
	return required(jdoc_get_uint(j, map, key, value, err), key, err);
}

int field_tokens(const struct jdoc *j, jdoc_id map, const char *key, int64_t *tokens, struct ipf_error *err)
{
	int64_t value;
	int got = jdoc_get_uint(j, map, key, &value, err);
	if (got == 1 && !token_count_is_possible(value))
		return jdoc_expected(j, jdoc_get(j, map, key), key, TOKENS_EXPECTED, err);
	if (got == 1)
		*tokens = value;
	return got;
}

int need_tokens(const struct jdoc *j, jdoc_id map, const char *key, int64_t *tokens, struct ipf_error *err)
{
	return required(field_tokens(j, map, key, tokens, err), key, err);
}

int field_limit(const struct jdoc *j, jdoc_id map, int64_t *tokens, struct ipf_error *err)
{
	static const char *const limits[] = {"max_tokens", "max_new_tokens", "max_output_tokens", "maxOutputTokens",
	                                     "max_completion_tokens"};
	int found = 0;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		int got = field_tokens(j, map, limits[i], tokens, err);
		if (got < 0)
			return -1;
		found |= got;
	}
	return found;
}

int element_tokens(const struct jdoc *j, jdoc_id list, uint32_t i, const char *key, int64_t *tokens,
                   struct ipf_error *err)
{
	jdoc_id node = jdoc_at(j, list, i);
	*tokens = 0;
	if (node == JDOC_NONE || (jdoc_to_int(j, node, tokens) && *tokens >= 0 && *tokens <= INT32_MAX))
		return 0;
	return jdoc_expected(j, node, key, "lengths of 0 to 2147483647 tokens", err);
}

int field_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
               struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	*text = (struct slice){0};
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) != JDOC_TEXT)
		return jdoc_expected(j, node, key, "a string", err);
	*text = draft_text(d, j, node);
	return 1;
}

int need_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *text,
              struct ipf_error *err)
{
	return required(field_text(d, j, map, key, text, err), key, err);
}

int node_name(struct draft *d, const struct jdoc *j, jdoc_id node, const char *shown, struct slice *name,
              struct ipf_error *err)
{
	if (jdoc_type_of(j, node) == JDOC_NUMBER)
		*name = jdoc_raw(j, node);
	else if (!jdoc_text_empty(j, node))
		*name = draft_text(d, j, node);
	else
		return jdoc_expected(j, node, shown, "a name", err);
	return 1;
}

int field_name(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *name,
               struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	*name = (struct slice){0};
	return jdoc_is_null(j, node) ? 0 : node_name(d, j, node, key, name, err);
}

int need_name(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *name,
              struct ipf_error *err)
{
	return required(field_name(d, j, map, key, name, err), key, err);
}

/* The text of a string without copying it into a draft: decoded into `space` if something in it is escaped. Absent if
 * it is too long for a time. */
static struct slice short_text(const struct jdoc *j, jdoc_id node, char *space, size_t cap)
{
	struct slice raw = jdoc_raw(j, node);
	if (!j->nodes[node].escaped)
		return (struct slice){raw.data + 1, raw.len - 2};
	if (raw.len > cap)
		return (struct slice){0};
	struct buffer out = {.data = space, .cap = cap}; /* decoding never makes a text longer: it does not grow */
	jdoc_text(j, node, &out);
	return (struct slice){out.data, out.len};
}

bool time_is_possible(int64_t ns)
{
	return ns > -(INT64_C(1) << 62) && ns < INT64_C(1) << 62;
}

#define YEAR_1990_NS (631152000 * NS_PER_S) /* logs of model servers are younger */

int time_of_number(struct slice number, int64_t unit_ns, int64_t *ns)
{
	static const int64_t smaller[] = {NS_PER_MS, NS_PER_US, 1};
	if (time_from_number(number, unit_ns, ns) == 0 && time_is_possible(*ns))
		return 0;
	for (size_t i = 0; i < sizeof smaller / sizeof *smaller; i++)
		if (smaller[i] < unit_ns && time_from_number(number, smaller[i], ns) == 0 && time_is_possible(*ns) &&
		    *ns >= YEAR_1990_NS)
			return 0;
	return -1;
}

int field_time(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	char space[256];
	if (jdoc_is_null(j, node) || (jdoc_type_of(j, node) == JDOC_TEXT && jdoc_text_empty(j, node)))
		return 0;
	if (jdoc_type_of(j, node) == JDOC_NUMBER && time_of_number(jdoc_raw(j, node), unit_ns, ns) == 0)
		return 1;
	if (jdoc_type_of(j, node) == JDOC_TEXT) {
		struct slice text = short_text(j, node, space, sizeof space);
		if (text.data &&
		    (time_of_number(text, unit_ns, ns) == 0 || (time_parse(text, ns, err) == 0 && time_is_possible(*ns))))
			return 1;
	}
	ipf_error_clear(err); /* the error of time_parse() */
	return jdoc_expected(j, node, key, "a number or a time such as 2023-11-16T18:15:46Z", err);
}

int need_time(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns, struct ipf_error *err)
{
	return required(field_time(j, map, key, unit_ns, ns, err), key, err);
}

int field_duration(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns,
                   struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) == JDOC_NUMBER && time_from_number(jdoc_raw(j, node), unit_ns, ns) == 0 && *ns >= 0)
		return 1;
	return jdoc_expected(j, node, key, "a number of 0 or more", err);
}

int need_duration(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns,
                  struct ipf_error *err)
{
	return required(field_duration(j, map, key, unit_ns, ns, err), key, err);
}

void put_on_one_line(struct slice json)
{
	char *text = (char *)(uintptr_t)json.data;
	for (size_t i = 0; i < json.len; i++)
		if (text[i] == '\n')
			text[i] = ' ';
}

struct slice object_text(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_MAP)
		return (struct slice){0};
	return draft_keep(d, jdoc_raw(j, node));
}

/* ---- the blocks of a prompt ---- */

/* A hash as hexadecimal digits, with or without 0x. More than 64 bits of them become 64, as unlikely to be equal by
 * chance as the hashes themselves. */
static bool parse_hex(struct slice text, uint64_t *hash)
{
	if (text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x')
		text = (struct slice){text.data + 2, text.len - 2};
	*hash = 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		if (!isxdigit(c))
			return false;
		*hash = *hash << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	if (text.len > 16)
		*hash = text_hash_mixed(text);
	return text.len > 0 && text.len <= 128;
}

/* Writers disagree on whether 64-bit hashes are signed, and whether they are numbers. */
static bool parse_hash(const struct jdoc *j, jdoc_id node, uint64_t *hash)
{
	int64_t small;
	struct slice raw = jdoc_raw(j, node);
	if (jdoc_to_int(j, node, &small)) {
		*hash = (uint64_t)small;
		return true;
	}
	if (jdoc_type_of(j, node) == JDOC_TEXT)
		return parse_hex((struct slice){raw.data + 1, raw.len - 2}, hash);
	if (jdoc_type_of(j, node) != JDOC_NUMBER)
		return false;
	*hash = 0;
	for (size_t i = 0; i < raw.len; i++) {
		unsigned digit = (unsigned)(raw.data[i] - '0');
		if (digit > 9 || *hash > (UINT64_MAX - digit) / 10)
			return false;
		*hash = *hash * 10 + digit;
	}
	return true;
}

int field_block_tokens(const struct jdoc *j, jdoc_id map, const char *key, int64_t *tokens, struct ipf_error *err)
{
	int got = jdoc_get_int(j, map, key, tokens, err);
	if (got <= 0 || (*tokens >= 1 && *tokens <= 1 << 20))
		return got;
	return jdoc_expected(j, jdoc_get(j, map, key), key, "1 to 1048576 tokens", err);
}

int node_block_ids(struct draft *d, const struct jdoc *j, jdoc_id list, const char *shown, struct draft_blocks *blocks,
                   struct ipf_error *err)
{
	blocks->count = 0;
	if (jdoc_type_of(j, list) != JDOC_LIST)
		return jdoc_expected(j, list, shown, "a list", err);
	uint64_t *ids = draft_ids(d, jdoc_count(j, list));
	if (!ids)
		return 0;
	blocks->ids = ids;
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);)
		if (!parse_hash(j, e.value, &ids[blocks->count++]))
			return jdoc_expected(j, e.value, shown, "64-bit integers or hexadecimal digits", err);
	return 0;
}

int need_block_ids(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct draft_blocks *blocks,
                   struct ipf_error *err)
{
	jdoc_id list;
	return need_list(j, map, key, &list, err) < 0 ? -1 : node_block_ids(d, j, list, key, blocks, err);
}

int need_covering_blocks(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct draft_request *r,
                         struct ipf_error *err)
{
	int64_t block = r->blocks.tokens, wanted = r->input_tokens / block + (r->input_tokens % block != 0);
	if (need_block_ids(d, j, map, key, &r->blocks, err) < 0)
		return -1;
	if (d->failed || (int64_t)r->blocks.count == wanted)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "%s: expected length %lld for input_length %lld, got %zu", key,
	                     (long long)wanted, (long long)r->input_tokens, r->blocks.count);
}

static bool blocks_fit(int64_t tokens, int64_t block, int64_t count)
{
	return tokens / block + (tokens % block != 0) == count;
}

int64_t block_tokens_that_fit(int64_t tokens, int64_t count, const int64_t *usual, size_t usual_count)
{
	for (size_t i = 0; i < usual_count; i++)
		if (blocks_fit(tokens, usual[i], count))
			return usual[i];
	for (int64_t size = 1; size <= 1 << 20; size *= 2)
		if (blocks_fit(tokens, size, count))
			return size;
	return usual[0];
}

/* ---- columns of a CSV file ---- */

int need_column(const struct csv *csv, const char *name, int *column, struct ipf_error *err)
{
	*column = csv_column(csv, name);
	return *column >= 0 ? 0 : ipf_error_set(err, IPF_INPUT, "the header has no column %s", name);
}

static int unexpected_value(const struct csv *csv, int column, const char *wanted, struct ipf_error *err)
{
	struct slice text = csv->fields[column];
	return ipf_error_set(err, IPF_INPUT, "%s: expected %s, got \"%.*s\"", csv->columns[column], wanted,
	                     (int)(text.len > 40 ? 40 : text.len), text.data);
}

int column_tokens(const struct csv *csv, int column, int64_t *tokens, struct ipf_error *err)
{
	struct slice text = csv->fields[column];
	*tokens = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9' || i >= 12)
			text.len = 0;
		else
			*tokens = *tokens * 10 + (text.data[i] - '0');
	}
	return text.len > 0 ? 0 : unexpected_value(csv, column, "a number of tokens", err);
}

int column_time(const struct csv *csv, int column, int64_t unit_ns, int64_t *ns, struct ipf_error *err)
{
	return time_of_number(csv->fields[column], unit_ns, ns) == 0 && *ns >= 0
	           ? 0
	           : unexpected_value(csv, column, "a number of 0 or more", err);
}

/* ---- arrivals and tags ---- */

int64_t since_origin(struct time_origin *origin, int64_t ns)
{
	if (!origin->known)
		*origin = (struct time_origin){.first_ns = ns, .known = true};
	return ns - origin->first_ns;
}

int log_open(void *state, const struct source_settings *settings, struct ipf_error *err)
{
	(void)err;
	((struct log_state *)state)->drawn = settings->input->kind != DISTRIBUTION_DATASET;
	return 0;
}

struct slice name_in_file(struct draft *d, int file_index, struct slice name)
{
	return file_index && name.data ? draft_join(d, draft_format(d, "%d", file_index), ":", name) : name;
}

struct slice tags_written(struct draft *d, struct buffer *object)
{
	struct slice tags = draft_take_buffer(d, object);
	return tags.len > 2 ? tags : (struct slice){0};
}

struct slice text_tag(struct draft *d, const char *name, struct slice text)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	if (text.len == 0)
		return (struct slice){0};
	jout_begin_map(&w);
	jout_member_string(&w, name, text);
	jout_end_map(&w);
	return draft_take_buffer(d, &out);
}

struct slice model_tag(struct draft *d, struct slice model)
{
	return text_tag(d, "model", model);
}
