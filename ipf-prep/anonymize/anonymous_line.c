#include "anonymize/anonymous_line.h"

#include "digits.h"

#include <string.h>

static void put_number(struct buffer *line, uint64_t number)
{
	char room[DIGITS_MOST], *end = room + sizeof room, *at = digits_before(end, number);
	buffer_append(line, at, (size_t)(end - at));
}

/* Nanoseconds as the decimal number of milliseconds that is exactly as much. */
static void put_ms(struct buffer *line, int64_t ns)
{
	int64_t rest = ns % 1000000;
	put_number(line, (uint64_t)(ns / 1000000));
	if (rest)
		buffer_byte(line, '.');
	for (int64_t unit = 100000; rest; rest %= unit, unit /= 10)
		buffer_byte(line, (char)('0' + rest / unit));
}

/* [4611686018427387904, …] */
static void put_hashes(struct buffer *line, const struct anonymous_request *r)
{
	buffer_byte(line, '[');
	char *to = buffer_reserve(line, r->hash_count * (DIGITS_MOST + 2)), *at = to;
	for (size_t i = 0; to && i < r->hash_count; i++) {
		char room[DIGITS_MOST], *end = room + sizeof room, *digits = digits_before(end, r->hashes[i]);
		if (i)
			at = (char *)memcpy(at, ", ", 2) + 2;
		memcpy(at, digits, (size_t)(end - digits));
		at += end - digits;
	}
	line->len += to ? (size_t)(at - to) : 0;
	buffer_byte(line, ']');
}

/* ---- the format of Mooncake ---- */

/* A turn without an arrival starts after the one before it; any other request without one, at the beginning. */
static void put_times(struct buffer *line, const struct anonymous_request *r)
{
	const bool later_turn = r->turn != IPF_ABSENT && r->turn > 0;
	if (r->at_ns != IPF_ABSENT || !later_turn) {
		buffer_text(line, "\"timestamp\": ");
		put_ms(line, r->at_ns == IPF_ABSENT ? 0 : r->at_ns);
		buffer_text(line, ", ");
	}
	if (r->wait_ns != IPF_ABSENT || (later_turn && r->at_ns == IPF_ABSENT)) {
		buffer_text(line, "\"delay\": ");
		put_ms(line, r->wait_ns == IPF_ABSENT ? 0 : r->wait_ns);
		buffer_text(line, ", ");
	}
}

/* A keyed name, as text. */
static void put_key(struct buffer *line, uint64_t key)
{
	buffer_format(line, "\"%016llx\"", (unsigned long long)key);
}

/* `before` and the model's name, if it is written. */
static void put_model(struct buffer *line, const char *before, const struct anonymous_request *r)
{
	if (!r->model.data && !r->model_key)
		return;
	buffer_text(line, before);
	if (r->model.data)
		buffer_slice(line, r->model);
	else
		put_key(line, r->model_key);
}

void anonymous_line_mooncake(struct buffer *line, const struct anonymous_request *r, int64_t block_tokens)
{
	buffer_clear(line);
	buffer_byte(line, '{');
	put_times(line, r);
	buffer_text(line, "\"input_length\": ");
	put_number(line, (uint64_t)r->input_tokens);
	buffer_text(line, ", \"output_length\": ");
	put_number(line, (uint64_t)r->output_tokens);
	buffer_text(line, ", \"hash_ids\": ");
	put_hashes(line, r);
	if (r->turn != IPF_ABSENT) {
		buffer_text(line, ", \"session_id\": ");
		put_key(line, r->session);
	}
	put_model(line, ", \"model\": ", r);
	if (block_tokens != MOONCAKE_BLOCK)
		buffer_format(line, ", \"block_size\": %lld", (long long)block_tokens);
	buffer_byte(line, '}');
}

/* ---- the format of a trace ---- */

/* `before` and the number, if there is one. */
static void put_known(struct buffer *line, const char *before, int64_t number)
{
	if (number == IPF_ABSENT)
		return;
	buffer_text(line, before);
	put_number(line, (uint64_t)number);
}

static void put_parents(struct buffer *line, const struct anonymous_request *r)
{
	if (!r->lists_parents)
		return;
	buffer_text(line, ",\"parents\":[");
	for (size_t i = 0; i < r->parent_count; i++) {
		if (i)
			buffer_byte(line, ',');
		put_key(line, r->parents[i]);
	}
	buffer_byte(line, ']');
}

void anonymous_line_trace(struct buffer *line, const struct anonymous_request *r, int64_t block_tokens)
{
	buffer_clear(line);
	buffer_text(line, "{\"id\":");
	put_key(line, r->id);
	put_known(line, ",\"input_tokens\":", r->input_tokens);
	put_known(line, ",\"output_tokens\":", r->output_tokens);
	put_known(line, ",\"at_ns\":", r->at_ns);
	if (r->turn != IPF_ABSENT) {
		buffer_text(line, ",\"session\":");
		put_key(line, r->session);
		put_known(line, ",\"turn\":", r->turn);
	}
	put_known(line, ",\"wait_ns\":", r->wait_ns);
	put_known(line, ",\"hang_up_ns\":", r->hang_up_ns);
	put_known(line, ",\"recorded_ttft_ns\":", r->recorded_ttft_ns);
	put_known(line, ",\"recorded_e2e_ns\":", r->recorded_e2e_ns);
	put_parents(line, r);
	put_model(line, ",\"model\":", r);
	if (r->hash_count) {
		buffer_format(line, ",\"blocks\":{\"tokens\":%lld,\"ids\":", (long long)block_tokens);
		put_hashes(line, r);
		buffer_byte(line, '}');
	}
	if (r->tags.data) {
		buffer_text(line, ",\"tags\":");
		buffer_slice(line, r->tags);
	}
	buffer_byte(line, '}');
}
