/* Files of the Hugging Face hub: from its cache on this machine, else fetched once and kept there (hub_cache.h).
 *
 *     struct hub_repository r;
 *     struct hub_place place;
 *     struct hub_voice voice = {.program = "ipf-prep"};
 *     if (hub_repository_parse(&r, "openai-community/gpt2", &err) < 0 ||
 *         hub_file(&r, "tokenizer.json", &voice, &place, &err) < 0) …
 *     … place.path, place.commit …
 *     free(place.path);
 *
 * A file the cache has is used as it is: no server is asked. Before a file is fetched, one line says so, always.
 */
#ifndef IPF_HUB_FILE_H
#define IPF_HUB_FILE_H

#include "cli/progress.h"
#include "error.h"
#include "buffer.h"
#include "hub/hub_cache.h"
#include "hub/hub_repository.h"

#include <jansson.h>
#include <stdint.h>

/* How the program speaks while it waits. */
struct hub_voice {
	void (*say)(const char *line); /* prints a line on standard error, after the program's name */
	struct progress *progress;     /* the download's; NULL: none */
	int64_t limit;                 /* a larger file is refused; 0: none is */
};

/* 0; -1: IPF_SYSTEM, with a remedy. If the server says the repository has no such file, the error lists its files. */
int hub_file(const struct hub_repository *r, const char *file, const struct hub_voice *voice, struct hub_place *place,
             struct ipf_error *err);
/* The same, for the first file of which `wanted` is true, after `file`. */
int hub_file_or(const struct hub_repository *r, const char *file, bool (*wanted)(const char *name),
                const struct hub_voice *voice, struct hub_place *place, struct ipf_error *err);
/* Appends the address of a file of this revision. */
void hub_file_url(const struct hub_repository *r, const char *file, const char *revision, struct buffer *url);
/* The paths of the repository's files as the server lists them: a new array of texts, in its order. NULL with `err`. */
json_t *hub_files(const struct hub_repository *r, struct ipf_error *err);

#endif
