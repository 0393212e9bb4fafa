#include "lines.h"

#include "absent.h"
#include "library.h"

#include <math.h>
#include <stdlib.h>

#define NAME_MAX_BYTES 256 /* a member's, with its NUL */

void line_set(struct ipf_line *line, enum ipf_line_kind kind, struct slice text, struct line_place place)
{
	line->kind = kind;
	line->text = text;
	line->place = place;
	line->parsed = false;
}

void line_release(struct ipf_line *line)
{
	jdoc_release(&line->doc);
	buffer_release(&line->own);
	buffer_release(&line->decoded);
}

static int fail(const struct ipf_line *line, struct ipf_error *err)
{
	ipf_error_place(err, line->place.file, line->place.number);
	return -1;
}

/* One step of a path: a member of an object, or an element of a list. */
static jdoc_id step(const struct jdoc *doc, jdoc_id node, const char *name, size_t len)
{
	char key[NAME_MAX_BYTES], *end;
	if (len >= sizeof key)
		return JDOC_NONE;
	memcpy(key, name, len);
	key[len] = '\0';
	if (jdoc_type_of(doc, node) != JDOC_LIST)
		return jdoc_get(doc, node, key);
	unsigned long index = strtoul(key, &end, 10);
	return *key < '0' || *key > '9' || *end || index >= jdoc_count(doc, node) ? JDOC_NONE
	                                                                          : jdoc_at(doc, node, (uint32_t)index);
}

int line_find(struct ipf_line *line, const char *path, jdoc_id *node, struct ipf_error *err)
{
	*node = JDOC_NONE;
	if (!line->parsed && jdoc_parse(&line->doc, line->text.data, line->text.len, err) < 0)
		return fail(line, err);
	line->parsed = true;
	*node = JDOC_ROOT;
	while (*path && *node != JDOC_NONE) {
		size_t len = strcspn(path, ".");
		*node = step(&line->doc, *node, path, len);
		path += len + (path[len] == '.');
	}
	return 0;
}

enum ipf_line_kind ipf_line_kind(const struct ipf_line *line)
{
	return line->kind;
}

int64_t ipf_line_number(const struct ipf_line *line)
{
	return line->place.number;
}

const char *ipf_line_json(struct ipf_line *line, size_t *len)
{
	if (len)
		*len = line->text.len;
	if (line->text.data != line->own.data) {
		buffer_clear(&line->own);
		buffer_slice(&line->own, line->text);
		if (line->own.failed)
			return NULL;
		line->text = buffer_all(&line->own);
		line->parsed = false; /* the document is of the other bytes */
	}
	return line->text.data;
}

/* 1: found, 0: absent or null, -1. */
static int find(struct ipf_line *line, const char *path, jdoc_id *node, struct ipf_error *err)
{
	library_begin();
	if (line_find(line, path, node, err) < 0)
		return -1;
	return !jdoc_is_null(&line->doc, *node);
}

static int expected(struct ipf_line *line, const char *path, jdoc_id node, const char *wanted, struct ipf_error *err)
{
	jdoc_expected(&line->doc, node, path, wanted, err);
	return fail(line, err);
}

int ipf_line_integer(struct ipf_line *line, const char *path, int64_t *value, struct ipf_error *err)
{
	jdoc_id node;
	int got = find(line, path, &node, err);
	if (got == 1 && jdoc_to_int(&line->doc, node, value))
		return 1;
	*value = IPF_ABSENT;
	return got == 1 ? expected(line, path, node, "an integer", err) : got;
}

int ipf_line_double(struct ipf_line *line, const char *path, double *value, struct ipf_error *err)
{
	jdoc_id node;
	int got = find(line, path, &node, err);
	if (got == 1 && jdoc_to_double(&line->doc, node, value))
		return 1;
	*value = NAN;
	return got == 1 ? expected(line, path, node, "a number", err) : got;
}

int ipf_line_flag(struct ipf_line *line, const char *path, int *value, struct ipf_error *err)
{
	jdoc_id node;
	int got = find(line, path, &node, err);
	*value = 0;
	if (got == 1 && jdoc_type_of(&line->doc, node) != JDOC_BOOL)
		return expected(line, path, node, "true or false", err);
	*value = got == 1 && slice_is(jdoc_raw(&line->doc, node), "true");
	return got;
}

int ipf_line_text(struct ipf_line *line, const char *path, const char **text, size_t *len, struct ipf_error *err)
{
	jdoc_id node;
	int got = find(line, path, &node, err);
	*text = NULL;
	if (len)
		*len = 0;
	if (got != 1)
		return got;
	if (jdoc_type_of(&line->doc, node) != JDOC_TEXT)
		return expected(line, path, node, "a text", err);
	buffer_clear(&line->decoded);
	buffer_append(&line->decoded, "", 0);
	jdoc_text(&line->doc, node, &line->decoded);
	if (line->decoded.failed)
		return ipf_error_memory(err);
	*text = line->decoded.data;
	if (len)
		*len = line->decoded.len;
	return 1;
}

size_t ipf_line_count(struct ipf_line *line, const char *path)
{
	struct ipf_error ignored = {0};
	jdoc_id node;
	return find(line, path, &node, &ignored) == 1 ? jdoc_count(&line->doc, node) : 0;
}
