#include "tokenizer/regex.h"

#include "tokenizer/regex_translate.h"

#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct regex {
	pcre2_code *code; /* NULL: find `text` */
	struct buffer text;
};

static int compile(struct regex *re, struct slice pattern, struct ipf_error *err)
{
	const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	PCRE2_UCHAR message[120];
	PCRE2_SIZE at = 0;
	int number = PCRE2_ERROR_NOMEMORY;

	if (regex_translate(pattern, &re->text, err) < 0) {
		pcre2_compile_context_free(context);
		return -1;
	}
	if (context) {
		pcre2_set_newline(context, PCRE2_NEWLINE_LF);
		re->code = pcre2_compile((PCRE2_SPTR)(re->text.data ? re->text.data : ""), re->text.len, options, &number, &at,
		                         context);
		pcre2_compile_context_free(context);
	}
	if (!re->code) {
		pcre2_get_error_message(number, message, sizeof message);
		return ipf_error_set(err, IPF_INPUT, "regex \"%.*s\": %s", (int)(pattern.len < 200 ? pattern.len : 200),
		                     pattern.data, (const char *)message);
	}
	/* If the machine has no just-in-time compiler, PCRE2 interprets. */
	pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);
	return 0;
}

int regex_new(struct regex **out, struct slice pattern, bool literal, struct ipf_error *err)
{
	struct regex *re = calloc(1, sizeof *re);
	*out = NULL;
	if (!re)
		return ipf_error_memory(err);
	if (literal) {
		buffer_append(&re->text, pattern.data, pattern.len);
	} else if (compile(re, pattern, err) < 0) {
		regex_free(re);
		return -1;
	}
	if (re->text.failed) {
		regex_free(re);
		return ipf_error_memory(err);
	}
	*out = re;
	return 0;
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	pcre2_code_free(re->code);
	buffer_release(&re->text);
	free(re);
}

void regex_walk_begin(struct regex_walk *w, const struct regex *re, struct slice text)
{
	*w = (struct regex_walk){.re = re, .text = text};
}

void regex_walk_end(struct regex_walk *w)
{
	pcre2_match_data_free(w->data);
	pcre2_match_context_free(w->context);
	pcre2_jit_stack_free(w->stack);
	w->data = w->context = w->stack = NULL;
}

/* Compiled code starts with 32 KiB of the machine stack. If it needs more, it gets its own stack; then the interpreter
 * runs, which uses the heap. */
static int match(struct regex_walk *w)
{
	if (!w->data && !(w->data = pcre2_match_data_create(1, NULL)))
		return PCRE2_ERROR_NOMEMORY;
	PCRE2_SPTR text = (PCRE2_SPTR)w->text.data;
	int n = pcre2_match(w->re->code, text, w->text.len, w->from, PCRE2_NO_UTF_CHECK, w->data, w->context);
	if (n != PCRE2_ERROR_JIT_STACKLIMIT && n != PCRE2_ERROR_MATCHLIMIT && n != PCRE2_ERROR_DEPTHLIMIT)
		return n;
	if (!w->context && !(w->context = pcre2_match_context_create(NULL)))
		return PCRE2_ERROR_NOMEMORY;
	pcre2_set_match_limit(w->context, UINT32_MAX);
	pcre2_set_depth_limit(w->context, UINT32_MAX);
	if (!w->stack && (w->stack = pcre2_jit_stack_create(1 << 20, 64 << 20, NULL)) != NULL)
		pcre2_jit_stack_assign(w->context, NULL, w->stack);
	n = pcre2_match(w->re->code, text, w->text.len, w->from, PCRE2_NO_UTF_CHECK, w->data, w->context);
	if (n == PCRE2_ERROR_JIT_STACKLIMIT)
		n = pcre2_match(w->re->code, text, w->text.len, w->from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, w->data,
		                w->context);
	return n;
}

/* Searches from w->from on. Returns the result of regex_walk_next. */
static int search(struct regex_walk *w, size_t *start, size_t *end, struct ipf_error *err)
{
	if (!w->re->code) {
		struct slice wanted = buffer_all(&w->re->text);
		const char *from = w->text.data + w->from;
		const char *found = wanted.len ? memmem(from, w->text.len - w->from, wanted.data, wanted.len) : from;
		if (!found)
			return 0;
		*start = (size_t)(found - w->text.data);
		*end = *start + wanted.len;
		return 1;
	}
	int n = match(w);
	if (n == PCRE2_ERROR_NOMATCH)
		return 0;
	if (n < 0) {
		PCRE2_UCHAR message[120];
		pcre2_get_error_message(n, message, sizeof message);
		return ipf_error_set(err, IPF_SYSTEM, "regex: %s", (const char *)message);
	}
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(w->data);
	*start = ends[0];
	*end = ends[1];
	return 1;
}

static size_t character_length(struct slice text, size_t at)
{
	size_t n = 1;
	while (at + n < text.len && ((unsigned char)text.data[at + n] & 0xc0) == 0x80)
		n++;
	return n;
}

int regex_walk_next(struct regex_walk *w, size_t *start, size_t *end, struct ipf_error *err)
{
	while (w->from <= w->text.len) {
		int found = search(w, start, end, err);
		if (found <= 0)
			return found;
		if (*start == *end && w->matched && w->last_end == *end) {
			w->from += character_length(w->text, w->from);
			continue;
		}
		w->from = w->last_end = *end;
		w->matched = true;
		return 1;
	}
	return 0;
}
