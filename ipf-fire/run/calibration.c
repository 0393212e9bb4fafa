#include "run/calibration.h"

#include "cli/options.h"
#include "cli/text_output.h"
#include "run/host.h"
#include "version.h"
#include "whole_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *calibration_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int len = -1;
	if (state && state[0] == '/')
		len = asprintf(&path, "%s/ipf/calibration.json", state);
	else if (home && home[0] == '/')
		len = asprintf(&path, "%s/.local/state/ipf/calibration.json", home);
	return len < 0 ? NULL : path;
}

/* Creates all folders above the path. A failure shows when the file is opened. */
static void create_folders(const char *path)
{
	char *copy = strdup(path);
	for (char *slash = copy; slash && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(copy, 0777);
		*slash = '/';
	}
	free(copy);
}

int calibration_save(const char *path, json_t *calibration, struct ipf_error *err)
{
	struct text_output out;
	if (strcmp(path, "-") != 0)
		create_folders(path);
	if (text_output_open(&out, path, err) < 0)
		return -1;
	if (json_dumpf(calibration, out.to, JSON_INDENT(1)) < 0 && !out.failed)
		ipf_error_memory(err);
	fputc('\n', out.to);
	return text_output_close(&out, err) < 0 || err->kind ? -1 : 0;
}

static bool has_text(json_t *c, const char *member, const char *wanted)
{
	const char *text = json_string_value(json_object_get(c, member));
	return text && !strcmp(text, wanted);
}

/* Why the calibration does not apply here; "": it does. */
static const char *mismatch(json_t *c, const char *timestamps)
{
	json_t *host = host_json();
	bool here = json_equal(json_object_get(c, "host"), host);
	json_decref(host);
	if (!has_text(c, "tool", "ipf-fire " IPF_VERSION))
		return "made by another version of ipf-fire";
	if (!here)
		return "made on another machine or system";
	return has_text(c, "stamps", timestamps) ? "" : "made with another source of timestamps (--stamps)";
}

int calibration_load(const char *path, const char *timestamps, json_t **calibration, const char **why,
                     struct ipf_error *err)
{
	*calibration = NULL;
	*why = "";
	if (!path || !strcmp(path, "none"))
		return 0;
	struct buffer text = {0};
	if (whole_file_read(path, (struct whole_file){"a calibration as --calibrate saves it", (size_t)1 << 20}, &text,
	                    err) < 0) {
		buffer_release(&text);
		return -1;
	}
	json_t *c = json_loadb(text.len ? text.data : "", text.len, 0, NULL);
	buffer_release(&text);
	if (!has_text(c, "ipf", "calibration")) {
		json_decref(c);
		return ipf_error_at(err, IPF_INPUT, path, 0, "expected a calibration as --calibrate saves it");
	}
	*why = mismatch(c, timestamps);
	if (**why)
		json_decref(c);
	else
		*calibration = c;
	return 0;
}
