/* main() of the fuzz targets in `make check`: runs one of them on every file of the folders (or the files) given, and
 * prints one TAP line.
 *
 *     .build/fuzz/http fuzz_http1_reader tests/fuzz/corpus/http1_reader
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fuzz_target(const uint8_t *data, size_t size);
#define EACH(name_) fuzz_target name_;
#include LIST
#undef EACH

static const struct {
	const char *name;
	fuzz_target *run;
} targets[] = {
#define EACH(name_) {#name_, name_},
#include LIST
};

static fuzz_target *target;

/* 0, or -1 where the file cannot be read. The input stands in memory of exactly its size, so a sanitizer sees every
 * step beyond it. */
static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int status = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0)
		goto out;
	rewind(file);
	data = malloc((size_t)size);
	if ((!data && size > 0) || fread(data, 1, (size_t)size, file) != (size_t)size)
		goto out;
	target(data, (size_t)size);
	status = 0;
out:
	if (status < 0)
		printf("# %s: %s\n", path, strerror(errno));
	free(data);
	if (file)
		fclose(file);
	return status;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* How many inputs, in the order of their names; -1 where one could not be read. */
static long replay(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, visible, alphasort);
	long done = 0;

	if (count < 0)
		return errno == ENOTDIR && replay_file(path) == 0 ? 1 : -1;
	for (int i = 0; i < count; i++) {
		char name[4096];
		snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
		if (done >= 0)
			done = replay_file(name) < 0 ? -1 : done + 1;
		free(entries[i]);
	}
	free(entries);
	return done;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	long inputs = 0;

	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		if (strcmp(targets[i].name, name) == 0)
			target = targets[i].run;
	if (!target) {
		printf("not ok - no fuzz target \"%s\"\n", name);
		return 1;
	}
	for (int i = 2; i < argc; i++) {
		long n = replay(argv[i]);
		if (n < 0) {
			printf("not ok - %s: cannot read %s\n", name, argv[i]);
			return 1;
		}
		inputs += n;
	}
	/* A corpus that is not there would otherwise pass for ever. */
	printf("%s - %s: %ld inputs\n", inputs > 0 ? "ok" : "not ok", name, inputs);
	return inputs > 0 ? 0 : 1;
}
