#define PCRE2_CODE_UNIT_WIDTH 8
#include "json_schema/pattern.h"

#include <pcre2.h>
#include <stdlib.h>

#define LENGTH_MAX  4096
#define MATCH_LIMIT 200000
#define DEPTH_LIMIT 5000
#define HEAP_LIMIT  16384 /* KiB */

struct pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

static pcre2_code *compile(struct slice text, struct ipf_error *err)
{
	/* `$` is the end alone, \uXXXX a character, an unset group matches nothing: as in ECMA 262 */
	const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF |
	                         PCRE2_ALLOW_EMPTY_CLASS | PCRE2_NEVER_BACKSLASH_C;
	int number;
	PCRE2_SIZE at;
	PCRE2_UCHAR why[128];
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	if (!context || pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX) != 0 ||
	    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF) != 0) {
		pcre2_compile_context_free(context);
		ipf_error_memory(err);
		return NULL;
	}
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text.data, text.len, options, &number, &at, context);
	pcre2_compile_context_free(context);
	if (!code && pcre2_get_error_message(number, why, sizeof why) < 0)
		why[0] = '\0';
	if (!code)
		ipf_error_set(err, IPF_INPUT, "expected a regular expression, got \"%.*s\" (%s at %zu)",
		              text.len < 60 ? (int)text.len : 60, text.data, (const char *)why, (size_t)at);
	return code;
}

struct pattern *pattern_new(struct slice text, struct ipf_error *err)
{
	if (text.len > LENGTH_MAX) {
		ipf_error_set(err, IPF_INPUT, "expected a regular expression of at most %d bytes, got %zu", LENGTH_MAX,
		              text.len);
		return NULL;
	}
	struct pattern *p = calloc(1, sizeof *p);
	if (!p) {
		ipf_error_memory(err);
		return NULL;
	}
	p->code = compile(text.data ? text : slice_of(""), err);
	p->match = p->code ? pcre2_match_data_create(1, NULL) : NULL;
	p->limits = p->match ? pcre2_match_context_create(NULL) : NULL;
	if (!p->limits || pcre2_set_match_limit(p->limits, MATCH_LIMIT) != 0 ||
	    pcre2_set_depth_limit(p->limits, DEPTH_LIMIT) != 0 || pcre2_set_heap_limit(p->limits, HEAP_LIMIT) != 0) {
		pattern_free(p);
		ipf_error_memory(err); /* the first error counts */
		return NULL;
	}
	return p;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->limits);
	pcre2_match_data_free(p->match);
	pcre2_code_free(p->code);
	free(p);
}

int pattern_matches(const struct pattern *p, struct slice text)
{
	int got = pcre2_match(p->code, (PCRE2_SPTR)(text.data ? text.data : ""), text.len, 0, 0, p->match, p->limits);
	return got >= 0 ? 1 : got == PCRE2_ERROR_NOMATCH ? 0 : -1;
}
