#include "gpu/tool.h"

#include "clock.h"
#include "cli/units.h"
#include "safe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a killed program may take to end before it is left to its fate: one hanging in the driver cannot be
 * killed. */
#define DEATH_NS (500 * NS_PER_MS)

struct tool {
	const char *name;
	pid_t pid;
	int ended;       /* a descriptor that becomes readable when the program has ended */
	int out, errors; /* our ends of the pipes; -1: closed */
	struct buffer complaint;
};

/* ---- starting ---- */

/* The environment with the locale C, whose decimal point is a point. NULL: out of memory. */
static char **plain_environment(void)
{
	static char locale[] = "LC_ALL=C";
	size_t count = 0, kept = 0;
	while (environ[count])
		count++;
	char **copy = calloc(count + 2, sizeof *copy);
	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) != 0)
			copy[kept++] = environ[i];
	copy[kept] = locale;
	return copy;
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int out, int errors)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	int failed = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	failed = failed ? failed : posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
	failed = failed ? failed : posix_spawn_file_actions_adddup2(actions, errors, STDERR_FILENO);
	failed = failed ? failed : posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	/* this thread blocks all signals, and the program ignores SIGPIPE: neither is the tool's business */
	failed = failed ? failed : posix_spawnattr_setsigmask(attributes, &none);
	failed = failed ? failed : posix_spawnattr_setsigdefault(attributes, &all);
	failed = failed ? failed : posix_spawnattr_setpgroup(attributes, 0);
	return failed ? failed
	              : posix_spawnattr_setflags(
						attributes, (short)(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

static int spawn(const char *const command[], int out, int errors, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char **environment = plain_environment();
	if (!environment)
		return ENOMEM;
	int failed = posix_spawn_file_actions_init(&actions);
	if (!failed && !(failed = posix_spawnattr_init(&attributes))) {
		failed = prepare(&actions, &attributes, out, errors);
		if (!failed)
			failed = posix_spawnp(pid, command[0], &actions, &attributes, (char *const *)(uintptr_t)command,
			                      environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return failed;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int start(struct tool *tool, const char *const command[], struct ipf_error *err)
{
	int out[2] = {-1, -1}, errors[2] = {-1, -1};
	int failed = pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0 ? errno : 0;
	*tool = (struct tool){.name = command[0], .pid = -1, .ended = -1};
	if (!failed)
		failed = spawn(command, out[1], errors[1], &tool->pid);
	shut(&out[1]);
	shut(&errors[1]);
	tool->out = out[0];
	tool->errors = errors[0];
	if (failed == ENOENT)
		return ipf_error_set(err, IPF_SYSTEM, "%s: not found in PATH", tool->name);
	if (failed)
		return ipf_error_errno(err, failed, NULL, "%s: cannot be started", tool->name);
	tool->ended = pidfd_open(tool->pid, 0);
	if (tool->ended < 0)
		return ipf_error_errno(err, errno, NULL, "%s: cannot be watched", tool->name);
	return 0;
}

/* ---- reading ---- */

/* Appends the available bytes. 0: more may come; 1: the end; -1: more than `most` bytes. */
static int take(int fd, struct buffer *to, size_t most)
{
	char part[16384];
	ssize_t got = read(fd, part, sizeof part);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : 1;
	if (got == 0)
		return 1;
	if (to->len + (size_t)got > most)
		return -1;
	buffer_append(to, part, (size_t)got);
	return 0;
}

static int poll_until(struct pollfd *fds, nfds_t count, int64_t until_ns)
{
	int64_t left_ns = until_ns - clock_now();
	struct timespec left = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
	if (left_ns <= 0)
		return 0;
	int ready = ppoll(fds, count, &left, NULL);
	return ready < 0 && errno == EINTR ? 1 : ready;
}

/* Reads both pipes until the program has ended and they are empty; its children may keep them open. */
static int read_all(struct tool *tool, const struct tool_limits *limits, struct buffer *out, struct ipf_error *err)
{
	int64_t until_ns = clock_now() + limits->time_ns;
	char time[32];
	for (bool ended = false; !ended;) {
		struct pollfd fds[] = {{.fd = tool->out, .events = POLLIN},
		                       {.fd = tool->errors, .events = POLLIN},
		                       {.fd = tool->ended, .events = POLLIN},
		                       {.fd = limits->cancel, .events = POLLIN}};
		if (poll_until(fds, 4, until_ns) <= 0)
			return ipf_error_set(err, IPF_SYSTEM, "%s: no answer within %s", tool->name,
			                     format_duration(limits->time_ns, time));
		if (fds[3].revents)
			return ipf_error_set(err, IPF_SYSTEM, "%s: stopped at the end of the run", tool->name);
		int got = fds[0].revents ? take(tool->out, out, limits->bytes) : 0;
		if (got < 0)
			return ipf_error_set(err, IPF_SYSTEM, "%s: printed more than %zu bytes", tool->name, limits->bytes);
		if (got == 1)
			shut(&tool->out);
		/* the complaint is kept as far as it fits in a message */
		if (fds[1].revents && take(tool->errors, &tool->complaint, 4096) != 0)
			shut(&tool->errors);
		ended = fds[2].revents && !fds[0].revents && !fds[1].revents;
	}
	return 0;
}

/* ---- ending ---- */

/* Kills the program and its children if it has not ended, and waits for it. Returns its status as of waitpid(). */
static int reap(struct tool *tool, bool kill_it)
{
	int status = 0;
	struct pollfd ended = {.fd = tool->ended, .events = POLLIN};
	if (tool->pid <= 0)
		return 0;
	if (kill_it)
		kill(-tool->pid, SIGKILL);
	if (tool->ended >= 0)
		poll_until(&ended, 1, clock_now() + DEATH_NS);
	waitpid(tool->pid, &status, tool->ended >= 0 ? WNOHANG : 0);
	return status;
}

static void complain(const struct tool *tool, const struct buffer *out, int status, struct ipf_error *err)
{
	struct slice text = tool->complaint.len ? buffer_all(&tool->complaint) : buffer_all(out);
	const char *end = text.len ? memchr(text.data, '\n', text.len) : NULL;
	if (end)
		text.len = (size_t)(end - text.data);
	const char *mark = text.len ? ": " : "";
	if (WIFSIGNALED(status))
		ipf_error_set(err, IPF_SYSTEM, "%s: killed by signal %d%s%s", tool->name, WTERMSIG(status), mark,
		              shown_slice(text).text);
	else
		ipf_error_set(err, IPF_SYSTEM, "%s: ended with status %d%s%s", tool->name, WEXITSTATUS(status), mark,
		              shown_slice(text).text);
}

int tool_run(const char *const command[], const struct tool_limits *limits, struct buffer *out, struct ipf_error *err)
{
	struct tool tool;
	struct buffer text = {0};
	int result = start(&tool, command, err);
	if (result == 0)
		result = read_all(&tool, limits, &text, err);
	/* after a good end too: its children must not stay */
	int status = reap(&tool, true);
	if (result == 0 && status != 0) {
		complain(&tool, &text, status, err);
		result = -1;
	}
	if (result == 0)
		buffer_slice(out, buffer_all(&text));
	if (text.failed || out->failed)
		result = ipf_error_memory(err);
	shut(&tool.out);
	shut(&tool.errors);
	shut(&tool.ended);
	buffer_release(&text);
	buffer_release(&tool.complaint);
	return result;
}
