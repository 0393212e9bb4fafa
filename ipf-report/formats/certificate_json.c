#include "absent.h"
#include "figures/error_bars.h"
#include "figures/figures.h"
#include "formats/certificate.h"
#include "json_report/json_figures.h"
#include "output/shell_word.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- measurements of each request ---- */

enum source { SENDING, CONNECTION, FIRST_EVENT, LAST_EVENT, LATENESS, SOURCES_OF_ERROR };

static const struct {
	const char *name, *what;
	bool early; /* 0 says the time is exact */
} sources_of_error[SOURCES_OF_ERROR] = {
	[SENDING] = {"sending",
                 "from the start of a request, or from when its connection was ready, until it had left: the "
                 "kernel's timestamp of its last packet, else the time after the call that sent it",
                 false},
	[CONNECTION] = {"connection",
                    "how late the client can have seen that a connection it waited for was ready: the "
                    "longest delay of the client, for each answer of the network, and not more than the wait",
                    false},
	[FIRST_EVENT] =
		{"first_event",
         "how much earlier the first content event can have come than the read that it shared, or that has "
         "no timestamp of the kernel: not before the last read, nor longer than the longest delay of the client",
         true},
	[LAST_EVENT] = {"last_event", "the same of the last content event", true},
	[LATENESS] = {"client_lag", "how late the client started a request; counts in latencies from due", false},
};

enum { WORST = 5 };

struct evidence {
	struct samples ns;
	int64_t exact;
	struct worst {
		int64_t n, ns;
	} worst[WORST];
	int worst_count;
};

static void add_evidence(struct evidence *e, int64_t n, int64_t ns)
{
	int at = e->worst_count;
	samples_add(&e->ns, (double)ns);
	e->exact += ns == 0;
	while (at > 0 && e->worst[at - 1].ns < ns)
		at--;
	if (at == WORST || ns == 0)
		return;
	e->worst_count += e->worst_count < WORST;
	memmove(e->worst + at + 1, e->worst + at, (size_t)(e->worst_count - at - 1) * sizeof *e->worst);
	e->worst[at] = (struct worst){n, ns};
}

static void read_evidence(struct evidence all[SOURCES_OF_ERROR], const struct run_data *run)
{
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (!row->ok || !run->schedule.stages[row->stage].measured)
			continue;
		const struct row_errors e = row_errors_of(run, row);
		if (!e.known)
			continue;
		int64_t sending = row_get(row, ROW_SENDING_NS);
		add_evidence(&all[SENDING], row->n, sending);
		if (row_get(row, ROW_SEND_WAITS) != IPF_ABSENT)
			add_evidence(&all[CONNECTION], row->n, e.sending - sending);
		add_evidence(&all[FIRST_EVENT], row->n, e.first);
		add_evidence(&all[LAST_EVENT], row->n, e.last);
		if (row_get(row, METRIC_CLIENT_LAG) != IPF_ABSENT)
			add_evidence(&all[LATENESS], row->n, e.lateness);
	}
}

static json_t *evidence_json(struct evidence *e, enum source source)
{
	static const double points[] = {50, 90, 99, 99.9, 100};
	static const char *const names[] = {"p50", "p90", "p99", "p99.9", "max"};
	json_t *json = json_object(), *ns = json_object(), *worst = json_array();
	json_object_set_new(json, "source", json_string(sources_of_error[source].name));
	json_object_set_new(json, "how", json_string(sources_of_error[source].what));
	json_put_count(json, "observations", (int64_t)e->ns.count);
	if (sources_of_error[source].early)
		json_put_count(json, "exact", e->exact);
	for (size_t i = 0; i < sizeof points / sizeof *points && e->ns.count > 0; i++)
		json_put_count(ns, names[i], (int64_t)samples_percentile(&e->ns, points[i]));
	json_put_object(json, "ns", ns);
	for (int i = 0; i < e->worst_count; i++)
		json_array_append_new(
			worst, json_pack("{s:I, s:I}", "n", (json_int_t)e->worst[i].n, "ns", (json_int_t)e->worst[i].ns));
	json_object_set_new(json, "worst", worst);
	return json;
}

static json_t *sources_json(const struct report *report)
{
	struct evidence all[SOURCES_OF_ERROR] = {0};
	json_t *json = json_array();
	read_evidence(all, report->run);
	for (enum source s = 0; s < SOURCES_OF_ERROR; s++) {
		if (all[s].ns.count > 0)
			json_array_append_new(json, evidence_json(&all[s], s));
		samples_release(&all[s].ns);
	}
	json_array_append_new(
		json,
		json_pack("{s:s, s:s, s:I}", "source", "clock", "how",
	              "the clock of the kernel's timestamps and the client's are compared every millisecond; a timestamp "
	              "that is later than the client's clock by more than this is rejected",
	              "limit_ns", (json_int_t)BAR_CLOCK_NS));
	return json;
}

/* ---- the figures ---- */

/* The widths of the bars of the total: {"ttft_ms": {"from_start": {…}}, "itl_ms": {…}, …}. */
static json_t *widths_json(const struct report *report)
{
	json_t *json = json_array();
	for (enum bar bar = 0; bar < ERROR_BARS; bar++) {
		const struct metric_summary *of = bar_summary(&report->figures->total, bar);
		const struct metric_summary w = bar_widths(&report->accuracy->total.bars[bar], of);
		if (w.n == 0)
			continue;
		json_t *one = json_pack("{s:s}", "latency", bar_specs[bar].json);
		if (bar_specs[bar].version)
			json_object_set_new(one, "version", json_string(bar_specs[bar].version));
		json_put_object(one, "value", json_summary(of, &report->options->percentiles));
		json_put_object(one, "error", json_summary(&w, &report->options->percentiles));
		json_array_append_new(json, one);
	}
	return json;
}

/* ---- clients and streams ---- */

static void copy_members(json_t *to, json_t *from, const char *const *names)
{
	for (; *names; names++)
		if (json_object_get(from, *names))
			json_object_set(to, *names, json_object_get(from, *names));
}

/* Each client's report about itself, its machine and its clock; at the end in `end`. */
static json_t *clients_json(const struct run_data *run)
{
	static const char *const of_header[] = {"tool",       "host",         "stamps",      "clock", "t0",
	                                        "t0_unix_ns", "system_clock", "calibration", NULL};
	static const char *const of_trailer[] = {"delay_ns", "loop_lag_ns",  "client_lag_ns",
	                                         "stamps",   "system_clock", NULL};
	json_t *json = json_array(), *header;
	size_t k;
	for (int i = 0; i < run->part_count; i++)
		json_array_foreach(json_object_get(run->parts[i].header, "from"), k, header)
		{
			json_t *one = json_object(), *end = json_object();
			json_t *entry = json_array_get(json_object_get(run->parts[i].trailer, "from"), k);
			copy_members(one, header, of_header);
			copy_members(end, json_object_get(entry, "client"), of_trailer);
			json_put_object(one, "end", end);
			json_array_append_new(json, one);
		}
	return json;
}

static void add_stream(json_t *to, const char *kind, const char *file, json_t *lines, json_t *digest)
{
	if (!json_is_string(digest))
		return;
	json_t *one = json_pack("{s:s}", "stream", kind);
	if (file)
		json_object_set_new(one, "file", json_string(file));
	if (json_is_integer(lines))
		json_object_set(one, "lines", lines);
	json_object_set(one, "sha256", digest);
	json_array_append_new(to, one);
}

/* The digests of a stream's inputs, and of theirs. */
static void add_inputs(json_t *to, json_t *entries, int depth)
{
	json_t *entry;
	size_t i;
	json_array_foreach(entries, i, entry)
	{
		const char *kind = json_string_value(json_object_get(entry, "ipf"));
		add_stream(to, kind ? kind : "input", NULL, json_object_get(entry, "lines"), json_object_get(entry, "sha256"));
		if (depth < 8)
			add_inputs(to, json_object_get(entry, "from"), depth + 1);
	}
}

static json_t *streams_json(const struct run_data *run)
{
	json_t *json = json_array();
	for (int i = 0; i < run->part_count; i++) {
		const struct run_part *part = &run->parts[i];
		add_stream(json, "results", part->name, json_object_get(part->trailer, "lines"),
		           json_array_get(part->digests, 0));
		add_inputs(json, json_object_get(part->trailer, "from"), 0);
	}
	return json;
}

/* ---- how to check it ---- */

static void put_word(struct buffer *out, const char *word)
{
	buffer_byte(out, ' ');
	shell_word(out, word);
}

/* Takes the command over. */
static void add_command(json_t *to, const char *what, struct buffer *command)
{
	if (!command->failed)
		json_array_append_new(to, json_pack("{s:s, s:s%}", "what", what, "command", command->data, command->len));
	buffer_release(command);
}

static void add_part_commands(json_t *to, const struct run_part *part)
{
	struct buffer digest = {0}, collect = {0};
	json_t *argument;
	size_t i;
	buffer_text(&digest, "zstd -dcf");
	put_word(&digest, part->name);
	buffer_text(&digest, " | sed -e 1d -e '$d' | sha256sum");
	add_command(to, "the digest of these results", &digest);
	buffer_text(&collect, "ipf-collect");
	json_array_foreach(json_object_get(part->header, "argv"), i, argument)
		put_word(&collect, json_string_value(argument) ? json_string_value(argument) : "");
	buffer_text(&collect, " RECORDS");
	add_command(to, "the same results, from the records whose digest is above", &collect);
}

static json_t *verify_json(const struct run_data *run)
{
	json_t *json = json_array();
	struct buffer again = {0}, calibrate = {0};
	for (int i = 0; i < run->part_count; i++)
		add_part_commands(json, &run->parts[i]);
	buffer_text(&again, "ipf-report certificate");
	for (int i = 0; i < run->part_count; i++)
		put_word(&again, run->parts[i].name);
	add_command(json, "this certificate", &again);
	buffer_text(&calibrate, "ipf-fire --calibrate");
	add_command(json, "the client against a server of its own whose times are known, on the same machine", &calibrate);
	return json;
}

json_t *certificate_json(const struct report *report)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:b}", "ipf", "certificate", "version", 1, "verdict",
	                         verdict_status_name(report->finding->status), "known", report->accuracy->known);
	json_object_set_new(json, "itl", json_string(run_data_itl(report->run, 0)));
	json_object_set_new(json, "figures", widths_json(report));
	if (report->accuracy->known)
		json_object_set_new(json, "sources", sources_json(report));
	json_object_set_new(json, "clients", clients_json(report->run));
	json_t *clocks = run_data_clocks(report->run);
	if (clocks)
		json_object_set_new(json, "clocks", clocks);
	json_object_set_new(json, "streams", streams_json(report->run));
	json_object_set_new(json, "verify", verify_json(report->run));
	return json;
}
