#include "cli/named_paths.h"

#include "array.h"
#include "buffer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BESIDE     ".media" /* stream/media_file.h */
#define LINKS_MOST 40       /* as Linux */

struct named_file {
	struct named_path by;
	struct file_identity identity;
	bool beside; /* it is the file beside that of the argument */
};

/* ---- which file a path is ---------------------------------------------------------------------------------------- */

static void set_identity(struct file_identity *identity, const struct stat *st)
{
	*identity = (struct file_identity){.dev = st->st_dev, .ino = st->st_ino};
}

/* Replaces a symbolic link by the path it points to. False: it is none, or its target is too long. */
static bool follow_link(char path[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof target - 1);
	if (len <= 0)
		return false;
	target[len] = '\0';
	char *slash = strrchr(path, '/');
	char *to = target[0] != '/' && slash ? slash + 1 : path;
	if ((size_t)(to - path) + (size_t)len >= PATH_MAX)
		return false;
	memcpy(to, target, (size_t)len + 1);
	return true;
}

/* A file that does not exist: its folder must. */
static bool identify_missing(char path[PATH_MAX], struct file_identity *identity)
{
	struct stat st;
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);
	if (len == 0 || len >= sizeof identity->missing)
		return false;
	char kept[NAME_MAX + 1];
	memcpy(kept, name, len + 1);
	if (slash)
		slash[1] = '\0';
	if (stat(slash ? path : ".", &st) < 0)
		return false;
	set_identity(identity, &st);
	memcpy(identity->missing, kept, len + 1);
	return true;
}

/* False: there can be no regular file of this name. */
static bool identify(struct slice text, struct file_identity *identity)
{
	char path[PATH_MAX];
	struct stat st;
	if (text.len == 0 || text.len >= sizeof path)
		return false;
	memcpy(path, text.data, text.len);
	path[text.len] = '\0';
	for (int links = 0; links < LINKS_MOST; links++) {
		if (stat(path, &st) == 0) {
			set_identity(identity, &st);
			return S_ISREG(st.st_mode);
		}
		if (errno != ENOENT)
			return false;
		if (!follow_link(path))
			return identify_missing(path, identity);
	}
	return false;
}

static bool same_file(const struct file_identity *a, const struct file_identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && strcmp(a->missing, b->missing) == 0;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static int add_file(struct named_paths *paths, const struct named_file *file, struct ipf_error *err)
{
	if (!array_room(paths->files, paths->cap, paths->count + 1))
		return ipf_error_memory(err);
	paths->files[paths->count++] = *file;
	return 0;
}

/* A part of a text is a path only if the file exists. */
static int add_part(struct named_paths *paths, const struct named_path *by, struct slice part, struct ipf_error *err)
{
	struct named_file file = {.by = *by};
	return identify(part, &file.identity) && !*file.identity.missing ? add_file(paths, &file, err) : 0;
}

/* Adds the parts behind a separator, each up to every later one: a path may contain them, too. */
static int add_parts(struct named_paths *paths, const struct named_path *by, const char *begins, const char *ends,
                     struct ipf_error *err)
{
	const char *from = by->text;
	bool first = by->role == PATH_READ_WITHIN;
	for (; *from; from++) {
		if (!first && !(from > by->text && strchr(begins, from[-1])))
			continue;
		first = false;
		for (size_t len = strcspn(from, ends);; len += 1 + strcspn(from + len + 1, ends)) {
			if (add_part(paths, by, (struct slice){from, len}, err) < 0)
				return -1;
			if (!from[len])
				break;
		}
	}
	return 0;
}

/* Beside a device or a pipe, a file counts only if it exists: no program makes one there. */
static int add_beside(struct named_paths *paths, const struct named_path *by, bool regular, struct ipf_error *err)
{
	struct named_file file = {.by = *by, .beside = true};
	char path[PATH_MAX];
	int len = snprintf(path, sizeof path, "%s" BESIDE, by->text);
	if (len >= PATH_MAX || !identify((struct slice){path, (size_t)len}, &file.identity) ||
	    (!regular && *file.identity.missing))
		return 0;
	return add_file(paths, &file, err);
}

int named_paths_add(struct named_paths *paths, const struct named_path *by, struct ipf_error *err)
{
	struct named_file file = {.by = *by};
	if (strcmp(by->text, "-") == 0)
		return 0;
	if (by->role == PATH_READ_WITHIN)
		return add_parts(paths, by, ":=,", ":=,", err);
	if (by->role == PATH_READ_BEHIND)
		return add_parts(paths, by, ":", ",", err);
	bool regular = identify(slice_of(by->text), &file.identity);
	if (regular && add_file(paths, &file, err) < 0)
		return -1;
	return add_beside(paths, by, regular, err);
}

int named_paths_add_standard_input(struct named_paths *paths, struct ipf_error *err)
{
	struct named_file file = {.by = {.text = "standard input", .role = PATH_READ}};
	struct stat st;
	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	set_identity(&file.identity, &st);
	return add_file(paths, &file, err);
}

void named_paths_remove(struct named_paths *paths, const char *option)
{
	size_t kept = 0;
	for (size_t i = 0; i < paths->count; i++)
		if (!paths->files[i].by.option || strcmp(paths->files[i].by.option, option) != 0)
			paths->files[kept++] = paths->files[i];
	paths->count = kept;
}

void named_paths_release(struct named_paths *paths)
{
	free(paths->files);
	*paths = (struct named_paths){0};
}

/* ---- outputs over inputs ----------------------------------------------------------------------------------------- */

static bool is_output(const struct named_file *file)
{
	return file->by.role == PATH_WRITTEN;
}

static int refuse(const struct named_file *output, const struct named_file *other, struct ipf_error *err)
{
	const char *path = output->by.text, *beside = output->beside ? BESIDE : "";
	if (is_output(other))
		return ipf_error_set(err, IPF_USAGE, "--%s: \"%s%s\" is also the file of --%s; choose another file",
		                     output->by.option, path, beside, other->by.option);
	return ipf_error_set(err, IPF_USAGE, "--%s: \"%s%s\" is also an input; choose another file", output->by.option,
	                     path, beside);
}

/* Files beside outputs may stay unwritten, so they count only against inputs: --media a.media -o a. */
static bool excludes(const struct named_file *output, const struct named_file *other)
{
	if (output == other || (is_output(other) && (output->beside || other->beside)))
		return false;
	return same_file(&output->identity, &other->identity);
}

int named_paths_check(const struct named_paths *paths, struct ipf_error *err)
{
	for (size_t i = 0; i < paths->count; i++)
		for (size_t k = 0; is_output(&paths->files[i]) && k < paths->count; k++)
			if (excludes(&paths->files[i], &paths->files[k]))
				return refuse(&paths->files[i], &paths->files[k], err);
	return 0;
}

int named_paths_check_output(const struct named_paths *paths, const char *path, struct ipf_error *err)
{
	struct file_identity identity;
	if (!identify(slice_of(path), &identity))
		return 0;
	for (size_t i = 0; i < paths->count; i++)
		if (same_file(&identity, &paths->files[i].identity))
			return ipf_error_set(err, IPF_USAGE, "the output \"%s\" is also %s; choose another folder", path,
			                     is_output(&paths->files[i]) ? "the file of another option" : "an input");
	return 0;
}

int named_paths_check_input(const struct named_paths *paths, const char *path, struct ipf_error *err)
{
	struct file_identity identity;
	if (!identify(slice_of(path), &identity))
		return 0;
	for (size_t i = 0; i < paths->count; i++)
		if (is_output(&paths->files[i]) && same_file(&identity, &paths->files[i].identity))
			return refuse(&paths->files[i], &(struct named_file){.by.role = PATH_READ}, err);
	return 0;
}
