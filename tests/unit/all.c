/* main() of the unit tests of a program: runs the files named, one after another, or lists them without a name.
 *
 *     .build/unit/sched test_sched_rational
 *
 * The list of the files is made by the Makefile, which also gives the main() of each file that file's name.
 */
#include <stdio.h>
#include <string.h>

#define EACH(name_) int name_(void);
#include LIST
#undef EACH

static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {
#define EACH(name_) {#name_, name_},
#include LIST
};
enum { TESTS = sizeof tests / sizeof *tests };

static int run(const char *name)
{
	for (size_t i = 0; i < TESTS; i++)
		if (strcmp(tests[i].name, name) == 0)
			return tests[i].run();
	fprintf(stderr, "%s: not in this program\n", name);
	return 1;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++)
		failed |= run(argv[i]) != 0;
	for (size_t i = 0; i < TESTS && argc < 2; i++)
		puts(tests[i].name);
	return failed;
}
