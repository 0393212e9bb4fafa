/* The files to read: operands, folders and archives among them standing for the files in them. */
#ifndef PREP_PATHS_H
#define PREP_PATHS_H

#include "error.h"

#include <stddef.h>

struct paths {
	char **items;
	size_t count, cap;
};

/* 0; -1 where a folder or an archive cannot be read or has no file in it. Names that begin with a dot are passed over. */
int paths_expand(struct paths *paths, char **operands, size_t count, struct ipf_error *err);
void paths_release(struct paths *paths);

#endif
