#include "transport/connection_use.h"

#include "absent.h"
#include "api/early_end.h"
#include "transport/finding.h"
#include "transport/transport_limits.h"
#include "verdict/verdict_check.h"

#include <stdio.h>
#include <string.h>

#define FIRST_SLICE_NS 1000000

/* ---- requests in flight ---- */

static void widen(struct connection_use *u)
{
	for (size_t i = 0; i < USE_SLICES; i++) {
		bool low = i < USE_SLICES / 2;
		u->began[i] = low ? u->began[2 * i] + u->began[2 * i + 1] : 0;
		u->ended[i] = low ? u->ended[2 * i] + u->ended[2 * i + 1] : 0;
	}
	u->slice_ns *= 2;
}

/* Times before the first one seen count as it. */
static int32_t *slice_of_time(struct connection_use *u, int32_t *slices, int64_t t_ns)
{
	int64_t since = t_ns > u->first_ns ? t_ns - u->first_ns : 0;
	while (since / u->slice_ns >= USE_SLICES)
		widen(u);
	return &slices[since / u->slice_ns];
}

static void note_span(struct connection_use *u, int64_t start_ns, int64_t end_ns)
{
	if (!verdict_valid_time(start_ns) || !verdict_valid_time(end_ns) || end_ns < start_ns)
		return;
	if (!u->slice_ns) {
		u->slice_ns = FIRST_SLICE_NS;
		u->first_ns = start_ns;
	}
	int32_t *ended = slice_of_time(u, u->ended, end_ns), *began = slice_of_time(u, u->began, start_ns);
	if (*ended < INT32_MAX && *began < INT32_MAX) {
		++*ended;
		++*began;
	}
}

/* The most at a time: within a slice all begin before any ends, so it is never too low; where slices are long, it may
 * be far too high, and then twice the most sampled is enough. */
static int64_t most_in_flight(const struct connection_use *u)
{
	int64_t running = 0, most = 0;
	for (size_t i = 0; i < USE_SLICES; i++) {
		if (running + u->began[i] > most)
			most = running + u->began[i];
		running += u->began[i] - u->ended[i];
	}
	return u->sampled > 0 && u->slice_ns > FIRST_SLICE_NS && 2 * u->sampled < most ? 2 * u->sampled : most;
}

/* ---- taking in ---- */

void connection_use_begin(struct connection_use *u, const char *connections)
{
	u->needed += most_in_flight(u);
	memset(u->began, 0, sizeof u->began);
	memset(u->ended, 0, sizeof u->ended);
	u->slice_ns = u->first_ns = u->sampled = 0;
	for (size_t i = 0; i < USE_CONNECTIONS; i++)
		u->last[i].id = -1;
	u->kept = !connections || (strcmp(connections, "fresh") != 0 && strcmp(connections, "session") != 0);
}

void connection_use_in_flight(struct connection_use *u, int64_t in_flight)
{
	if (in_flight > u->sampled)
		u->sampled = in_flight;
}

static void note_idle(struct connection_use *u, const struct record *r)
{
	size_t at = (size_t)r->connection % USE_CONNECTIONS;
	int64_t idle = u->last[at].id == r->connection && r->reused ? record_sent_from(r) - u->last[at].end_ns : -1;
	bool resent = verdict_valid_time(r->stale_idle_ns);
	if (resent)
		idle = r->stale_idle_ns;
	u->stale += r->stale || resent;
	u->resent += resent;
	if (idle >= 0 && (r->stale || resent)) {
		if (!u->stale_timed++ || idle < u->stale_idle_ns)
			u->stale_idle_ns = idle;
	} else if (idle > u->kept_idle_ns && r->error == RECORD_OK) {
		u->kept_idle_ns = idle;
	}
	u->last[at].id = r->connection;
	u->last[at].end_ns = r->end_ns;
}

static void note_opened(struct connection_use *u, const struct record *r, const struct result *row)
{
	u->opened++;
	u->resumed += r->resumed;
	int64_t from = record_sent_from(r);
	if (r->connect_ns == IPF_ABSENT || r->connect_ns < from || row->ttft_ns == IPF_ABSENT || !row->ok)
		return;
	u->timed++;
	u->connect_ns += (double)(r->connect_ns - from);
	u->tls_ns += r->tls_ns != IPF_ABSENT && r->tls_ns > r->connect_ns ? (double)(r->tls_ns - r->connect_ns) : 0;
	u->ttft_ns += (double)(row->ttft_ns - (from - r->start_ns));
}

static void note_end(struct connection_use *u, const struct record *r, const struct response *response)
{
	bool early = early_end(r, response);
	u->responses += r->status != IPF_ABSENT;
	u->early += early;
	u->early_cut += early && r->error == RECORD_CUT;
	u->early_reset += early && r->error == RECORD_RESET;
}

void connection_use_add(struct connection_use *u, const struct observation *o, bool measured)
{
	const struct record *r = o->record;
	if (measured)
		note_end(u, r, o->response);
	note_span(u, record_sent_from(r), r->end_ns);
	if (r->connection == IPF_ABSENT || r->connection < 0 || !verdict_valid_time(r->start_ns) ||
	    !verdict_valid_time(r->end_ns))
		return;
	if (r->http != 2 || r->stale_idle_ns != IPF_ABSENT)
		note_idle(u, r);
	if (!measured)
		return;
	if (r->http == 2) {
		u->with_streams++;
		if (r->stream_resets > 0 && verdict_valid_count(r->stream_resets)) {
			u->reset++;
			u->resets += r->stream_resets;
		}
	}
	if (!u->kept)
		return;
	u->requests++;
	if (!r->reused)
		note_opened(u, r, o->row);
}

/* ---- judging ---- */

static bool judge_reconnects(const struct connection_use *u, json_t *list)
{
	char detail[256], share[32], cost[32], of_ttft[48] = "";
	int64_t excess = u->opened - u->needed;
	double of = (double)excess / (double)(u->requests ? u->requests : 1), n = (double)(u->timed ? u->timed : 1);
	if (excess < TRANSPORT_RECONNECT_LEAST || of < TRANSPORT_RECONNECT_SHARE)
		return true;
	double handshake = u->connect_ns + u->tls_ns, part = u->ttft_ns > 0 ? handshake / u->ttft_ns : 0;
	if (part >= TRANSPORT_RECONNECT_DOUBT)
		snprintf(of_ttft, sizeof of_ttft, ", %s of their TTFT", verdict_percent(part, share));
	char opened[32];
	snprintf(detail, sizeof detail,
	         "%s of the requests opened a connection although connections are kept, which took %s on average%s",
	         verdict_percent((double)u->opened / (double)u->requests, opened),
	         verdict_duration(handshake / n / 1e6, cost), of_ttft);
	json_t *evidence = json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "opened", (json_int_t)u->opened, "needed",
	                             (json_int_t)u->needed, "requests", (json_int_t)u->requests, "resumed_tls",
	                             (json_int_t)u->resumed, "connect_ms", finding_number(u->connect_ns / n / 1e6),
	                             "tls_ms", finding_number(u->tls_ns / n / 1e6));
	return finding_add(
		list, &(struct finding){.kind = "reconnects",
	                            .affected = excess,
	                            .of = u->requests,
	                            .unit = "requests",
	                            .detail = detail,
	                            .can_be = "a server or proxy closing each connection after a response, or after few "
	                                      "requests, or a keep-alive timeout shorter than the pauses",
	                            .advice = "raise the number of requests and the idle time of a connection "
	                                      "(nginx: keepalive_requests, keepalive_timeout), or measure with "
	                                      "ipf-fire --connections fresh on purpose",
	                            .evidence = evidence,
	                            .doubt = part >= TRANSPORT_RECONNECT_DOUBT});
}

/* The verdict counts them already. */
static bool judge_stale(const struct connection_use *u, json_t *list)
{
	char detail[320], idle[32], kept[32];
	if (!u->stale)
		return true;
	snprintf(detail, sizeof detail, "%lld request%s met a connection closed by the server", (long long)u->stale,
	         verdict_plural(u->stale));
	size_t len = strlen(detail);
	if (u->stale_timed)
		snprintf(detail + len, sizeof detail - len, ", idle for at least %s; idle connections worked for up to %s",
		         verdict_duration((double)u->stale_idle_ns / 1e6, idle),
		         verdict_duration((double)u->kept_idle_ns / 1e6, kept));
	len = strlen(detail);
	if (u->resent)
		snprintf(detail + len, sizeof detail - len,
		         "; %lld of them %s sent again on a new one, and the latency contains it", (long long)u->resent,
		         u->resent == 1 ? "was" : "were");
	json_t *evidence = json_object();
	bool ok = evidence &&
	          (!u->stale_timed ||
	           (json_object_set_new(evidence, "closed_idle_ms", finding_number((double)u->stale_idle_ns / 1e6)) == 0 &&
	            json_object_set_new(evidence, "worked_idle_ms", finding_number((double)u->kept_idle_ns / 1e6)) == 0));
	if (!ok) {
		json_decref(evidence);
		return false;
	}
	return finding_add(list, &(struct finding){.kind = "stale-connections",
	                                           .affected = u->stale,
	                                           .of = u->requests,
	                                           .unit = "requests",
	                                           .detail = detail,
	                                           .can_be = "the keep-alive timeout of the server or of a proxy",
	                                           .advice = "raise that timeout, or use ipf-fire --connections fresh",
	                                           .evidence = evidence});
}

static bool judge_early_ends(const struct connection_use *u, json_t *list)
{
	struct buffer detail = {0};
	if (!u->early)
		return true;
	early_end_describe(u->early, u->responses, &detail);
	json_t *evidence = detail.failed ? NULL
	                                 : json_pack("{s:I, s:I, s:I}", "cut", (json_int_t)u->early_cut, "reset",
	                                             (json_int_t)u->early_reset, "other",
	                                             (json_int_t)(u->early - u->early_cut - u->early_reset));
	bool ok = finding_add(list, &(struct finding){.kind = "early-ends",
	                                              .affected = u->early,
	                                              .of = u->responses,
	                                              .unit = "responses",
	                                              .detail = detail.data,
	                                              .can_be = "a server or proxy closing the connection without the "
	                                                        "last chunk or its whole Content-Length",
	                                              .advice = "check the server: other clients report an incomplete read",
	                                              .evidence = evidence});
	buffer_release(&detail);
	return ok;
}

static bool judge_refused(const struct connection_use *u, json_t *list)
{
	char detail[256], share[32];
	double of = (double)u->reset / (double)(u->with_streams ? u->with_streams : 1);
	if (!u->reset || of < TRANSPORT_RESETS_SHARE)
		return true;
	snprintf(detail, sizeof detail,
	         "HTTP/2 streams of %s of the requests were refused before one was accepted, %lld in all: their latencies "
	         "contain the attempts",
	         verdict_percent(of, share), (long long)u->resets);
	return finding_add(list, &(struct finding){.kind = "stream-resets",
	                                           .affected = u->reset,
	                                           .of = u->with_streams,
	                                           .unit = "requests",
	                                           .detail = detail,
	                                           .can_be = "a lower limit of concurrent streams at the server or a "
	                                                     "proxy than it says, or closing connections",
	                                           .advice = "raise the limit of concurrent streams, or let ipf-fire use "
	                                                     "more connections",
	                                           .evidence = json_pack("{s:I}", "refusals", (json_int_t)u->resets),
	                                           .doubt = of >= TRANSPORT_REFUSED_DOUBT});
}

bool connection_use_judge(struct connection_use *u, json_t *list)
{
	connection_use_begin(u, NULL);
	return judge_reconnects(u, list) && judge_stale(u, list) && judge_early_ends(u, list) && judge_refused(u, list);
}
