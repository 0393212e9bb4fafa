/* The log of a vLLM server: lines "Received request ID: prompt: '…', … SamplingParams(…, max_tokens=N, …),
 * prompt_token_ids: […], …". The prompt is a Python literal; where it is not in the log, the count of its token ids may
 * be. How long answers were, the log does not say: the most that was asked for is taken. Times have no year, and whole
 * seconds, or those of the program around the server.
 */
#include "absent.h"
#include "sources/detect_format.h"
#include "sources/record_fields.h"
#include "cli/times.h"

#include <stdlib.h>
#include <string.h>

struct state {
	int64_t first_ns;
	bool drawn; /* prompts of any length are made */
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	s->drawn = settings->input->kind != DISTRIBUTION_DATASET;
	s->first_ns = IPF_ABSENT;
	*opened = s;
	return 0;
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	(void)csv;
	(void)err;
	((struct state *)opened)->first_ns = IPF_ABSENT;
	return 0;
}

/* What comes after `text` in the line. */
static struct slice after(struct slice line, const char *text)
{
	const char *at = memmem(line.data, line.len, text, strlen(text));
	return at ? (struct slice){at + strlen(text), line.len - (size_t)(at - line.data) - strlen(text)}
	          : (struct slice){0};
}

static void put_utf8(struct buffer *out, uint32_t c)
{
	if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		buffer_byte(out, (char)c);
		return;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	buffer_byte(out, (char)((0xff00 >> (more + 1) & 0xff) | (c >> 6 * more)));
	while (more-- > 0)
		buffer_byte(out, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

static uint32_t hex_digits(const char **at, const char *end, int digits)
{
	uint32_t value = 0;
	for (; digits > 0 && *at < end; digits--, (*at)++) {
		const char *hex = memchr("0123456789abcdef0123456789ABCDEF", **at, 32);
		if (!hex)
			break;
		value = value * 16 + (uint32_t)((hex - "0123456789abcdef0123456789ABCDEF") % 16);
	}
	return value;
}

/* A Python literal at the beginning of the text, decoded: false where it is none, or not closed. */
static bool take_literal(struct slice text, struct buffer *out)
{
	const char *at = text.data, *end = text.data + text.len;
	if (at == end || (*at != '\'' && *at != '"'))
		return false;
	for (char quote = *at++; at < end && *at != quote;) {
		if (*at != '\\' || at + 1 >= end) {
			buffer_byte(out, *at++);
			continue;
		}
		static const char names[] = "ntrabfv", values[] = "\n\t\r\a\b\f\v";
		char c = at[1];
		const char *named = strchr(names, c);
		at += 2;
		if (c == 'x' || c == 'u' || c == 'U')
			put_utf8(out, hex_digits(&at, end, c == 'x' ? 2 : c == 'u' ? 4 : 8));
		else
			buffer_byte(out, named ? values[named - names] : c);
	}
	return at < end;
}

/* The time in what stands before the message. */
static int64_t take_time_of(struct slice before, struct draft *d)
{
	for (size_t i = 0; i + 14 <= before.len; i++) {
		struct slice at = {before.data + i, before.len - i};
		struct ipf_error ignored = {0};
		int64_t ns;
		if (at.len >= 19 && at.data[4] == '-') {
			size_t len = 19;
			while (len < at.len && strchr(".0123456789", at.data[len]))
				len++;
			if (time_parse((struct slice){at.data, len}, &ns, &ignored) == 0)
				return ns;
		}
		ipf_error_clear(&ignored);
		if (at.data[2] == '-' &&
		    time_parse(draft_join(d, slice_of("2000-"), "", (struct slice){at.data, 14}), &ns, &ignored) == 0)
			return ns;
	}
	return IPF_ABSENT;
}

static int64_t take_number(struct slice text)
{
	int64_t value = 0;
	size_t i = 0;
	for (; i < text.len && i < 12 && text.data[i] >= '0' && text.data[i] <= '9'; i++)
		value = value * 10 + (text.data[i] - '0');
	return i > 0 ? value : IPF_ABSENT;
}

/* How many ids stand in the list "[1, 2]": 0 for none. */
static int64_t count_ids(struct slice text)
{
	int64_t count = 0;
	for (size_t i = 1; text.len > 0 && text.data[0] == '[' && i < text.len && text.data[i] != ']'; i++)
		count += (text.data[i] >= '0' && text.data[i] <= '9') && (text.data[i - 1] < '0' || text.data[i - 1] > '9');
	return count;
}

static int one_line(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const char mark[] = "Received request ";
	struct state *s = opened;
	struct draft *d = &sink->draft;
	struct slice rest = after(record->text, mark), prompt = rest.data ? after(rest, ": prompt: ") : rest;
	if (!rest.data) {
		sink->unusable(sink, "no request");
		return 0;
	}
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	int64_t ns = take_time_of((struct slice){record->text.data, record->text.len - rest.len}, d),
			ids = count_ids(after(rest, "prompt_token_ids: "));
	r->output_tokens = take_number(after(rest, "max_tokens="));
	struct buffer text = {0};
	bool whole = prompt.data && take_literal(prompt, &text);
	if (whole && text.len > 0)
		draft_message(d, ROLE_USER, draft_keep(d, buffer_all(&text)));
	d->failed |= text.failed;
	bool cut = prompt.len > 0 && !whole && strchr("'\"", prompt.data[0]);
	buffer_release(&text);
	if (cut)
		return ipf_error_set(err, IPF_INPUT, "the prompt is cut: no closing quote");
	if (ids > 0)
		r->input_tokens = ids;
	else if (r->count == 0 && s->drawn)
		r->input_tokens = 1; /* another one is drawn */
	if (r->count == 0 && ids == 0 && !s->drawn) {
		sink->unusable(sink, "no prompt in the log (--input-tokens makes some)");
		return 0;
	}
	if (ns != IPF_ABSENT) {
		if (s->first_ns == IPF_ABSENT)
			s->first_ns = ns;
		d->requests[0].at_ns = ns - s->first_ns;
	}
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return !sniff->json && sniff_text(sniff, "Received request ") && sniff_text(sniff, "SamplingParams(");
}

const struct source_format source_vllm_log = {
	.name = "vllm-log",
	.about = "the log of a vLLM server that logs requests: arrivals, prompts, the most tokens asked for",
	.kind = SOURCE_TRACE,
	.unit = UNIT_LINE,
	.traits = HAS_TIMES | GATHERS | MAKES_TEXT,
	.filled = "prose of the length that was logged, where the prompt was not",
	.open = open_source,
	.begin = begin_file,
	.knows = knows,
	.record = one_line,
	.close = free,
};
