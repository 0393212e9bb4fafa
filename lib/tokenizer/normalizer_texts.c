#include "tokenizer/code_point.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/part_config.h"
#include "tokenizer/regex.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

struct strip {
	struct normalizer base;
	bool left, right;
};

struct prepend {
	struct normalizer base;
	struct buffer text;
};

struct replace {
	struct normalizer base;
	struct regex *pattern;
	struct buffer content;
};

static int apply_strip(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	const struct strip *s = (const struct strip *)self;
	const char *begin = text.data, *end = text.data + text.len;

	while (s->left && begin < end) {
		const char *next = begin;
		if (!unicode_white_space(utf8_next(&next)))
			break;
		begin = next;
	}
	while (s->right && begin < end) {
		const char *last = end - 1, *at;
		while (last > begin && ((unsigned char)*last & 0xc0) == 0x80)
			last--;
		at = last;
		if (!unicode_white_space(utf8_next(&at)))
			break;
		end = last;
	}
	if ((size_t)(end - begin) == text.len)
		return 0;
	buffer_append(out, begin, (size_t)(end - begin));
	return out->failed ? ipf_error_memory(err) : begin > text.data ? NORMALIZER_CUT : 1;
}

static void free_strip(struct normalizer *self)
{
	free(self);
}

int normalizer_strip(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	struct strip *s = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	s->base = (struct normalizer){apply_strip, free_strip};
	if (config_bool(config, "normalizer: Strip", "strip_left", false, &s->left, err) < 0 ||
	    config_bool(config, "normalizer: Strip", "strip_right", false, &s->right, err) < 0) {
		free(s);
		return -1;
	}
	*normalizer = &s->base;
	return 0;
}

static int apply_prepend(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	const struct prepend *p = (const struct prepend *)self;
	if (!text.len || !p->text.len)
		return 0;
	buffer_append(out, p->text.data, p->text.len);
	buffer_slice(out, text);
	return out->failed ? ipf_error_memory(err) : 1;
}

static void free_prepend(struct normalizer *self)
{
	buffer_release(&((struct prepend *)self)->text);
	free(self);
}

int normalizer_prepend(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	struct slice text;
	if (config_text(config, "normalizer: Prepend", "prepend", &text, err) < 0)
		return -1;
	struct prepend *p = calloc(1, sizeof *p);
	if (!p)
		return ipf_error_memory(err);
	p->base = (struct normalizer){apply_prepend, free_prepend};
	buffer_append(&p->text, text.data, text.len);
	if (p->text.failed) {
		free_prepend(&p->base);
		return ipf_error_memory(err);
	}
	*normalizer = &p->base;
	return 0;
}

/* The replacement of several characters counts as the last one of them. */
static bool cuts_start(const struct replace *r, struct slice text, size_t start, size_t end)
{
	const char *at = text.data;
	if (start > 0 || end == 0)
		return false;
	utf8_next(&at);
	return r->content.len == 0 || (size_t)(at - text.data) < end;
}

static int apply_replace(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	const struct replace *r = (const struct replace *)self;
	struct regex_walk walk;
	size_t start, end, kept = 0;
	int changed = 0, found;

	if (!text.len)
		return 0;
	regex_walk_begin(&walk, r->pattern, text);
	while ((found = regex_walk_next(&walk, &start, &end, err)) == 1) {
		buffer_append(out, text.data + kept, start - kept);
		buffer_append(out, r->content.data, r->content.len);
		kept = end;
		if (!changed)
			changed = cuts_start(r, text, start, end) ? NORMALIZER_CUT : 1;
	}
	regex_walk_end(&walk);
	if (found < 0)
		return -1;
	if (changed)
		buffer_append(out, text.data + kept, text.len - kept);
	return out->failed ? ipf_error_memory(err) : changed;
}

static void free_replace(struct normalizer *self)
{
	struct replace *r = (struct replace *)self;
	regex_free(r->pattern);
	buffer_release(&r->content);
	free(r);
}

int normalizer_replace(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "normalizer: Replace";
	struct slice pattern, content;
	bool literal;

	if (config_pattern(config, part, &pattern, &literal, err) < 0 ||
	    config_text(config, part, "content", &content, err) < 0)
		return -1;
	struct replace *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	r->base = (struct normalizer){apply_replace, free_replace};
	buffer_append(&r->content, content.data, content.len);
	if (r->content.failed || regex_new(&r->pattern, pattern, literal, err) < 0) {
		free_replace(&r->base);
		return ipf_error_memory(err);
	}
	*normalizer = &r->base;
	return 0;
}
