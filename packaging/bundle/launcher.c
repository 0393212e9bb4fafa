/* Starts a program of the bundle with the bundle's own loader and C library, whatever the system has.
 *
 *     bin/ipf-fire          this launcher, under the program's name
 *     libexec/ipf/programs/     the programs
 *     libexec/ipf/tools/        launchers again, for the programs that makefiles need (make, jq)
 *     libexec/ipf/lib/          libraries, and the loader under the name "loader"
 *
 * ipf-fire -n 1 becomes loader --library-path .../libexec/ipf/lib --argv0 ipf-fire .../libexec/ipf/programs/ipf-fire -n 1, in the same process. The
 * environment stays as it is, so that programs started by these are not touched. Linked with musl, statically: it runs on any kernel, and
 * costs less than a millisecond. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FROM_BIN "/../libexec/ipf"
#define FROM_TOOLS "/.."

/* FOLDER FROM /programs/NAME, if such a program is there. */
static bool program_is(char path[PATH_MAX], const char *folder, const char *from, const char *name)
{
	int len = snprintf(path, PATH_MAX, "%s%s/programs/%s", folder, from, name);
	return len > 0 && len < PATH_MAX && access(path, X_OK) == 0;
}

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "ipf: %s: %s: %s\n", path, strerror(errno), why);
	return 1;
}

/* The loader splits a list of folders at : and ; and replaces $LIB, so such a folder gets another name, of a descriptor that stays open. */
static void rename_if_odd(char path[PATH_MAX])
{
	if (!strpbrk(path, ":;$"))
		return;
	int fd = open(path, O_PATH | O_DIRECTORY);
	if (fd >= 0)
		snprintf(path, PATH_MAX, "/proc/self/fd/%d", fd);
}

int main(int argc, char **argv)
{
	static const char not_whole[] = "the folder of the bundle is not whole";
	char self[PATH_MAX], of_name[PATH_MAX], program[PATH_MAX], libraries[PATH_MAX], loader[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	if (len < 0)
		return fail("/proc/self/exe", "the programs need /proc");
	self[len] = '\0';
	strcpy(of_name, self);
	const char *name = basename(of_name), *folder = dirname(self), *from = FROM_BIN;
	if (!program_is(program, folder, from, name) && !program_is(program, folder, from = FROM_TOOLS, name))
		return fail(program, not_whole);
	if (snprintf(libraries, sizeof libraries, "%s%s/lib", folder, from) >= (int)sizeof libraries ||
	    snprintf(loader, sizeof loader, "%s/loader", libraries) >= (int)sizeof loader) {
		errno = ENAMETOOLONG;
		return fail(folder, not_whole);
	}
	rename_if_odd(libraries);
	/* argv[0] is given on, since some programs go by it */
	char **call = calloc((size_t)argc + 6, sizeof *call), **end = call;
	if (!call)
		return fail(program, "out of memory");
	*end++ = loader;
	*end++ = (char[]){"--library-path"};
	*end++ = libraries;
	*end++ = (char[]){"--argv0"};
	*end++ = argc > 0 ? argv[0] : program;
	*end++ = program;
	for (int i = 1; i < argc; i++)
		*end++ = argv[i];
	execv(loader, call);
	return fail(loader, not_whole);
}
