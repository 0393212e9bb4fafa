#include "answers/answer_check.h"

#include "absent.h"
#include "answers/repetition.h"
#include "canary/canary.h"
#include "hash_index.h"
#include "json/jout.h"
#include "measure/history_tokens.h"
#include "stream/request_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first answer to a request, with which later ones are compared. */
struct first_answer {
	uint64_t key; /* its number's; see hash_index.h */
	char *text;
	size_t len, ids_len; /* the ids come behind the text */
	char finish[32];     /* the reason, as JSON; "": none, or a longer one */
	struct response_token *tokens;
	size_t tokens_count;
	bool whole; /* the text is not cut here */
};

struct answer_check {
	bool seen;              /* some request was checked */
	int64_t trace_requests; /* in the input's trace */
	struct first_answer *answers;
	size_t room, count, bytes;
	struct jdoc doc;
	struct canary_expected expected;
	struct buffer mark;
};

struct answer_check *answer_check_new(void)
{
	return calloc(1, sizeof(struct answer_check));
}

void answer_check_free(struct answer_check *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->room; i++) {
		free(c->answers[i].text);
		free(c->answers[i].tokens);
	}
	free(c->answers);
	jdoc_release(&c->doc);
	canary_expected_release(&c->expected);
	buffer_release(&c->mark);
	free(c);
}

void answer_check_begin(struct answer_check *c, const struct schedule *schedule)
{
	c->trace_requests = schedule->trace_requests == IPF_ABSENT ? 0 : schedule->trace_requests;
}

void answer_check_reads(struct answer_check *c, const struct record *record, struct response_options *options)
{
	const enum request_check check = request_check_of(record->tags, &c->doc);
	c->seen |= check != CHECK_NONE;
	options->keep_text |= c->seen;
	options->keep_ids |= check == CHECK_REPEAT;
	options->keep_logprobs |= check == CHECK_REPEAT;
}

/* ---- canaries ---- */

/* Several choices are not judged, as their texts are one. A canary's answer that the limit of its length ended before
 * it said anything is not judged: a model may have spent it on reasoning. */
static enum canary_verdict judge(const struct answer_check *c, const struct response *r, const struct result *row)
{
	const struct slice text = canary_trim(buffer_all(&r->text));
	if (r->choices > 1 || (!text.len && slice_is(row->finish, "\"length\"")))
		return CANARY_UNDECIDED;
	return canary_judge(c->expected.kind, buffer_all(&c->expected.answer), text);
}

/* Is the mark one of the expected answer, or one of these with some wrong symbols? Two marks have 12/32 equal symbols
 * on average. */
static bool is_own(struct slice expected, struct slice found)
{
	struct slice own;
	for (size_t at = 0; (own = canary_mark_find(expected, &at)).data;) {
		int equal = 0;
		for (int i = 0; i < CANARY_MARK; i++)
			equal += own.data[i] == found.data[i];
		if (equal >= CANARY_MARK / 2)
			return true;
	}
	return false;
}

/* A mark in the text that is not of the expected answer. */
static void look_for_marks(struct answer_check *c, bool expects, const struct response *r, struct result *row)
{
	struct slice found;
	const struct slice expected = expects ? buffer_all(&c->expected.answer) : (struct slice){0};
	for (size_t at = 0; (found = canary_mark_find(buffer_all(&r->text), &at)).data;) {
		if (is_own(expected, found))
			continue;
		struct jout w = {.out = &c->mark};
		buffer_clear(&c->mark);
		jout_string(&w, found);
		row->other_mark = buffer_all(&c->mark);
		return;
	}
}

/* ---- the same request again ---- */

static int keep(struct answer_check *c, struct first_answer *to, const struct response *r, const struct result *row)
{
	const size_t len = r->text.len < ANSWER_BYTES_MOST ? r->text.len : ANSWER_BYTES_MOST;
	const size_t ids = r->output_ids.len < ANSWER_BYTES_MOST ? r->output_ids.len : 0;
	if (c->bytes + len + ids > ANSWERS_KEPT_MOST)
		return 0;
	to->text = malloc(len + ids + 1);
	if (!to->text)
		return -1;
	if (len)
		memcpy(to->text, r->text.data, len);
	if (ids)
		memcpy(to->text + len, r->output_ids.data, ids);
	if (r->tokens_count && c->bytes + len + ids + r->tokens_count * sizeof *r->tokens <= ANSWERS_KEPT_MOST) {
		if (!(to->tokens = malloc(r->tokens_count * sizeof *r->tokens)))
			return -1;
		memcpy(to->tokens, r->tokens, r->tokens_count * sizeof *r->tokens);
		to->tokens_count = r->tokens_count;
		c->bytes += r->tokens_count * sizeof *r->tokens;
	}
	to->len = len;
	to->ids_len = ids;
	to->whole = len == r->text.len;
	if (row->finish.len < sizeof to->finish)
		snprintf(to->finish, sizeof to->finish, "%.*s", (int)row->finish.len, row->finish.data ? row->finish.data : "");
	c->bytes += len + ids;
	return 0;
}

static size_t common(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t n = 0;
	while (n < a_len && n < b_len && a[n] == b[n])
		n++;
	return n;
}

/* Whole characters of UTF-8 before byte `at` of a text of `len` bytes. */
static int64_t characters(const char *text, size_t len, size_t at)
{
	int64_t n = 0;
	while (at > 0 && at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	for (size_t i = 0; i < at; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* The first token that differs, by log probabilities; whether both answers had a near tie there. */
static void compare_tokens(const struct first_answer *first, const struct response *r, struct result *row)
{
	size_t k = 0;
	while (k < first->tokens_count && k < r->tokens_count && first->tokens[k].text == r->tokens[k].text)
		k++;
	if (!first->tokens_count || !r->tokens_count)
		return;
	row->differs_at_token = (int64_t)k;
	if (k >= first->tokens_count || k >= r->tokens_count || isnan(first->tokens[k].lead) || isnan(r->tokens[k].lead))
		return;
	const bool tie = first->tokens[k].lead <= ANSWER_NEAR_TIE && r->tokens[k].lead <= ANSWER_NEAR_TIE;
	row->compared = slice_of(tie ? "\"near-tie\"" : "\"clear\"");
}

static void compare(const struct first_answer *first, const struct response *r, struct result *row)
{
	const size_t len = r->text.len < ANSWER_BYTES_MOST ? r->text.len : ANSWER_BYTES_MOST;
	const size_t at = common(first->text, first->len, r->text.data, len);
	const bool same = at == first->len && at == len && first->whole == (len == r->text.len);
	row->compared = slice_of(same ? "\"same\"" : "\"differs\"");
	if (first->finish[0] && row->finish.len && !slice_is(row->finish, first->finish))
		row->other_finish = slice_of(first->finish);
	if (same)
		return;
	row->differs_at_char = characters(first->text, first->len, at);
	compare_tokens(first, r, row);
	if (!first->ids_len || !r->output_ids.len)
		return;
	row->differs_at_token = history_tokens_alike((struct slice){first->text + first->len, first->ids_len},
	                                             buffer_all(&r->output_ids));
}

static int compare_again(struct answer_check *c, const struct record *record, const struct response *r,
                         struct result *row)
{
	if (record->req == IPF_ABSENT)
		return 0;
	const int64_t copy = record->copy == IPF_ABSENT ? 0 : record->copy;
	const uint64_t key = hash_index_key((uint64_t)schedule_prompt_number(record->req, copy, c->trace_requests));
	if (!hash_index_room(c->answers, c->room, c->count + 1))
		return -1;
	struct first_answer *first = hash_index_find(c->answers, c->room, key);
	if (first->key) {
		if (first->text)
			compare(first, r, row);
		return 0;
	}
	first->key = key;
	c->count++;
	return keep(c, first, r, row);
}

/* ---- a row ---- */

static struct slice check_name(enum request_check check, enum canary_kind kind)
{
	static const char *const kinds[] = {[CANARY_COPY] = "\"copy\"",
	                                    [CANARY_RECALL] = "\"recall\"",
	                                    [CANARY_ARITHMETIC] = "\"arithmetic\"",
	                                    [CANARY_JSON] = "\"json\"",
	                                    [CANARY_LIST] = "\"list\""};
	return slice_of(check == CHECK_REPEAT ? "\"repeat\"" : kinds[kind]);
}

int answer_check_row(struct answer_check *c, const struct record *record, const struct response *r, struct result *row)
{
	static const char *const verdicts[] = {
		[CANARY_RIGHT] = "\"right\"", [CANARY_WRONG] = "\"wrong\"", [CANARY_UNDECIDED] = "\"undecided\""};
	if (!c->seen)
		return 0;
	enum request_check check = request_check_of(record->tags, &c->doc);
	if (check == CHECK_CANARY && !canary_tag_read(&c->doc, JDOC_ROOT, &c->expected))
		check = CHECK_NONE;
	if (check != CHECK_NONE)
		row->answer_check = check_name(check, c->expected.kind);
	if (!row->ok || r->no_text || r->includes_prompt)
		return 0;
	if (check == CHECK_CANARY)
		row->judged = slice_of(verdicts[judge(c, r, row)]);
	look_for_marks(c, check == CHECK_CANARY, r, row);
	if (slice_is(row->finish, "\"length\"")) {
		const size_t loop = repetition_bytes(buffer_all(&r->text));
		row->loop_bytes = loop ? (int64_t)loop : IPF_ABSENT;
	}
	if (check != CHECK_NONE && compare_again(c, record, r, row) < 0)
		return -1;
	return c->mark.failed || c->expected.answer.failed ? -1 : 0;
}
