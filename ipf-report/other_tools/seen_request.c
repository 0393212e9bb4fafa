#include "other_tools/seen_request.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The results do not always have a tool's counts. For files of other tools, and servers sending the ids of tokens, the
 * count is the server's own. */
static struct tool_counts counts_of(const struct row *row)
{
	struct tool_counts c = {row_get(row, ROW_OUTPUT_USAGE), row_get(row, ROW_OUTPUT_TOKENIZER),
	                        row_get(row, ROW_ASKED_OUTPUT), row_get(row, ROW_EVENTS)};
	bool said = row->source < 0 || strcmp(sources[row->source], "ids") == 0;
	if (c.usage == IPF_ABSENT && c.tokenizer == IPF_ABSENT && said)
		c.usage = row_get(row, ROW_OUTPUT_TOKENS);
	return c;
}

static double or_nan(int64_t value)
{
	return value == IPF_ABSENT ? NAN : (double)value;
}

/* ---- the lists of a line ---- */

/* The next text of a JSON list of plain words, from *at on; absent: there is none any more. */
static struct slice next_word(struct slice list, size_t *at)
{
	const char *from = *at < list.len ? memchr(list.data + *at, '"', list.len - *at) : NULL;
	const char *end = list.data + list.len, *to = from ? memchr(from + 1, '"', (size_t)(end - from - 1)) : NULL;
	if (!to)
		return (struct slice){0};
	*at = (size_t)(to + 1 - list.data);
	return (struct slice){from + 1, (size_t)(to - from - 1)};
}

/* EVENT_KINDS: none of them. */
static enum event_kind kind_of(struct slice word)
{
	for (int i = 0; i < EVENT_KINDS; i++)
		if (slice_is(word, event_kind_names[i]))
			return (enum event_kind)i;
	return EVENT_KINDS;
}

static bool make_room(struct seen_request *seen, size_t count)
{
	return array_room(seen->events, seen->cap, count);
}

static int compare(const void *a, const void *b)
{
	const struct seen_event *x = a, *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void add_content(struct seen_request *seen, const struct result *result, double start_ns)
{
	bool tokens = event_times_parse(&seen->content_tokens, result->event_tokens) &&
	              seen->content_tokens.count == seen->content_ns.count;
	size_t at = 0;
	for (size_t i = 0; i < seen->content_ns.count; i++) {
		struct slice word = result->event_kinds.data ? next_word(result->event_kinds, &at) : (struct slice){0};
		enum event_kind kind = kind_of(word);
		seen->events[seen->count++] = (struct seen_event){seen->content_ns.ns[i] - start_ns,
		                                                  tokens ? (int64_t)seen->content_tokens.ns[i] : IPF_ABSENT,
		                                                  (uint8_t)(kind < EVENT_EMPTY ? kind : EVENT_TEXT)};
	}
}

static void add_others(struct seen_request *seen, const struct result *result, double start_ns)
{
	size_t at = 0;
	for (size_t i = 0; i < seen->other_ns.count; i++) {
		struct slice word = next_word(result->other_kinds, &at);
		enum event_kind kind = kind_of(word);
		if (slice_is(word, "close"))
			seen->outcome.closed = true;
		if (kind < EVENT_EMPTY || kind == EVENT_KINDS)
			continue;
		seen->outcome.end_mark |= kind == EVENT_END;
		seen->events[seen->count++] = (struct seen_event){seen->other_ns.ns[i] - start_ns,
		                                                  kind == EVENT_END ? 0 : IPF_ABSENT, (uint8_t)kind};
	}
}

static void read_events(struct seen_request *seen, const struct row *row, const struct result *result)
{
	event_times_parse(&seen->content_ns, result->event_ns);
	if (!event_times_parse(&seen->other_ns, result->other_ns))
		return;
	if (!make_room(seen, seen->content_ns.count + seen->other_ns.count))
		return;
	add_content(seen, result, (double)row->start_ns);
	size_t content = seen->count;
	add_others(seen, result, (double)row->start_ns);
	if (content < seen->count)
		qsort(seen->events, seen->count, sizeof *seen->events, compare);
	seen->complete = true;
	seen->times.event = seen->count ? seen->events[seen->count - 1].ns : NAN;
}

void seen_request_read(struct seen_request *seen, const struct row *row, const struct result *result)
{
	double last = or_nan(row_get(row, METRIC_E2E)), end = or_nan(row_get(row, METRIC_STREAM));
	const char *kind = row->error >= 0 ? verdict_kinds[row->error] : "";
	seen->count = 0;
	seen->complete = false;
	seen->times = (struct tool_times){or_nan(row_get(row, METRIC_TTFT)), last, end, end, 0};
	seen->counts = counts_of(row);
	seen->times.chunks = seen->counts.chunks == IPF_ABSENT ? 0 : seen->counts.chunks;
	seen->outcome = (struct tool_outcome){.ok = row->ok,
	                                      .error = strcmp(kind, "in-band") == 0,
	                                      .malformed = strcmp(kind, "malformed") == 0,
	                                      .incomplete = strcmp(kind, "cut") == 0,
	                                      .chunks = seen->counts.chunks == IPF_ABSENT ? row->ok : seen->times.chunks};
	seen->content_ns.count = seen->content_tokens.count = seen->other_ns.count = 0;
	if (result && result->event_ns.data && result->other_ns.data && result->other_kinds.data)
		read_events(seen, row, result);
}

void seen_request_release(struct seen_request *seen)
{
	free(seen->events);
	event_times_release(&seen->content_ns);
	event_times_release(&seen->content_tokens);
	event_times_release(&seen->other_ns);
	*seen = (struct seen_request){0};
}

/* ---- chunks and tokens of a tool ---- */

void seen_request_chunks(struct seen_chunks *chunks, const struct seen_request *seen, const struct tool_rules *rules)
{
	chunks->count = 0;
	chunks->times = seen->times;
	chunks->counts = seen->counts;
	chunks->outcome = seen->outcome;
	if (!seen->complete)
		return;
	if (!array_room(chunks->list, chunks->cap, seen->count))
		return;
	for (size_t i = 0; i < seen->count; i++)
		if (tool_counts(rules, (enum event_kind)seen->events[i].kind))
			chunks->list[chunks->count++] = seen->events[i];
	/* a response in one piece has a last chunk and no first one */
	bool streamed = !isnan(seen->times.first) || seen->counts.chunks == 0;
	chunks->times.first = streamed && chunks->count ? chunks->list[0].ns : NAN;
	chunks->times.last = chunks->count ? chunks->list[chunks->count - 1].ns : NAN;
	chunks->times.chunks = chunks->counts.chunks = chunks->outcome.chunks = (int64_t)chunks->count;
}

bool seen_chunks_gaps(const struct seen_chunks *chunks, const struct tool_rules *rules, struct histogram *gaps)
{
	bool tokens = rules->itl == TOOL_ITL_TOKENS, known = true;
	for (size_t i = 0; i < chunks->count; i++) {
		const struct seen_event *e = &chunks->list[i];
		if (i > 0)
			histogram_add(gaps, (int64_t)(e->ns - chunks->list[i - 1].ns), 1);
		known &= !tokens || e->tokens != IPF_ABSENT;
		if (tokens && e->tokens != IPF_ABSENT)
			histogram_add(gaps, 0, e->tokens - 1);
	}
	return known;
}

void seen_chunks_release(struct seen_chunks *chunks)
{
	free(chunks->list);
	*chunks = (struct seen_chunks){0};
}
