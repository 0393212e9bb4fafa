#include "hub/hub_api.h"

#include "hub/download.h"
#include "json/json_tree.h"

#include <ctype.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MAX (64 << 20)
#define SIMILAR    3

static const char *const kinds[] = {[HUB_MODEL] = "models", [HUB_DATASET] = "datasets"};

void hub_escape(struct buffer *url, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (isalnum(c) || strchr("/._-~", c))
			buffer_byte(url, (char)c);
		else
			buffer_format(url, "%%%02X", c);
	}
}

/* The JSON at a URL; NULL with `err`. */
static json_t *ask(const struct hub_settings *s, const struct buffer *url, struct ipf_error *err)
{
	struct stat st;
	json_error_t why;
	json_t *answer = NULL;
	int fd = url->failed ? -1 : memfd_create("answer", MFD_CLOEXEC);
	if (fd < 0) {
		ipf_error_memory(err);
		return NULL;
	}
	struct download d = {.url = url->data, .token = s->token, .fd = fd, .limit = ANSWER_MAX};
	if (download_run(&d, err) == 0 && fstat(fd, &st) == 0) {
		char *text = st.st_size > 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
		if (text != MAP_FAILED) {
			answer = json_tree_load((struct slice){text, (size_t)st.st_size}, ANSWER_MAX, 0, &why);
			munmap(text, (size_t)st.st_size);
		}
		if (!answer)
			ipf_error_at(err, IPF_SYSTEM, url->data, 0, "expected JSON from the hub");
	}
	close(fd);
	return answer;
}

json_t *hub_api_files(const struct hub_settings *s, const struct hub_repository *r, struct ipf_error *err)
{
	struct buffer url = {0};
	buffer_format(&url, "%s/api/%s/%s", s->endpoint, kinds[r->kind], r->name);
	if (strcmp(r->revision, "main") != 0) {
		buffer_text(&url, "/revision/");
		for (const char *c = r->revision; *c; c++) /* one part of the path */
			*c == '/' ? buffer_text(&url, "%2F") : hub_escape(&url, (char[]){*c, '\0'});
	}
	json_t *answer = ask(s, &url, err), *files = answer ? json_array() : NULL, *entry;
	size_t i;
	buffer_release(&url);
	json_array_foreach(json_object_get(answer, "siblings"), i, entry)
	{
		json_t *name = json_object_get(entry, "rfilename");
		if (files && json_is_string(name) && hub_is_path(json_string_value(name)) &&
		    json_array_append(files, name) < 0) {
			json_decref(files);
			files = NULL;
		}
	}
	json_decref(answer);
	if (!files && !err->kind)
		ipf_error_memory(err);
	return files;
}

void hub_api_similar(const struct hub_settings *s, const struct hub_repository *r, struct buffer *names)
{
	struct buffer url = {0};
	struct ipf_error ignored = {0};
	const char *slash = strchr(r->name, '/');
	int count = 0;
	buffer_format(&url, "%s/api/%s?search=", s->endpoint, kinds[r->kind]);
	hub_escape(&url, slash ? slash + 1 : r->name);
	buffer_text(&url, "&limit=20");
	json_t *answer = ask(s, &url, &ignored), *entry;
	size_t i;
	json_array_foreach(answer, i, entry)
	{
		const char *id = json_string_value(json_object_get(entry, "id"));
		if (id && count < SIMILAR && strcmp(id, r->name) != 0 && hub_is_name(id)) {
			buffer_format(names, ", %s", id);
			count++;
		}
	}
	json_decref(answer);
	buffer_release(&url);
}
