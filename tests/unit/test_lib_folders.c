/* Folders and their parents. */
#include "unit.h"

#include "folders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_OTHER_USER = 255 };
static char at[256];

/* A path below a new folder. */
static char *below(const char *name)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s", at, name);
	return path;
}

static void test_parents(void **state)
{
	struct stat st;
	char *path = below("one/two/three");
	(void)state;
	assert_int_equal(folders_make(path, 0700), 0);
	assert_string_equal(path, below("one/two/three"));
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(folders_make(path, 0700), 0); /* it is there */
}

static void test_a_file_in_the_way(void **state)
{
	(void)state;
	assert_int_equal(folders_make(below("four"), 0700), 0);
	FILE *file = fopen(below("four/file"), "w");
	assert_non_null(file);
	fclose(file);
	char *path = below("four/file/five");
	assert_int_equal(folders_make(path, 0700), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_string_equal(path, below("four/file/five"));
}

/* A folder in which this user may make nothing: that is said, and not that a parent of the last folder lacks. */
static void test_refused(void **state)
{
	char path[] = "locked/six/seven";
	int status;
	(void)state;
	assert_int_equal(folders_make(below("locked"), 0700), 0);
	assert_int_equal(chmod(below("locked"), 0555), 0);
	assert_int_equal(chmod(at, 0755), 0);
	assert_int_equal(chdir(at), 0);
	pid_t child = fork();
	if (child == 0) { /* root may make everything, so nobody tries */
		_exit(geteuid() == 0 && setuid(65534) < 0 ? NO_OTHER_USER : folders_make(path, 0700) < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_OTHER_USER)
		skip(); /* a container with one user */
	assert_int_equal(WEXITSTATUS(status), EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parents), cmocka_unit_test(test_a_file_in_the_way),
	                                   cmocka_unit_test(test_refused)};
	snprintf(at, sizeof at, "%s/folders.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(at))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
