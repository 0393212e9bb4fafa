#include "sections/sentence.h"

#include "cli/units.h"
#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MOST = 96 };

/* A text of the report, or a number standing in its place. */
static bool put_text(struct buffer *out, json_t *value)
{
	if (json_is_string(value))
		buffer_text(out, json_string_value(value));
	else if (json_is_integer(value))
		buffer_format(out, "%lld", (long long)json_integer_value(value));
	return json_is_string(value) || json_is_integer(value);
}

/* The text between the braces. false: it does not exist. */
static bool put_figure(struct buffer *out, json_t *from, const char *name, size_t len)
{
	char path[PATH_MOST] = "", text[40];
	const char kind = len && strchr("#%!@$", name[len - 1]) ? name[len - 1] : 0;
	const bool plural_of = strncmp(name, "s:", 2) == 0;
	snprintf(path, sizeof path, "%.*s", (int)(len - (kind ? 1 : 0) - (plural_of ? 2 : 0)), name + (plural_of ? 2 : 0));
	double value = figure_at(from, path);
	if (kind == '!')
		return put_text(out, json_at(from, path));
	if (isnan(value))
		return false;
	if (plural_of)
		buffer_text(out, plural(value));
	else if (kind == '@')
		buffer_text(out, fabs(value) < 9e18 ? format_duration((int64_t)value, text) : show_number(value, text));
	else
		buffer_text(out, kind == '#'   ? show_whole(value, text)
		                 : kind == '%' ? show_percent(value, text)
		                 : kind == '$' ? show_small(value, text)
		                               : show_number(value, text));
	return true;
}

/* Text with figures up to `end`. false: a figure does not exist. */
static bool put_part(struct buffer *out, json_t *from, const char *at, const char *end)
{
	bool whole = true;
	while (at < end) {
		const char *brace = memchr(at, '{', (size_t)(end - at)), *close = brace ? strchr(brace, '}') : NULL;
		buffer_append(out, at, (size_t)((close ? brace : end) - at));
		if (close)
			whole &= put_figure(out, from, brace + 1, (size_t)(close - brace - 1));
		at = close ? close + 1 : end;
	}
	return whole;
}

const char *sentence(struct document *d, json_t *from, const char *text)
{
	struct buffer out = {0};
	bool whole = true;
	while (*text && whole) {
		const char *open = text + strcspn(text, "["), *close = *open ? strchr(open, ']') : NULL;
		whole = put_part(&out, from, text, open);
		const size_t before = out.len;
		if (close && !put_part(&out, from, open + 1, close))
			out.len = before;
		text = close ? close + 1 : open + strlen(open);
	}
	if (out.data)
		out.data[out.len] = 0;
	const char *said = whole ? doc_copy(d, out.data ? out.data : "") : NULL;
	d->failed |= out.failed;
	buffer_release(&out);
	return said;
}

const char *phrase(struct document *d, json_t *from, const char *text)
{
	const char *said = sentence(d, from, text);
	return said ? said : "";
}

struct doc_part *tell(const struct telling *t, const char *label, json_t *from, const char *text)
{
	static struct doc_part untold;
	const char *said = sentence(t->d, from, text);
	if (!said)
		return &untold;
	struct doc_part *part = doc_part(t->d, PART_FACT, label, NULL);
	part->text = said;
	return part;
}

const char *counts_text(struct document *d, json_t *counts)
{
	struct buffer text = {0};
	char number[40];
	const char *name;
	json_t *count;
	json_object_foreach(counts, name, count)
		buffer_format(&text, "%s%s %s", text.len ? ", " : "", name, show_count(json_integer_value(count), number));
	const char *copy = text.len ? doc_copy(d, text.data) : "";
	d->failed |= text.failed;
	buffer_release(&text);
	return copy ? copy : "";
}
