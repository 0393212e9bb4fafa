#include "hub/hub_tokenizer.h"

#include "cli/nearest.h"
#include "hub/hub_file.h"
#include "tokenizer/compiled_cache.h"
#include "tokenizer/rank_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKENIZER_MAX (INT64_C(1) << 30)

/* Where a name leads to. */
struct resolved {
	char *path; /* NULL: the name itself */
	char name[256], commit[129];
};

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);
	return len >= tail && strcmp(text + len - tail, end) == 0;
}

static bool is_rank_file(const char *name)
{
	struct ipf_error ignored = {0};
	const char *kind;
	return !strchr(name, '/') && rank_file_kind(name, &kind, &ignored) == 0 && kind[0];
}

/* Whether only a path is written like this. */
static bool is_written_as_path(const char *name)
{
	return name[0] == '/' || name[0] == '.' || name[0] == '~' || ends_in(name, "/") || ends_in(name, ".json") ||
	       ends_in(name, ".tiktoken");
}

static int unknown(const char *name, struct ipf_error *err)
{
	struct nearest near = {0};
	nearest_try(&near, name, strlen(name), "approx");
	return ipf_error_set(
		err, IPF_USAGE,
		"unknown tokenizer \"%s\": expected approx, the path of a tokenizer.json or .tiktoken file, or a "
		"model of the Hugging Face hub%s",
		name, near.name ? "; did you mean approx?" : "");
}

static int fetch(const char *name, void (*say)(const char *line), struct resolved *to, struct ipf_error *err)
{
	struct hub_repository r;
	struct hub_place place;
	struct hub_voice voice = {.say = say, .limit = TOKENIZER_MAX};
	int status = hub_repository_parse(&r, name, err);
	if (status == 0 && r.kind != HUB_MODEL)
		status = ipf_error_set(err, IPF_USAGE, "%s: expected a model, got a dataset", name);
	if (status == 0)
		status = hub_file_or(&r, r.path[0] ? r.path : "tokenizer.json", r.path[0] ? NULL : is_rank_file, &voice, &place,
		                     err);
	if (status < 0)
		return -1;
	to->path = place.path;
	strcpy(to->name, r.name);
	strcpy(to->commit, place.commit);
	return 0;
}

static int resolve(const char *name, void (*say)(const char *line), struct resolved *to, struct ipf_error *err)
{
	struct nearest near = {0};
	*to = (struct resolved){0};
	if (strncmp(name, "hf://", 5) == 0)
		return fetch(name, say, to, err);
	if (access(name, F_OK) == 0 || errno != ENOENT || is_written_as_path(name))
		return 0;
	if (!strchr(name, '/'))
		nearest_try(&near, name, strlen(name), "approx");
	if (!hub_is_name(name) || near.name)
		return strchr(name, '/') && !strstr(name, "://") ? 0 : unknown(name, err);
	return fetch(name, say, to, err);
}

/* A folder with the name of a model hides it. */
static void explain_folder(const char *name, struct ipf_error *err)
{
	struct stat st;
	struct ipf_error whole = *err;
	if (err->errno_value != ENOENT || !hub_is_name(name) || stat(name, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	ipf_error_clear(err);
	ipf_error_at(err, whole.kind, whole.file, 0, "%s; for the model of this name, write hf://%s", whole.text, name);
}

static void mention_cache(void (*say)(const char *line))
{
	char path[512], line[768];
	if (!say || !compiled_cache_refused(path, sizeof path))
		return;
	snprintf(line, sizeof line, "%s: not used to keep compiled tokenizers: it is not ours alone (chmod go-w, or chown)",
	         path);
	say(line);
}

int hub_tokenizer_open(struct tokenizer **tokenizer, const char *name, void (*say)(const char *line),
                       struct ipf_error *err)
{
	struct resolved to;
	*tokenizer = NULL;
	mention_cache(say);
	if (resolve(name, say, &to, err) < 0)
		return -1;
	int status = tokenizer_open(tokenizer, to.path ? to.path : name, err);
	if (status < 0 && !to.path)
		explain_folder(name, err);
	if (status == 0 && to.path && tokenizer_set_origin(*tokenizer, to.name, to.commit) < 0) {
		tokenizer_close(*tokenizer);
		*tokenizer = NULL;
		status = ipf_error_memory(err);
	}
	free(to.path);
	return status;
}

int hub_token_counter_open(struct token_counter **counter, const char *name, void (*say)(const char *line),
                           struct ipf_error *err)
{
	struct tokenizer *tokenizer;
	*counter = NULL;
	if (!name || strcmp(name, "approx") == 0)
		return token_counter_open(counter, NULL, err);
	return hub_tokenizer_open(&tokenizer, name, say, err) < 0 ? -1 : token_counter_of(counter, tokenizer, err);
}
