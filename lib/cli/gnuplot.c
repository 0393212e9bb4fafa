#include "cli/gnuplot.h"

#include "cli/text_output.h"
#include "safe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *terminal_of(const char *path)
{
	size_t len = strlen(path);
	if (len > 4 && strcmp(path + len - 4, ".png") == 0)
		return "pngcairo font 'sans,11'";
	return len > 4 && strcmp(path + len - 4, ".svg") == 0 ? "svg font 'sans,12' background '#ffffff'" : NULL;
}

int gnuplot_check(const char *path, struct ipf_error *err)
{
	return terminal_of(path)
	           ? 0
	           : ipf_error_set(err, IPF_USAGE, "--plot: expected a file name ending in .png or .svg, got \"%.200s\"",
	                           path);
}

static int memory_file(const char *what, struct ipf_error *err)
{
	int fd = memfd_create(what, MFD_CLOEXEC);
	if (fd < 0)
		ipf_error_errno(err, errno, NULL, "cannot create a memory file for the plot");
	return fd;
}

int gnuplot_open(struct gnuplot *picture, const char *path, int width, int height, struct ipf_error *err)
{
	if (gnuplot_check(path, err) < 0)
		return -1;
	picture->fd = memory_file("ipf-script", err);
	if (picture->fd < 0)
		return -1;
	picture->script = fdopen(picture->fd, "w");
	if (!picture->script) {
		ipf_error_errno(err, errno, NULL, "cannot write a script for gnuplot");
		close(picture->fd);
		return -1;
	}
	fprintf(picture->script, "set terminal %s size %d,%d\n", terminal_of(path), width, height);
	return 0;
}

/* ---- running it ---- */

/* The files 0 to 3 of gnuplot. The picture goes to a memory file, because gnuplot reports neither a full disk nor an
 * output file it cannot open. */
enum { SCRIPT, IMAGE, MESSAGES, DATA, FILES };

/* Starts gnuplot. 0: with its pid; an errno: it could not be started. Descriptors below FILES are overwritten in the
 * new process, and none of ours is one of them: they are copied first. */
static int start(const int files[FILES], pid_t *pid)
{
	char *const arguments[] = {"gnuplot", "-d", "-", NULL};
	posix_spawn_file_actions_t actions;
	int copies[FILES], count = 0, failed = posix_spawn_file_actions_init(&actions);
	if (failed)
		return failed;
	for (; count < FILES && !failed; count++)
		if ((copies[count] = fcntl(files[count], F_DUPFD_CLOEXEC, FILES)) < 0) {
			failed = errno;
			break;
		}
	for (int i = 0; i < FILES && !failed; i++)
		failed = posix_spawn_file_actions_adddup2(&actions, copies[i], i);
	if (!failed)
		failed = posix_spawnp(pid, "gnuplot", &actions, NULL, arguments, environ);
	for (int i = 0; i < count; i++)
		close(copies[i]);
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

static int read_back(int fd, struct buffer *out, struct ipf_error *err)
{
	char bytes[16384];
	ssize_t got;
	for (off_t at = 0; (got = pread(fd, bytes, sizeof bytes, at)) > 0; at += got)
		buffer_append(out, bytes, (size_t)got);
	if (got < 0)
		return ipf_error_errno(err, errno, NULL, "cannot read gnuplot's output");
	return out->failed ? ipf_error_memory(err) : 0;
}

/* The line of gnuplot's messages with the fault; above it are the command and a mark. */
static int complain(int messages, struct ipf_error *err)
{
	struct buffer text = {0};
	struct ipf_error ignored = {0};
	read_back(messages, &text, &ignored);
	while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == ' '))
		text.len--;
	size_t begin = text.len;
	while (begin > 0 && text.data[begin - 1] != '\n')
		begin--;
	struct slice last = {text.data ? text.data + begin : "", text.len - begin};
	ipf_error_set(err, IPF_SYSTEM, last.len ? "gnuplot failed: %s" : "gnuplot failed%s", shown_slice(last).text);
	buffer_release(&text);
	return -1;
}

static int run_files(const int files[FILES], struct buffer *image, struct ipf_error *err)
{
	pid_t pid;
	int status, failed = start(files, &pid);
	if (failed == ENOENT)
		return 0;
	if (failed)
		return ipf_error_errno(err, failed, NULL, "cannot start gnuplot");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ipf_error_errno(err, errno, NULL, "cannot wait for gnuplot");
	off_t drawn = lseek(files[IMAGE], 0, SEEK_END);
	if (drawn < 0)
		return ipf_error_errno(err, errno, NULL, "cannot read gnuplot's output");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || drawn == 0)
		return complain(files[MESSAGES], err);
	return read_back(files[IMAGE], image, err) < 0 ? -1 : 1;
}

/* The script and the data are memory files whose position is at their begin. */
static int run(int script, int data, struct buffer *image, struct ipf_error *err)
{
	int files[FILES] = {[SCRIPT] = script, [DATA] = data, [IMAGE] = -1, [MESSAGES] = -1};
	int drawn = -1;
	if ((files[IMAGE] = memory_file("ipf-picture", err)) >= 0 &&
	    (files[MESSAGES] = memory_file("ipf-messages", err)) >= 0)
		drawn = run_files(files, image, err);
	if (files[IMAGE] >= 0)
		close(files[IMAGE]);
	if (files[MESSAGES] >= 0)
		close(files[MESSAGES]);
	return drawn;
}

/* A memory file with these bytes. -1 */
static int file_of(const char *what, struct slice bytes, struct ipf_error *err)
{
	int fd = memory_file(what, err);
	for (size_t at = 0; fd >= 0 && at < bytes.len;) {
		ssize_t wrote = pwrite(fd, bytes.data + at, bytes.len - at, (off_t)at);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			ipf_error_errno(err, errno, NULL, "cannot write a memory file for the plot");
			close(fd);
			return -1;
		}
		at += (size_t)wrote;
	}
	return fd;
}

int gnuplot_run(struct slice script, struct slice data, struct buffer *image, struct ipf_error *err)
{
	int script_fd = file_of("ipf-script", script, err), data_fd = -1, drawn = -1;
	if (script_fd >= 0 && (data_fd = file_of("ipf-data", data, err)) >= 0)
		drawn = run(script_fd, data_fd, image, err);
	if (script_fd >= 0)
		close(script_fd);
	if (data_fd >= 0)
		close(data_fd);
	return drawn;
}

/* ---- one picture in one file ---- */

int gnuplot_close(struct gnuplot *picture, const char *path, struct ipf_error *err)
{
	struct buffer image = {0};
	int drawn = -1;
	if (fflush(picture->script) != 0 || ferror(picture->script) || lseek(picture->fd, 0, SEEK_SET) < 0)
		ipf_error_errno(err, errno, path, "cannot write a script for gnuplot");
	else
		drawn = run(picture->fd, picture->fd, &image, err);
	ipf_error_place(err, path, 0);
	fclose(picture->script);
	if (drawn > 0)
		drawn = text_output_write(path, &image, err) < 0 ? -1 : 1;
	buffer_release(&image);
	return drawn;
}

/* ---- texts ---- */

void gnuplot_quote(struct buffer *script, struct slice text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, text);
	buffer_byte(script, '\'');
	for (size_t i = 0; i < safe.len; i++) {
		/* three quotes in a row are two strings for gnuplot */
		if (safe.data[i] == '\'' && (i == 0 || safe.data[i - 1] == '\'')) {
			buffer_text(script, "\u2019");
			continue;
		}
		if (safe.data[i] == '\'')
			buffer_byte(script, '\'');
		buffer_byte(script, safe.data[i]);
	}
	buffer_byte(script, '\'');
	script->failed |= safe.failed;
	buffer_release(&safe);
}
