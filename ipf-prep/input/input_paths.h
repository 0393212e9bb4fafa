/* The files to read, from the operands of the command line: a folder or an archive gives the files in it, an address
 * gives the file downloaded from it.
 *
 *     struct input_paths paths = {.quiet = quiet};
 *     progress_init(&paths.progress, …);
 *     if (input_paths_expand(&paths, operands, count, &err) < 0) …
 *     … paths.items[0 … paths.count - 1] …
 *     input_paths_release(&paths);
 */
#ifndef PREP_INPUT_PATHS_H
#define PREP_INPUT_PATHS_H

#include "error.h"
#include "cli/progress.h"

#include <stddef.h>

struct input_paths {
	const char *ending; /* ending of the files to read in folders, or NULL: all */
	char **items;
	size_t count, cap;
	struct progress progress; /* for downloads */
	bool quiet;               /* no warnings */
};

/* 0; -1 if a folder or an archive cannot be read or has no file in it, or if a download fails. Files in a folder come
 * in the order of their names; names beginning with a dot are skipped. */
int input_paths_expand(struct input_paths *paths, char **operands, size_t count, struct ipf_error *err);
void input_paths_release(struct input_paths *paths);

#endif
