/* The files to read: operands, folders and archives among them standing for the files in them, addresses for what is
 * brought here. */
#ifndef PREP_PATHS_H
#define PREP_PATHS_H

#include "error.h"
#include "cli/progress.h"

#include <stddef.h>

struct input_paths {
	char **items;
	size_t count, cap;
	struct progress progress; /* of what is brought here */
	bool quiet;
};

/* 0; -1 where a folder or an archive cannot be read or has no file in it, or an address does not give one. Names that
 * begin with a dot are passed over. */
int input_paths_expand(struct input_paths *paths, char **operands, size_t count, struct ipf_error *err);
void input_paths_release(struct input_paths *paths);

#endif
