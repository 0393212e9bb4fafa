#include "hub/hub_repository.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_HUB 96 /* in an owner or a name, as on the hub */
#define MODEL_FORM   "expected a model's NAME, OWNER/NAME or OWNER/NAME@REVISION, or hf:// and one of these"
#define DATASET_FORM "expected hf://datasets/OWNER/NAME[@REVISION]/PATH"

static bool is_word(const char *text, size_t len)
{
	if (len == 0 || len > NAME_MAX_HUB || strchr(".-", text[0]) || strchr(".-", text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			return false;
		if (i && text[i] == text[i - 1] && strchr(".-", text[i])) /* as on the hub: the cache needs the "--" */
			return false;
	}
	return true;
}

/* "NAME" or "OWNER/NAME". */
static bool is_repository(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);
	if (!slash)
		return is_word(text, len);
	size_t owner = (size_t)(slash - text);
	return is_word(text, owner) && is_word(slash + 1, len - owner - 1);
}

bool hub_is_path(const char *path)
{
	for (const char *part = path;; part++) {
		size_t len = strcspn(part, "/");
		if (len == 0 || (len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		for (size_t i = 0; i < len; i++)
			if ((unsigned char)part[i] < ' ' || part[i] == 0x7f || part[i] == '\\')
				return false;
		part += len;
		if (!*part)
			return true;
	}
}

bool hub_is_file_name(const char *name)
{
	size_t len = strlen(name);
	if (len == 0 || len > 128 || name[0] == '.')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._-", *name))
			return false;
	return true;
}

static bool is_revision(const char *revision)
{
	return hub_is_path(revision) && !strpbrk(revision, " ?#%@") && revision[0] != '-';
}

bool hub_is_name(const char *text)
{
	const char *at = strchr(text, '@');
	return is_repository(text, at ? (size_t)(at - text) : strlen(text)) && (!at || is_revision(at + 1));
}

/* Copies with %HH decoded. False: it does not fit, or there is a NUL in it. */
static bool decode(char *to, size_t cap, const char *from, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned value = (unsigned char)from[i];
		if (from[i] == '%' && i + 2 < len && isxdigit((unsigned char)from[i + 1]) &&
		    isxdigit((unsigned char)from[i + 2])) {
			sscanf(from + i + 1, "%2x", &value);
			i += 2;
		}
		if (!value || n + 1 >= cap)
			return false;
		to[n++] = (char)value;
	}
	to[n] = '\0';
	return true;
}

/* The length of a revision that something follows. */
static size_t revision_length(const char *text)
{
	size_t parts = strncmp(text, "refs/pr/", 8) == 0 || strncmp(text, "refs/convert/", 13) == 0 ? 3 : 1, len = 0;
	for (; parts; parts--)
		len += strcspn(text + len, "/") + (parts > 1);
	return len;
}

/* OWNER/NAME[@REVISION][/PATH], of a model also NAME[@REVISION]. */
static bool split(struct hub_repository *r, const char *text)
{
	size_t len = strcspn(text, "/@");
	if (text[len] == '/')
		len += 1 + strcspn(text + len + 1, "/@");
	else if (r->kind == HUB_DATASET)
		return false;
	if (!is_repository(text, len))
		return false;
	snprintf(r->name, sizeof r->name, "%.*s", (int)len, text);
	strcpy(r->revision, "main");
	text += len;
	size_t end = strlen(text);
	const char *last = strrchr(text, '@');
	if (text[0] == '@') {
		len = revision_length(text + 1) + 1;
		if (!decode(r->revision, sizeof r->revision, text + 1, len - 1))
			return false;
		text += len;
		end -= len;
	} else if (last) { /* at the end of the path */
		if (!decode(r->revision, sizeof r->revision, last + 1, strlen(last + 1)))
			return false;
		end = (size_t)(last - text);
	}
	r->path[0] = '\0';
	if (!is_revision(r->revision) || (end && (text[0] != '/' || !decode(r->path, sizeof r->path, text + 1, end - 1))))
		return false;
	return !end || hub_is_path(r->path);
}

int hub_repository_parse(struct hub_repository *r, const char *text, struct ipf_error *err)
{
	const char *rest = strncmp(text, "hf://", 5) == 0 ? text + 5 : text;
	*r = (struct hub_repository){.typed = text};
	if (rest != text && strncmp(rest, "datasets/", 9) == 0) {
		r->kind = HUB_DATASET;
		rest += 9;
	} else if (strstr(rest, "://") || strncmp(rest, "spaces/", 7) == 0) {
		return ipf_error_set(err, IPF_USAGE, "%s: %s", text, MODEL_FORM);
	}
	if (!split(r, rest))
		return ipf_error_set(err, IPF_USAGE, "%s: %s", text, r->kind == HUB_DATASET ? DATASET_FORM : MODEL_FORM);
	return 0;
}
