/* A conversion: reads the input files, selects requests, and writes the trace with its header and trailer. */
#ifndef PREP_CONVERT_H
#define PREP_CONVERT_H

#include "config/prep_config.h"
#include "input/input_paths.h"
#include "shape/trace_renderer.h"
#include "sources/source_reader.h"

/* `first` is the first file if it is open already, else NULL; it is closed. The command line goes into the header.
 * Returns the exit status (0, or 3 if input was bad or cut), or -1 with `err`. */
int convert(const struct prep_config *config, const struct input_paths *paths, struct input *first, int argc,
            char **argv, struct ipf_error *err);

/* Reads the files and hands the requests that are selected to the renderer. */
int convert_requests(const struct prep_config *config, struct trace_renderer *renderer, const struct input_paths *paths,
                     struct source_reader *reading, struct ipf_error *err);

#endif
