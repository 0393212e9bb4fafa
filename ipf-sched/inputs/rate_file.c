#include "inputs/rate_file.h"

#include "absent.h"
#include "array.h"
#include "clock.h"
#include "stream/digest.h"
#include "stream/provenance.h"
#include "cli/units.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
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

/* Points in a growing list, which doubles at powers of two. */
static int append(struct rate_points *points, struct rate_point point, struct ipf_error *err)
{
	if (!array_one_more(points->list, points->count))
		return ipf_error_memory(err);
	points->list[points->count++] = point;
	return 0;
}

static int read_line(struct rate_points *points, char *line, struct ipf_error *err)
{
	char *rest, *time = strtok_r(line, SEPARATORS, &rest), *rate = strtok_r(NULL, SEPARATORS, &rest), *more;
	struct rate_point point;

	if (!time)
		return 0;
	if (!rate)
		return ipf_error_set(err, IPF_INPUT, "expected a time and a rate, got only \"%.200s\"", time);
	if ((more = strtok_r(NULL, SEPARATORS, &rest)))
		return ipf_error_set(err, IPF_INPUT, "expected a time and a rate, got a third column: \"%.200s\"", more);
	if (read_time(time, &point.at_ns, err) < 0 || read_rate(rate, &point.rate, err) < 0)
		return -1;
	if (points->count && point.at_ns <= points->list[points->count - 1].at_ns)
		return ipf_error_set(err, IPF_INPUT, "expected a time after the previous line's, got \"%.200s\"", time);
	return append(points, point, err);
}

/* Is this first line a heading? No column of a heading begins like a number. */
static bool is_heading(const char *line)
{
	for (line += strspn(line, SEPARATORS); *line; line += strspn(line, SEPARATORS)) {
		if (strchr("0123456789.+-", *line))
			return false;
		line += strcspn(line, SEPARATORS);
	}
	return true;
}

enum { LINE_MAX_BYTES = 16384 };

/* 1: a line, with its newline and a NUL; 0: the end; -1. */
static int next_line(FILE *file, char line[LINE_MAX_BYTES], size_t *len, struct ipf_error *err)
{
	int c = 0;
	*len = 0;
	while (c != '\n' && (c = getc_unlocked(file)) != EOF) {
		if (*len + 1 == LINE_MAX_BYTES)
			return ipf_error_set(err, IPF_INPUT, "expected a time and a rate, got a line of more than %d bytes",
			                     LINE_MAX_BYTES - 1);
		if (!c)
			return ipf_error_set(err, IPF_INPUT, "expected a time and a rate, got the byte 0x00");
		line[(*len)++] = (char)c;
	}
	line[*len] = '\0';
	if (ferror(file))
		return ipf_error_errno(err, errno, NULL, "cannot read");
	return *len > 0;
}

static int read_lines(struct rate_points *points, FILE *file, const char *path, struct digest *digest, int64_t *bytes,
                      struct ipf_error *err)
{
	char line[LINE_MAX_BYTES];
	size_t len;
	int64_t number = 1;

	for (; err->kind == IPF_OK && next_line(file, line, &len, err) == 1; number++) {
		bool marked = number == 1 && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0; /* a byte order mark */
		char *text = line + (marked ? 3 : 0);
		digest_update(digest, line, len);
		*bytes += (int64_t)len;
		if (text[0] != '#' && !(number == 1 && is_heading(text)) && read_line(points, text, err) < 0)
			break;
	}
	ipf_error_place(err, path, number);
	return err->kind == IPF_OK ? 0 : -1;
}

/* Shifts the times to make the first 0, and checks that any rate is above 0. */
static int normalise(struct rate_points *points, const char *path, struct ipf_error *err)
{
	double highest = 0;

	for (size_t i = points->count; i-- > 0;) {
		points->list[i].at_ns -= points->list[0].at_ns;
		highest = fmax(highest, points->list[i].rate);
	}
	if (points->count > 0 && highest <= 0)
		return ipf_error_at(err, IPF_INPUT, path, 0, "expected at least one rate above 0");
	return 0;
}

int rate_file_read(const char *path, struct rate_points *points, json_t **entry, struct ipf_error *err)
{
	FILE *file = fopen(path, "r");
	struct digest *digest = NULL;
	int64_t bytes = 0;
	char hex[65];
	int status = -1;

	if (!file)
		return ipf_error_errno(err, errno, path, "cannot open");
	if (!(digest = digest_new())) {
		ipf_error_memory(err);
		goto out;
	}
	if (read_lines(points, file, path, digest, &bytes, err) < 0 || normalise(points, path, err) < 0)
		goto out;
	digest_hex(digest, hex);
	*entry = provenance_file(path, bytes, hex);
	status = *entry ? 0 : ipf_error_memory(err);
out:
	digest_free(digest);
	fclose(file);
	return status;
}
