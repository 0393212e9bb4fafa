/* ipf-fire: sends the requests of a trace when a schedule says so, and writes down when every byte came back. */
#include "api/api.h"
#include "endpoint/balance.h"
#include "calibrate/calibrate.h"
#include "clock.h"
#include "endpoint/connection_policy.h"
#include "http/curl_clock.h"
#include "http/curl_memory.h"
#include "http/curl_streams.h"
#include "http/h2_goaway.h"
#include "job/run_counters.h"
#include "run/run.h"
#include "run/start_time.h"
#include "run/stop_rule.h"
#include "run/warmup.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct option_spec specs[] = {
	OPTION(
		OPTION_LIST, 'u', "url", "URL", struct fire_options, urls,
		"where the model server listens: http://HOST[:PORT], or with a path before the API's; several share the load"),
	OPTION(
		OPTION_TEXT, 0, "balance", "round-robin|least|session", struct fire_options, balance,
		"of several URLs, take the next, the one with the fewest requests in flight, or one for each session (default: round-robin)"),
	OPTION(OPTION_FILE, 't', "trace", "FILE", struct fire_options, trace,
           "the requests that the schedule was made for"),
	OPTION(OPTION_TEXT, 'm', "model", "NAME", struct fire_options, model,
           "the model to ask for, whatever the trace says"),
	OPTION(OPTION_FILE, 0, "api", "NAME|FILE", struct fire_options, api,
           "how the server is spoken to (default: openai-chat)"),
	OPTION_UNSHAPING(OPTION_FLAG, 0, "list-apis", NULL, struct fire_options, list_apis,
                     "list the APIs that are built in"),
	OPTION_UNSHAPING(OPTION_DURATION, 0, "wait-ready", "TIME", struct fire_options, wait_ready_ns,
                     "wait until the server says that it is ready, at most this long (default: 0, do not ask)"),
	OPTION_UNSHAPING(
		OPTION_TEXT, 0, "start-at", "TIME", struct fire_options, start_at,
		"begin the schedule at this time: 2026-11-20T18:00:00Z, @1763662800 or +30s (default: when all is ready)"),
	OPTION(OPTION_COUNT, 0, "warm", "N", struct fire_options, warm,
           "before the schedule begins send N requests one after another, which are not measured (default: 0)"),
	OPTION(OPTION_FLAG, 0, "probe", NULL, struct fire_options, probe,
           "send the trace's first request only, and show what goes out and comes back"),
	OPTION(OPTION_LIST, 0, "param", "KEY=JSON", struct fire_options, params,
           "add a member to every request's body, such as temperature=0, where the API has its parameters"),
	OPTION(OPTION_FLAG, 0, "exact-output", NULL, struct fire_options, exact_output,
           "ask for exactly the trace's number of output tokens, in the server's own words"),
	OPTION(OPTION_FLAG, 0, "no-stream", NULL, struct fire_options, no_stream,
           "ask for answers in one piece (the default where an API has no others)"),
	OPTION(OPTION_TEXT, 0, "history", "recorded|live", struct fire_options, history,
           "later turns of a session repeat the trace's answers, or the server's own (default: recorded)"),
	OPTION(OPTION_DURATION, 0, "timeout", "TIME", struct fire_options, timeout_ns,
           "give up on a request after this long (default: 10m; 0: never)"),
	OPTION(OPTION_DURATION, 0, "first-token-timeout", "TIME", struct fire_options, first_token_timeout_ns,
           "give up on a request of whose answer nothing came for so long (default: 0: never)"),
	OPTION(OPTION_LIST, 0, "cancel", "SHARE@TIME", struct fire_options, cancels,
           "hang up on a share of the requests so long after their start, such as 5%@2s"),
	OPTION(OPTION_DURATION, 0, "connect-timeout", "TIME", struct fire_options, connect_timeout_ns,
           "give up on a connection after this long (default: 30s)"),
	OPTION(OPTION_DURATION, 0, "grace", "TIME", struct fire_options, grace_ns,
           "how long the first signal lets requests in flight go on (default: 30s)"),
	OPTION(OPTION_TEXT, 0, "stop-on", "errors=SHARE|COUNT", struct fire_options, stop_on,
           "end the run when more than this share of the requests so far have failed, such as errors=5%, or so many"),
	OPTION(OPTION_SIZE, 0, "memory", "BYTES", struct fire_options, memory_bytes,
           "end the run where records that cannot be written yet take more than this (default: half of the machine's)"),
	OPTION(
		OPTION_TEXT, 0, "connections", "reuse|fresh|N|session", struct fire_options, connections,
		"use connections again, make one for each request, have N at most to a URL, or one for each session (default: reuse)"),
	OPTION(OPTION_TEXT, 0, "http", "1.1|2|2-prior", struct fire_options, http,
           "HTTP/1.1, HTTP/2 where a TLS server agrees, or HTTP/2 without asking (default: 1.1)"),
	OPTION(OPTION_COUNT, 0, "streams", "N", struct fire_options, streams,
           "most requests at once on a connection of HTTP/2 (default: 100)"),
	OPTION(OPTION_FLAG, 0, "no-tls-resumption", NULL, struct fire_options, no_resumption,
           "negotiate TLS anew on each connection"),
	OPTION(
		OPTION_FLAG, 0, "calibrate", NULL, struct fire_options, calibrate,
		"find out what this program adds to the figures on this machine, with a load such as the schedule's or --shape's"),
	OPTION(
		OPTION_TEXT, 0, "shape", "LIST", struct fire_options, shape,
		"--calibrate's load (default: streams=100,events=100,first=50ms,gap=10ms, or as the schedule and the trace have it)"),
	OPTION(OPTION_FILE, 0, "calibration", "FILE", struct fire_options, calibration,
           "what --calibrate found, for the header of the records (default: where that keeps it; none: nothing)"),
	OPTION(OPTION_TEXT, 0, "stamps", "kernel|user", struct fire_options, stamps,
           "whose clock tells when bytes came (default: the kernel's, where it gives them)"),
	OPTION(OPTION_FILE, 0, "unix-socket", "PATH", struct fire_options, unix_socket,
           "connect to this Unix socket, whatever host the URL names"),
	OPTION(
		OPTION_TEXT, 0, "proxy", "URL", struct fire_options, proxy,
		"connect by this proxy: http://, https://, socks5://, socks5h://, socks4:// or socks4a://[USER:PASSWORD@]HOST:PORT"),
	OPTION(OPTION_TEXT, 0, "bind", "ADDRESS[,ADDRESS...]", struct fire_options, bind,
           "send from these addresses in turn, each with ports of its own"),
	OPTION(OPTION_LIST, 0, "resolve", "HOST:PORT:ADDRESS", struct fire_options, resolve,
           "take this address for HOST:PORT in place of a look-up"),
	OPTION(OPTION_TEXT, 0, "dns", "once|each", struct fire_options, dns,
           "look names up once, before the run, or for each connection (default: once)"),
	OPTION(OPTION_COUNT, 0, "threads", "N", struct fire_options, threads,
           "threads that send (default: from the processors that may be used and the schedule's load)"),
	OPTION(OPTION_DURATION, 0, "spin", "TIME", struct fire_options, spin_ns,
           "do not sleep any more so long before a request is due, at most 10ms (default: 0)"),
	OPTION(OPTION_LIST, 'H', "header", "NAME: VALUE", struct fire_options, headers,
           "send this header with every request"),
	OPTION(OPTION_TEXT, 0, "key-env", "NAME", struct fire_options, key_env,
           "the environment variable that holds the API key (default: what the API says, such as OPENAI_API_KEY)"),
	OPTION(OPTION_FILE, 0, "key-file", "FILE", struct fire_options, key_file, "the file that holds the API key"),
	OPTION(OPTION_FILE, 0, "cacert", "FILE", struct fire_options, cacert, "trust the certificates in FILE (PEM)"),
	OPTION(OPTION_FILE, 0, "cert", "FILE", struct fire_options, cert, "our own certificate (PEM)"),
	OPTION(OPTION_FILE, 0, "key", "FILE", struct fire_options, key, "the key to our own certificate (PEM)"),
	OPTION(OPTION_FLAG, 0, "insecure", NULL, struct fire_options, insecure, "do not check the server's certificate"),
	OPTION(OPTION_LIST, 0, "record-header", "NAME", struct fire_options, record_headers,
           "keep this header of every response; * keeps all, but for secrets"),
	COMMON_OPTIONS(struct fire_options, common),
};

#define HEADER_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

static const char details[] = "Reads the schedule from standard input where no SCHEDULE is given.\n"
							  "  ipf-fire -u $URL -m llama -t chat.trace.zst chat.sched -o chat.records.zst\n"
							  "  ipf-fire -u $URL --api ./my.json -t t.zst --probe | ipf-collect --explain\n"
							  "  ipf-sched poisson:rate=5,for=1m -t t.zst | ipf-fire -u $URL -t t.zst | …\n"
							  "  ipf-fire --calibrate -t chat.trace.zst chat.sched\n"
							  "The first SIGINT or SIGTERM stops starting, the second cuts what is in flight.\n";

static int list_apis(void)
{
	const char *about, *name;
	struct ipf_error err = {0};
	for (size_t i = 0; (name = api_builtin(i, &about)); i++)
		printf("%-20s %s\n", name, about);
	if (fflush(stdout) != 0 || ferror(stdout))
		ipf_error_errno(&err, errno, "standard output", "cannot write");
	return ipf_error_report(&err, stderr, "ipf-fire");
}

static int check_connections(const struct fire_options *o, struct ipf_error *err)
{
	struct connection_policy c;
	if (!connection_policy_parse(o->connections, &c))
		return ipf_error_set(err, IPF_USAGE, "--connections: expected reuse, fresh, session or a number, got \"%s\"",
		                     o->connections);
	if (!http_parse(o->http, &c.http))
		return ipf_error_set(err, IPF_USAGE, "--http: expected 1.1, 2 or 2-prior, got \"%s\"", o->http);
	for (size_t i = 0; c.http == HTTP_2 && i < o->urls.count; i++)
		if (!strncasecmp(o->urls.items[i], "http:", 5))
			return ipf_error_set(err, IPF_USAGE,
			                     "--http: without TLS HTTP/2 is not negotiated: 2-prior speaks it at once");
	if (!o->streams)
		return ipf_error_set(err, IPF_USAGE, "--streams: expected more than 0");
	if (o->threads > THREADS_MOST)
		return ipf_error_set(err, IPF_USAGE, "--threads: expected at most %d, got %lld", THREADS_MOST,
		                     (long long)o->threads);
	if (c.kind == CONNECTION_POLICY_POOL && o->threads > c.pool)
		return ipf_error_set(err, IPF_USAGE, "--threads: %lld of them cannot share %lld connections",
		                     (long long)o->threads, (long long)c.pool);
	if (c.kind == CONNECTION_POLICY_SESSION && !(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_IPV6))
		return ipf_error_set(
			err, IPF_SYSTEM,
			"--connections: session: this libcurl knows no IPv6, and cannot tell the connections apart");
	return 0;
}

static int check(const struct fire_options *o, const char *schedule, struct ipf_error *err)
{
	if (!o->urls.count && !o->calibrate)
		return ipf_error_set(err, IPF_USAGE, "--url: missing: whom to send to");
	if (o->shape && !o->calibrate)
		return ipf_error_set(err, IPF_USAGE, "--shape: it is --calibrate's");
	if (o->calibrate && o->probe)
		return ipf_error_set(err, IPF_USAGE, "--calibrate: it does not go with --probe");
	if (!o->trace && (!o->calibrate || schedule))
		return ipf_error_set(err, IPF_USAGE, "--trace: missing: what to send");
	if (o->probe && schedule)
		return ipf_error_set(err, IPF_USAGE, "--probe: it takes no schedule, got \"%s\"", schedule);
	if (o->stop_on && (o->probe || o->calibrate))
		return ipf_error_set(err, IPF_USAGE, "--stop-on: it does not go with --%s", o->probe ? "probe" : "calibrate");
	if (o->start_at && (o->probe || o->calibrate))
		return ipf_error_set(err, IPF_USAGE, "--start-at: it does not go with --%s", o->probe ? "probe" : "calibrate");
	struct stop_rule_rule stop;
	struct start_time start;
	if (stop_rule_parse(o->stop_on, &stop, err) < 0 || start_time_parse(o->start_at, &start, err) < 0)
		return -1;
	if (o->warm && (o->probe || o->calibrate))
		return ipf_error_set(err, IPF_USAGE, "--warm: it does not go with --%s", o->probe ? "probe" : "calibrate");
	if (o->warm > WARMUP_MOST)
		return ipf_error_set(err, IPF_USAGE, "--warm: expected at most %lld, got %lld", (long long)WARMUP_MOST,
		                     (long long)o->warm);
	if (check_connections(o, err) < 0)
		return -1;
	if (strcmp(o->history, "recorded") != 0 && strcmp(o->history, "live") != 0)
		return ipf_error_set(err, IPF_USAGE, "--history: expected recorded or live, got \"%s\"", o->history);
	enum balance_kind balance;
	if (!balance_parse(o->balance, &balance))
		return ipf_error_set(err, IPF_USAGE, "--balance: expected round-robin, least or session, got \"%s\"",
		                     o->balance);
	if (o->stamps && strcmp(o->stamps, "kernel") != 0 && strcmp(o->stamps, "user") != 0)
		return ipf_error_set(err, IPF_USAGE, "--stamps: expected kernel or user, got \"%s\"", o->stamps);
	for (size_t i = 0; i < o->record_headers.count; i++)
		if (!*o->record_headers.items[i] || o->record_headers.items[i][strspn(o->record_headers.items[i], HEADER_NAME)])
			return ipf_error_set(err, IPF_USAGE, "--record-header: expected the name of a header, got \"%s\"",
			                     o->record_headers.items[i]);
	if (o->spin_ns > 10 * NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "--spin: expected at most 10ms, got %lld ns", (long long)o->spin_ns);
	if (!o->connect_timeout_ns)
		return ipf_error_set(err, IPF_USAGE, "--connect-timeout: expected more than 0");
	return 0;
}

int main(int argc, char **argv)
{
	struct fire_options options = {
		.common = COMMON_DEFAULTS,
		.api = "openai-chat",
		.connections = "reuse",
		.http = "1.1",
		.streams = 100,
		.balance = "round-robin",
		.dns = "once",
		.history = "recorded",
		.timeout_ns = 600 * NS_PER_S,
		.connect_timeout_ns = 30 * NS_PER_S,
		.grace_ns = 30 * NS_PER_S,
	};
	const struct program program = {
		.name = "ipf-fire",
		.operands = "[SCHEDULE]",
		.summary = "send requests on time and record what comes back",
		.details = details,
		.specs = specs,
		.count = sizeof specs / sizeof *specs,
		.max_operands = 1,
		.libraries = curl_version(),
	};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (options.list_apis)
		return list_apis();
	const char *schedule = operands.count ? operands.items[0] : NULL;
	if (check(&options, schedule, &err) < 0)
		return program_misuse(&program, &err);
	curl_memory_init();
	curl_clock_init();
	curl_streams_init();
	h2_goaway_init();
	if (options.calibrate)
		status = calibrate(&options, schedule);
	else
		status = fire_run(&options, schedule, options_argv(&program, argc, argv, true, options.common.reproducible));
	curl_global_cleanup();
	curl_memory_drain();
	return status;
}
