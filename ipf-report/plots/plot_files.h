/* All plots of a run as files in a folder: of each the picture NAME.svg (.png, .pdf), NAME.gp, the script drawing it,
 * and NAME.tsv, the data. A user can change the script and draw the plot again: gnuplot NAME.gp, in the folder.
 *
 *     plot_files_write(&input, "plots", PLOT_SVG, &report, &err)
 */
#ifndef REPORT_PLOT_FILES_H
#define REPORT_PLOT_FILES_H

#include "plots/plots.h"

/* The actions, for messages to the user. */
struct plot_files {
	int written;          /* plots */
	bool gnuplot_missing; /* there are data and scripts, no pictures */
	void (*absent)(const struct plot_kind *kind, const char *why, void *to); /* called for each that is not written */
	void *to;
};

/* Creates the folder, if it is not there, and writes all plots. The files of a plot without data in this run are
 * removed, since those of another run would be mistaken for it. -1: IPF_SYSTEM, with the file. */
int plot_files_write(const struct plot_input *input, const char *folder, enum plot_format format,
                     struct plot_files *done, struct ipf_error *err);

#endif
