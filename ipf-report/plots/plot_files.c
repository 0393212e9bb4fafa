#include "plots/plot_files.h"

#include "cli/options.h"
#include "cli/report_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of a file of the plot; -1: it is too long. */
static int path_of(char path[4096], const char *folder, const char *name, const char *extension, struct ipf_error *err)
{
	int len = snprintf(path, 4096, "%s/%s.%s", folder, name, extension);
	return len < 4096 ? 0 : ipf_error_errno(err, ENAMETOOLONG, folder, "cannot write plots");
}

static int write_file(const char *folder, const char *name, const char *extension, const struct buffer *bytes,
                      struct ipf_error *err)
{
	char path[4096];
	if (path_of(path, folder, name, extension, err) < 0)
		return -1;
	return report_output_write(path, bytes, err);
}

static int remove_file(const char *folder, const char *name, const char *extension, struct ipf_error *err)
{
	char path[4096];
	if (path_of(path, folder, name, extension, err) < 0)
		return -1;
	return unlink(path) == 0 || errno == ENOENT ? 0
	                                            : ipf_error_errno(err, errno, path, "cannot remove an earlier plot");
}

/* It is another run's, or in another format. */
static int remove_pictures(const char *folder, const char *name, struct ipf_error *err)
{
	for (int i = 0; plot_format_names[i]; i++)
		if (remove_file(folder, name, plot_format_names[i], err) < 0)
			return -1;
	return 0;
}

/* The folder may be that of the results. */
static int check_names(const struct plot_kind *kind, const char *folder, struct ipf_error *err)
{
	char path[4096];
	for (int i = -2; i < 0 || plot_format_names[i]; i++) {
		const char *extension = i == -2 ? "gp" : i == -1 ? "tsv" : plot_format_names[i];
		if (path_of(path, folder, kind->name, extension, err) < 0 ||
		    named_paths_check_output(program_paths(), path, err) < 0)
			return -1;
	}
	return 0;
}

static int write_plot(const struct plot *p, const char *folder, enum plot_format format, struct plot_files *done,
                      struct ipf_error *err)
{
	struct buffer script = {0}, image = {0};
	int bad = remove_pictures(folder, p->name, err);
	plot_script(p, format, &script);
	if (bad == 0)
		bad = write_file(folder, p->name, "gp", &script, err);
	if (bad == 0)
		bad = write_file(folder, p->name, "tsv", &p->data, err);
	int drawn = bad == 0 && !done->gnuplot_missing ? plot_draw(p, format, &image, err) : 0;
	if (bad == 0 && drawn > 0)
		bad = write_file(folder, p->name, plot_format_names[format], &image, err);
	done->gnuplot_missing |= bad == 0 && drawn == 0;
	done->written++;
	buffer_release(&script);
	buffer_release(&image);
	return drawn < 0 ? -1 : bad;
}

static int forget_plot(const char *folder, const char *name, struct ipf_error *err)
{
	if (remove_pictures(folder, name, err) < 0 || remove_file(folder, name, "gp", err) < 0)
		return -1;
	return remove_file(folder, name, "tsv", err);
}

int plot_files_write(const struct plot_input *input, const char *folder, enum plot_format format,
                     struct plot_files *done, struct ipf_error *err)
{
	int bad = 0;
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return ipf_error_errno(err, errno, folder, "cannot create the folder");
	for (const struct plot_kind *kind = plot_kinds; kind->name && bad == 0; kind++)
		bad = check_names(kind, folder, err);
	for (const struct plot_kind *kind = plot_kinds; kind->name && bad == 0; kind++) {
		struct plot p;
		int made = plot_make(kind, input, &p, err);
		if (made > 0)
			bad = write_plot(&p, folder, format, done, err);
		else
			bad = made < 0 ? -1 : forget_plot(folder, kind->name, err);
		if (made == 0 && bad == 0 && done->absent)
			done->absent(kind, p.absent, done->to);
		plot_release(&p);
	}
	return bad;
}
