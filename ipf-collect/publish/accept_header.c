#include "publish/accept_header.h"

#include "buffer.h"

#include <string.h>
#include <strings.h>

const char *metrics_content_type(enum metrics_format format)
{
	static const char *const types[METRICS_FORMATS] = {
		[METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
		[METRICS_PROTOBUF] =
			"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
	};
	return types[format];
}

/* A media range of the header. Qualities are in thousandths, HTTP's finest. */
struct media_range {
	struct slice type, version, message, encoding; /* absent: not given */
	int quality;
};

static struct slice trimmed(struct slice s)
{
	while (s.len && strchr(" \t", s.data[0])) {
		s.data++;
		s.len--;
	}
	while (s.len && strchr(" \t", s.data[s.len - 1]))
		s.len--;
	return s;
}

/* Cuts off and returns the text before the next separator outside quotes. */
static struct slice next_part(struct slice *rest, char separator)
{
	bool quoted = false;
	size_t i = 0;
	for (; i < rest->len && (quoted || rest->data[i] != separator); i++) {
		if (quoted && rest->data[i] == '\\' && i + 1 < rest->len)
			i++;
		else if (rest->data[i] == '"')
			quoted = !quoted;
	}
	struct slice part = trimmed((struct slice){rest->data, i});
	size_t used = i < rest->len ? i + 1 : i;
	*rest = (struct slice){rest->data + used, rest->len - used};
	return part;
}

static bool same(struct slice s, const char *text)
{
	return s.len == strlen(text) && strncasecmp(s.data, text, s.len) == 0;
}

/* "0.25" gives 250; a malformed quality gives 0. */
static int quality_of(struct slice s)
{
	int quality = 0, unit = 1000;
	if (!s.len || s.len > 5 || (s.data[0] != '0' && s.data[0] != '1') || (s.len > 1 && s.data[1] != '.'))
		return 0;
	for (size_t i = 0; i < s.len; i++) {
		if (i == 1)
			continue;
		if (s.data[i] < '0' || s.data[i] > '9')
			return 0;
		quality += (s.data[i] - '0') * unit;
		unit /= 10;
	}
	return quality > 1000 ? 0 : quality;
}

static struct media_range parse_range(struct slice text)
{
	struct media_range range = {.quality = 1000};
	range.type = next_part(&text, ';');
	while (text.len) {
		struct slice value = next_part(&text, ';'), name = next_part(&value, '=');
		value = trimmed(value);
		if (value.len >= 2 && value.data[0] == '"' && value.data[value.len - 1] == '"')
			value = (struct slice){value.data + 1, value.len - 2};
		if (same(name, "q"))
			range.quality = quality_of(value);
		else if (same(name, "version"))
			range.version = value;
		else if (same(name, "proto"))
			range.message = value;
		else if (same(name, "encoding"))
			range.encoding = value;
	}
	return range;
}

/* 1: text, and so on; -1: none of ours. */
static int format_of(const struct media_range *range)
{
	if (same(range->type, "application/vnd.google.protobuf"))
		return same(range->message, "io.prometheus.client.MetricFamily") && same(range->encoding, "delimited")
		           ? METRICS_PROTOBUF
		           : -1;
	if (same(range->type, "application/openmetrics-text"))
		return !range->version.data || same(range->version, "1.0.0") ? METRICS_OPENMETRICS : -1;
	if (same(range->type, "text/plain"))
		return !range->version.data || same(range->version, "0.0.4") ? METRICS_TEXT : -1;
	return same(range->type, "*/*") || same(range->type, "text/*") ? METRICS_TEXT : -1;
}

enum metrics_format accept_format(const char *accept)
{
	struct slice rest = slice_of(accept ? accept : "");
	enum metrics_format best = METRICS_TEXT;
	int quality = 0;
	while (rest.len) {
		struct media_range range = parse_range(next_part(&rest, ','));
		int format = format_of(&range);
		if (format < 0 || range.quality < quality || range.quality == 0)
			continue;
		if (range.quality > quality || format > (int)best)
			best = (enum metrics_format)format;
		quality = range.quality;
	}
	return best;
}
