/* The certificate of accuracy: the evidence for the error bars. */
#include "sections/sections.h"
#include "sections/time_facts.h"

#include "cli/units.h"
#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *time_at(json_t *json, const char *path, char text[32])
{
	json_t *value = json_at(json, path);
	return json_is_integer(value) ? format_duration(json_integer_value(value), text) : "-";
}

/* ---- sources of error ---- */

static void tell_source(struct document *d, json_t *source)
{
	char a[32], b[32], c[32], e[32], count[40];
	json_t *worst = json_at(source, "worst"), *one;
	struct buffer list = {0};
	size_t i;
	doc_part(d, PART_TEXT, text_at(source, "source"), text_at(source, "how"));
	if (!json_at(source, "ns")) {
		doc_fact(d, "", "%s either way", time_at(source, "limit_ns", a));
		return;
	}
	doc_fact(d, "", "%s observations: p50 %s, p99 %s, p99.9 %s, at most %s%s%s%s",
	         show_whole(figure_at(source, "observations"), count), time_at(source, "ns/p50", a),
	         time_at(source, "ns/p99", b), time_at(source, "ns/p99.9", c), time_at(source, "ns/max", e),
	         json_at(source, "exact") ? "; " : "",
	         json_at(source, "exact") ? doc_say(d, "%.0f", figure_at(source, "exact")) : "",
	         json_at(source, "exact") ? " exact" : "");
	json_array_foreach(worst, i, one)
		buffer_format(&list, "%sn %.0f %s", i ? ", " : "", figure_at(one, "n"), time_at(one, "ns", a));
	if (list.len)
		doc_fact(d, "", "largest: %s", list.data);
	d->failed |= list.failed;
	buffer_release(&list);
}

/* ---- clients ---- */

static void add_clock(struct buffer *text, const char *when, json_t *clock)
{
	char a[32], b[32];
	if (!json_is_object(clock))
		return;
	buffer_text(text, text->len ? "; " : "");
	if (json_is_true(json_at(clock, "synchronised")))
		buffer_format(text, "right to within %s %s (estimated: %s)", time_at(clock, "max_error_ns", a), when,
		              time_at(clock, "estimated_error_ns", b));
	else
		buffer_format(text, "not synchronised %s", when);
}

/* Streams of other tools do not have all of this. */
static void tell_program(struct document *d, json_t *client)
{
	json_t *host = json_at(client, "host"), *stamps = json_at(client, "end/stamps");
	struct buffer line = {0};
	if (json_object_size(host) > 0)
		doc_fact(d, "machine", "%s, %s %s, %.0f processors", words_at(host, "name"), words_at(host, "system"),
		         words_at(host, "release"), figure_at(host, "processors"));
	buffer_text(&line, words_at(client, "tool"));
	if (text_at(client, "clock"))
		buffer_format(&line, "%s%s", line.len ? ", " : "", text_at(client, "clock"));
	if (json_object_size(stamps) > 0)
		buffer_format(&line, "; timestamps of the %s: %lld, %lld rejected, %lld without; %lld steps",
		              words_at(client, "stamps"), (long long)json_integer_value(json_at(stamps, "kernel")),
		              (long long)json_integer_value(json_at(stamps, "rejected")),
		              (long long)json_integer_value(json_at(stamps, "none")),
		              (long long)json_integer_value(json_at(stamps, "clock_steps")));
	if (line.len)
		doc_fact(d, "client", "%s", line.data);
	d->failed |= line.failed;
	buffer_release(&line);
}

static void tell_client(struct document *d, json_t *client)
{
	char a[32], b[32], c[32];
	json_t *delay = json_at(client, "end/delay_ns"), *loop = json_at(client, "end/loop_lag_ns"),
		   *calibration = json_at(client, "calibration");
	struct buffer clock = {0};
	tell_program(d, client);
	if (delay)
		doc_fact(d, "reading", "%lld reads, p50 %s, p99 %s, at most %s after the kernel's timestamp",
		         (long long)json_integer_value(json_at(delay, "count")), time_at(delay, "p50", a),
		         time_at(delay, "p99", b), time_at(delay, "max", c));
	if (loop)
		doc_fact(d, "event loop", "p99 %s, at most %s late", time_at(loop, "p99", a), time_at(loop, "max", b));
	add_clock(&clock, "at the start", json_at(client, "system_clock"));
	add_clock(&clock, "at the end", json_at(client, "end/system_clock"));
	if (clock.len)
		doc_fact(d, "wall clock", "%s", clock.data);
	d->failed |= clock.failed;
	buffer_release(&clock);
	if (calibration)
		doc_fact(d, "calibration", "p99 of the error: TTFT %s, ITL %s", time_at(calibration, "ttft_error_ns/p99", a),
		         time_at(calibration, "itl_error_ns/p99", b));
}

/* ---- streams and commands ---- */

static void tell_streams(struct document *d, json_t *streams)
{
	json_t *one;
	size_t i;
	doc_section(d, "streams", "Streams");
	json_array_foreach(streams, i, one)
	{
		const char *file = words_at(one, "file"),
				   *lines = json_is_integer(json_at(one, "lines"))
		                        ? doc_say(d, ", %lld lines", (long long)json_integer_value(json_at(one, "lines")))
		                        : "";
		doc_part(d, PART_CODE, doc_say(d, "%s%s%s%s", words_at(one, "stream"), *file ? " " : "", file, lines),
		         text_at(one, "sha256"));
	}
}

void certificate_document(struct document *d, json_t *certificate, json_t *total)
{
	json_t *one, *clients = json_at(certificate, "clients");
	const struct telling t = {.d = d, .report = certificate, .total = total};
	const bool known = json_is_true(json_at(certificate, "known"));
	size_t i;
	d->kind = "ipf certificate";
	d->title = d->heading = "Certificate of accuracy";
	doc_section(d, "certificate", "Certificate of accuracy");
	doc_part(
		d, PART_NOTE, NULL,
		known
			? "The time that the client may have added to the latencies of this run, and how it was measured. It covers "
			  "neither network nor server, nor the rate of the machine's clock: ACCURACY in ipf-results(5)."
			: "Unknown: the results do not have the times at which requests left and events can have come. ipf-collect "
			  "makes such results of the same records.")
		->tone = TONE_GOOD;
	if (known) {
		doc_section(d, "errors", "Error");
		tell_error_bars(&t, json_at(total, "accuracy"), text_at(certificate, "itl"));
		doc_section(d, "sources", "Sources of error");
		json_array_foreach(json_at(certificate, "sources"), i, one) tell_source(d, one);
	}
	json_array_foreach(clients, i, one)
	{
		doc_section(d, "client", json_array_size(clients) > 1 ? doc_say(d, "Client %zu", i) : "Client");
		tell_client(d, one);
	}
	tell_streams(d, json_at(certificate, "streams"));
	doc_section(d, "verify", "To check it");
	json_array_foreach(json_at(certificate, "verify"), i, one)
		doc_part(d, PART_CODE, text_at(one, "what"), text_at(one, "command"));
}
