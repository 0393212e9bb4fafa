#include "input/parquet.h"

#include "buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool is_parquet(const char *path)
{
	size_t len = strlen(path);
	return len > 8 && strcmp(path + len - 8, ".parquet") == 0;
}

static int start(char *query, int to, int from, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	char *argv[] = {(char[]){"duckdb"}, (char[]){"-jsonlines"}, (char[]){"-c"}, query, NULL};
	int status = posix_spawn_file_actions_init(&actions);
	if (status)
		return status;
	if (!(status = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO)) &&
	    !(status = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) &&
	    !(status = posix_spawn_file_actions_addclose(&actions, from)))
		status = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

int parquet_open(const char *path, int *fd, pid_t *pid, struct ipf_error *err)
{
	struct buffer query = {0};
	int ends[2];
	buffer_text(&query, "SELECT * FROM read_parquet('");
	for (const char *at = path; *at; at++)
		buffer_text(&query, *at == '\'' ? "''" : (char[]){*at, '\0'});
	buffer_text(&query, "')");
	if (query.failed || pipe2(ends, O_CLOEXEC) < 0) {
		buffer_release(&query);
		return ipf_error_errno(err, query.failed ? ENOMEM : errno, path, "cannot open");
	}
	int status = start(query.data, ends[1], ends[0], pid);
	buffer_release(&query);
	close(ends[1]);
	if (status == 0) {
		*fd = ends[0];
		return 0;
	}
	close(ends[0]);
	if (status == ENOENT)
		return ipf_error_at(
			err, IPF_SYSTEM, path, 0,
			"cannot read Parquet without duckdb, which is not installed (see https://duckdb.org/install)");
	return ipf_error_errno(err, status, path, "cannot start duckdb");
}

int parquet_close(const char *path, pid_t pid, struct ipf_error *err)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ipf_error_errno(err, errno, path, "cannot wait for duckdb");
	return status == 0 ? 0 : ipf_error_at(err, IPF_CUT, path, 0, "duckdb could not read the whole file");
}
