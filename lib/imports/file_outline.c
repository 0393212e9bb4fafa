#include "imports/file_outline.h"

#include <stdio.h>
#include <string.h>

enum { LEVELS = 4, PATH = 256, PATHS_BYTES = 1 << 16 };

struct scan {
	const char *at, *end;
	struct buffer *paths;
	int depth;
	struct level {
		bool map, later; /* later: not the first element of a list */
		bool key_next;
		char path[PATH]; /* the container's, without the member */
		char member[PATH];
	} levels[LEVELS];
};

/* Is everything around this place the first element? */
static bool is_first(const struct scan *s)
{
	for (int i = 0; i < s->depth; i++)
		if (s->levels[i].later)
			return false;
	return true;
}

static void open_level(struct scan *s, bool map)
{
	if (s->depth < LEVELS) {
		struct level *level = &s->levels[s->depth], *outer = s->depth ? level - 1 : NULL;
		*level = (struct level){.map = map, .key_next = map};
		snprintf(level->path, sizeof level->path, "%.120s%s", outer ? outer->member : "", map ? "" : "[]");
		if (!map)
			memcpy(level->member, level->path, sizeof level->member);
	}
	s->depth++;
}

/* False: the first document is over. */
static bool close_level(struct scan *s)
{
	return --s->depth > 0;
}

static struct level *innermost(struct scan *s)
{
	return s->depth > 0 && s->depth <= LEVELS ? &s->levels[s->depth - 1] : NULL;
}

/* A text, from its opening quote on. */
static void take_text(struct scan *s)
{
	const char *begin = ++s->at;
	while (s->at < s->end && *s->at != '"')
		s->at += *s->at == '\\' ? 2 : 1;
	struct level *level = innermost(s);
	if (s->at >= s->end || !level || !level->key_next)
		return;
	level->key_next = false;
	snprintf(level->member, sizeof level->member, "%.120s%s%.*s", level->path, level->path[0] ? "." : "",
	         (int)(s->at - begin < 100 ? s->at - begin : 100), begin);
	if (is_first(s) && s->paths->len < PATHS_BYTES)
		buffer_format(s->paths, "%s%s\n", s->paths->len ? "" : "\n", level->member);
}

void file_outline_read(struct file_outline *outline, struct slice beginning)
{
	struct scan s = {.at = beginning.data, .end = beginning.data + beginning.len, .paths = &outline->paths};
	for (; s.at < s.end; s.at++) {
		struct level *level = innermost(&s);
		if (*s.at == '{' || *s.at == '[') {
			open_level(&s, *s.at == '{');
		} else if (*s.at == '}' || *s.at == ']') {
			if (!close_level(&s))
				return;
		} else if (*s.at == '"') {
			take_text(&s);
		} else if (*s.at == ',' && level) {
			level->key_next = level->map;
			level->later = !level->map;
		}
	}
}

void file_outline_release(struct file_outline *outline)
{
	buffer_release(&outline->paths);
}

bool file_outline_has(const struct file_outline *outline, const char *path)
{
	char line[PATH];
	snprintf(line, sizeof line, "\n%s\n", path);
	return outline->paths.data && strstr(outline->paths.data, line);
}
