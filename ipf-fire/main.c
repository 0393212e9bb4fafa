/* ipf-fire: sends the requests of a trace when a schedule says so, and writes down when every byte came back. */
#include "api.h"
#include "balance.h"
#include "clock.h"
#include "run.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct option_spec specs[] = {
	OPTION(OPTION_LIST, 'u', "url", "URL", struct fire_options, urls,
	       "where the model server listens: http://HOST[:PORT], or with a path before the API's; several share the load"),
	OPTION(OPTION_TEXT, 0, "balance", "round-robin|least|session", struct fire_options, balance,
	       "of several URLs, take the next, the one with the fewest requests in flight, or one for each session (default: round-robin)"),
	OPTION(OPTION_FILE, 't', "trace", "FILE", struct fire_options, trace, "the requests that the schedule was made for"),
	OPTION(OPTION_TEXT, 'm', "model", "NAME", struct fire_options, model, "the model to ask for, whatever the trace says"),
	OPTION(OPTION_FILE, 0, "api", "NAME|FILE", struct fire_options, api, "how the server is spoken to (default: openai-chat)"),
	OPTION_UNSHAPING(OPTION_FLAG, 0, "list-apis", NULL, struct fire_options, list_apis, "list the APIs that are built in"),
	OPTION_UNSHAPING(OPTION_DURATION, 0, "wait-ready", "TIME", struct fire_options, wait_ready_ns,
	                 "wait until the server says that it is ready, at most this long (default: 0, do not ask)"),
	OPTION(OPTION_FLAG, 0, "probe", NULL, struct fire_options, probe,
	       "send the trace's first request only, and show what goes out and comes back"),
	OPTION(OPTION_LIST, 0, "param", "KEY=JSON", struct fire_options, params, "add a member to every request's body, such as temperature=0, where the API has its parameters"),
	OPTION(OPTION_FLAG, 0, "exact-output", NULL, struct fire_options, exact_output,
	       "ask for exactly the trace's number of output tokens, in the server's own words"),
	OPTION(OPTION_FLAG, 0, "no-stream", NULL, struct fire_options, no_stream, "ask for answers in one piece (the default where an API has no others)"),
	OPTION(OPTION_DURATION, 0, "timeout", "TIME", struct fire_options, timeout_ns,
	       "give up on a request after this long (default: 10m; 0: never)"),
	OPTION(OPTION_DURATION, 0, "connect-timeout", "TIME", struct fire_options, connect_timeout_ns,
	       "give up on a connection after this long (default: 30s)"),
	OPTION(OPTION_DURATION, 0, "grace", "TIME", struct fire_options, grace_ns,
	       "how long the first signal lets requests in flight go on (default: 30s)"),
	OPTION(OPTION_TEXT, 0, "connections", "reuse|fresh", struct fire_options, connections,
	       "use connections again, or make one for each request (default: reuse)"),
	OPTION(OPTION_TEXT, 0, "stamps", "kernel|user", struct fire_options, stamps,
	       "whose clock tells when bytes came (default: the kernel's, where it gives them)"),
	OPTION(OPTION_LIST, 'H', "header", "NAME: VALUE", struct fire_options, headers, "send this header with every request"),
	OPTION(OPTION_TEXT, 0, "key-env", "NAME", struct fire_options, key_env,
	       "the environment variable that holds the API key (default: what the API says, such as OPENAI_API_KEY)"),
	OPTION(OPTION_FILE, 0, "key-file", "FILE", struct fire_options, key_file, "the file that holds the API key"),
	OPTION(OPTION_FILE, 0, "cacert", "FILE", struct fire_options, cacert, "trust the certificates in FILE (PEM)"),
	OPTION(OPTION_FILE, 0, "cert", "FILE", struct fire_options, cert, "our own certificate (PEM)"),
	OPTION(OPTION_FILE, 0, "key", "FILE", struct fire_options, key, "the key to our own certificate (PEM)"),
	OPTION(OPTION_FLAG, 0, "insecure", NULL, struct fire_options, insecure, "do not check the server's certificate"),
	OPTION(OPTION_LIST, 0, "record-header", "NAME", struct fire_options, record_headers, "keep this header of every response; * keeps all, but for secrets"),
	COMMON_OPTIONS(struct fire_options, common),
};

#define HEADER_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

static const char details[] =
	"Reads the schedule from standard input where no SCHEDULE is given.\n"
	"  ipf-fire -u $URL -m llama -t chat.trace.zst chat.sched -o chat.records.zst\n"
	"  ipf-fire -u $URL --api ./my.json -t t.zst --probe | ipf-collect --explain\n"
	"  ipf-sched poisson:rate=5,for=1m -t t.zst | ipf-fire -u $URL -t t.zst | …\n"
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

static int check(const struct fire_options *o, const char *schedule, struct ipf_error *err)
{
	if (!o->urls.count)
		return ipf_error_set(err, IPF_USAGE, "--url: missing: whom to send to");
	if (!o->trace)
		return ipf_error_set(err, IPF_USAGE, "--trace: missing: what to send");
	if (o->probe && schedule)
		return ipf_error_set(err, IPF_USAGE, "--probe: it takes no schedule, got \"%s\"", schedule);
	if (strcmp(o->connections, "reuse") != 0 && strcmp(o->connections, "fresh") != 0)
		return ipf_error_set(err, IPF_USAGE, "--connections: expected reuse or fresh, got \"%s\"", o->connections);
	enum balance_kind balance;
	if (!balance_parse(o->balance, &balance))
		return ipf_error_set(err, IPF_USAGE, "--balance: expected round-robin, least or session, got \"%s\"", o->balance);
	if (o->stamps && strcmp(o->stamps, "kernel") != 0 && strcmp(o->stamps, "user") != 0)
		return ipf_error_set(err, IPF_USAGE, "--stamps: expected kernel or user, got \"%s\"", o->stamps);
	for (size_t i = 0; i < o->record_headers.count; i++)
		if (!*o->record_headers.items[i] || o->record_headers.items[i][strspn(o->record_headers.items[i], HEADER_NAME)])
			return ipf_error_set(err, IPF_USAGE, "--record-header: expected the name of a header, got \"%s\"", o->record_headers.items[i]);
	if (!o->connect_timeout_ns)
		return ipf_error_set(err, IPF_USAGE, "--connect-timeout: expected more than 0");
	return 0;
}

int main(int argc, char **argv)
{
	struct fire_options options = {
		.common = COMMON_DEFAULTS, .api = "openai-chat", .connections = "reuse", .balance = "round-robin",
		.timeout_ns = 600 * NS_PER_S, .connect_timeout_ns = 30 * NS_PER_S, .grace_ns = 30 * NS_PER_S,
	};
	const struct program program = {
		.name = "ipf-fire", .operands = "[SCHEDULE]", .summary = "send requests on time and record what comes back",
		.details = details, .specs = specs, .count = sizeof specs / sizeof *specs, .max_operands = 1, .libraries = curl_version(),
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
	curl_global_init(CURL_GLOBAL_DEFAULT);
	status = fire_run(&options, schedule, options_argv(&program, argc, argv, true, options.common.reproducible));
	curl_global_cleanup();
	return status;
}
