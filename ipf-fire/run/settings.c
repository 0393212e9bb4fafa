#include "run/settings.h"

#include "api/api.h"
#include "cli/units.h"
#include "clock.h"
#include "endpoint/session_tokens.h"
#include "header_field.h"
#include "run/run_counters.h"
#include "requests/warmup.h"

#include <curl/curl.h>
#include <nghttp2/nghttp2.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SPIN_MOST_NS (10 * NS_PER_MS)

static const char *const timestamp_names[] = {[TIMESTAMPS_KERNEL] = "kernel", [TIMESTAMPS_USER] = "user", NULL};
static const char *const dns_names[] = {"once", "each", NULL};
static const char *const answer_names[] = {[ANSWERS_FREE] = "free", [ANSWERS_RECORDED] = "recorded", NULL};

/* ---- values with a special syntax or limits ---- */

static int parse_connections(const char *value, void *variable, struct ipf_error *err)
{
	struct connections_option *c = variable;
	c->text = value;
	if (connection_policy_parse(value, &c->policy))
		return 0;
	return ipf_error_set(err, IPF_USAGE, "expected reuse, fresh, session or a number, got \"%.200s\"", value);
}

static int parse_start_at(const char *value, void *variable, struct ipf_error *err)
{
	return start_time_parse(value, variable, err);
}

static int parse_count_up_to(const char *value, int64_t most, int64_t *count, struct ipf_error *err)
{
	if (parse_count(value, count, err) < 0)
		return -1;
	if (*count > most)
		return ipf_error_set(err, IPF_USAGE, "maximum is %lld, got %.200s", (long long)most, value);
	return 0;
}

static int parse_warm(const char *value, void *variable, struct ipf_error *err)
{
	return parse_count_up_to(value, WARMUP_MOST, variable, err);
}

static int parse_threads(const char *value, void *variable, struct ipf_error *err)
{
	return parse_count_up_to(value, THREADS_MOST, variable, err);
}

static int parse_spin(const char *value, void *variable, struct ipf_error *err)
{
	int64_t *ns = variable;
	if (parse_duration(value, ns, err) < 0)
		return -1;
	return *ns > SPIN_MOST_NS ? ipf_error_set(err, IPF_USAGE, "maximum is 10ms, got %.200s", value) : 0;
}

static int parse_shape(const char *value, void *variable, struct ipf_error *err)
{
	return load_shape_parse(value, variable, err);
}

/* ---- the table ---- */

#define FIRE(kind_, letter_, name_, argument_, member_, help_)                                                         \
	OPTION(kind_, letter_, name_, argument_, struct fire_options, member_, help_)
#define FIRE_UNSHAPING(kind_, letter_, name_, argument_, member_, help_)                                               \
	OPTION_UNSHAPING(kind_, letter_, name_, argument_, struct fire_options, member_, help_)
#define FIRE_CHOICE(name_, argument_, member_, choices_, help_)                                                        \
	OPTION_CHOICE_OF(0, name_, argument_, struct fire_options, member_, choices_, help_)
#define FIRE_PARSED(name_, argument_, member_, parse_, help_)                                                          \
	OPTION_PARSED_BY(0, name_, argument_, struct fire_options, member_, parse_, help_)

/* clang-format off */
static const struct option_spec specs[] = {
	OPTION_HEADING("Load and target"),
	FIRE(OPTION_LIST, 'u', "url", "URL", urls,
	     "URL of the server: http[s]://HOST[:PORT][/PATH], to which the API's path is appended; several URLs share "
	     "the load"),
	RUN_ROW_BALANCE(struct fire_options, run, "URLs", "round-robin"),
	RUN_ROW_TRACE(struct fire_options, run),
	FIRE(OPTION_FILE, 0, "media", "FILE", media, "media file of the trace, with its images, audio and video (default: the file of the trace with .media behind its name)"),
	RUN_ROW_MODEL(struct fire_options, run, "the one in the trace, or the server's only one"),
	OPTION_OFFERING(OPTION_FILE, 0, "api", "NAME|FILE", struct fire_options, api, NULL, api_offer,
	     "API of the server: the name of a built-in descriptor or of a server, such as vllm, or a descriptor file (default: "
	     "openai-chat)"),
	FIRE_UNSHAPING(OPTION_FLAG, 0, "list-apis", NULL, list_apis, "list the built-in API descriptors and their other names"),
	FIRE_UNSHAPING(OPTION_DURATION, 0, "wait-ready", "TIME", wait_ready_ns,
	               "wait up to TIME for the server to become ready (default: 0, do not check)"),
	{.kind = OPTION_PARSED, .name = "start-at", .argument = "TIME", .offset = offsetof(struct fire_options, start_at),
	 .parse = parse_start_at, .unshaping = true,
	 .help = "start the schedule at TIME: 2026-11-20T18:00:00Z, @1763662800 or +30s (default: as soon as everything is "
	         "ready)"},
	FIRE_PARSED("warm", "N", warm, parse_warm,
	            "warm up: send N unmeasured requests, one after another, before the schedule (default: 0)"),
	FIRE_CHOICE("cache", "cold|try-cold|warm|as-is", cache, cache_choice_names,
	            "the state of the server's prefix cache at the start: reset and verified; the same if the server can; "
	            "filled with the prompts of the schedule; or as it is (default: as-is, undeclared)"),

	OPTION_HEADING("Requests"),
	FIRE(OPTION_LIST, 0, "param", "KEY=JSON", params,
	     "add a parameter to every request body, such as temperature=0 or user='\"me\"'"),
	FIRE(OPTION_FLAG, 0, "exact-output", NULL, exact_output,
	     "request exactly the number of output tokens in the trace, if the API has parameters for it"),
	FIRE_CHOICE("answers", "free|recorded", answers, answer_names,
	     "answers are the model's own, or the recorded ones of the trace token by token, if the server can replay them "
	     "(default: free)"),
	FIRE(OPTION_FLAG, 0, "no-stream", NULL, no_stream,
	     "request complete responses instead of streams (the default for an API without streaming)"),
	RUN_ROW_HISTORY(struct fire_options, run),
	FIRE(OPTION_TEXT, 0, "session-header", "NAME", session_header,
	     "send the value of this response header back with later requests of its session (Set-Cookie as Cookie)"),
	FIRE(OPTION_LIST, 'H', "header", "NAME: VALUE", headers,
	     "send this header; it replaces the API's header of the same name"),

	OPTION_HEADING("Time limits and stopping"),
	RUN_ROWS_TIMEOUT(struct fire_options, run),
	FIRE(OPTION_DURATION, 0, "connect-timeout", "TIME", connect_timeout_ns,
	     "abort an attempt to connect after TIME (default: 30s)"),
	RUN_ROW_CANCEL(struct fire_options, run),
	FIRE_PARSED("retry", "N[,KEY=VALUE…]", retry, retry_rule_parse,
	            "send a request that was refused again, at most N times (1 to 100), when the server asks for it "
	            "(Retry-After), else after first=TIME (1s), then twice as long each time, up to cap=TIME (60s); "
	            "on=STATUS+STATUS… (429+503), also connect (default: a refused request has failed)"),
	RUN_ROW_GRACE(struct fire_options, run),
	FIRE(OPTION_LIST, 0, "continue", "RECORDS", continued,
	     "send the requests missing from the records of an interrupted run of this schedule; may be given several "
	     "times, for each part"),
	RUN_ROW_STOP_ON(struct fire_options, run),
	FIRE(OPTION_COUNT, 0, "stop-after-failures", "COUNT", stop_after_failures,
	     "end the run, with status 5, when the first COUNT requests and all after them failed (default: 100; 0: never)"),
	RUN_ROWS_MEMORY(struct fire_options, run),

	OPTION_HEADING("Connections"),
	FIRE_PARSED("connections", "reuse|fresh|N|session", connections, parse_connections,
	            "reuse connections, open one per request, open at most N per URL, or one per session (default: reuse)"),
	FIRE(OPTION_FLAG, 0, "open-ahead", NULL, connections.policy.open_ahead,
	     "open all connections of --connections N before the first request"),
	FIRE_CHOICE("http", "1.1|2|2-prior", connections.policy.http, http_version_names,
	            "HTTP version: 1.1, 2 if a TLS server agrees, or 2 without negotiation (default: 1.1)"),
	FIRE(OPTION_COUNT, 0, "streams", "N", connections.policy.streams,
	     "maximum number of concurrent requests on an HTTP/2 connection (default: 100)"),
	FIRE(OPTION_FILE, 0, "unix-socket", "PATH", unix_socket,
	     "connect to this Unix socket instead of the URL's host"),
	FIRE(OPTION_TEXT, 0, "proxy", "URL", proxy,
	     "connect through this proxy: http://, https://, socks5://, socks5h://, socks4:// or "
	     "socks4a://[USER:PASSWORD@]HOST:PORT"),
	FIRE(OPTION_TEXT, 0, "bind", "ADDRESS[,ADDRESS...]", bind,
	     "connect from these local addresses in turn; each provides its own range of ports"),
	FIRE(OPTION_LIST, 0, "resolve", "HOST:PORT:ADDRESS", resolve, "use ADDRESS for HOST:PORT instead of a DNS lookup"),
	FIRE_CHOICE("dns", "once|each", dns, dns_names,
	            "resolve names once, before the run, or for each connection (default: once)"),

	OPTION_HEADING("TLS and authentication"),
	FIRE(OPTION_TEXT, 0, "key-env", "NAME", key_env,
	     "environment variable with the API key (default: the API's, such as OPENAI_API_KEY)"),
	FIRE(OPTION_FILE, 0, "key-file", "FILE", key_file, "file with the API key"),
	FIRE(OPTION_FILE, 0, "cacert", "FILE", cacert, "trust the certificates in FILE (PEM)"),
	FIRE(OPTION_FILE, 0, "cert", "FILE", cert, "client certificate (PEM)"),
	FIRE(OPTION_FILE, 0, "key", "FILE", key, "private key of the client certificate (PEM)"),
	FIRE(OPTION_FLAG, 0, "insecure", NULL, insecure, "do not verify the server's certificate"),
	FIRE(OPTION_FLAG, 0, "no-tls-resumption", NULL, connections.policy.no_resumption,
	     "do a full TLS handshake on each connection"),

	OPTION_HEADING("Threads and timing"),
	FIRE_PARSED("threads", "N", threads, parse_threads,
	            "number of sending threads (default: from the available processors and the load of the schedule)"),
	FIRE_PARSED("spin", "TIME", spin_ns, parse_spin,
	            "busy-wait during the last TIME before a request is due, at most 10ms (default: 0)"),
	FIRE_CHOICE("stamps", "kernel|user", timestamps, timestamp_names,
	            "source of receive timestamps: the kernel, or the program's own clock (default: kernel if available)"),

	OPTION_HEADING("Records"),
	RUN_ROWS_RECORDS(struct fire_options, run),
	FIRE(OPTION_LIST, 0, "record-header", "NAME", record_headers,
	     "record this response header; * records all headers, possible secrets without their values"),

	OPTION_HEADING("Checks and calibration"),
	FIRE(OPTION_FLAG, 0, "probe", NULL, probe, "send only the first request of the trace, and show the raw exchange"),
	FIRE(OPTION_FLAG, 0, "calibrate", NULL, calibrate,
	     "measure the delay of ipf-fire itself on this machine, under a load like the schedule's or --shape"),
	FIRE_PARSED("shape", "LIST", shape, parse_shape,
	     "load for --calibrate (default: that of the schedule and the trace, or "
	     "streams=100,events=100,first=50ms,gap=10ms)"),
	FIRE(OPTION_FILE, 0, "calibration", "FILE", calibration,
	     "calibration to include in the header of the records (default: the one saved by --calibrate; none: omit it)"),

	COMMON_OPTIONS(struct fire_options, common),
	FIRE_UNSHAPING(OPTION_FLAG, 0, "sandbox", NULL, sandbox,
	               "once everything is open, keep only the files, ports and system calls needed in the run"),
	RUN_ROW_NO_PROGRESS(struct fire_options, run),
};
/* clang-format on */

static const char details[] = "Without SCHEDULE, the schedule is read from standard input. After the first\n"
							  "SIGINT or SIGTERM, no more requests are started; the second aborts those in\n"
							  "flight.\n"
							  "\n"
							  "  ipf-fire -u $URL -m llama -t chat.trace.zst chat.sched -o chat.records.zst\n"
							  "  ipf-fire -u $URL --api ./my.json -t t.zst --probe | ipf-collect --explain\n"
							  "  ipf-sched poisson:rate=5,for=1m -t t.zst | ipf-fire -u $URL -t t.zst | …\n"
							  "  ipf-fire --calibrate -t chat.trace.zst chat.sched\n";

static const char *libraries(void)
{
	static char text[128];
	snprintf(text, sizeof text, "libcurl/%s OpenSSL/%s nghttp2/%s", curl_version_info(CURLVERSION_NOW)->version,
	         OpenSSL_version(OPENSSL_VERSION_STRING), nghttp2_version(0)->version_str);
	return text;
}

static const struct program program = {
	.name = "ipf-fire",
	.operands = "[SCHEDULE]",
	.summary = "send requests on time and record the responses",
	.details = details,
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.max_operands = 1,
	.libraries = libraries,
};

/* ---- which options go together ---- */

static int check_connections(const struct fire_options *o, struct ipf_error *err)
{
	const struct connection_policy *c = &o->connections.policy;
	for (size_t i = 0; c->http == HTTP_2 && i < o->urls.count; i++)
		if (!strncasecmp(o->urls.items[i], "http:", 5))
			return ipf_error_set(err, IPF_USAGE,
			                     "--http 2 requires an https URL, got \"%s\": use 2-prior for HTTP/2 without TLS",
			                     o->urls.items[i]);
	if (!c->streams)
		return ipf_error_set(err, IPF_USAGE, "--streams: minimum is 1, got 0");
	if (c->kind == CONNECTION_POLICY_POOL && o->threads > c->pool)
		return ipf_error_set(err, IPF_USAGE, "--threads: maximum is %lld, the number of --connections, got %lld",
		                     (long long)c->pool, (long long)o->threads);
	if (c->open_ahead && c->kind != CONNECTION_POLICY_POOL)
		return ipf_error_set(err, IPF_USAGE, "--open-ahead requires --connections N");
	return 0;
}

/* --probe and --calibrate have no schedule of the user's to start, stop or warm up for. */
static int check_mode(const struct fire_options *o, struct ipf_error *err)
{
	const char *mode = o->probe ? "probe" : "calibrate";
	const struct {
		bool given;
		const char *name;
	} others[] = {{o->run.stop_on.text, "stop-on"},
	              {o->continued.count > 0, "continue"},
	              {o->start_at.text, "start-at"},
	              {o->warm > 0, "warm"},
	              {o->retry.most > 0, "retry"}};
	if (o->calibrate && o->sandbox)
		return ipf_error_set(err, IPF_USAGE, "--sandbox cannot be combined with --calibrate, which starts a process");
	if (o->calibrate && o->probe)
		return ipf_error_set(err, IPF_USAGE, "--calibrate cannot be combined with --probe");
	if (o->continued.count && (o->warm || o->start_at.text))
		return ipf_error_set(err, IPF_USAGE, "--continue cannot be combined with --%s", o->warm ? "warm" : "start-at");
	for (size_t i = 0; (o->probe || o->calibrate) && i < sizeof others / sizeof *others; i++)
		if (others[i].given)
			return ipf_error_set(err, IPF_USAGE, "--%s cannot be combined with --%s", others[i].name, mode);
	return 0;
}

static int check_cache(const struct fire_options *o, const char *schedule, struct ipf_error *err)
{
	if (o->cache != CACHE_COLD && o->cache != CACHE_WARM)
		return 0;
	const char *name = cache_choice_names[o->cache];
	const char *other = o->probe             ? "probe"
	                    : o->calibrate       ? "calibrate"
	                    : o->continued.count ? "continue"
	                    : o->warm            ? "warm"
	                                         : NULL;
	if (other)
		return ipf_error_set(err, IPF_USAGE, "--cache %s cannot be combined with --%s", name, other);
	if (o->cache == CACHE_WARM && (!schedule || !strcmp(schedule, "-")))
		return ipf_error_set(err, IPF_USAGE, "--cache warm requires a SCHEDULE in a file: it is read twice");
	return 0;
}

static int check(const struct fire_options *o, const char *schedule, struct ipf_error *err)
{
	if (!o->urls.count && !o->calibrate)
		return ipf_error_set(err, IPF_USAGE, "--url is required");
	if (o->shape.given && !o->calibrate)
		return ipf_error_set(err, IPF_USAGE, "--shape requires --calibrate");
	if (check_mode(o, err) < 0 || check_cache(o, schedule, err) < 0)
		return -1;
	if (!o->run.trace && (o->probe || (o->calibrate && schedule)))
		return ipf_error_set(err, IPF_USAGE, "--%s requires --trace", o->probe ? "probe" : "calibrate");
	if (o->probe && schedule)
		return ipf_error_set(err, IPF_USAGE, "--probe does not take a schedule, got \"%s\"", schedule);
	if (run_options_check(&o->run, err) < 0)
		return -1;
	if (!o->connect_timeout_ns)
		return ipf_error_set(err, IPF_USAGE, "--connect-timeout: expected more than 0, got 0");
	for (size_t i = 0; i < o->record_headers.count; i++)
		if (!header_name_is_valid(o->record_headers.items[i], strlen(o->record_headers.items[i])))
			return ipf_error_set(err, IPF_USAGE, "--record-header: expected the name of a header, got \"%s\"",
			                     o->record_headers.items[i]);
	if (o->answers == ANSWERS_RECORDED && o->exact_output)
		return ipf_error_set(err, IPF_USAGE, "--exact-output cannot be combined with --answers recorded");
	if (o->session_header && session_tokens_check(o->session_header, err) < 0)
		return -1;
	return check_connections(o, err);
}

/* --probe shows the exchange; its record belongs into a file, or to ipf-collect. */
static int check_terminal(struct fire_options *o, struct ipf_error *err)
{
	if (o->calibrate || (!o->probe && run_options_check_terminal(&o->common, err) == 0))
		return 0;
	if (!o->probe)
		return -1;
	if (!o->common.output && isatty(STDOUT_FILENO))
		o->common.output = "/dev/null";
	return 0;
}

static struct fire_options defaults(void)
{
	return (struct fire_options){
		.common = COMMON_DEFAULTS,
		.api = "openai-chat",
		.run = RUN_OPTIONS_DEFAULTS,
		.connections = {.text = "reuse", .policy = {.streams = 100}},
		.timestamps = TIMESTAMPS_BEST,
		.cache = CACHE_CHOICES,
		.stop_after_failures = 100,
		.shape = LOAD_SHAPE_DEFAULTS,
		.connect_timeout_ns = 30 * NS_PER_S,
	};
}

static void settle_balance(struct fire_options *o)
{
	if (o->run.balance == BALANCE_KINDS)
		o->run.balance = BALANCE_ROUND_ROBIN;
}

bool fire_options_parse(struct fire_options *o, int argc, char **arguments, const char **schedule, json_t **argv,
                        int *status)
{
	struct operands operands;
	struct ipf_error err = {0};
	*o = defaults();
	if (!program_start(&program, argc, arguments, o, &operands, status))
		return false;
	*schedule = operands.count ? operands.items[0] : NULL;
	int bad = o->list_apis ? 0 : check(o, *schedule, &err);
	if (bad < 0 || (!o->list_apis && check_terminal(o, &err) < 0)) {
		*status = program_misuse(&program, &err);
		return false;
	}
	*argv = options_argv(&program, argc, arguments, true, o->common.reproducible);
	settle_balance(o);
	return true;
}

int fire_options_read(struct fire_options *o, struct arguments *arguments, const char **schedule, json_t **argv,
                      struct ipf_error *err)
{
	struct program within = program;
	struct operands operands;
	within.no_environment = true;
	*o = defaults();
	*argv = NULL;
	if (options_parse(&within, arguments, o, &operands, err) < 0)
		return -1;
	*schedule = operands.count ? operands.items[0] : NULL;
	o->common.quiet = true;
	if (o->sandbox)
		return ipf_error_set(err, IPF_USAGE,
		                     "--sandbox is for the program ipf-fire: it would limit this whole process");
	if (check(o, *schedule, err) < 0)
		return -1;
	settle_balance(o);
	*argv = options_argv(&within, arguments->argc, arguments->argv, true, o->common.reproducible);
	return 0;
}
