#include "transport/event_pace.h"

#include "absent.h"
#include "transport/finding.h"
#include "transport/transport_limits.h"
#include "verdict/verdict_check.h"

#include <math.h>
#include <stdio.h>

#define MS 1000000

struct cluster {
	const char *kind;
	int from, to;               /* the window in ms; `to` is not in it */
	int beside_from, beside_to; /* with its neighbourhoods */
	const char *can_be, *advice;
};

static const struct cluster clusters[PACE_CLUSTERS] = {
	{"delayed-ack", TRANSPORT_ACK_MS, TRANSPORT_ACK_BESIDE_MS,
     "delayed acknowledgements (40 ms on Linux) that Nagle's algorithm at the sender waits for: the server, or a proxy "
     "in front of it, writes small pieces without TCP_NODELAY",
     "set TCP_NODELAY at the server and at each proxy (nginx: tcp_nodelay on), and write each event in one call"},
	{"retransmission", TRANSPORT_RETRY_MS, TRANSPORT_RETRY_BESIDE_MS,
     "lost packets, sent again after the least timeout (200 ms on Linux), or delayed acknowledgements of other "
     "systems",
     "look at the retransmissions of both sides (nstat TcpRetransSegs), at drops of the network, and at the limits of "
     "virtual network devices"},
};

/* ---- taking in ---- */

/* The gaps of one response between reads with content. */
struct pace {
	int64_t reads;
	double sum, squares;
	int64_t in[PACE_CLUSTERS], events[PACE_CLUSTERS]; /* gaps in the window, events of the reads ending them */
};

static void add_gap(struct event_pace *p, struct pace *own, int64_t gap_ns, int64_t events)
{
	int64_t ms = gap_ns / MS;
	int at = ms < PACE_GAP_MS ? (int)ms : PACE_GAP_MS;
	p->by_ms[at]++;
	own->sum += (double)gap_ns;
	own->squares += (double)gap_ns * (double)gap_ns;
	for (int i = 0; i < PACE_CLUSTERS; i++) {
		bool in = at >= clusters[i].from && at < clusters[i].to;
		own->in[i] += in;
		own->events[i] += in ? events : 0;
	}
}

/* A server taking so long for a step, or for two, makes such gaps too, but with one event each; and a longer one makes
 * some by chance. */
static bool is_rhythm(const struct pace *own, int which)
{
	double mean_ms = own->sum / (double)(own->reads - 1) / MS;
	bool usual = 2 * own->in[which] >= own->reads - 1 || mean_ms >= clusters[which].from - 4,
		 twice = 2 * mean_ms >= clusters[which].from - 4 && 2 * mean_ms < clusters[which].to + 4;
	return (usual || twice) && (double)own->events[which] < TRANSPORT_CLUSTER_EVENTS * (double)own->in[which];
}

static void add_gaps(struct event_pace *p, const struct response *r, struct pace *own)
{
	const struct response_event *e = r->events;
	for (size_t i = 0, j; i < r->events_count; i = j) {
		for (j = i + 1; j < r->events_count && e[j].t_ns == e[i].t_ns; j++)
			;
		if (i)
			add_gap(p, own, e[i].t_ns - e[i - 1].t_ns, (int64_t)(j - i));
		own->reads++;
	}
	p->gaps += own->reads - 1;
	for (int i = 0; i < PACE_CLUSTERS; i++) {
		if (!own->in[i] || is_rhythm(own, i))
			continue;
		p->clusters[i].responses++;
		p->clusters[i].gaps += own->in[i];
		p->clusters[i].events += own->events[i];
	}
}

static void add_held(struct event_pace *p, const struct result *row)
{
	if (row->events < TRANSPORT_HELD_EVENTS || row->e2e_ns < TRANSPORT_HELD_E2E_NS || row->ttft_ns == IPF_ABSENT)
		return;
	p->able_held++;
	if ((double)row->ttft_ns < TRANSPORT_HELD_TTFT * (double)row->e2e_ns ||
	    (double)row->coalesced < TRANSPORT_HELD_SHARED * (double)row->events)
		return;
	p->held++;
	p->held_ttft_ns += (double)row->ttft_ns;
	p->held_e2e_ns += (double)row->e2e_ns;
}

static void add_burst(struct event_pace *p, const struct pace *own, int64_t events)
{
	double gaps = (double)(own->reads - 1);
	if (events < TRANSPORT_BURST_EVENTS || own->reads < 2)
		return;
	p->able_burst++;
	double mean = own->sum / gaps, variance = fmax(own->squares / gaps - mean * mean, 0);
	if (own->reads < TRANSPORT_BURST_READS || events < TRANSPORT_BURST_PER * own->reads ||
	    sqrt(variance) > TRANSPORT_BURST_REGULAR * mean)
		return;
	p->bursts++;
	p->burst_events += (double)events;
	p->burst_reads += (double)own->reads;
	p->burst_gap_ns += mean;
}

static void add_sizes(struct event_pace *p, const struct record *record)
{
	for (size_t i = 1; i < record->reads_count; i++) {
		int64_t bytes = record->reads[i].bytes;
		if (bytes < TRANSPORT_READ_BYTES || record->reads[i].t_ns - record->reads[i - 1].t_ns < TRANSPORT_READ_GAP_NS)
			continue;
		p->large_reads++;
		if (bytes > TRANSPORT_READ_BYTES_TO || (bytes & (bytes - 1)))
			continue;
		p->sized_reads++;
		p->sizes[__builtin_ctzll((unsigned long long)bytes / TRANSPORT_READ_BYTES)]++;
	}
}

void event_pace_add(struct event_pace *p, const struct observation *o)
{
	struct pace own = {0};
	if (!o->record->streamed || !o->row->ok || o->row->not_streamed.data || !o->response->events_count)
		return;
	p->responses++;
	add_gaps(p, o->response, &own);
	add_held(p, o->row);
	add_burst(p, &own, o->row->events);
	add_sizes(p, o->record);
}

/* ---- judging ---- */

static bool judge_held(const struct event_pace *p, json_t *list)
{
	char detail[256], share[32];
	double of = (double)p->held / (double)(p->able_held ? p->able_held : 1);
	if (p->held < TRANSPORT_HELD_LEAST || of < TRANSPORT_HELD_SHARE)
		return true;
	snprintf(detail, sizeof detail,
	         "%s of the streamed responses of several events came all at once at their end: their TTFT is nearly the "
	         "time of the whole response",
	         verdict_percent(of, share));
	json_t *evidence = json_pack("{s:o, s:o}", "ttft_ms", finding_number(p->held_ttft_ns / (double)p->held / 1e6),
	                             "e2e_ms", finding_number(p->held_e2e_ns / (double)p->held / 1e6));
	return finding_add(
		list, &(struct finding){.kind = "buffering",
	                            .affected = p->held,
	                            .of = p->able_held,
	                            .unit = "responses",
	                            .detail = detail,
	                            .can_be = "a proxy or gateway buffering responses, compression of the stream, or a "
	                                      "server writing its events at the end",
	                            .advice = "ask the server without the proxy; turn its buffering off (nginx: "
	                                      "proxy_buffering off, or the header X-Accel-Buffering: no)",
	                            .evidence = evidence,
	                            .doubt = of >= TRANSPORT_DOUBT_SHARE});
}

static bool judge_sizes(const struct event_pace *p, json_t *list)
{
	char detail[256], share[32];
	double of = (double)p->sized_reads / (double)(p->large_reads ? p->large_reads : 1);
	if (p->sized_reads < TRANSPORT_READS_LEAST || of < TRANSPORT_READS_SHARE)
		return true;
	int most = 0;
	for (int i = 1; i < (int)(sizeof p->sizes / sizeof *p->sizes); i++)
		if (p->sizes[i] > p->sizes[most])
			most = i;
	int64_t bytes = (int64_t)TRANSPORT_READ_BYTES << most;
	snprintf(detail, sizeof detail,
	         "%s of the large reads of streamed responses have the size of a buffer, mostly %lld bytes",
	         verdict_percent(of, share), (long long)bytes);
	return finding_add(list, &(struct finding){.kind = "read-sizes",
	                                           .affected = p->sized_reads,
	                                           .of = p->large_reads,
	                                           .unit = "reads",
	                                           .detail = detail,
	                                           .can_be = "a proxy forwarding full buffers",
	                                           .advice = "turn the proxy's buffering off (nginx: proxy_buffering off)",
	                                           .evidence = json_pack("{s:I, s:I}", "bytes", (json_int_t)bytes, "reads",
	                                                                 (json_int_t)p->sizes[most])});
}

static bool judge_bursts(const struct event_pace *p, json_t *list)
{
	char detail[256], share[32], period[32];
	double of = (double)p->bursts / (double)(p->able_burst ? p->able_burst : 1), count = (double)p->bursts;
	if (p->bursts < TRANSPORT_BURSTS_LEAST || of < TRANSPORT_BURSTS_SHARE)
		return true;
	snprintf(detail, sizeof detail, "the events of %s of the streamed responses came in bursts of %.1f every %s",
	         verdict_percent(of, share), p->burst_events / p->burst_reads,
	         verdict_duration(p->burst_gap_ns / count / 1e6, period));
	json_t *evidence = json_pack("{s:o, s:o}", "events_per_read", finding_number(p->burst_events / p->burst_reads),
	                             "period_ms", finding_number(p->burst_gap_ns / count / 1e6));
	return finding_add(list, &(struct finding){.kind = "bursts",
	                                           .affected = p->bursts,
	                                           .of = p->able_burst,
	                                           .unit = "responses",
	                                           .detail = detail,
	                                           .can_be = "a proxy or server flushing by a timer, a server streaming "
	                                                     "every few tokens, Nagle's algorithm",
	                                           .advice = "compare with the server without the proxy; look for its "
	                                                     "interval of streaming and for flush intervals of proxies",
	                                           .evidence = evidence});
}

/* The millisecond in which the median gap is. */
static int median_ms(const struct event_pace *p)
{
	int64_t before = 0;
	int at = 0;
	while (at < PACE_GAP_MS && 2 * (before + p->by_ms[at]) < p->gaps)
		before += p->by_ms[at++];
	return at;
}

static double density(const struct event_pace *p, int from, int to)
{
	double sum = 0;
	for (int i = from; i < to; i++)
		sum += (double)p->by_ms[i];
	return sum / (double)(to - from);
}

static bool judge_cluster(const struct event_pace *p, size_t which, json_t *list)
{
	const struct cluster *c = &clusters[which];
	int64_t count = p->clusters[which].gaps, events = p->clusters[which].events;
	char detail[256], share[32];
	/* the two milliseconds next to the window belong to neither: timers are less exact */
	double beside = fmax(density(p, c->beside_from, c->from - 2), density(p, c->to + 2, c->beside_to)),
		   expected = beside * (c->to - c->from), seen = (double)count;
	double of = p->gaps ? seen / (double)p->gaps : 0, per = count ? (double)events / seen : 0;
	if (count < TRANSPORT_CLUSTER_LEAST || of < TRANSPORT_CLUSTER_SHARE || seen < TRANSPORT_CLUSTER_TIMES * expected ||
	    seen - expected < TRANSPORT_CLUSTER_SIGMAS * sqrt(expected + 1))
		return true;
	snprintf(detail, sizeof detail,
	         "%s of the gaps between reads are %d to %d ms long, %.0f times as many as of the lengths beside",
	         verdict_percent(of, share), c->from, c->to, seen / fmax(expected, 1));
	json_t *evidence = json_pack("{s:I, s:I, s:I, s:o, s:o}", "gaps", (json_int_t)count, "of_gaps", (json_int_t)p->gaps,
	                             "median_gap_ms", (json_int_t)median_ms(p), "expected", finding_number(expected),
	                             "events_per_read", finding_number(per));
	return finding_add(list, &(struct finding){.kind = c->kind,
	                                           .affected = p->clusters[which].responses,
	                                           .of = p->responses,
	                                           .unit = "responses",
	                                           .detail = detail,
	                                           .can_be = c->can_be,
	                                           .advice = c->advice,
	                                           .evidence = evidence,
	                                           .doubt = of >= TRANSPORT_DOUBT_SHARE});
}

bool event_pace_judge(const struct event_pace *p, json_t *list)
{
	bool ok = judge_held(p, list) && judge_sizes(p, list);
	for (size_t i = 0; ok && i < PACE_CLUSTERS; i++)
		ok = judge_cluster(p, i, list);
	return ok && judge_bursts(p, list);
}
