/* vllm-log: the log of a vLLM server.
 *
 * Origin: vLLM's --enable-log-requests. A request is a line such as
 *
 *     INFO 01-30 10:15:02 [logger.py:43] Received request cmpl-1: prompt: '…', params: SamplingParams(…, max_tokens=16,
 *     …), prompt_token_ids: [1, 2, …], lora_request: None.
 *
 *     time              month and day without a year, in whole seconds; or a full date and time, if another program
 *                       wrote the log. Arrivals count from the file's first request
 *     prompt            a Python string literal
 *     max_tokens        the most tokens requested; the log does not tell how long the answer was, so it is used as such
 *     prompt_token_ids  if the prompt is not logged, the number of these ids is its length
 *
 * All other lines are counted as unusable. Other parameters are ignored.
 */
#include "absent.h"
#include "sources/log_text.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#include <string.h>

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	(void)csv;
	(void)err;
	((struct log_state *)opened)->origin = (struct time_origin){0};
	return 0;
}

/* The text after `text` in the line. */
static struct slice after(struct slice line, const char *text)
{
	const char *at = memmem(line.data, line.len, text, strlen(text));
	return at ? (struct slice){at + strlen(text), line.len - (size_t)(at - line.data) - strlen(text)}
	          : (struct slice){0};
}

/* The decimal number at the beginning of the text; IPF_ABSENT. */
static int64_t leading_number(struct slice text)
{
	int64_t value = 0;
	size_t i = 0;
	for (; i < text.len && i < 12 && text.data[i] >= '0' && text.data[i] <= '9'; i++)
		value = value * 10 + (text.data[i] - '0');
	return i > 0 ? value : IPF_ABSENT;
}

/* The number of ids in a list such as "[1, 2]". */
static int64_t count_ids(struct slice text)
{
	int64_t count = 0;
	for (size_t i = 1; text.len > 0 && text.data[0] == '[' && i < text.len && text.data[i] != ']'; i++)
		count += (text.data[i] >= '0' && text.data[i] <= '9') && (text.data[i - 1] < '0' || text.data[i - 1] > '9');
	return count;
}

/* Adds the logged prompt, if there is one: 0, or -1 if it is cut off. */
static int add_prompt(struct draft *d, struct slice prompt)
{
	struct buffer text = {0};
	bool whole = prompt.data && python_string(&prompt, &text);
	if (whole && text.len > 0)
		draft_message(d, ROLE_USER, draft_keep(d, buffer_all(&text)));
	d->failed |= text.failed;
	buffer_release(&text);
	return prompt.len > 0 && !whole && strchr("'\"", prompt.data[0]) ? -1 : 0;
}

static int read_line(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const char mark[] = "Received request ";
	struct log_state *s = opened;
	struct draft *d = &sink->draft;
	struct slice rest = after(record->text, mark), prompt = rest.data ? after(rest, ": prompt: ") : rest;
	if (!rest.data) {
		sink->no_request(sink, "no request");
		return 0;
	}
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	int64_t ns = log_time((struct slice){record->text.data, record->text.len - rest.len}, d),
			ids = count_ids(after(rest, "prompt_token_ids: "));
	r->output_tokens = leading_number(after(rest, "max_tokens="));
	if (add_prompt(d, prompt) < 0)
		return ipf_error_set(err, IPF_INPUT, "prompt: cut off, no closing quote");
	if (ids > 0)
		r->input_tokens = ids;
	else if (r->count == 0 && s->drawn)
		r->input_tokens = LOG_TOKENS_DRAWN;
	if (r->count == 0 && ids == 0 && !s->drawn) {
		sink->unusable(sink, "no prompt in the log (--input-tokens makes some)");
		return 0;
	}
	if (ns != IPF_ABSENT)
		r->at_ns = since_origin(&s->origin, ns);
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return !sniff->json && sniff_text(sniff, "Received request ") && sniff_text(sniff, "SamplingParams(");
}

const struct source_format source_vllm_log = {
	.name = "vllm-log",
	.about = "log of a vLLM server with its requests: arrivals, prompts, requested maximum of output tokens",
	.kind = SOURCE_TRACE,
	.unit = UNIT_LINE,
	.traits = HAS_TIMES | GATHERS | MAKES_TEXT,
	.filled = "prose of the logged length, if the prompt was not logged",
	.state_size = sizeof(struct log_state),
	.open = log_open,
	.begin_file = begin_file,
	.read_record = read_line,
	.recognises = recognises,
};
