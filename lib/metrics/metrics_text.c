#include "metrics/metrics_text.h"

#include "json/jout.h"

#include <math.h>
#include <string.h>

void metrics_text_bound(struct buffer *out, double value)
{
	struct jout number = {.out = out};
	size_t from = out->len;
	if (isinf(value)) {
		buffer_text(out, value > 0 ? "+Inf" : "-Inf");
		return;
	}
	jout_double(&number, value);
	if (!out->failed && !strpbrk(out->data + from, ".en"))
		buffer_text(out, ".0");
}

static void put_number(struct buffer *out, double value)
{
	struct jout number = {.out = out};
	if (isinf(value))
		metrics_text_bound(out, value);
	else if (fabs(value) < 9007199254740992.0 && value == floor(value))
		buffer_format(out, "%.0f", value);
	else
		jout_double(&number, value);
}

/* Backslashes and newlines are escaped, and quotes where the text is quoted. */
static void put_escaped(struct buffer *out, const char *text, bool quoted)
{
	for (; *text; text++)
		if (*text == '\\')
			buffer_text(out, "\\\\");
		else if (*text == '\n')
			buffer_text(out, "\\n");
		else if (*text == '"' && quoted)
			buffer_text(out, "\\\"");
		else
			buffer_byte(out, *text);
}

/* `last`: the name of a further label, whose value is a bound or a quantile; NULL: none. */
static void put_labels(struct buffer *out, const struct metric_label *labels, size_t count, const char *last,
                       double bound)
{
	if (!count && !last)
		return;
	buffer_byte(out, '{');
	for (size_t i = 0; i < count; i++) {
		buffer_format(out, "%s%s=\"", i ? "," : "", labels[i].name);
		put_escaped(out, labels[i].value, true);
		buffer_byte(out, '"');
	}
	if (last) {
		buffer_format(out, "%s%s=\"", count ? "," : "", last);
		metrics_text_bound(out, bound);
		buffer_byte(out, '"');
	}
	buffer_byte(out, '}');
}

/* The classic format names families with points, and knows no info. */
static void put_family(struct metrics_text *t, const struct metric_family *family, const char *type)
{
	const char *suffix = t->openmetrics ? "" : metric_suffix(family->type);
	t->family = *family;
	buffer_format(t->out, "# HELP %s%s ", family->name, suffix);
	put_escaped(t->out, family->help, t->openmetrics);
	buffer_format(t->out, "\n# TYPE %s%s %s\n", family->name, suffix, type);
	if (t->openmetrics && family->unit)
		buffer_format(t->out, "# UNIT %s %s\n", family->name, family->unit);
}

static void begin(struct metric_sink *sink, const struct metric_family *family)
{
	static const char *const types[] = {"counter", "gauge", "histogram", "info"};
	struct metrics_text *t = (struct metrics_text *)sink;
	bool info = family->type == METRIC_INFO && !t->openmetrics;
	put_family(t, family, info ? "gauge" : types[family->type]);
}

static void put_sample(struct metrics_text *t, const char *suffix, const struct metric_label *labels, size_t count,
                       double value)
{
	buffer_format(t->out, "%s%s", t->family.name, suffix);
	put_labels(t->out, labels, count, NULL, 0);
	buffer_byte(t->out, ' ');
	put_number(t->out, value);
	buffer_byte(t->out, '\n');
}

static void point(struct metric_sink *sink, const struct metric_label *labels, size_t count, double value)
{
	struct metrics_text *t = (struct metrics_text *)sink;
	put_sample(t, metric_suffix(t->family.type), labels, count, value);
}

static void histogram(struct metric_sink *sink, const struct metric_label *labels, size_t count,
                      const struct live_histogram *h)
{
	struct metrics_text *t = (struct metrics_text *)sink;
	int64_t cumulative = 0;
	for (size_t i = 0; i <= LIVE_BOUNDS; i++) {
		double bound = i < LIVE_BOUNDS ? (double)live_bounds_ns[i] / 1e9 : INFINITY;
		cumulative += h->classic[i];
		buffer_format(t->out, "%s_bucket", t->family.name);
		put_labels(t->out, labels, count, "le", bound);
		buffer_format(t->out, " %lld\n", (long long)cumulative);
	}
	put_sample(t, "_sum", labels, count, (double)h->sum_ns / 1e9);
	put_sample(t, "_count", labels, count, (double)h->count);
}

void metrics_text_begin_summaries(struct metrics_text *text, const struct metric_family *family)
{
	put_family(text, family, "summary");
}

void metrics_text_summary(struct metrics_text *text, const struct metric_label *labels, size_t count,
                          const struct text_summary *summary)
{
	for (size_t i = 0; i < summary->count; i++) {
		buffer_text(text->out, text->family.name);
		put_labels(text->out, labels, count, "quantile", summary->quantiles[i].quantile);
		buffer_byte(text->out, ' ');
		put_number(text->out, summary->quantiles[i].value);
		buffer_byte(text->out, '\n');
	}
	if (!isnan(summary->sum))
		put_sample(text, "_sum", labels, count, summary->sum);
	put_sample(text, "_count", labels, count, (double)summary->n);
}

static void end(struct metric_sink *sink)
{
	(void)sink;
}

struct metrics_text metrics_text(struct buffer *out, bool openmetrics)
{
	return (struct metrics_text){
		.sink = {.begin = begin, .point = point, .histogram = histogram, .end = end},
		.out = out,
		.openmetrics = openmetrics,
	};
}

void metrics_text_end(struct metrics_text *text)
{
	if (text->openmetrics)
		buffer_text(text->out, "# EOF\n");
}
