/* --certificate as text, on 80 columns but for digests and commands, and as JSON. */
#include "formats/certificate.h"

#include "cli/units.h"
#include "formats/json_figures.h"
#include "formats/text_layout.h"
#include "formats/text_accuracy.h"
#include "safe_text.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static const char *time_of(json_t *object, const char *key, char text[32])
{
	json_t *value = json_object_get(object, key);
	return json_is_integer(value) ? format_duration(json_integer_value(value), text) : "-";
}

static void show_source(struct layout *l, json_t *source)
{
	char a[32], b[32], c[32], d[32], count[40], line[400];
	json_t *ns = json_object_get(source, "ns"), *one;
	size_t i;
	layout_to(l, 2);
	layout_text(l, STRONG, text_of(source, "source"));
	layout_end_line(l);
	layout_to(l, 4);
	layout_wrapped(l, 4, PLAIN, text_of(source, "how"));
	layout_to(l, 4);
	if (!ns) {
		snprintf(line, sizeof line, "%s either way", time_of(source, "limit_ns", a));
		layout_wrapped(l, 4, PLAIN, line);
		return;
	}
	snprintf(line, sizeof line, "%s observations: p50 %s, p99 %s, p99.9 %s, at most %s",
	         show_count(json_integer_value(json_object_get(source, "observations")), count), time_of(ns, "p50", a),
	         time_of(ns, "p99", b), time_of(ns, "p99.9", c), time_of(ns, "max", d));
	if (json_object_get(source, "exact"))
		join(line, sizeof line, "; ", show_count(json_integer_value(json_object_get(source, "exact")), count), "exact");
	layout_wrapped(l, 4, PLAIN, line);
	if (json_array_size(json_object_get(source, "worst")) == 0)
		return;
	snprintf(line, sizeof line, "largest:");
	json_array_foreach(json_object_get(source, "worst"), i, one)
	{
		snprintf(a, sizeof a, "n %lld", (long long)json_integer_value(json_object_get(one, "n")));
		join(line, sizeof line, i ? ", " : " ", a, time_of(one, "ns", b));
	}
	layout_to(l, 4);
	layout_wrapped(l, 4, PLAIN, line);
}

static void add_clock(char *text, size_t size, const char *when, json_t *clock)
{
	char a[32], b[32], item[120];
	if (!json_is_object(clock))
		return;
	if (!json_is_true(json_object_get(clock, "synchronised")))
		snprintf(item, sizeof item, "not synchronised %s", when);
	else
		snprintf(item, sizeof item, "right to within %s %s (estimated: %s)", time_of(clock, "max_error_ns", a), when,
		         time_of(clock, "estimated_error_ns", b));
	join(text, size, "; ", item, "");
}

/* Streams of other tools do not say all of this. */
static void show_program(struct layout *l, json_t *client, json_t *stamps)
{
	char line[400], item[200];
	json_t *host = json_object_get(client, "host");
	const char *clock = text_of(client, "clock");
	if (json_object_size(host) > 0) {
		snprintf(line, sizeof line, "%.60s, %.40s %.60s, %lld processors", shown(text_of(host, "name")).text,
		         shown(text_of(host, "system")).text, shown(text_of(host, "release")).text,
		         (long long)json_integer_value(json_object_get(host, "processors")));
		layout_entry(l, "machine", line);
	}
	snprintf(line, sizeof line, "%.40s", shown(text_of(client, "tool")).text);
	if (*clock)
		join(line, sizeof line, ", ", shown(clock).text, "");
	if (json_object_size(stamps) > 0) {
		snprintf(item, sizeof item, "timestamps of the %.20s: %lld, %lld rejected, %lld without; %lld steps",
		         shown(text_of(client, "stamps")).text,
		         (long long)json_integer_value(json_object_get(stamps, "kernel")),
		         (long long)json_integer_value(json_object_get(stamps, "rejected")),
		         (long long)json_integer_value(json_object_get(stamps, "none")),
		         (long long)json_integer_value(json_object_get(stamps, "clock_steps")));
		join(line, sizeof line, "; ", item, "");
	}
	if (*line)
		layout_entry(l, "client", line);
}

static void show_client(struct layout *l, json_t *client)
{
	char line[400], a[32], b[32], c[32];
	json_t *end = json_object_get(client, "end"), *calibration = json_object_get(client, "calibration");
	show_program(l, client, json_object_get(end, "stamps"));
	json_t *delay = json_object_get(end, "delay_ns"), *loop = json_object_get(end, "loop_lag_ns");
	snprintf(line, sizeof line, "%lld reads, p50 %s, p99 %s, at most %s after the kernel's timestamp",
	         (long long)json_integer_value(json_object_get(delay, "count")), time_of(delay, "p50", a),
	         time_of(delay, "p99", b), time_of(delay, "max", c));
	if (delay)
		layout_entry(l, "reading", line);
	if (loop) {
		snprintf(line, sizeof line, "p99 %s, at most %s late", time_of(loop, "p99", a), time_of(loop, "max", b));
		layout_entry(l, "event loop", line);
	}
	line[0] = 0;
	add_clock(line, sizeof line, "at the start", json_object_get(client, "system_clock"));
	add_clock(line, sizeof line, "at the end", json_object_get(end, "system_clock"));
	if (line[0])
		layout_entry(l, "wall clock", line);
	if (calibration) {
		snprintf(line, sizeof line, "p99 of the error: TTFT %s, ITL %s",
		         time_of(json_object_get(calibration, "ttft_error_ns"), "p99", a),
		         time_of(json_object_get(calibration, "itl_error_ns"), "p99", b));
		layout_entry(l, "calibration", line);
	}
}

static void show_streams(struct layout *l, json_t *streams)
{
	json_t *one;
	size_t i;
	layout_heading(l, "Streams");
	layout_end_line(l);
	json_array_foreach(streams, i, one)
	{
		layout_to(l, 2);
		layout_text(l, PLAIN, shown(text_of(one, "stream")).text);
		if (*text_of(one, "file"))
			layout_format(l, PLAIN, " %s", shown(text_of(one, "file")).text);
		if (json_is_integer(json_object_get(one, "lines")))
			layout_format(l, PLAIN, ", %lld lines", (long long)json_integer_value(json_object_get(one, "lines")));
		layout_end_line(l);
		layout_to(l, 4);
		layout_text(l, PLAIN, shown(text_of(one, "sha256")).text);
		layout_end_line(l);
	}
}

static void show_commands(struct layout *l, json_t *commands)
{
	json_t *one;
	size_t i;
	layout_heading(l, "To check it");
	layout_end_line(l);
	json_array_foreach(commands, i, one)
	{
		layout_to(l, 2);
		layout_wrapped(l, 2, PLAIN, text_of(one, "what"));
		layout_to(l, 4);
		layout_text(l, PLAIN, text_of(one, "command"));
		layout_end_line(l);
	}
}

static void render_text(const struct report *report, struct buffer *out)
{
	struct layout l = {.out = out, .colour = report->colour};
	json_t *json = certificate_json(report), *one;
	size_t i;
	layout_text(&l, STRONG, "Certificate of accuracy");
	layout_end_line(&l);
	layout_to(&l, 2);
	layout_wrapped(&l, 2, PLAIN,
	               report->accuracy->known
	                   ? "What the client may have added to the latencies of this run, and how that was measured. It "
	                     "covers neither network nor server, nor the rate of the machine's clock: ACCURACY in "
	                     "ipf-results(5)."
	                   : "Not known: the results do not say when requests left and how early events can have come. "
	                     "ipf-collect makes such results of the same records.");
	text_accuracy(&l, report);
	if (report->accuracy->known) {
		layout_heading(&l, "Sources of error");
		layout_end_line(&l);
	}
	json_array_foreach(json_object_get(json, "sources"), i, one) show_source(&l, one);
	json_array_foreach(json_object_get(json, "clients"), i, one)
	{
		char title[40];
		snprintf(title, sizeof title, "Client %zu", i);
		layout_heading(&l, json_array_size(json_object_get(json, "clients")) > 1 ? title : "Client");
		layout_end_line(&l);
		show_client(&l, one);
	}
	show_streams(&l, json_object_get(json, "streams"));
	show_commands(&l, json_object_get(json, "verify"));
	json_decref(json);
}

static int append(const char *bytes, size_t len, void *out)
{
	buffer_append(out, bytes, len);
	return 0;
}

static void render_json(const struct report *report, struct buffer *out)
{
	json_t *json = certificate_json(report);
	if (json_dump_callback(json, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
		out->failed = true;
	buffer_byte(out, '\n');
	json_decref(json);
}

const struct report_format format_certificate_text = {.render = render_text};
const struct report_format format_certificate_json = {.render = render_json};
