#include "input/input_paths.h"

#include "array.h"
#include "input/archive_members.h"
#include "input/remote.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 32

/* Takes over the path, which may be NULL (out of memory). */
static int add(struct input_paths *p, char *path, struct ipf_error *err)
{
	if (path && !array_room(p->items, p->cap, p->count + 1)) {
		free(path);
		path = NULL;
	}
	if (!path)
		return ipf_error_memory(err);
	p->items[p->count++] = path;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int add_folder(struct input_paths *p, const char *folder, int depth, struct ipf_error *err)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_visible, by_name), status = 0;
	if (count < 0)
		return ipf_error_errno(err, errno, folder, "cannot read the folder");
	for (int i = 0; i < count; i++) {
		char *path = NULL;
		struct stat st;
		size_t len = strlen(entries[i]->d_name), end = p->ending ? strlen(p->ending) : 0;
		bool wanted = len >= end && (!end || strcmp(entries[i]->d_name + len - end, p->ending) == 0);
		if (status == 0 && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			status = ipf_error_memory(err);
		if (status == 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			status = add_folder(p, path, depth + 1, err);
			free(path);
		} else if (status == 0 && wanted) {
			status = add(p, path, err);
		} else {
			free(path);
		}
		free(entries[i]);
	}
	free(entries);
	return status;
}

static int add_member(void *data, const char *path, struct ipf_error *err)
{
	return add(data, strdup(path), err);
}

static int add_operand(struct input_paths *p, char *operand, struct ipf_error *err)
{
	struct stat st;
	size_t before = p->count;
	bool there = stat(operand, &st) == 0;
	if (there && S_ISREG(st.st_mode) && is_archive(operand)) {
		if (archive_members_list(operand, add_member, p, err) < 0)
			return -1;
		return p->count > before ? 0 : ipf_error_at(err, IPF_INPUT, operand, 0, "there is no file in this archive");
	}
	if (!there && errno != ENOENT && errno != ENOTDIR)
		return ipf_error_errno(err, errno, operand, "cannot open");
	if (!there || !S_ISDIR(st.st_mode))
		return add(p, strdup(operand), err);
	if (add_folder(p, operand, 0, err) < 0)
		return -1;
	return p->count > before ? 0 : ipf_error_at(err, IPF_INPUT, operand, 0, "there is no file in this folder");
}

/* An address, or a file in the archive at an address (ADDRESS:NAME). */
static int add_remote(struct input_paths *p, const char *operand, struct ipf_error *err)
{
	size_t len = remote_length(operand);
	char *path = NULL, *whole = NULL;
	if (remote_fetch(operand, len, &p->progress, p->quiet, &path, err) < 0)
		return -1;
	if (asprintf(&whole, "%s%s", path, operand + len) < 0)
		whole = NULL;
	int status = whole ? add_operand(p, whole, err) : ipf_error_memory(err);
	free(path);
	free(whole);
	return status;
}

int input_paths_expand(struct input_paths *p, char **operands, size_t count, struct ipf_error *err)
{
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = is_remote(operands[i]) ? add_remote(p, operands[i], err) : add_operand(p, operands[i], err);
	return status;
}

void input_paths_release(struct input_paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct input_paths){0};
}
