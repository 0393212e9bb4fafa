/* Quantities: any text is either refused, with a reason, or a value in its range. */
#include "cli/units.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void whole(int (*parse)(const char *, int64_t *, struct ipf_error *), const char *text)
{
	struct ipf_error err = {0};
	int64_t value = -1;
	int got = parse(text, &value, &err);

	if (got == 0 ? value < 0 || err.kind != IPF_OK : got != -1 || err.kind != IPF_USAGE || !err.text[0])
		abort();
}

static void real(int (*parse)(const char *, double *, struct ipf_error *), const char *text, double least, double most)
{
	struct ipf_error err = {0};
	double value = NAN;
	int got = parse(text, &value, &err);

	if (got == 0 ? !(value >= least && value <= most) || err.kind != IPF_OK
	             : got != -1 || err.kind != IPF_USAGE || !err.text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), people[32];
	double number;
	int64_t ns;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	whole(parse_duration, text);
	whole(parse_count, text);
	whole(parse_size, text);
	real(parse_rate, text, 0, DBL_MAX);
	real(parse_share, text, 0, 1);
	real(parse_number, text, -DBL_MAX, DBL_MAX);
	if (parse_duration(text, &ns, NULL) == 0 && strlen(format_duration(ns, people)) > 13)
		abort();
	if (parse_number(text, &number, NULL) == 0 && strlen(format_count(number, people)) > 10)
		abort();
	free(text);
	return 0;
}
