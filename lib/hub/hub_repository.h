/* Names of repositories of the Hugging Face hub, and of files in them:
 *
 *     gpt2, OWNER/NAME, OWNER/NAME@REVISION           a model, as it is named everywhere
 *     hf://OWNER/NAME[@REVISION][/PATH]               the same as an address
 *     hf://datasets/OWNER/NAME[@REVISION][/PATH]      a dataset; also …/PATH@REVISION
 *
 * A revision is a branch, a tag or a commit; the default is main. The two revisions of the hub containing slashes,
 * refs/pr/N and refs/convert/NAME, are understood; in others a slash is written %2F, and so is an @ in a path %40.
 */
#ifndef IPF_HUB_REPOSITORY_H
#define IPF_HUB_REPOSITORY_H

#include "error.h"

#include <stdbool.h>

enum hub_kind { HUB_MODEL, HUB_DATASET };

struct hub_repository {
	enum hub_kind kind;
	const char *typed; /* borrowed: as the user named it */
	char name[196];    /* "OWNER/NAME" or "NAME" */
	char revision[196];
	char path[1024]; /* a file's; empty: none was named */
};

/* Whether the text can be the name of a model, with or without a revision. Looks at no file. */
bool hub_is_name(const char *text);
/* From a model's name or an address beginning with hf://. IPF_USAGE with the form expected. */
int hub_repository_parse(struct hub_repository *repository, const char *text, struct ipf_error *err);
/* Whether it can be the path of a file below a folder: relative, without empty parts, "." and "..", without controls.
 */
bool hub_is_path(const char *path);
/* Whether it can be the name of one file: letters, digits, ".", "_", "-", and no "." at its beginning. */
bool hub_is_file_name(const char *name);

#endif
