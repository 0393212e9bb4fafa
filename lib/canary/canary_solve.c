#include "canary/canary.h"
#include "canary/phrases.h"

/* ---- parts of a text ---- */

static bool cut_begin(struct slice *text, const char *begin)
{
	size_t len = strlen(begin);
	if (text->len < len || memcmp(text->data, begin, len) != 0)
		return false;
	*text = (struct slice){text->data + len, text->len - len};
	return true;
}

static bool cut_end(struct slice *text, const char *end)
{
	size_t len = strlen(end);
	if (text->len < len || memcmp(text->data + text->len - len, end, len) != 0)
		return false;
	text->len -= len;
	return true;
}

/* Splits at the first `separator`: *before gets the text before it and *text the rest. */
static bool cut_before(struct slice *text, const char *separator, struct slice *before)
{
	size_t len = strlen(separator);
	const char *at = text->len ? memmem(text->data, text->len, separator, len) : NULL;
	if (!at)
		return false;
	*before = (struct slice){text->data, (size_t)(at - text->data)};
	*text = (struct slice){at + len, text->len - before->len - len};
	return true;
}

/* Takes the next line off the text. False: nothing is left. */
static bool cut_line(struct slice *text, struct slice *line)
{
	if (!text->len)
		return false;
	if (!cut_before(text, "\n", line)) {
		*line = *text;
		*text = (struct slice){text->data + text->len, 0};
	}
	return true;
}

/* ---- the kinds ---- */

static bool solve_copy(struct slice text, struct buffer *answer)
{
	if (!cut_begin(&text, COPY_BEGIN) || !canary_is_mark(text))
		return false;
	buffer_slice(answer, text);
	return true;
}

static bool solve_recall(struct slice text, struct buffer *answer)
{
	struct slice list, line, name;
	if (!cut_begin(&text, RECALL_BEGIN) || !cut_end(&text, RECALL_END) || !cut_before(&text, RECALL_QUESTION, &list))
		return false;
	while (cut_line(&list, &line))
		if (cut_begin(&line, RECALL_LINE) && cut_end(&line, ".") && cut_before(&line, RECALL_IS, &name) &&
		    slice_equal(name, text)) {
			buffer_slice(answer, line);
			return true;
		}
	return false;
}

/* A number of one to three digits. */
static bool small_number(struct slice text, int *number)
{
	*number = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		*number = *number * 10 + (text.data[i] - '0');
	}
	return text.len >= 1 && text.len <= 3;
}

static bool solve_arithmetic(struct slice text, struct buffer *answer)
{
	struct slice first, sign;
	int a, b;
	if (!cut_begin(&text, ARITHMETIC_BEGIN) || !cut_end(&text, ARITHMETIC_END) || text.len > 16 ||
	    !cut_before(&text, " ", &first) || !cut_before(&text, " ", &sign) || !small_number(first, &a) ||
	    !small_number(text, &b) || (!slice_is(sign, "+") && !slice_is(sign, "*")))
		return false;
	buffer_format(answer, "%d", slice_is(sign, "+") ? a + b : a * b);
	return true;
}

static bool solve_json(struct slice text, struct buffer *answer)
{
	struct slice member;
	if (!cut_begin(&text, JSON_BEGIN))
		return false;
	buffer_byte(answer, '{');
	while (cut_before(&text, JSON_AND, &member)) {
		buffer_slice(answer, member);
		buffer_text(answer, ", ");
	}
	buffer_slice(answer, text);
	buffer_byte(answer, '}');
	return true;
}

static bool solve_list(struct slice text, struct buffer *answer)
{
	struct slice line;
	if (!cut_begin(&text, LIST_BEGIN) || !cut_line(&text, &line))
		return false;
	buffer_slice(answer, line);
	while (cut_line(&text, &line)) {
		buffer_text(answer, ", ");
		buffer_slice(answer, line);
	}
	return true;
}

bool canary_solve(struct slice prompt, struct buffer *answer)
{
	struct slice text = canary_trim(prompt);
	struct slice before;
	if (cut_begin(&text, COMPLETION_BEGIN) && !cut_end(&text, COMPLETION_END))
		return false;
	while (cut_before(&text, COMPLETION_NEXT COMPLETION_BEGIN, &before))
		;
	return solve_copy(text, answer) || solve_recall(text, answer) || solve_arithmetic(text, answer) ||
	       solve_json(text, answer) || solve_list(text, answer);
}
