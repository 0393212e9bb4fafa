#include "cli/text_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* For stdio: fewer bytes than asked for are a failure. */
static ssize_t put(void *data, const char *bytes, size_t len)
{
	struct text_output *out = data;
	size_t done = 0;
	while (done < len && !out->failed) {
		ssize_t put = write(out->fd, bytes + done, len - done);
		if (put >= 0)
			done += (size_t)put;
		else if (errno != EINTR)
			out->failed = errno;
	}
	if (out->failed)
		errno = out->failed;
	return (ssize_t)done;
}

static int close_file(struct text_output *out)
{
	return out->fd != STDOUT_FILENO && close(out->fd) != 0 ? errno : 0;
}

int text_output_open(struct text_output *out, const char *path, struct ipf_error *err)
{
	bool standard = !path || strcmp(path, "-") == 0;
	*out = (struct text_output){.name = standard ? "standard output" : path, .fd = STDOUT_FILENO};
	if (!standard)
		out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out->fd < 0)
		return ipf_error_errno(err, errno, path, "cannot open for writing");
	out->to = fopencookie(out, "w", (cookie_io_functions_t){.write = put});
	if (out->to)
		return 0;
	close_file(out);
	return ipf_error_memory(err);
}

int text_output_close(struct text_output *out, struct ipf_error *err)
{
	int flushed = fclose(out->to) == 0 ? 0 : errno, closed = close_file(out);
	int why = out->failed ? out->failed : flushed ? flushed : closed;
	return why ? ipf_error_errno(err, why, out->name, "cannot write") : 0;
}

int text_output_write(const char *path, const struct buffer *text, struct ipf_error *err)
{
	struct text_output out;
	if (text_output_open(&out, path, err) < 0)
		return -1;
	fwrite(text->data, 1, text->len, out.to);
	return text_output_close(&out, err);
}
