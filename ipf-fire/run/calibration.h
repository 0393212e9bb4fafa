/* The result of --calibrate, saved to a file and included in the header of all records the same program takes on the
 * same machine.
 */
#ifndef IPF_CALIBRATION_H
#define IPF_CALIBRATION_H

#include "error.h"

#include <jansson.h>

/* $XDG_STATE_HOME/ipf/calibration.json, or ~/.local/state/ipf/calibration.json. NULL: neither is known, or out of
 * memory. Free it. */
char *calibration_path(void);

/* Writes it to the file ("-": standard output), and creates the folders above it. */
int calibration_save(const char *path, json_t *calibration, struct ipf_error *err);

/* Reads a calibration made by this program, on this machine with its present system, with the same source of timestamps
 * ("kernel" or "user"). *calibration is new, or NULL: *why then gives the reason, or is "" if `path` is NULL or "none".
 * -1: IPF_SYSTEM if the file cannot be opened, IPF_INPUT if it is not a calibration. */
int calibration_load(const char *path, const char *timestamps, json_t **calibration, const char **why,
                     struct ipf_error *err);

#endif
