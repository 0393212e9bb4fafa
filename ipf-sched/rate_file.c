#include "rate_file.h"

#include "absent.h"
#include "clock.h"
#include "resources.h"
#include "stream/digest.h"
#include "cli/units.h"
#include "stream/provenance.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS " \t,;\r\n"

static int read_time(const char *text, int64_t *ns, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	double seconds;

	if (parse_number(text, &seconds, &ignored) == 0 && seconds >= 0 && seconds < 4e9) {
		*ns = llround(seconds * 1e9);
		return 0;
	}
	if (parse_duration(text, ns, &ignored) == 0)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "expected a time such as 60 (seconds) or 2m, got \"%.200s\"", text);
}

static int read_rate(const char *text, double *rate, struct ipf_error *err)
{
	struct ipf_error ignored = {0};

	if (parse_rate(text, rate, &ignored) == 0 && (*rate == 0 || (*rate >= 1e-9 && *rate <= 1e9)))
		return 0;
	return ipf_error_set(err, IPF_INPUT, "expected a rate such as 5, 1.5k or 300/m, got \"%.200s\"", text);
}

static int add_point(struct stage *stage, char *line, struct ipf_error *err)
{
	char *rest, *time = strtok_r(line, SEPARATORS, &rest), *rate = strtok_r(NULL, SEPARATORS, &rest), *more;
	struct rate_point point;
	struct rate_point *grown;

	if (!time)
		return 0;
	if (!rate)
		return ipf_error_set(err, IPF_INPUT, "expected a time and a rate, got \"%.200s\"", time);
	if ((more = strtok_r(NULL, SEPARATORS, &rest)))
		return ipf_error_set(err, IPF_INPUT, "expected a time and a rate, got a third column: \"%.200s\"", more);
	if (read_time(time, &point.at_ns, err) < 0 || read_rate(rate, &point.rate, err) < 0)
		return -1;
	if (stage->point_count && point.at_ns <= stage->points[stage->point_count - 1].at_ns)
		return ipf_error_set(err, IPF_INPUT, "expected a time after the one before, got \"%.200s\"", time);
	if ((stage->point_count & (stage->point_count - 1)) == 0) {
		grown = realloc(stage->points, (stage->point_count ? 2 * stage->point_count : 1) * sizeof *grown);
		if (!grown)
			return ipf_error_memory(err);
		stage->points = grown;
	}
	stage->points[stage->point_count++] = point;
	return 0;
}

/* A first line in which no column begins as a number does. */
static bool is_heading(const char *line)
{
	for (line += strspn(line, SEPARATORS); *line; line += strspn(line, SEPARATORS)) {
		if (strchr("0123456789.+-", *line))
			return false;
		line += strcspn(line, SEPARATORS);
	}
	return true;
}

static int read_lines(struct stage *stage, FILE *file, struct digest *digest, int64_t *bytes, struct ipf_error *err)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	for (int64_t number = 1; err->kind == IPF_OK && (len = getline(&line, &cap, file)) >= 0; number++) {
		char *text =
			line + (number == 1 && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0); /* a spreadsheet's mark */
		digest_update(digest, line, (size_t)len);
		*bytes += len;
		if (text[0] != '#' && !(number == 1 && is_heading(text)) && add_point(stage, text, err) < 0)
			ipf_error_place(err, stage->file, number);
	}
	if (ferror(file))
		ipf_error_errno(err, errno, stage->file, "cannot read");
	free(line);
	return err->kind == IPF_OK ? 0 : -1;
}

static int check(struct stage *stage, struct ipf_error *err)
{
	double most = 0;

	for (size_t i = stage->point_count; i-- > 0;) {
		stage->points[i].at_ns -= stage->points[0].at_ns;
		most = fmax(most, stage->points[i].rate);
	}
	if (stage->point_count == 0 || (stage->point_count == 1 && stage->for_ns == IPF_ABSENT))
		return ipf_error_at(err, IPF_INPUT, stage->file, 0, "expected two lines with a time and a rate at least");
	if (most <= 0)
		return ipf_error_at(err, IPF_INPUT, stage->file, 0, "expected a rate above 0 among them");
	return 0;
}

int rate_file_read(struct stage *stage, struct resources *resources, struct ipf_error *err)
{
	FILE *file = fopen(stage->file, "r");
	struct digest *digest = NULL;
	int64_t bytes = 0;
	char hex[65];
	int status = -1;

	if (!file)
		return ipf_error_errno(err, errno, stage->file, "cannot open");
	if (!resources->files)
		resources->files = json_array();
	if (!(digest = digest_new())) {
		ipf_error_memory(err);
		goto out;
	}
	if (read_lines(stage, file, digest, &bytes, err) < 0 || check(stage, err) < 0)
		goto out;
	digest_hex(digest, hex);
	status = json_array_append_new(resources->files, provenance_file(stage->file, bytes, hex));
	if (status < 0)
		ipf_error_memory(err);
out:
	digest_free(digest);
	fclose(file);
	return status;
}
