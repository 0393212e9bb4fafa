#include "api/response.h"

#include "api/unread_text.h"

#include "absent.h"
#include "api/answer_message.h"
#include "api/audio_answer.h"
#include "api/end_mark.h"
#include "api/error_message.h"
#include "api/grpc_response.h"
#include "array.h"
#include "json/jout.h"
#include "text_hash.h"
#include "token_count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- time ---- */

/* Before the first read: when nothing of the body can have come yet. */
static int64_t before_reads(const struct record *record)
{
	int64_t left = record->left_ns != IPF_ABSENT ? record->left_ns : record_sent_from(record);
	bool head = record->reads_count && record->first_byte_ns < record->reads[0].t_ns;
	return head && record->first_byte_ns > left ? record->first_byte_ns : left;
}

/* Is the time of the current read that of the packet with the byte before `end`? The kernel's timestamp is that of the
 * last packet of a read. With HTTP/2 this can be a packet of another stream, and at the end of a response one that only
 * says so. */
static bool is_exact(const struct response *r, const struct record *record, size_t end)
{
	const struct record_read *read = &record->reads[r->read];
	if (r->virtual_time)
		return true;
	bool last = r->read + 1 == record->reads_count;
	return end == r->read_end && read->t_ns != read->own_ns && record->http != 2 &&
	       (last ? record->end_ns > read->t_ns : read[1].t_ns > read->t_ns);
}

static int64_t within_times(int64_t t_ns)
{
	return t_ns > RESPONSE_TIME_MAX ? RESPONSE_TIME_MAX : t_ns < -RESPONSE_TIME_MAX ? -RESPONSE_TIME_MAX : t_ns;
}

/* The time of the read that brought the byte before `end`; and in early_ns, how much earlier that may have come. Events
 * come in order, so the reads are walked once. Kernel timestamps are converted from another clock and may step back a
 * little; events never do. */
static int64_t event_time(struct response *r, const struct record *record, size_t end)
{
	while (r->read_end < end && r->read + 1 < record->reads_count) {
		if (record->reads[r->read + 1].t_ns > record->reads[r->read].t_ns)
			r->before_ns = record->reads[r->read].t_ns;
		r->read_end += (size_t)record->reads[++r->read].bytes;
	}
	bool known = r->read < record->reads_count;
	int64_t t_ns = within_times(known ? record->reads[r->read].t_ns : record->end_ns);
	if (t_ns > r->last_ns)
		r->last_ns = t_ns;
	int64_t before_ns = within_times(r->before_ns);
	r->early_ns = (known && is_exact(r, record, end)) || before_ns > r->last_ns ? 0 : r->last_ns - before_ns;
	return r->last_ns;
}

/* ---- content ---- */

struct gathering {
	struct buffer *out; /* NULL: only find out whether there is any text */
	bool any;
	jdoc_id last; /* the last text, and how many there are */
	size_t count, bytes;
};

static bool gather_node(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct gathering *g = data;
	if (!jdoc_text_empty(doc, node)) {
		g->any = true;
		g->last = node;
		g->count++;
		g->bytes += jdoc_raw(doc, node).len - 2;
		if (g->out)
			jdoc_text(doc, node, g->out);
	}
	return true;
}

/* Appends the texts the first pointer with any text matches, or those of all pointers unless they are alternatives. */
static struct gathering gather(const struct jdoc *doc, const struct api_pointers *from, bool alternatives,
                               struct buffer *out)
{
	struct gathering g = {.out = out};
	for (size_t i = 0; i < from->count && !(alternatives && g.any); i++)
		api_pointer_each(from->list[i], doc, JDOC_ROOT, gather_node, &g);
	return g;
}

/* Drops the text up to and including the marker, if it contains it. */
static void drop_through(struct buffer *piece, const char *mark)
{
	const char *found = piece->len ? memmem(piece->data, piece->len, mark, strlen(mark)) : NULL;
	if (found)
		buffer_consume(piece, (size_t)(found - piece->data) + strlen(mark));
}

/* The bytes of the first `count` characters. */
static size_t prefix_bytes(struct slice text, int64_t count)
{
	size_t at = 0;
	for (; at < text.len && (count > 0 || (text.data[at] & 0xC0) == 0x80); at++)
		count -= (text.data[at] & 0xC0) != 0x80;
	return at;
}

/* API_PREFIX: puts the part of the old text that stays before the new text in `piece`. */
static void restore_prefix(struct response *r, const struct buffer *seen)
{
	int64_t count = 0;
	jdoc_to_int(&r->doc, api_pointers_first(&r->format->prefix_len, &r->doc, JDOC_ROOT), &count);
	size_t keep = prefix_bytes(buffer_all(seen), count), len = r->piece.len;
	if (!buffer_reserve(&r->piece, keep))
		return;
	memmove(r->piece.data + keep, r->piece.data, len + 1);
	memcpy(r->piece.data, seen->data ? seen->data : "", keep);
	r->piece.len += keep;
}

static void remove_suffix(struct buffer *text, struct slice end)
{
	if (text->len >= end.len && !memcmp(text->data + text->len - end.len, end.data, end.len))
		text->len -= end.len;
}

/* The server replaced the end of the text it had sent, mostly an incomplete character. */
static void retract(struct response *r, struct buffer *kept, struct slice lost)
{
	remove_suffix(&r->content, lost);
	if (kept)
		remove_suffix(kept, lost);
	for (size_t i = r->events_count; i && r->events[i - 1].content_end > r->content.len; i--)
		r->events[i - 1].content_end = r->content.len;
}

/* Cumulative text: reduces `piece`, which holds the whole text so far, to its new part. */
static bool keep_new(struct response *r, struct buffer *seen, struct buffer *kept)
{
	struct buffer *piece = &r->piece;
	size_t same = 0, least = piece->len < seen->len ? piece->len : seen->len;
	while (same < least && piece->data[same] == seen->data[same])
		same++;
	if (same < seen->len)
		retract(r, kept, (struct slice){seen->data + same, seen->len - same});
	buffer_clear(seen);
	buffer_slice(seen, buffer_all(piece));
	buffer_consume(piece, same);
	return piece->len > 0;
}

/* Cumulative text has all bytes so far. */
static void count_bytes(size_t *sum, size_t bytes, bool cumulative)
{
	*sum = cumulative && bytes > *sum ? bytes : cumulative ? *sum : *sum + bytes;
}

/* Extracts one kind of content; true if the event has at least one character of it. `seen` is NULL for tool calls. */
static bool extract_text(struct response *r, const struct response_options *options, const struct api_pointers *from,
                         struct buffer *seen, struct buffer *kept)
{
	bool cumulative = seen && r->format->text_mode != API_DELTA;
	bool is_text = seen == &r->seen_text, after = is_text && r->format->text_after;
	bool wanted = cumulative || after || options->tokens || options->keep_text;
	buffer_clear(&r->piece);
	struct gathering found = gather(&r->doc, from, seen != NULL, wanted ? &r->piece : NULL);
	bool any = found.any;
	r->text_node = any ? found.last : r->text_node;
	r->text_nodes += found.count;
	if (any)
		count_bytes(seen == &r->seen_reasoning ? &r->reasoning_bytes : &r->content_bytes, found.bytes,
		            cumulative && r->format->text_mode != API_PREFIX);
	if (any && is_text && r->prompt_bytes) {
		buffer_consume(&r->piece, r->piece.len < r->prompt_bytes ? r->piece.len : r->prompt_bytes);
		any = r->piece.len > 0;
	}
	if (any && after) {
		drop_through(&r->piece, r->format->text_after);
		any = r->piece.len > 0;
	}
	if (any && is_text && r->format->text_mode == API_PREFIX)
		restore_prefix(r, seen);
	if (any && cumulative)
		any = keep_new(r, seen, kept);
	if (any && options->tokens)
		buffer_slice(&r->content, buffer_all(&r->piece));
	if (any && kept && options->keep_text)
		buffer_slice(kept, buffer_all(&r->piece));
	return any;
}

const char *const event_kind_names[EVENT_KINDS] = {"text",  "reasoning", "tool", "empty", "role",
                                                   "usage", "other",     "end",  "error"};

static int add_other(struct response *r, int64_t t_ns, enum event_kind kind, struct ipf_error *err)
{
	if (!array_room(r->others, r->others_cap, r->others_count + 1))
		return ipf_error_memory(err);
	r->others[r->others_count++] = (struct response_other){t_ns, r->early_ns, r->events_count, (uint8_t)kind};
	return 0;
}

static bool note_text(const struct jdoc *doc, jdoc_id node, void *data)
{
	*(bool *)data |= jdoc_type_of(doc, node) == JDOC_TEXT;
	return true;
}

/* The kind of an event without content. */
static enum event_kind kind_of_other(const struct response *r, bool usage)
{
	bool empty = false;
	if (r->format->role.count && api_pointers_first(&r->format->role, &r->doc, JDOC_ROOT) != JDOC_NONE)
		return EVENT_ROLE;
	for (size_t i = 0; i < r->format->text.count; i++)
		api_pointer_each(r->format->text.list[i], &r->doc, JDOC_ROOT, note_text, &empty);
	const struct api_finish_word *word;
	bool finish = end_mark_finish(r->format, r->protobuf, &r->doc, &word) != JDOC_NONE;
	return empty ? EVENT_EMPTY : usage && !finish ? EVENT_USAGE : EVENT_OTHER;
}

static int add_event(struct response *r, int64_t t_ns, int64_t usage_tokens, enum event_kind kind,
                     struct ipf_error *err)
{
	if (!array_room(r->events, r->events_cap, r->events_count + 1))
		return ipf_error_memory(err);
	r->events[r->events_count++] = (struct response_event){.t_ns = t_ns,
	                                                       .early_ns = r->early_ns,
	                                                       .usage_tokens = usage_tokens,
	                                                       .token_ids = r->token_ids,
	                                                       .content_end = r->content.len,
	                                                       .kind = (uint8_t)kind,
	                                                       .choice = r->choice};
	r->reasoning_events += kind == EVENT_REASONING;
	r->token_ids = IPF_ABSENT;
	return 0;
}

/* ---- usage, finish, error, end ---- */

/* A number without decimals, as 16, 16.0 or "16". */
static bool get_integer(const struct jdoc *doc, jdoc_id node, int64_t *count)
{
	struct slice raw = jdoc_raw(doc, node);
	double value;
	*count = 0;
	if (jdoc_to_int(doc, node, count))
		return true;
	if (jdoc_to_double(doc, node, &value)) {
		*count = fabs(value) <= (double)TOKENS_MAX ? (int64_t)value : -1;
		return (double)*count == value;
	}
	if (jdoc_type_of(doc, node) != JDOC_TEXT || raw.len < 3 || raw.len > 15)
		return false;
	for (size_t i = 1; i + 1 < raw.len; i++) {
		if (raw.data[i] < '0' || raw.data[i] > '9')
			return false;
		*count = *count * 10 + (raw.data[i] - '0');
	}
	return true;
}

static int64_t get_count(const struct jdoc *doc, jdoc_id node)
{
	int64_t count;
	return get_integer(doc, node, &count) && token_count_is_possible(count) ? count : IPF_ABSENT;
}

/* The part of a sum a pointer finds: pointers to members of one name find the same one in different events. */
static size_t part_of(const struct api_pointers *sum, size_t i)
{
	const char *name = api_pointer_name(sum->list[i]);
	size_t same = 0;
	while (same < i && name && strcmp(name, api_pointer_name(sum->list[same])) != 0)
		same++;
	return sum->first_part + (name ? same : i);
}

/* The sum of the parts so far, one by one: an event may repeat some of them, or send zeros. IPF_ABSENT if the event has
 * none of them. */
static int64_t get_sum(struct response *r, const struct api_pointers *from)
{
	int64_t count = IPF_ABSENT;
	bool any = false;
	for (size_t i = 0; i < from->count; i++) {
		int64_t part = get_count(&r->doc, api_pointer_first(from->list[i], &r->doc, JDOC_ROOT));
		int64_t *known = &r->parts[part_of(from, i)];
		any |= part != IPF_ABSENT;
		if (part != IPF_ABSENT && (part > 0 || *known == IPF_ABSENT))
			*known = part;
	}
	for (size_t i = 0; any && i < from->count; i++)
		if (r->parts[from->first_part + i] != IPF_ABSENT)
			count = token_sum(count == IPF_ABSENT ? 0 : count, r->parts[from->first_part + i]);
	return count;
}

/* The first count that is one, of pointers that are alternatives. */
static int64_t first_count(const struct jdoc *doc, const struct api_pointers *from)
{
	int64_t count = IPF_ABSENT;
	for (size_t i = 0; i < from->count && count == IPF_ABSENT; i++)
		count = get_count(doc, api_pointer_first(from->list[i], doc, JDOC_ROOT));
	return count;
}

/* Stores the event's count in *to and returns it; IPF_ABSENT if the event has none. A zero after a count is none.
 * `present`: api_roots.h. */
static int64_t extract_count(struct response *r, const struct api_pointers *from, uint64_t present, int64_t *to)
{
	if (!(from->roots & present))
		return IPF_ABSENT;
	int64_t count = first_count(&r->doc, from);
	if (count == IPF_ABSENT && from->sum)
		count = get_sum(r, from->sum);
	if (count == 0 && *to > 0)
		return IPF_ABSENT;
	if (count != IPF_ABSENT)
		*to = count;
	return count;
}

/* Ids of tokens in an event. */
struct listed_ids {
	int64_t count;      /* IPF_ABSENT: none are listed */
	struct buffer *ids; /* NULL: only counted */
};

static void add_id(const struct jdoc *doc, jdoc_id node, struct buffer *ids)
{
	int64_t id;
	struct jout w = {.out = ids, .comma = ids->len > 0};
	if (jdoc_to_int(doc, node, &id))
		jout_int(&w, id);
}

static bool add_ids(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct listed_ids *found = data;
	enum jdoc_type type = jdoc_type_of(doc, node);
	if (type != JDOC_LIST && type != JDOC_NUMBER)
		return true;
	found->count = (found->count == IPF_ABSENT ? 0 : found->count) + (type == JDOC_LIST ? jdoc_count(doc, node) : 1);
	if (found->ids && type == JDOC_NUMBER)
		add_id(doc, node, found->ids);
	for (struct jdoc_each e = jdoc_each(doc, found->ids && type == JDOC_LIST ? node : JDOC_NONE); jdoc_step(&e);)
		add_id(doc, e.value, found->ids);
	return true;
}

static int64_t find_ids(const struct response *r, const struct api_pointers *from, struct buffer *ids)
{
	struct listed_ids found = {IPF_ABSENT, ids};
	for (size_t i = 0; i < from->count && found.count == IPF_ABSENT; i++)
		api_pointer_each(from->list[i], &r->doc, JDOC_ROOT, add_ids, &found);
	return found.count;
}

/* Tokens without text of their own, such as the first half of a character, belong to the next content event. Where a
 * text is all of it so far, so are ids as many as the tokens so far. */
static void extract_token_ids(struct response *r, const struct response_options *options)
{
	struct buffer *ids = options->keep_ids ? &r->output_ids : NULL;
	const size_t before = r->output_ids.len;
	int64_t count = find_ids(r, &r->format->token_ids, ids);
	if (ids && !r->events_count && !r->prompt_ids.len)
		find_ids(r, &r->format->prompt_token_ids, &r->prompt_ids);
	if (count == IPF_ABSENT)
		return;
	if (r->format->text_mode == API_CUMULATIVE && count == r->output_tokens) {
		buffer_consume(&r->output_ids, before && r->output_ids.len > before ? before + 1 : before);
		count -= r->listed_ids;
	}
	r->listed_ids += count;
	r->token_ids = (r->token_ids == IPF_ABSENT ? 0 : r->token_ids) + count;
}

/* ---- log probabilities ---- */

static bool add_token(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct response *r = data;
	const struct slice raw = jdoc_raw(doc, node);
	if (jdoc_type_of(doc, node) != JDOC_TEXT)
		return true;
	if (!array_room(r->tokens, r->tokens_cap, r->tokens_count + 1)) {
		r->indexes_failed = true;
		return false;
	}
	r->tokens[r->tokens_count++] = (struct response_token){text_hash_mixed(raw), NAN};
	return true;
}

/* The two highest numbers among the alternatives. */
static double lead_of(const struct jdoc *doc, jdoc_id node)
{
	double first = -INFINITY, second = -INFINITY;
	for (struct jdoc_each e = jdoc_each(doc, node); jdoc_step(&e);) {
		double p;
		const jdoc_id number = jdoc_type_of(doc, e.value) == JDOC_MAP ? jdoc_get(doc, e.value, "logprob") : e.value;
		if (!jdoc_to_double(doc, number, &p))
			continue;
		if (p > first) {
			second = first;
			first = p;
		} else if (p > second) {
			second = p;
		}
	}
	return isfinite(second) ? first - second : NAN;
}

static bool add_lead(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct response *r = data;
	if (r->tokens_led < r->tokens_count)
		r->tokens[r->tokens_led++].lead = lead_of(doc, node);
	return true;
}

static void extract_logprobs(struct response *r)
{
	for (size_t i = 0; i < r->format->logprob_tokens.count; i++)
		api_pointer_each(r->format->logprob_tokens.list[i], &r->doc, JDOC_ROOT, add_token, r);
	for (size_t i = 0; i < r->format->top_logprobs.count; i++)
		api_pointer_each(r->format->top_logprobs.list[i], &r->doc, JDOC_ROOT, add_lead, r);
	r->tokens_led = r->tokens_count;
}

/* Words by which servers say they gave an answer up, whatever the API. */
static bool is_failure(struct slice word)
{
	static const char *const words[] = {"abort",  "aborted", "cancelled",    "canceled",       "error",
	                                    "failed", "failure", "server_error", "internal_error", "engine_dead"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (word.len == strlen(words[i]) && strncasecmp(word.data, words[i], word.len) == 0)
			return true;
	return false;
}

static void extract_finish(struct response *r)
{
	const struct api_finish_word *word;
	jdoc_id node = end_mark_finish(r->format, r->protobuf, &r->doc, &word);
	if (node == JDOC_NONE)
		return;
	buffer_clear(&r->finish);
	buffer_clear(&r->finish_server);
	if (!word) {
		jdoc_text(&r->doc, node, &r->finish);
		if (is_failure(buffer_all(&r->finish)) && !slice_is(buffer_all(&r->finish), "error")) {
			buffer_slice(&r->finish_server, buffer_all(&r->finish));
			buffer_clear(&r->finish);
			buffer_text(&r->finish, "error");
		}
	} else {
		buffer_text(&r->finish, word->common);
		if (strcmp(word->common, word->server) != 0)
			buffer_text(&r->finish_server, word->server);
	}
}

/* Larger values, a hundred years, are not durations. */
#define SERVER_TIME_MAX 3.2e18

static bool get_number(const struct jdoc *doc, const struct api_pointers *from, double *value)
{
	return jdoc_to_double(doc, api_pointers_first(from, doc, JDOC_ROOT), value);
}

/* Integers are subtracted as such: points in time may be too large for doubles to resolve. */
static bool get_duration(const struct jdoc *doc, const struct api_timing *t, double *value)
{
	int64_t from, to;
	double begin, end;
	if (jdoc_to_int(doc, api_pointers_first(&t->at, doc, JDOC_ROOT), &to) &&
	    jdoc_to_int(doc, api_pointers_first(&t->from, doc, JDOC_ROOT), &from) && from >= 0 && to >= 0) {
		*value = (double)(to - from);
		return true;
	}
	bool both = get_number(doc, &t->at, &end) && get_number(doc, &t->from, &begin);
	*value = both ? end - begin : 0;
	return both;
}

static void set_timing(struct response *r, size_t which, double value, double unit_ns)
{
	double ns = value * unit_ns;
	if (ns >= 0 && ns < SERVER_TIME_MAX)
		r->server_ns[which] = (int64_t)(ns + 0.5);
}

static void extract_timings(struct response *r, uint64_t present)
{
	for (size_t i = 0; i < API_SERVER_TIMES; i++) {
		const struct api_timing *t = &r->format->times[i];
		double value;
		if (t->at.roots & present &&
		    (t->from.count ? get_duration(&r->doc, t, &value) : get_number(&r->doc, &t->at, &value)))
			set_timing(r, i, value, t->unit_ns);
	}
}

/* ---- values in response headers ---- */

static bool header_number(const struct jdoc *doc, const char *name, double *value)
{
	struct buffer text = {0};
	char *end = NULL;
	if (!name)
		return false;
	jdoc_text(doc, jdoc_get(doc, JDOC_ROOT, name), &text);
	if (text.len && strchr("0123456789", *text.data))
		*value = strtod(text.data, &end);
	bool good = end && !*end;
	buffer_release(&text);
	return good;
}

static void header_count(const struct jdoc *doc, const struct api_pointers *from, int64_t *to)
{
	double value;
	if (*to == IPF_ABSENT && header_number(doc, from->header, &value) && value <= (double)TOKENS_MAX &&
	    value == floor(value))
		*to = (int64_t)value;
}

static int extract_headers(struct response *r, const struct record *record, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	double value;
	if (!record->headers.data)
		return 0;
	if (jdoc_parse(&r->doc, record->headers.data, record->headers.len, &ignored) < 0)
		return ignored.kind == IPF_SYSTEM ? ipf_error_set(err, IPF_SYSTEM, "%s", ignored.text) : 0;
	header_count(&r->doc, &r->format->input_tokens, &r->input_tokens);
	if (r->output_tokens == IPF_ABSENT)
		r->usage_events = r->events_count;
	header_count(&r->doc, &r->format->output_tokens, &r->output_tokens);
	header_count(&r->doc, &r->format->reasoning_tokens, &r->reasoning_tokens);
	header_count(&r->doc, &r->format->cached_tokens, &r->cached_tokens);
	header_count(&r->doc, &r->format->total_tokens, &r->total_tokens);
	for (size_t i = 0; i < API_DETAILS; i++)
		header_count(&r->doc, &r->format->details[i], &r->details[i]);
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		if (r->server_ns[i] == IPF_ABSENT && header_number(&r->doc, r->format->times[i].at.header, &value))
			set_timing(r, i, value, r->format->times[i].unit_ns);
	return 0;
}

static bool note_error(struct response *r, jdoc_id node)
{
	if (!r->failed)
		error_message_of(&r->doc, node, &r->error_text);
	return r->failed = true;
}

/* Where the descriptor says, else where servers of any API say it. */
static bool extract_error(struct response *r)
{
	jdoc_id member = error_message_member(&r->doc, JDOC_ROOT);
	for (size_t i = 0; i < r->format->error.count; i++) {
		const struct api_pointer *pointer = r->format->error.list[i];
		jdoc_id node = api_pointer_first(pointer, &r->doc, JDOC_ROOT);
		if (node == JDOC_NONE || (!api_pointer_conditional(pointer) && !error_message_reported(&r->doc, node)))
			continue;
		bool whole = api_pointer_conditional(pointer) || slice_is(jdoc_raw(&r->doc, node), "true");
		return note_error(r, whole ? JDOC_ROOT : node);
	}
	return member != JDOC_NONE && note_error(r, member);
}

static void end_here(struct response *r)
{
	r->ended = true;
	r->end_event = r->event;
	event_repeat_forget(&r->repeat); /* content after the end is another matter */
}

static void note_malformed(struct response *r, const char *what, struct slice data)
{
	if (r->malformed)
		return;
	r->malformed = true;
	buffer_text(&r->malformed_text, what);
	buffer_text(&r->malformed_text, data.len ? ": " : "");
	if (error_message_is_text(data))
		error_message_plain(data, 100, &r->malformed_text);
	else
		buffer_format(&r->malformed_text, "%zu bytes other than text", data.len);
}

/* ---- results of inputs ---- */

static bool count_output(const struct jdoc *doc, jdoc_id node, void *data)
{
	int64_t *count = data;
	*count += !jdoc_is_null(doc, node);
	return true;
}

static bool note_index(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct response *r = data;
	int64_t index;
	if (!array_room(r->output_indexes, r->output_indexes_cap, r->output_indexes_count + 1)) {
		r->indexes_failed = true;
		return false;
	}
	bool good = jdoc_to_int(doc, node, &index) && index >= 0;
	r->output_indexes[r->output_indexes_count++] = good ? index : -1;
	return true;
}

static int compare_indexes(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void extract_outputs(struct response *r)
{
	const struct api_response *from = r->format;
	int64_t count = 0;
	for (size_t i = 0; i < from->outputs.count && !count; i++)
		api_pointer_each(from->outputs.list[i], &r->doc, JDOC_ROOT, count_output, &count);
	if (from->outputs.count)
		r->outputs = count;
	for (size_t i = 0; i < from->output_index.count && !r->output_indexes_count; i++)
		api_pointer_each(from->output_index.list[i], &r->doc, JDOC_ROOT, note_index, r);
	if (r->output_indexes_count)
		qsort(r->output_indexes, r->output_indexes_count, sizeof *r->output_indexes, compare_indexes);
}

/* ---- events ---- */

/* All counts and timings of an event; returns its output tokens. */
static int64_t extract_usage(struct response *r)
{
	const struct api_response *from = r->format;
	uint64_t present = api_roots_present(&from->roots, &r->doc);
	int64_t output = extract_count(r, &from->output_tokens, present, &r->output_tokens);
	extract_count(r, &from->input_tokens, present, &r->input_tokens);
	extract_count(r, &from->reasoning_tokens, present, &r->reasoning_tokens);
	extract_count(r, &from->cached_tokens, present, &r->cached_tokens);
	extract_count(r, &from->total_tokens, present, &r->total_tokens);
	for (size_t i = 0; i < API_DETAILS; i++)
		extract_count(r, &from->details[i], present, &r->details[i]);
	extract_timings(r, present);
	return output;
}

/* Are the data a part of the body, and not of a buffer the next event overwrites? */
static bool in_body(const struct record *record, struct slice data)
{
	uintptr_t body = (uintptr_t)record->body.data, at = (uintptr_t)data.data;
	return at >= body && at - body <= record->body.len && data.len <= record->body.len - (at - body);
}

/* An event known from an earlier one but for its text. */
static int add_repeated(struct response *r, const struct record *record, const struct response_options *options,
                        const struct framing_event *event, struct slice piece, struct ipf_error *err)
{
	if (options->tokens)
		buffer_slice(&r->content, piece);
	if (options->keep_text)
		buffer_slice(r->repeat.reasoning ? &r->reasoning : &r->text, piece);
	int64_t t_ns = event_time(r, record, event->end);
	if (!r->repeat.reasoning && r->first_text_ns == IPF_ABSENT)
		r->first_text_ns = t_ns;
	r->choice = r->repeat_choice;
	count_bytes(r->repeat.reasoning ? &r->reasoning_bytes : &r->content_bytes, piece.len, false);
	return add_event(r, t_ns, IPF_ABSENT, r->repeat.reasoning ? EVENT_REASONING : EVENT_TEXT, err);
}

/* The first one counts. */
static void extract_id(struct response *r, const struct response_options *options)
{
	if (!options->keep_text || !r->format->id.count || r->id.len)
		return;
	jdoc_id node = api_pointers_first(&r->format->id, &r->doc, JDOC_ROOT);
	if (jdoc_type_of(&r->doc, node) == JDOC_TEXT)
		jdoc_text(&r->doc, node, &r->id);
}

/* The first event with one counts; events of a stream repeat it. */
static void extract_response_id(struct response *r)
{
	if (!r->format->response_id.count || r->response_id.len)
		return;
	jdoc_id node = api_pointers_first(&r->format->response_id, &r->doc, JDOC_ROOT);
	struct slice id = jdoc_type_of(&r->doc, node) == JDOC_TEXT ? jdoc_raw(&r->doc, node) : (struct slice){0};
	if (id.len > 2 && id.len <= RESPONSE_ID_MOST)
		buffer_slice(&r->response_id, id);
}

/* Choices beyond RESPONSE_CHOICES_MOST count as the last one. */
static void note_choice(struct response *r, int64_t index)
{
	int64_t i = 0;
	while (i < r->choices && r->choice_indexes[i] != index)
		i++;
	if (i == r->choices && i < RESPONSE_CHOICES_MOST)
		r->choice_indexes[r->choices++] = index;
	r->choice = (uint8_t)(i < RESPONSE_CHOICES_MOST ? i : RESPONSE_CHOICES_MOST - 1);
}

static bool find_choice(const struct jdoc *doc, jdoc_id node, void *data)
{
	int64_t index;
	if (jdoc_to_int(doc, node, &index))
		note_choice(data, index);
	return true;
}

/* An event naming no choice is of the first one; one that names several, of the last of them. */
static void extract_choice(struct response *r)
{
	r->choice = 0;
	for (size_t i = 0; i < r->format->choice.count; i++)
		api_pointer_each(r->format->choice.list[i], &r->doc, JDOC_ROOT, find_choice, r);
	if (r->choices == 0)
		note_choice(r, 0);
}

/* A text as long as all content so far repeats it at the end, which is no part of it. */
static void note_unread(struct response *r)
{
	size_t len = unread_text(&r->doc);
	r->unread_events += len > 0 && len != r->content_bytes && len != r->reasoning_bytes;
}

static int extract_content(struct response *r, const struct record *record, const struct response_options *options,
                           const struct framing_event *event, struct ipf_error *err)
{
	r->text_nodes = 0;
	bool reasoning = extract_text(r, options, &r->format->reasoning, &r->seen_reasoning, &r->reasoning);
	bool text = extract_text(r, options, &r->format->text, &r->seen_text, &r->text);
	bool tools = extract_text(r, options, &r->format->tools, NULL, NULL);
	bool data = r->format->data.count && api_pointers_first(&r->format->data, &r->doc, JDOC_ROOT) != JDOC_NONE;
	if (reasoning || text || tools || data)
		extract_choice(r);
	r->hidden_reasoning |= r->format->hidden_reasoning.count &&
	                       api_pointers_first(&r->format->hidden_reasoning, &r->doc, JDOC_ROOT) != JDOC_NONE;
	int64_t usage = extract_usage(r);
	extract_finish(r);
	extract_id(r, options);
	extract_response_id(r);
	extract_outputs(r);
	bool after_end = r->ended;
	if (!after_end && end_mark_find(r->format, r->protobuf, &r->doc) != JDOC_NONE)
		end_here(r);
	if (tools || r->ended || usage != IPF_ABSENT || options->keep_text)
		tool_calls_add(&r->calls, &r->format->calls, &r->doc);
	extract_token_ids(r, options);
	if (options->keep_logprobs)
		extract_logprobs(r);
	bool content = reasoning || text || tools || data;
	if (usage != IPF_ABSENT)
		r->usage_events = r->events_count + content;
	r->bare_events += !content;
	if (!content && usage == IPF_ABSENT && !r->likely_error.len && error_message_likely(&r->doc, JDOC_ROOT))
		error_message_of(&r->doc, JDOC_ROOT, &r->likely_error);
	if (!content)
		note_unread(r);
	if (!content && options->keep_others)
		return add_other(r, event_time(r, record, event->end), kind_of_other(r, usage != IPF_ABSENT), err);
	if (!content)
		return 0;
	r->after_end += after_end;
	int64_t t_ns = event_time(r, record, event->end);
	if (text && r->first_text_ns == IPF_ABSENT)
		r->first_text_ns = t_ns;
	/* whose repetition would add nothing but its text */
	if (r->text_nodes == 1 && !data && !tools && !r->ended && usage == IPF_ABSENT && r->token_ids == IPF_ABSENT &&
	    !r->prompt_bytes && !r->protobuf && !options->keep_logprobs && in_body(record, event->data)) {
		event_repeat_learn(&r->repeat, r->format, &r->doc, framing_trim(event->data), r->text_node);
		r->repeat.reasoning = reasoning;
		r->repeat_choice = r->choice;
	}
	return add_event(r, t_ns, usage, text || data ? EVENT_TEXT : reasoning ? EVENT_REASONING : EVENT_TOOL, err);
}

/* An SSE event whose name means an error: its data, JSON or not, is the message. */
static void note_error_event(struct response *r, struct slice data)
{
	if (!r->failed)
		error_message_of_body(&r->doc, data, &r->error_text);
	r->failed = true;
}

/* The gRPC message of an event as JSON. */
static bool message_json(struct response *r, const struct framing_event *event, struct slice *data,
                         struct ipf_error *err)
{
	struct ipf_error why = {0};
	if (event->pending) {
		r->truncated = true;
		return false;
	}
	if (grpc_response_message(r->protobuf, r->message, event, &r->json, &why) < 0) {
		if (why.kind == IPF_SYSTEM)
			*err = why;
		else
			note_malformed(r, why.text, (struct slice){0});
		return false;
	}
	*data = buffer_all(&r->json);
	return true;
}

/* The event as JSON. False: it has none, or a problem with it was noted already. */
static bool event_json(struct response *r, const struct framing_event *event, struct slice *data, struct ipf_error *err)
{
	*data = r->protobuf ? (struct slice){0} : framing_trim(event->data);
	return r->protobuf ? message_json(r, event, data, err) : data->len > 0;
}

/* Parses the event's data into r->doc. 1; 0: they are not JSON, which was noted if it matters; -1: out of memory. The
 * error has a room of its own, a kilobyte to be cleared, which repeated events never need. */
static int parse_data(struct response *r, const struct framing_event *event, struct slice data, struct ipf_error *err)
{
	struct ipf_error why = {0};
	if (jdoc_parse(&r->doc, data.data, data.len, &why) == 0)
		return 1;
	if (why.kind == IPF_SYSTEM)
		return ipf_error_set(err, IPF_SYSTEM, "%s", why.text);
	/* an incomplete event at the end of the body is a truncation, not malformed */
	if (event->pending && r->framing.kind != FRAMING_JSON)
		r->truncated = true;
	else if (!r->ended && !event->bare)
		note_malformed(r, "event is not JSON", data);
	return 0;
}

/* Events after the end mark are read like the rest, so content there is counted; only nonsense there is ignored. */
static int parse_event(struct response *r, const struct record *record, const struct response_options *options,
                       const struct framing_event *event, struct ipf_error *err)
{
	struct slice data, piece;
	bool some = event_json(r, event, &data, err);
	if (event->name.len &&
	    (slice_is(event->name, "error") || (r->format->error_event && slice_is(event->name, r->format->error_event)))) {
		note_error_event(r, data);
		return 0;
	}
	if (!some)
		return err->kind ? -1 : 0;
	if (r->format->end_data && slice_is(data, r->format->end_data)) {
		if (!r->ended)
			end_here(r);
		return options->keep_others ? add_other(r, event_time(r, record, event->end), EVENT_END, err) : 0;
	}
	if (!event->bare && !event->pending && event_repeat_find(&r->repeat, data, &piece))
		return add_repeated(r, record, options, event, piece, err);
	event_repeat_set_aside(&r->repeat);
	int parsed = parse_data(r, event, data, err);
	if (parsed <= 0)
		return parsed;
	if (extract_error(r))
		return options->keep_others ? add_other(r, event_time(r, record, event->end), EVENT_ERROR, err) : 0;
	if (jdoc_is_null(&r->doc, JDOC_ROOT))
		return 0;
	enum jdoc_type type = jdoc_type_of(&r->doc, JDOC_ROOT);
	if (event->bare || (type != JDOC_MAP && !(type == JDOC_LIST && r->framing.kind == FRAMING_JSON))) {
		if (!event->bare && !r->ended)
			note_malformed(r, "event is not a JSON object", data);
		return 0;
	}
	return extract_content(r, record, options, event, err);
}

/* An error with a good status: JSON in place of audio. */
static bool parse_no_audio(struct response *r, struct slice body)
{
	struct ipf_error ignored = {0};
	if (!body.len || *body.data != '{' || jdoc_parse(&r->doc, body.data, body.len, &ignored) < 0)
		return false;
	if (!extract_error(r))
		note_malformed(r, "expected audio", body);
	return true;
}

/* Audio: each read that brings samples is an event. */
static int parse_audio(struct response *r, const struct record *record, struct ipf_error *err)
{
	const struct audio_answer audio = audio_answer_of(record->body, r->format->pcm_rate);
	struct audio_playback playback = {0};
	int64_t end = 0;
	if (parse_no_audio(r, record->body))
		return 0;
	for (size_t i = 0; i < record->reads_count; i++) {
		const int64_t before = end;
		end += record->reads[i].bytes;
		if (end <= audio.begin || end == before)
			continue;
		int64_t t_ns = event_time(r, record, (size_t)end);
		if (r->first_text_ns == IPF_ABSENT)
			r->first_text_ns = t_ns;
		if (add_event(r, t_ns, IPF_ABSENT, EVENT_TEXT, err) < 0)
			return -1;
		audio_playback_add(&playback, t_ns, audio_answer_ns(&audio, before));
	}
	if (audio.bytes_per_s && playback.begun) {
		r->audio_ns = audio_answer_ns(&audio, audio.end);
		r->audio_waits_ns = playback.waited_ns;
	}
	return 0;
}

/* ---- the body ---- */

/* A body that is one JSON value in place of a stream of JSON objects. It may be all of a stream, or a server's whole
 * response: certainly the latter if only that half of the descriptor finds text in it, or if a stream of lines would
 * end in the middle of the value. */
static const struct api_response *one_value_format(struct response *r, const struct api_response *asked,
                                                   const struct api_response *other, struct slice body,
                                                   enum framing_kind *framing)
{
	bool has_whole = other && other->framing == FRAMING_JSON;
	r->one_value = true;
	if (has_whole && !gather(&r->doc, &asked->text, true, NULL).any && gather(&r->doc, &other->text, true, NULL).any) {
		*framing = FRAMING_JSON;
		return other;
	}
	if (asked->framing == FRAMING_NDJSON && memchr(body.data, '\n', body.len)) {
		*framing = FRAMING_JSON;
		return has_whole ? other : asked;
	}
	return asked;
}

/* Chooses the descriptor's half for the requested kind, unless the server plainly sent the other kind. *framing says
 * how to cut the body into events. */
static const struct api_response *choose_format(struct response *r, const struct record *record, const struct api *api,
                                                enum framing_kind *framing)
{
	const struct api_response *asked = api_response(api, record->streamed),
							  *other = api_response(api, !record->streamed);
	struct slice body = framing_trim(record->body);
	struct ipf_error ignored = {0};
	if (!asked) {
		asked = other;
		other = NULL;
	}
	*framing = asked->framing;
	bool of_json = asked->framing == FRAMING_NDJSON || asked->framing == FRAMING_JSON_SEQUENCE;
	if ((asked->framing == FRAMING_SSE || of_json) && body.len && strchr("{[", *body.data) &&
	    jdoc_parse(&r->doc, body.data, body.len, &ignored) == 0) {
		if (of_json)
			return one_value_format(r, asked, other, body, framing);
		*framing = FRAMING_JSON;
		return other && other->framing == FRAMING_JSON ? other : asked;
	}
	if (asked->framing == FRAMING_JSON && other && other->framing == FRAMING_SSE && framing_begins_like_events(body)) {
		*framing = FRAMING_SSE;
		return other;
	}
	return asked;
}

/* gRPC ends with a status; the descriptor may require an end mark in a message as well. */
static void finish_grpc(struct response *r, const struct record *record)
{
	struct buffer why = {0};
	int64_t status = grpc_response_status(&r->doc, record, &why);
	r->no_status = status == IPF_ABSENT;
	r->ended = status == 0 && (r->ended || !r->format->end_when.count);
	if (status > 0 && !r->failed) {
		r->deadline_exceeded = status == 4;
		buffer_slice(&r->error_text, buffer_all(&why));
	}
	r->failed |= status != IPF_ABSENT && status != 0;
	buffer_release(&why);
}

/* Errors and damage in the messages around the payload. */
static void finish_envelope(struct response *r)
{
	if (r->envelope.error.len && !r->failed)
		buffer_slice(&r->error_text, buffer_all(&r->envelope.error));
	r->failed |= r->envelope.error.len > 0;
	r->truncated |= r->envelope.truncated;
	if (r->envelope.broken && !r->failed)
		note_malformed(r, "damaged event stream", (struct slice){0});
}

/* Content after an end mark the API promises to be final. */
static void note_after_end(struct response *r)
{
	char text[80];
	snprintf(text, sizeof text, "%lld content event%s after the end mark", (long long)r->after_end,
	         r->after_end == 1 ? "" : "s");
	note_malformed(r, text, (struct slice){0});
}

/* Whether a stream is complete without its end mark: nothing came after its finish reason and its count of tokens. */
static bool ends_with_usage(const struct response *r)
{
	return r->format->end_at_usage && r->finish.len && r->output_tokens != IPF_ABSENT &&
	       r->usage_events == r->events_count;
}

/* An event without content that looks like an error is the reason why an answer is not complete. */
static void find_likely_error(struct response *r)
{
	bool complete = r->ended && (r->finish.len || (r->events_count && !r->format->finish.count));
	if (r->failed || complete || !r->likely_error.len)
		return;
	r->failed = true;
	buffer_slice(&r->error_text, buffer_all(&r->likely_error));
}

/* How the body is cut into events, if that is plainly not as the descriptor says: the framing that would read it. */
static enum framing_kind framing_that_fits(const struct response *r, const struct record *record)
{
	enum framing_kind framing = r->framing.kind;
	struct slice body = framing_trim(record->body);
	if (framing != FRAMING_SSE && framing != FRAMING_NDJSON && framing != FRAMING_JSON_SEQUENCE &&
	    framing != FRAMING_JSON)
		return framing;
	if (r->format->envelope || r->events_count || r->failed)
		return framing;
	if (framing != FRAMING_SSE && framing_begins_like_events(body))
		return FRAMING_SSE;
	enum framing_kind objects = framing_of_objects(body);
	bool lines_read = framing == FRAMING_NDJSON || framing == FRAMING_JSON_SEQUENCE;
	return objects == FRAMING_JSON || lines_read ? framing : objects;
}

/* Says how to read a body the descriptor's framing does not fit. */
static void note_other_framing(struct response *r, const struct record *record, const struct api *api)
{
	static const char *const names[] = {[FRAMING_SSE] = "server-sent events",
	                                    [FRAMING_NDJSON] = "lines of JSON",
	                                    [FRAMING_JSON] = "one JSON value",
	                                    [FRAMING_JSON_SEQUENCE] = "JSON objects one after another"};
	enum framing_kind fits = framing_that_fits(r, record);
	if (fits == r->framing.kind)
		return;
	char text[160];
	snprintf(text, sizeof text, "the body is %s, not %s: %s.framing \"%s\" would read it", names[fits],
	         names[r->framing.kind], r->format == api_response(api, true) ? "response" : "response_whole",
	         framing_names[fits]);
	r->other_framing = true;
	r->malformed = false;
	buffer_clear(&r->malformed_text);
	note_malformed(r, text, (struct slice){0});
}

/* Conclusions when all events have been parsed. */
static void finish_body(struct response *r, const struct record *record, size_t events)
{
	struct slice body = framing_trim(record->body);
	enum framing_kind framing = r->framing.kind;
	bool clean = record->error == RECORD_OK;
	if (r->after_end && r->format->end_final)
		note_after_end(r);
	if (r->format->envelope)
		finish_envelope(r);
	if (framing == FRAMING_GRPC)
		finish_grpc(r, record);
	if ((r->format->end_at_eof || ends_with_usage(r)) && clean && !r->truncated && body.len && !r->failed)
		r->ended = true;
	find_likely_error(r);
	if (framing == FRAMING_JSON && body.len && !r->ended && !r->failed && clean)
		note_malformed(r, "expected a value at end.when of the API descriptor, which marks a complete response", body);
	else if (framing == FRAMING_SSE && body.len && !events && r->framing.unknown && !r->failed)
		note_malformed(r, "body is not server-sent events", body);
}

static void begin(struct response *r, const struct record *record)
{
	struct buffer *buffers[] = {&r->id,         &r->finish,       &r->finish_server,  &r->content,
	                            &r->text,       &r->reasoning,    &r->error_text,     &r->malformed_text,
	                            &r->piece,      &r->seen_text,    &r->seen_reasoning, &r->output_ids,
	                            &r->prompt_ids, &r->likely_error, &r->response_id};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_clear(buffers[i]);
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		r->server_ns[i] = IPF_ABSENT;
	for (size_t i = 0; i < API_DETAILS; i++)
		r->details[i] = IPF_ABSENT;
	r->events_count = r->usage_events = r->others_count = r->output_indexes_count = 0;
	r->outputs = IPF_ABSENT;
	r->event = 0;
	r->end_event = SIZE_MAX;
	for (size_t i = 0; i < API_PARTS_MOST; i++)
		r->parts[i] = IPF_ABSENT;
	r->content_bytes = r->reasoning_bytes = r->reasoning_events = r->bare_events = 0;
	r->unread_events = 0;
	r->hidden_reasoning = false;
	r->choices = r->choice = 0;
	r->tokens_count = r->tokens_led = 0;
	r->after_end = r->listed_ids = 0;
	r->format = NULL;
	r->whole = r->no_streaming = r->one_value = false;
	r->compressed = r->other_framing = false;
	r->parsed = r->ended = r->failed = r->no_status = r->deadline_exceeded = r->malformed = r->includes_prompt =
		r->truncated = false;
	r->audio_ns = r->audio_waits_ns = IPF_ABSENT;
	r->token_ids = r->first_text_ns = r->input_tokens = r->output_tokens = r->reasoning_tokens = r->cached_tokens =
		r->total_tokens = IPF_ABSENT;
	event_repeat_forget(&r->repeat);
	tool_calls_clear(&r->calls);
	r->read = 0;
	r->read_end = record->reads_count ? (size_t)record->reads[0].bytes : 0;
	r->last_ns = -RESPONSE_TIME_MAX;
	r->before_ns = before_reads(record);
}

static bool out_of_memory(const struct response *r)
{
	return r->finish.failed || r->finish_server.failed || r->content.failed || r->text.failed || r->reasoning.failed ||
	       r->error_text.failed || r->malformed_text.failed || r->piece.failed || r->seen_text.failed ||
	       r->seen_reasoning.failed || r->output_ids.failed || r->prompt_ids.failed || r->indexes_failed ||
	       r->likely_error.failed || r->response_id.failed || r->calls.failed || r->framing.many.failed;
}

int response_parse(struct response *r, const struct record *record, const struct api *api,
                   const struct response_options *options, struct ipf_error *err)
{
	struct framing_event event;
	enum framing_kind framing;
	size_t events = 0;
	begin(r, record);
	r->kind = api_kind(api);
	if (record->status == IPF_ABSENT)
		return 0;
	const struct answer_head head = {.status = record->status, .headers = record->headers, .body = record->body};
	if (record->status < 200 || record->status > 299) {
		answer_message(&r->doc, &head, &r->error_text);
		return 0;
	}
	r->parsed = true;
	r->virtual_time = options->virtual_time;
	r->format = choose_format(r, record, api, &framing);
	r->whole = framing == FRAMING_JSON || r->format == api_response(api, false);
	r->no_streaming = !api_response(api, true);
	r->protobuf = framing == FRAMING_GRPC ? api_protobuf(api) : NULL;
	r->message = r->protobuf ? api_response_type(api, r->format == api_response(api, true)) : -1;
	bool repeats = r->format->text_mode == API_CUMULATIVE_WITH_PROMPT;
	r->includes_prompt = repeats && record->prompt_bytes == IPF_ABSENT;
	r->prompt_bytes = repeats && !r->includes_prompt ? (size_t)record->prompt_bytes : 0;
	r->no_text = !r->format->text.count;
	struct slice body = record->body;
	r->malformed = r->compressed = answer_compressed(&r->doc, &head, &r->malformed_text);
	if (r->compressed)
		return out_of_memory(r) ? ipf_error_memory(err) : 0;
	if (r->format->envelope) {
		if (envelope_open(&r->envelope, record->body, err) < 0)
			return -1;
		body = buffer_all(&r->envelope.payload);
	}
	framing_begin(&r->framing, framing, body);
	for (; framing_next(&r->framing, &event); r->event++) {
		if (r->format->envelope)
			event.end = envelope_end(&r->envelope, event.end);
		events += !event.bare;
		if (event.pending && record->error != RECORD_OK && framing != FRAMING_JSON) {
			r->truncated = true;
			continue;
		}
		if (parse_event(r, record, options, &event, err) < 0)
			return -1;
	}
	if (framing == FRAMING_BYTES && parse_audio(r, record, err) < 0)
		return -1;
	finish_body(r, record, events);
	note_other_framing(r, record, api);
	if (r->format->has_headers && extract_headers(r, record, err) < 0)
		return -1;
	return out_of_memory(r) ? ipf_error_memory(err) : 0;
}

void response_release(struct response *r)
{
	struct buffer *buffers[] = {&r->id,         &r->finish,     &r->finish_server,  &r->content,
	                            &r->text,       &r->reasoning,  &r->error_text,     &r->malformed_text,
	                            &r->piece,      &r->seen_text,  &r->seen_reasoning, &r->json,
	                            &r->output_ids, &r->prompt_ids, &r->likely_error,   &r->response_id};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_release(buffers[i]);
	tool_calls_release(&r->calls);
	framing_release(&r->framing);
	envelope_release(&r->envelope);
	jdoc_release(&r->doc);
	free(r->output_indexes);
	free(r->events);
	free(r->others);
	free(r->tokens);
}
