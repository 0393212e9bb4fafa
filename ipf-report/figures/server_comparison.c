#include "figures/server_comparison.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *const compared_latency_names[COMPARED_LATENCIES] = {"ttft", "tpot", "itl", "e2e"};
const char *const comparison_kind_names[COMPARISON_KINDS] = {
	[COMPARISON_MORE_REQUESTS] = "more-requests",
	[COMPARISON_FEWER_REQUESTS] = "fewer-requests",
	[COMPARISON_MORE_OUTPUT] = "more-output-tokens",
	[COMPARISON_FEWER_OUTPUT] = "fewer-output-tokens",
	[COMPARISON_TEMPLATE] = "template-tokens",
	[COMPARISON_MORE_INPUT] = "more-input-tokens",
	[COMPARISON_FEWER_INPUT] = "fewer-input-tokens",
	[COMPARISON_TTFT_LONGER] = "ttft-longer",
	[COMPARISON_TTFT_SHORTER] = "ttft-shorter",
	[COMPARISON_TPOT] = "tpot",
	[COMPARISON_E2E] = "e2e",
	[COMPARISON_HIT_RATE] = "hit-rate",
};

#define COUNT_SHARE   0.01
#define TOKENS_SHARE  0.05 /* for counts that are not the server's own */
#define LATENCY_SHARE 0.05
static const double least_ns[COMPARED_LATENCIES] = {5e6, 1e6, 1e6, 5e6};
#define HIT_RATE 0.05
/* Round trips within a difference: so many of them cannot explain it; from so many on they do. */
#define ROUND_TRIPS_TOO_SHORT 10
#define ROUND_TRIPS_EXPLAIN   1.5

/* ---- the server's side ---- */

/* Adds to *unsure. */
static double counted(const struct sample_store *store, const int *sources, int count, const char *name,
                      const struct sample_range *range, double *unsure)
{
	double sum = NAN;
	for (int i = 0; i < count; i++) {
		struct counter_figures one = sample_store_counter_figures(store, sources[i], name, range);
		*unsure += one.unsure;
		if (!isnan(one.sum))
			sum = (isnan(sum) ? 0 : sum) + one.sum;
	}
	return sum;
}

static double sum_of(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void read_histogram(struct bucket_histogram *h, const struct sample_store *store, const int *sources, int count,
                           const char *name, const struct sample_range *range)
{
	for (int i = 0; i < count; i++)
		sample_store_histogram_figures(store, sources[i], name, range, h);
}

void server_facts_read(struct server_facts *facts, const struct sample_store *store, const int *sources, int count,
                       const struct sample_range *range)
{
	struct bucket_histogram queue = {0};
	double unsure = 0;
	*facts = (struct server_facts){0};
	for (int i = 0; i < COMPARED_LATENCIES; i++) {
		char name[16];
		snprintf(name, sizeof name, "%s_ns", compared_latency_names[i]);
		read_histogram(&facts->latency[i], store, sources, count, name, range);
	}
	facts->requests = sum_of(counted(store, sources, count, "requests_ok", range, &facts->unsure_requests),
	                         counted(store, sources, count, "requests_failed", range, &facts->unsure_requests));
	if (isnan(facts->requests) && facts->latency[COMPARED_E2E].n > 0)
		facts->requests = facts->latency[COMPARED_E2E].n;
	facts->input_tokens = counted(store, sources, count, "input_tokens", range, &facts->unsure_input);
	facts->output_tokens = counted(store, sources, count, "output_tokens", range, &facts->unsure_output);
	double queries = counted(store, sources, count, "cache_query_tokens", range, &unsure);
	facts->hit_rate = queries > 0 ? counted(store, sources, count, "cache_hit_tokens", range, &unsure) / queries : NAN;
	facts->unsure_hit_rate = queries > 0 ? unsure / queries : 0;
	read_histogram(&queue, store, sources, count, "queue_ns", range);
	facts->queue_mean = bucket_histogram_mean(&queue);
	bucket_histogram_release(&queue);
}

void server_facts_release(struct server_facts *facts)
{
	for (int i = 0; i < COMPARED_LATENCIES; i++)
		bucket_histogram_release(&facts->latency[i]);
}

/* ---- the comparison ---- */

__attribute__((format(printf, 5, 6))) static void note(struct server_comparison *c, enum comparison_kind kind,
                                                       double client, double server, const char *format, ...)
{
	struct comparison_note *n = &c->notes[c->count++];
	va_list args;
	*n = (struct comparison_note){.kind = kind, .client = client, .server = server};
	va_start(args, format);
	vsnprintf(n->text, sizeof n->text, format, args);
	va_end(args);
}

static const char lost[] = "the server restarted, and its counts after the last reading before are lost";

/* Compares the numbers of requests. Requests failing may never have reached the server, so it can have counted any
 * number from those that succeeded to all. 1: more, -1: fewer. */
static int compare_requests(struct server_comparison *c, const struct client_facts *client,
                            const struct server_facts *server)
{
	double slack = (double)client->edges + server->unsure_requests + COUNT_SHARE * (double)client->ended;
	if (isnan(server->requests) || client->ended == 0)
		return 0;
	if (server->requests > (double)client->ended + slack + 0.5) {
		if (client->stopped)
			return 1;
		note(c, COMPARISON_MORE_REQUESTS, (double)client->ended, server->requests,
		     "the server counted %.0f requests, this client had %lld: another client uses the server, or a proxy sends "
		     "requests again",
		     server->requests, (long long)client->ended);
		return 1;
	}
	if (server->requests < (double)client->ok - slack - 0.5) {
		note(c, COMPARISON_FEWER_REQUESTS, (double)client->ok, server->requests,
		     "the server counted %.0f requests, this client had %lld that succeeded: %s", server->requests,
		     (long long)client->ok,
		     server->restarts > 0 ? lost : "a replica is not scraped, or a cache in front of the server answers");
		return -1;
	}
	return 0;
}

struct cause {
	char text[200];
};

/* The requests the client gave up, in words. */
static struct cause given_up(const struct client_facts *client)
{
	struct cause c;
	char early[60] = "";
	if (client->given_up_early > 0)
		snprintf(early, sizeof early, ", %lld of them before a first token", (long long)client->given_up_early);
	snprintf(c.text, sizeof c.text, "%lld requests this client gave up (timed out, disconnected or cancelled%s)",
	         (long long)client->given_up, early);
	return c;
}

/* Do both sides count the same requests? Then neither another client nor another replica explains a difference. */
static bool same_requests(const struct server_facts *server, int requests)
{
	return requests == 0 && !isnan(server->requests);
}

static void compare_output(struct server_comparison *c, const struct client_facts *client,
                           const struct server_facts *server, int requests)
{
	double got = client->output_tokens, share = client->usage ? COUNT_SHARE : TOKENS_SHARE;
	double slack = client->edge_output + server->unsure_output + share * got;
	struct cause cause;
	const char *more = requests > 0     ? "those of the other requests"
	                   : !client->usage ? "the client's counts are not the server's own"
	                   : same_requests(server, requests)
	                       ? "unsent tokens, such as rejected ones"
	                       : "another client uses the server, or unsent tokens, such as rejected ones";
	const char *fewer = server->restarts > 0              ? lost
	                    : !client->usage                  ? "the client's counts are not the server's own"
	                    : same_requests(server, requests) ? "it may not count all it sends"
	                                                      : "a replica is not scraped";
	if (isnan(server->output_tokens) || !(got > 0))
		return;
	if (client->stopped && server->output_tokens > got)
		return;
	if (client->given_up > 0 && requests <= 0) {
		cause = given_up(client);
		more = cause.text;
		if (server->restarts == 0 && server->output_tokens >= got - slack - client->given_up_output)
			fewer = cause.text;
	}
	if (server->output_tokens > got + slack + client->unknown_output)
		note(c, COMPARISON_MORE_OUTPUT, got, server->output_tokens,
		     "the server counted %.0f output tokens, the answers have %.0f: %s", server->output_tokens, got, more);
	else if (server->output_tokens < got - slack)
		note(c, COMPARISON_FEWER_OUTPUT, got, server->output_tokens,
		     "the server counted %.0f output tokens, the answers have %.0f: %s", server->output_tokens, got, fewer);
}

/* The possible meanings of the input tokens only the client has. */
static struct cause fewer_input(const struct client_facts *client, const struct server_facts *server, double slack)
{
	const bool caches = !(client->cached_share <= 0 && !(server->hit_rate > 0)), replicas = !same_requests(server, 0);
	struct cause c;
	if (server->restarts > 0) {
		snprintf(c.text, sizeof c.text, "%s", lost);
		return c;
	}
	if (client->given_up > 0 && server->input_tokens >= client->input_tokens - slack - client->given_up_input)
		return given_up(client);
	snprintf(c.text, sizeof c.text, "%s%s%s",
	         caches          ? "it may not count cached ones"
	         : replicas      ? ""
	         : client->usage ? "it may count other tokens than its answers report"
	                         : "the client's counts are not the server's own",
	         caches && replicas ? ", or " : "", replicas ? "a replica is not scraped" : "");
	return c;
}

static void compare_input(struct server_comparison *c, const struct client_facts *client,
                          const struct server_facts *server, int requests)
{
	double got = client->input_tokens, slack = client->edge_input + server->unsure_input + COUNT_SHARE * got;
	double more = server->input_tokens - got, each = more / (double)client->ended;
	if (client->template_tokens >= 0.5) {
		note(
			c, COMPARISON_TEMPLATE, 0, client->template_tokens,
			"each request has %.3g input tokens more at the server than in the trace: a chat template or special tokens",
			client->template_tokens);
	}
	if (isnan(server->input_tokens) || !(got > 0) || requests != 0 || (client->stopped && more > 0))
		return;
	if (!client->usage && client->edges == 0 && each >= 0.5 && fabs(each - round(each)) < 0.02 * round(each) &&
	    !(client->template_tokens >= 0.5))
		note(
			c, COMPARISON_TEMPLATE, got, server->input_tokens,
			"the server counted %.3g input tokens a request more than the trace has: a chat template or special tokens",
			each);
	else if (more > slack)
		note(c, COMPARISON_MORE_INPUT, got, server->input_tokens,
		     "the server counted %.0f input tokens, this client %.0f: %s", server->input_tokens, got,
		     client->given_up > 0 && more <= slack + client->unknown_input
		         ? given_up(client).text
		         : "a chat template, or prompts computed again");
	else if (more < -slack)
		note(c, COMPARISON_FEWER_INPUT, got, server->input_tokens,
		     "the server counted %.0f input tokens, this client %.0f: %s", server->input_tokens, got,
		     fewer_input(client, server, slack).text);
}

static bool outside(double value, struct bucket_quantile q)
{
	return value < q.low || value > q.high;
}

/* How much longer the client's is, in ns; 0: not by more than can be known; NAN: one is missing. */
static double longer(const struct client_facts *client, const struct server_facts *server, enum compared_latency which)
{
	const struct client_latency *a = &client->latency[which];
	const struct bucket_histogram *b = &server->latency[which];
	double mean = bucket_histogram_mean(b), difference = a->mean - mean;
	if (a->n == 0 || isnan(difference))
		return NAN;
	bool resolved = outside(a->p50, bucket_histogram_quantile(b, 50)) ||
	                outside(a->p90, bucket_histogram_quantile(b, 90));
	return resolved && fabs(difference) > least_ns[which] && fabs(difference) > LATENCY_SHARE * mean ? difference : 0;
}

/* The reason why TTFT is that much longer, with the evidence. If the headers come early, the way to the server and back
 * does not take so long. */
static void explain_ttft(const struct client_facts *client, double more, char *text, size_t size)
{
	bool early = client->ttfb_mean < more / 2, measured = !isnan(client->connect_min);
	const char *cause = early            ? "a proxy holding back the body, or a slow network"
	                    : client->direct ? "the server's own HTTP layer, in which its figures do not begin yet, or the "
	                                       "network"
	                                     : "the network, a proxy, or a queue in front of the server";
	if (measured && more < ROUND_TRIPS_EXPLAIN * client->connect_min)
		cause = "the network";
	else if (measured && more > ROUND_TRIPS_TOO_SHORT * client->connect_min)
		cause = early            ? "a proxy holding back the body, or a network losing packets"
		        : client->direct ? "the server's own HTTP layer, in which its figures do not begin yet, or a queue "
		                           "there; not the network"
		                         : "a proxy, or a queue in front of the server; not the network";
	int len = snprintf(text, size, "the first byte came after %.3g ms", client->ttfb_mean / 1e6);
	if (measured)
		len += snprintf(text + len, size - (size_t)len, ", and a connection took %.3g ms to open",
		                client->connect_min / 1e6);
	snprintf(text + len, size - (size_t)len, ": %s", cause);
}

/* Which requests are only in the server's latencies: the client's are of successful ones. */
static struct cause only_at_server(const struct client_facts *client, const struct server_facts *server, int requests)
{
	struct cause c;
	const int64_t failed = client->ended - client->ok;
	if (client->given_up > 0)
		snprintf(c.text, sizeof c.text, "the server's figures include %.150s", given_up(client).text);
	else if (failed > 0 && requests <= 0)
		snprintf(c.text, sizeof c.text, "the server's figures include %lld requests that failed", (long long)failed);
	else if (same_requests(server, requests) && client->edges == 0)
		snprintf(c.text, sizeof c.text, "both count the same requests, but not from the same moment");
	else
		snprintf(c.text, sizeof c.text, "the server's figures include other clients' requests");
	return c;
}

static void compare_ttft(struct server_comparison *c, const struct client_facts *client,
                         const struct server_facts *server, int requests)
{
	double more = longer(client, server, COMPARED_TTFT),
		   server_mean = bucket_histogram_mean(&server->latency[COMPARED_TTFT]);
	double client_mean = client->latency[COMPARED_TTFT].mean;
	char why[220];
	if (more > 0) {
		explain_ttft(client, more, why, sizeof why);
		note(c, COMPARISON_TTFT_LONGER, client_mean, server_mean,
		     "TTFT is %.3g ms longer at the client, %.3g against %.3g ms on average; %s", more / 1e6, client_mean / 1e6,
		     server_mean / 1e6, why);
	} else if (more < 0)
		note(c, COMPARISON_TTFT_SHORTER, client_mean, server_mean,
		     "TTFT is %.3g ms shorter at the client, %.3g against %.3g ms on average: %s", -more / 1e6,
		     client_mean / 1e6, server_mean / 1e6, only_at_server(client, server, requests).text);
}

/* E2E follows TTFT and TPOT: it says something only where these do not. */
static void compare_rest(struct server_comparison *c, const struct client_facts *client,
                         const struct server_facts *server, int requests)
{
	static const char *const names[] = {[COMPARED_TPOT] = "TPOT", [COMPARED_E2E] = "E2E"};
	static const enum comparison_kind kinds[] = {[COMPARED_TPOT] = COMPARISON_TPOT, [COMPARED_E2E] = COMPARISON_E2E};
	static const enum compared_latency list[] = {COMPARED_TPOT, COMPARED_E2E};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		double more = longer(client, server, list[i]), mean = client->latency[list[i]].mean;
		if (isnan(more) || !(fabs(more) > 0) ||
		    (list[i] == COMPARED_E2E && !isnan(longer(client, server, COMPARED_TTFT)) &&
		     !isnan(longer(client, server, COMPARED_TPOT))))
			continue;
		note(c, kinds[list[i]], mean, mean - more,
		     "%s is %.3g ms %s at the client, %.3g against %.3g ms on average: %s", names[list[i]], fabs(more) / 1e6,
		     more > 0 ? "longer" : "shorter", mean / 1e6, (mean - more) / 1e6,
		     more > 0 && client->direct ? "the server's own HTTP layer, or the network"
		     : more > 0                 ? "the network, a proxy, or a queue in front of the server"
		                                : only_at_server(client, server, requests).text);
	}
}

void server_comparison_make(struct server_comparison *c, const struct client_facts *client,
                            const struct server_facts *server)
{
	c->count = 0;
	int requests = compare_requests(c, client, server);
	compare_output(c, client, server, requests);
	compare_input(c, client, server, requests);
	compare_ttft(c, client, server, requests);
	compare_rest(c, client, server, requests);
	if (fabs(client->cached_share - server->hit_rate) > HIT_RATE + server->unsure_hit_rate && requests == 0)
		note(c, COMPARISON_HIT_RATE, client->cached_share, server->hit_rate,
		     "the answers report %.1f %% of their input as cached, the server a hit rate of %.1f %%: it may count "
		     "only looked-up blocks, or prompts computed again",
		     100 * client->cached_share, 100 * server->hit_rate);
}
