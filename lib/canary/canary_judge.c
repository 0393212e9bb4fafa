#include "canary/canary.h"

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct slice canary_trim(struct slice text)
{
	while (text.len && is_space(text.data[0]))
		text = (struct slice){text.data + 1, text.len - 1};
	while (text.len && is_space(text.data[text.len - 1]))
		text.len--;
	return text;
}

/* ---- list ---- */

/* Takes the text before the next comma off *rest. */
static struct slice next_item(struct slice *rest, bool *more)
{
	const char *comma = rest->len ? memchr(rest->data, ',', rest->len) : NULL;
	size_t len = comma ? (size_t)(comma - rest->data) : rest->len, taken = len + (comma != NULL);
	struct slice item = {rest->data, len};
	*rest = (struct slice){rest->data + taken, rest->len - taken};
	*more = comma != NULL;
	return canary_trim(item);
}

static bool same_items(struct slice expected, struct slice answer)
{
	bool more_expected = true, more = true;
	while (more_expected && more)
		if (!slice_equal(next_item(&expected, &more_expected), next_item(&answer, &more)))
			return false;
	return more_expected == more;
}

/* ---- numbers ---- */

/* A decimal number without its leading and trailing zeros. */
struct decimal {
	bool negative;
	struct slice whole, fraction;
};

static struct slice digits_of(struct slice *text)
{
	struct slice digits = {text->data, 0};
	while (digits.len < text->len && text->data[digits.len] >= '0' && text->data[digits.len] <= '9')
		digits.len++;
	*text = (struct slice){text->data + digits.len, text->len - digits.len};
	return digits;
}

static bool take_byte(struct slice *text, char c)
{
	if (!text->len || text->data[0] != c)
		return false;
	*text = (struct slice){text->data + 1, text->len - 1};
	return true;
}

static bool read_decimal(struct slice text, struct decimal *number)
{
	number->negative = take_byte(&text, '-');
	if (!number->negative)
		take_byte(&text, '+');
	number->whole = digits_of(&text);
	if (!number->whole.len)
		return false;
	number->fraction = (struct slice){text.data, 0};
	if (take_byte(&text, '.')) {
		number->fraction = digits_of(&text);
		if (number->fraction.len)
			take_byte(&text, '.');
	}
	while (number->whole.len && number->whole.data[0] == '0')
		number->whole = (struct slice){number->whole.data + 1, number->whole.len - 1};
	while (number->fraction.len && number->fraction.data[number->fraction.len - 1] == '0')
		number->fraction.len--;
	if (!number->whole.len && !number->fraction.len)
		number->negative = false;
	return text.len == 0;
}

static bool same_number(struct slice expected, struct slice answer)
{
	struct decimal a, b;
	return read_decimal(expected, &a) && read_decimal(answer, &b) && a.negative == b.negative &&
	       slice_equal(a.whole, b.whole) && slice_equal(a.fraction, b.fraction);
}

/* ---- JSON ---- */

struct comparison {
	struct jdoc expected, answer;
	struct buffer text, other; /* scratch */
};

static bool same_text(struct comparison *c, jdoc_id expected, jdoc_id answer)
{
	buffer_clear(&c->text);
	buffer_clear(&c->other);
	jdoc_text(&c->expected, expected, &c->text);
	jdoc_text(&c->answer, answer, &c->other);
	return !c->text.failed && !c->other.failed && slice_equal(buffer_all(&c->text), buffer_all(&c->other));
}

static bool same_json_number(const struct comparison *c, jdoc_id expected, jdoc_id answer)
{
	int64_t whole, other_whole;
	double value, other_value;
	if (jdoc_to_int(&c->expected, expected, &whole) && jdoc_to_int(&c->answer, answer, &other_whole))
		return whole == other_whole;
	return jdoc_to_double(&c->expected, expected, &value) && jdoc_to_double(&c->answer, answer, &other_value) &&
	       !(value < other_value) && !(value > other_value);
}

/* The answer's member of the same name. */
static jdoc_id same_member(struct comparison *c, jdoc_id key, jdoc_id map)
{
	for (struct jdoc_each e = jdoc_each(&c->answer, map); jdoc_step(&e);)
		if (same_text(c, key, e.key))
			return e.value;
	return JDOC_NONE;
}

static bool same_json(struct comparison *c, jdoc_id expected, jdoc_id answer)
{
	enum jdoc_type type = jdoc_type_of(&c->expected, expected);
	uint32_t index = 0;
	if (answer == JDOC_NONE || type != jdoc_type_of(&c->answer, answer))
		return false;
	switch (type) {
	case JDOC_NULL:
		return true;
	case JDOC_BOOL:
		return slice_equal(jdoc_raw(&c->expected, expected), jdoc_raw(&c->answer, answer));
	case JDOC_NUMBER:
		return same_json_number(c, expected, answer);
	case JDOC_TEXT:
		return same_text(c, expected, answer);
	case JDOC_LIST:
	case JDOC_MAP:
		break;
	}
	if (jdoc_count(&c->expected, expected) != jdoc_count(&c->answer, answer))
		return false;
	for (struct jdoc_each e = jdoc_each(&c->expected, expected); jdoc_step(&e); index++)
		if (!same_json(c, e.value,
		               type == JDOC_MAP ? same_member(c, e.key, answer) : jdoc_at(&c->answer, answer, index)))
			return false;
	return true;
}

static bool json_equal(struct slice expected, struct slice answer)
{
	struct comparison c = {0};
	struct ipf_error err = {0};
	bool same = jdoc_parse(&c.expected, expected.data, expected.len, &err) == 0 &&
	            jdoc_parse(&c.answer, answer.data, answer.len, &err) == 0 && same_json(&c, JDOC_ROOT, JDOC_ROOT);
	jdoc_release(&c.expected);
	jdoc_release(&c.answer);
	buffer_release(&c.text);
	buffer_release(&c.other);
	return same;
}

enum canary_verdict canary_judge(enum canary_kind kind, struct slice expected, struct slice answer)
{
	bool same = false;
	expected = canary_trim(expected);
	answer = canary_trim(answer);
	if (expected.len > CANARY_ANSWER_MOST || answer.len > CANARY_ANSWER_MOST)
		return CANARY_UNDECIDED;
	if (!expected.len || !answer.len)
		return CANARY_WRONG;
	switch (kind) {
	case CANARY_COPY:
	case CANARY_RECALL:
	case CANARY_KINDS:
		same = slice_equal(expected, answer);
		break;
	case CANARY_ARITHMETIC:
		same = same_number(expected, answer);
		break;
	case CANARY_JSON:
		same = json_equal(expected, answer);
		break;
	case CANARY_LIST:
		same = same_items(expected, answer);
		break;
	}
	return same ? CANARY_RIGHT : CANARY_WRONG;
}
