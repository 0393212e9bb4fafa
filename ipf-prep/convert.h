/* A conversion: reads the input files, selects requests, and writes the trace with its header and trailer. */
#ifndef PREP_CONVERT_H
#define PREP_CONVERT_H

#include "config/prep_config.h"
#include "input/input.h"
#include "input/input_paths.h"
#include "shape/trace_renderer.h"

/* `first` is the first file if it is open already, else NULL; it is closed. The command line goes into the header.
 * Returns the exit status (0, or 3 if input was bad or cut), or -1 with `err`. */
int convert(const struct prep_config *config, const struct input_paths *paths, struct input *first, int argc,
            char **argv, struct ipf_error *err);

/* Reads and selects as convert() does, and hands the requests over instead of writing them. */
struct convert_read {
	int64_t assumed; /* requests whose data has no length of the answer */
	json_t *from;    /* the input, as a header has it; the caller's; NULL */
};
int convert_requests(const struct prep_config *config, const struct input_paths *paths, struct input *first,
                     struct request_sink *to, struct convert_read *read, struct ipf_error *err);

#endif
