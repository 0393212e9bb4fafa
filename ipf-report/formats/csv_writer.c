#include "formats/csv_writer.h"

#include "absent.h"
#include "safe_text.h"

#include <math.h>
#include <string.h>

static void raw(struct csv_writer *csv, const char *text)
{
	if (csv->comma)
		buffer_byte(csv->out, ',');
	csv->comma = true;
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		buffer_text(csv->out, text);
		return;
	}
	buffer_byte(csv->out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buffer_byte(csv->out, '"');
		buffer_byte(csv->out, *text);
	}
	buffer_byte(csv->out, '"');
}

void csv_text(struct csv_writer *csv, const char *name, struct slice value)
{
	struct buffer safe = {0};
	size_t blanks = 0;
	if (csv->header || !value.data) {
		raw(csv, csv->header ? name : NULL);
		return;
	}
	while (blanks < value.len && value.data[blanks] == ' ')
		blanks++;
	if (blanks < value.len && value.data[blanks] && strchr("=+-@", value.data[blanks]))
		buffer_byte(&safe, '\'');
	safe_text_append(&safe, value);
	csv->out->failed |= safe.failed;
	raw(csv, buffer_all(&safe).data);
	buffer_release(&safe);
}

void csv_number(struct csv_writer *csv, const char *name, double value)
{
	char digits[40] = "";
	if (isinf(value))
		strcpy(digits, "inf");
	else if (!isnan(value)) {
		snprintf(digits, sizeof digits, "%.6f", round(value * 1e6) / 1e6);
		if (strchr(digits, '.')) {
			char *end = digits + strlen(digits);
			while (end[-1] == '0')
				*--end = 0;
			if (end[-1] == '.')
				*--end = 0;
		}
	}
	raw(csv, csv->header ? name : digits);
}

void csv_count(struct csv_writer *csv, const char *name, int64_t value)
{
	char digits[32] = "";
	if (value != IPF_ABSENT)
		snprintf(digits, sizeof digits, "%lld", (long long)value);
	raw(csv, csv->header ? name : digits);
}

void csv_line_end(struct csv_writer *csv)
{
	buffer_text(csv->out, "\r\n");
	csv->comma = csv->header = false;
}
