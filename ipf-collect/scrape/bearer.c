#include "scrape/bearer.h"

#include "buffer.h"
#include "clock.h"
#include "header_field.h"
#include "safe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN_MAX     ((size_t)16 << 10)
#define COMMAND_LIMIT (10 * NS_PER_S)

/* Starts the command with its output in a pipe; the descriptor to read from, or -1 with errno. */
static int start(const char *command, pid_t *pid)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*pid = fork();
	if (*pid == 0) {
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL); /* a sampler's thread has all of them blocked */
		setpgid(0, 0);
		if (dup2(ends[1], STDOUT_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*pid < 0)
		close(ends[0]);
	return *pid < 0 ? -1 : ends[0];
}

/* Reads up to the end, TOKEN_MAX bytes or the time limit. False: the time is over. */
static bool read_all(int fd, struct buffer *text, int64_t until_ns)
{
	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int64_t left = until_ns - clock_now();
		if (left <= 0)
			return false;
		if (poll(&wait, 1, (int)(left / NS_PER_MS) + 1) <= 0)
			continue;
		char *to = buffer_reserve(text, 4096);
		ssize_t got = to ? read(fd, to, 4096) : 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || text->len > TOKEN_MAX)
			return true;
		text->len += (size_t)got;
	}
}

static int read_command(const char *command, struct buffer *text, struct ipf_error *err)
{
	pid_t pid;
	int status = 0, fd = start(command, &pid);
	if (fd < 0)
		return ipf_error_errno(err, errno, NULL, "cannot start the command for the bearer token");
	bool ended = read_all(fd, text, clock_now() + COMMAND_LIMIT);
	close(fd);
	if (!ended)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!ended)
		return ipf_error_set(err, IPF_SYSTEM, "the command for the bearer token took longer than 10s");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return ipf_error_set(err, IPF_SYSTEM, "the command for the bearer token failed with status %d",
		                     WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

static int read_file(const char *path, struct buffer *text, struct ipf_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return ipf_error_errno(err, errno, path, "cannot open");
	bool ended = read_all(fd, text, clock_now() + COMMAND_LIMIT);
	close(fd);
	return ended ? 0 : ipf_error_at(err, IPF_SYSTEM, path, 0, "cannot be read within 10s");
}

int bearer_read(struct bearer *bearer, struct ipf_error *err)
{
	struct buffer text = {0};
	const char *source = bearer->source;
	if (!source)
		return 0;
	buffer_text(&text, "Authorization: Bearer ");
	size_t begin = text.len;
	int status = *source == '!' ? read_command(source + 1, &text, err) : read_file(source, &text, err);
	if (text.failed) {
		buffer_release(&text);
		return ipf_error_memory(err);
	}
	size_t skipped = begin + strspn(text.data + begin, " \t\r\n");
	while (text.len > skipped && strchr(" \t\r\n", text.data[text.len - 1]))
		text.len--;
	text.data[text.len] = '\0';
	if (status == 0 && (text.len == skipped || text.len > TOKEN_MAX || strlen(text.data) != text.len ||
	                    strpbrk(text.data + skipped, " \t") || !header_value_is_valid(text.data + skipped)))
		status = ipf_error_set(err, IPF_USAGE, "the bearer token's source gave no token: expected one word");
	if (status == 0) {
		memmove(text.data + begin, text.data + skipped, text.len - skipped + 1);
		free(bearer->header);
		bearer->header = text.data;
		return 0;
	}
	buffer_release(&text);
	return -1;
}

void bearer_release(struct bearer *bearer)
{
	free(bearer->header);
	bearer->header = NULL;
}
