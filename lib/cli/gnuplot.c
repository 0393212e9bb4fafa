#include "cli/gnuplot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_FOUND 127 /* the shell's status for an unknown command */

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

/* gnuplot draws into a memory file, because it does not report a full disk, nor an output file that it cannot open:
 * instead it writes to its standard output. */
int gnuplot_open(struct gnuplot *picture, const char *path, int width, int height, struct ipf_error *err)
{
	char command[160];

	if (gnuplot_check(path, err) < 0)
		return -1;
	picture->image = memfd_create("ipf-picture", 0);
	if (picture->image < 0)
		return ipf_error_errno(err, errno, NULL, "cannot create a memory file for the plot");
	snprintf(
		command, sizeof command,
		"command -v gnuplot >/dev/null || { while read -r _; do :; done; exit %d; }; exec gnuplot >/proc/self/fd/%d",
		NOT_FOUND, picture->image);
	picture->script = popen(command, "w");
	if (!picture->script) {
		ipf_error_errno(err, errno, NULL, "cannot start gnuplot");
		close(picture->image);
		return -1;
	}
	fprintf(picture->script, "set terminal %s size %d,%d\n", terminal_of(path), width, height);
	return 0;
}

static int write_image(int image, const char *path, struct ipf_error *err)
{
	char bytes[16384];
	ssize_t got;
	FILE *out = fopen(path, "wb");

	if (!out)
		return ipf_error_errno(err, errno, path, "cannot open for writing");
	for (off_t at = 0; (got = pread(image, bytes, sizeof bytes, at)) > 0; at += got)
		if (fwrite(bytes, 1, (size_t)got, out) != (size_t)got)
			break;
	int failed = ferror(out) ? errno : 0;
	if (fclose(out) != 0 && !failed)
		failed = errno;
	return failed ? ipf_error_errno(err, failed, path, "cannot write") : 1;
}

int gnuplot_close(struct gnuplot *picture, const char *path, struct ipf_error *err)
{
	int status = pclose(picture->script), drawn;

	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		drawn = 0;
	else if (status != 0 || lseek(picture->image, 0, SEEK_END) <= 0)
		drawn = ipf_error_at(err, IPF_SYSTEM, path, 0, "gnuplot failed");
	else
		drawn = write_image(picture->image, path, err);
	close(picture->image);
	return drawn;
}
