/* What --calibrate found, kept in a file from run to run. It stands in the header of all records that are taken with
 * the same program on the same machine.
 */
#ifndef IPF_CALIBRATION_H
#define IPF_CALIBRATION_H

#include "error.h"

#include <jansson.h>

/* Name, system and number of processors of this machine; new; NULL: out of memory. */
json_t *host_json(void);

/* $XDG_STATE_HOME/ipf/calibration.json, or ~/.local/state/ipf/calibration.json; NULL where neither is known, or out of
 * memory. Free it. */
char *calibration_path(void);

/* Writes it to the file ("-": standard output); its folder is made where it is missing. */
int calibration_keep(const char *path, json_t *calibration, struct ipf_error *err);

/* What the file holds, if it was found by this program on this machine with its present system; new. NULL where not:
 * *why then says why not in words ("" where there is none: no `path`). -1: IPF_SYSTEM where it cannot be opened,
 * IPF_INPUT where it is no calibration. */
int calibration_for(const char *path, const char *stamps, json_t **calibration, const char **why,
                    struct ipf_error *err);

#endif
