#include "paths.h"

#include "members.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 32

static int add(struct paths *p, char *path, struct ipf_error *err)
{
	if (path && p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 16;
		char **items = reallocarray(p->items, cap, sizeof *items);
		if (!items) {
			free(path);
			path = NULL;
		} else {
			p->items = items;
			p->cap = cap;
		}
	}
	if (!path)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	p->items[p->count++] = path;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int add_folder(struct paths *p, const char *folder, int depth, struct ipf_error *err)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, shown, by_name), status = 0;
	if (count < 0)
		return ipf_error_errno(err, errno, folder, "cannot read the folder");
	for (int i = 0; i < count; i++) {
		char *path = NULL;
		struct stat st;
		if (status == 0 && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			status = ipf_error_set(err, IPF_SYSTEM, "out of memory");
		if (status == 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			status = add_folder(p, path, depth + 1, err);
			free(path);
		} else if (status == 0) {
			status = add(p, path, err);
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

int paths_expand(struct paths *p, char **operands, size_t count, struct ipf_error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct stat st;
		size_t before = p->count;
		bool there = stat(operands[i], &st) == 0;
		if (there && S_ISREG(st.st_mode) && is_archive(operands[i])) {
			if (members_list(operands[i], add_member, p, err) < 0)
				return -1;
			if (p->count == before)
				return ipf_error_at(err, IPF_INPUT, operands[i], 0, "there is no file in this archive");
			continue;
		}
		if (!there || !S_ISDIR(st.st_mode)) {
			if (add(p, strdup(operands[i]), err) < 0)
				return -1;
			continue;
		}
		if (add_folder(p, operands[i], 0, err) < 0)
			return -1;
		if (p->count == before)
			return ipf_error_at(err, IPF_INPUT, operands[i], 0, "there is no file in this folder");
	}
	return 0;
}

void paths_release(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct paths){0};
}
