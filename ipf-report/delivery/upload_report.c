#include "delivery/upload_report.h"

#include "cli/units.h"
#include "plots/plots.h"
#include "safe_text.h"
#include "upload/upload_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files to upload. */
struct upload_list {
	struct upload_target target;
	struct upload_file *files;
	char **paths; /* owned; NULL: the file's is borrowed */
	size_t count, cap;
};

static bool to_standard(const struct upload_options *o)
{
	return !o->output || strcmp(o->output, "-") == 0;
}

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* ---- the list ---- */

static void release(struct upload_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		upload_file_close(&l->files[i]);
		free(l->paths[i]);
	}
	free(l->files);
	free(l->paths);
	upload_target_release(&l->target);
}

static bool make_room(struct upload_list *l)
{
	size_t cap = l->cap ? 2 * l->cap : 64;
	if (l->count < l->cap)
		return true;
	struct upload_file *files = reallocarray(l->files, cap, sizeof *files);
	l->files = files ? files : l->files;
	char **paths = files ? reallocarray(l->paths, cap, sizeof *paths) : NULL;
	l->paths = paths ? paths : l->paths;
	l->cap = paths ? cap : l->cap;
	return paths;
}

/* A file whose key is `key`, which is taken. IPF_USAGE if there is one with this key already. */
static int add(struct upload_list *l, const char *path, struct buffer *key, struct ipf_error *err)
{
	int status = key->failed || !make_room(l) ? ipf_error_memory(err) : 0;
	for (size_t i = 0; i < l->count && status == 0; i++)
		if (strcmp(l->files[i].key, key->data) == 0)
			status = ipf_error_at(err, IPF_USAGE, path, 0,
			                      "--upload: another file of this name goes to the same folder");
	if (status == 0 && strlen(key->data) > UPLOAD_KEY_MOST)
		status = ipf_error_at(err, IPF_USAGE, path, 0, "--upload: the path there has more than %d bytes",
		                      UPLOAD_KEY_MOST);
	if (status < 0) {
		buffer_release(key);
		return -1;
	}
	l->paths[l->count] = NULL;
	l->files[l->count++] = (struct upload_file){.path = path, .key = key->data, .fd = -1};
	return 0;
}

static int add_report(struct upload_list *l, const struct upload_options *o, struct ipf_error *err)
{
	struct buffer key = {0};
	bool folder = upload_target_is_folder(&l->target);
	if (folder && to_standard(o))
		return ipf_error_set(err, IPF_USAGE,
		                     "--upload: the report needs a name: -o FILE, or a URL without a slash at its end");
	if (folder)
		upload_target_key(&l->target, name_in(o->output), &key);
	else
		buffer_text(&key, l->target.key);
	return add(l, to_standard(o) ? "the report" : o->output, &key, err);
}

static int add_plot(struct upload_list *l, const struct upload_options *o, const char *name, const char *extension,
                    struct ipf_error *err)
{
	struct buffer path = {0}, folder = {0}, key = {0};
	buffer_text(&folder, o->plots);
	while (folder.len > 1 && folder.data[folder.len - 1] == '/')
		folder.data[--folder.len] = '\0';
	buffer_format(&path, "%s/%s.%s", o->plots, name, extension);
	if (path.failed || folder.failed) {
		buffer_release(&path);
		buffer_release(&folder);
		return ipf_error_memory(err);
	}
	int status = 0;
	if (access(path.data, F_OK) == 0) {
		upload_target_key(&l->target, name_in(folder.data), &key);
		buffer_format(&key, "/%s.%s", name, extension);
		status = add(l, path.data, &key, err);
		if (status == 0) {
			l->paths[l->count - 1] = path.data;
			path.data = NULL;
		}
	}
	buffer_release(&folder);
	free(path.data);
	return status;
}

static int add_plots(struct upload_list *l, const struct upload_options *o, struct ipf_error *err)
{
	int status = 0;
	for (const struct plot_kind *kind = plot_kinds; o->plots && kind->name && status == 0; kind++) {
		for (int i = 0; plot_format_names[i] && status == 0; i++)
			status = add_plot(l, o, kind->name, plot_format_names[i], err);
		if (status == 0)
			status = add_plot(l, o, kind->name, "tsv", err);
		if (status == 0)
			status = add_plot(l, o, kind->name, "gp", err);
	}
	return status;
}

static int add_files(struct upload_list *l, const struct upload_options *o, struct ipf_error *err)
{
	for (size_t i = 0; i < o->files.count; i++) {
		struct buffer key = {0};
		upload_target_key(&l->target, name_in(o->files.items[i]), &key);
		if (add(l, o->files.items[i], &key, err) < 0)
			return -1;
	}
	return 0;
}

static int build(struct upload_list *l, const struct upload_options *o, bool plots, struct ipf_error *err)
{
	return upload_target_parse(o->url, &l->target, err) < 0 || add_report(l, o, err) < 0 ||
	               (plots && add_plots(l, o, err) < 0) || add_files(l, o, err) < 0
	           ? -1
	           : 0;
}

int upload_report_check(const struct upload_options *o, struct ipf_error *err)
{
	struct upload_list list = {0};
	struct store *store = NULL;
	if (!o->url)
		return o->files.count ? ipf_error_set(err, IPF_USAGE, "--upload-file requires --upload") : 0;
	int status = build(&list, o, false, err);
	if (status == 0)
		status = store_open(&store, &list.target, err);
	for (size_t i = 1; i < list.count && status == 0; i++)
		status = upload_file_open(&list.files[i], err);
	store_close(store);
	release(&list);
	return status;
}

/* ---- sending ---- */

static void say_done(const struct upload_list *l, const struct upload_options *o, const struct upload_file *f)
{
	struct buffer url = {0}, line = {0};
	char bytes[32];
	upload_target_url(&l->target, f->key, &url);
	buffer_format(&line, "%s: %s: %s", o->program, shown(url.data ? url.data : "").text, format_size(f->bytes, bytes));
	if (f->unchanged)
		buffer_text(&line, ", was there already");
	else if (f->parts_kept)
		buffer_format(&line, " in %lld parts, %lld of which were there already", (long long)f->parts,
		              (long long)f->parts_kept);
	else if (f->parts)
		buffer_format(&line, " in %lld parts", (long long)f->parts);
	if (!line.failed)
		fprintf(stderr, "%s\n", line.data);
	buffer_release(&url);
	buffer_release(&line);
}

/* Which files are there, if one was not delivered. */
static void say_what_is_there(const struct upload_list *l, const struct upload_options *o, size_t done)
{
	const struct upload_file *failed = &l->files[done];
	if (l->count > 1)
		fprintf(stderr, "%s: --upload: %zu of %zu files are there%s", o->program, done, l->count, done ? ": " : "");
	for (size_t i = 0; i < done; i++)
		fprintf(stderr, "%s%s", i ? ", " : "", shown(l->files[i].key).text);
	if (l->count > 1)
		fputc('\n', stderr);
	if (failed->parts_there)
		fprintf(stderr, "%s: --upload: %lld of %lld parts of %s are there; the same command uploads the others\n",
		        o->program, (long long)failed->parts_there, (long long)failed->parts, shown(failed->key).text);
}

static int send_all(struct upload_list *l, const struct upload_options *o, struct store *store, struct ipf_error *err)
{
	struct progress progress;
	progress_init(&progress, o->progress, !o->progress);
	for (size_t i = 0; i < l->count; i++) {
		struct upload_file *f = &l->files[i];
		f->progress = &progress;
		int status = upload_file_open(f, err) < 0 ? -1 : upload_file_send(f, store, err);
		progress_end(&progress);
		if (status < 0) {
			say_what_is_there(l, o, i);
			return -1;
		}
		if (o->verbose)
			say_done(l, o, f);
	}
	return 0;
}

int upload_report_send(const struct upload_options *o, int report, struct ipf_error *err)
{
	struct upload_list list = {0};
	struct store *store = NULL;
	if (!o->url)
		return 0;
	int status = build(&list, o, true, err);
	if (status == 0 && report && (list.files[0].fd = dup(report)) < 0)
		status = ipf_error_errno(err, errno, NULL, "cannot read the report again");
	if (status == 0)
		status = store_open(&store, &list.target, err);
	if (status == 0)
		status = send_all(&list, o, store, err);
	store_close(store);
	release(&list);
	return status;
}
