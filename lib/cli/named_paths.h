/* The files that the arguments of a program name. An output that is the same file as an input or as another output is
 * refused before anything is opened for writing: opening it would empty a file that has yet to be read, perhaps the
 * only record of a run.
 *
 *     struct named_paths paths = {0};
 *     named_paths_add(&paths, &(struct named_path){"trace", "a.trace", PATH_READ}, &err);
 *     named_paths_add(&paths, &(struct named_path){"output", "./a.trace", PATH_WRITTEN}, &err);
 *     if (named_paths_check(&paths, &err) < 0) …         // --output: "./a.trace" is also an input
 *     named_paths_release(&paths);
 *
 * Files are compared by device and inode, so links and other spellings count as the same file. A file that does not
 * exist yet is compared by its folder and its name, at the end of symbolic links. Only regular files are compared.
 */
#ifndef IPF_NAMED_PATHS_H
#define IPF_NAMED_PATHS_H

#include "error.h"

#include <limits.h>
#include <sys/stat.h>

enum path_role {
	PATH_READ,        /* the text is a path; a file beside it, PATH.media, is read, too */
	PATH_READ_WITHIN, /* the text may be or contain a path: "histogram:FILE", "rates:file=FILE,scale=2" */
	PATH_READ_BEHIND, /* the text may contain a path behind a colon: other words of it are never paths */
	PATH_WRITTEN,     /* a path; PATH.media may be written, too */
};

struct file_identity {
	dev_t dev;
	ino_t ino;
	char missing[NAME_MAX + 1]; /* not empty: no such file yet; dev and ino are its folder's */
};

/* An argument; both texts must live as long as the list. */
struct named_path {
	const char *option; /* without "--"; NULL: an operand, or standard input */
	const char *text;
	enum path_role role;
};

struct named_paths {
	struct named_file *files;
	size_t count, cap;
};

/* Adds the files that the argument names. "-" names none. -1: no memory. */
int named_paths_add(struct named_paths *paths, const struct named_path *argument, struct ipf_error *err);
/* Adds standard input if it is a regular file. */
int named_paths_add_standard_input(struct named_paths *paths, struct ipf_error *err);
/* Removes the files of an option given again: its last value counts. */
void named_paths_remove(struct named_paths *paths, const char *option);
/* -1: IPF_USAGE, an output is also an input or another output. */
int named_paths_check(const struct named_paths *paths, struct ipf_error *err);
/* The same for an output that no argument names alone, such as a file in a folder. */
int named_paths_check_output(const struct named_paths *paths, const char *path, struct ipf_error *err);
/* The same for an input that only another input names: call it before outputs are opened. */
int named_paths_check_input(const struct named_paths *paths, const char *path, struct ipf_error *err);
void named_paths_release(struct named_paths *paths);

#endif
