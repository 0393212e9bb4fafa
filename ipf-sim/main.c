#include "server.h"

#include "answer_faults.h"
#include "engine_options.h"

#include "clock.h"
#include "cli/options.h"
#include "cli/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* --clock-offset, and whether it was given. */
struct clock_offset {
	bool given;
	int64_t ns;
};

struct sim_options {
	struct common_options common;
	int64_t port, template_tokens, model_len, default_tokens;
	int64_t step_base_ns, step_per_seq_ns, step_tokens, max_batch, kv_blocks;
	int64_t batch_base_ns, batch_input_ns, audio_base_ns;
	double audio_factor;
	int64_t kv_transfer_ns, keep_alive_ns, loading_ns, max_time_ns, max_body, out_limit;
	double prefill_rate, eos_mean;
	struct gpu_options gpu;
	struct batching_pace pace;
	struct batching_spec spec;
	struct batching_tier host, disk;
	struct clock_offset clock;
	int scrape_mode, cache_reset, trace_replay;
	struct replicas_options replicas;
	struct rate_limit limit;
	struct answer_faults faults;
	const char *api_key, *log;
	struct string_list models, adapters, fails;
	bool priority, generate_on, no_prefix_cache, role_early, request_metrics, die_with_parent, list_modes,
		all_addresses, strict_tools;
};

static int parse_clock_offset(const char *text, void *variable, struct ipf_error *err)
{
	struct clock_offset *clock = variable;
	bool behind = *text == '-';
	clock->given = true;
	if (parse_duration(text + behind, &clock->ns, err) < 0)
		return -1;
	clock->ns = behind ? -clock->ns : clock->ns;
	return 0;
}

/* In the order of enum cache_reset. */
static const char *const cache_resets[] = {"works", "lies", "fails", "missing", NULL};
/* In the order of enum trace_replay. */
static const char *const trace_replays[] = {"works", "ignored", "refused", NULL};
/* In the order of enum scrape_mode. */
static const char *const scrape_modes[] = {"well", "hang", "die", "garbage", "huge", "control", "fail", NULL};

#define ROW(kind_, letter_, name_, argument_, member_, help_)                                                          \
	OPTION(kind_, letter_, name_, argument_, struct sim_options, member_, help_)

static const struct option_spec specs[] = {
	OPTION_HEADING("Server"),
	ROW(OPTION_COUNT, 'p', "port", "PORT", port, "listen on this port of 127.0.0.1 (default: 0, a free port)"),
	ROW(OPTION_FLAG, 0, "all-addresses", NULL, all_addresses,
        "listen on all addresses of the machine, as a container has to"),
	ROW(OPTION_LIST, 'm', "model", "NAME", models,
        "serve a model of this name; may be given several times; others get 404 (default: accept any name)"),
	ROW(OPTION_LIST, 0, "lora", "NAME", adapters, "serve a LoRA adapter of this name; may be given several times"),
	ROW(OPTION_TEXT, 0, "api-key", "KEY", api_key, "require this key: Authorization: Bearer KEY"),
	ROW(OPTION_DURATION, 0, "loading", "TIME", loading_ns, "answer 503 for TIME after the start (default: 0)"),
	ROW(OPTION_DURATION, 0, "keep-alive", "TIME", keep_alive_ns, "close idle connections after TIME (default: 75s)"),
	ROW(OPTION_SIZE, 0, "max-body", "SIZE", max_body, "largest request body (default: 64MiB)"),
	ROW(OPTION_SIZE, 0, "out-limit", "SIZE", out_limit,
        "reset a connection whose client is this far behind in reading (default: 4MiB)"),
	OPTION_HEADING("Engine"),
	ROW(OPTION_DURATION, 0, "step-base", "TIME", step_base_ns, "duration of a step (default: 8ms)"),
	ROW(OPTION_DURATION, 0, "step-per-seq", "TIME", step_per_seq_ns,
        "additional duration per sequence in the step (default: 20us)"),
	ROW(OPTION_RATE, 0, "prefill-rate", "TOKENS/S", prefill_rate, "speed of computing prompts (default: 100k)"),
	ROW(OPTION_COUNT, 0, "step-tokens", "N", step_tokens,
        "most tokens computed in a step, prompts and answers together (default: 8192)"),
	ROW(OPTION_COUNT, 0, "max-batch", "N", max_batch, "most sequences in a step; others wait (default: 1024)"),
	ROW(OPTION_COUNT, 0, "kv-blocks", "N", kv_blocks, "size of the KV cache in blocks of 16 tokens (default: 262144)"),
	ROW(OPTION_FLAG, 0, "priority", NULL, priority,
        "serve waiting requests by the member priority of their body, lower ones first, as vLLM's priority scheduling"),
	ROW(OPTION_FLAG, 0, "generate-on", NULL, generate_on,
        "go on generating for disconnected clients (default: their requests leave the engine)"),
	ROW(OPTION_FLAG, 0, "no-prefix-cache", NULL, no_prefix_cache, "compute every prompt from its beginning"),
	OPTION_PARSED_BY(0, "replicas", "MIN:MAX[,KEY=VALUE…]", struct sim_options, replicas, replicas_parse,
                     "scale between MIN and MAX replicas of the engine by load: delay=TIME until one is ready (5s), "
                     "scale-at=N requests for each (8), idle=TIME before one is removed (10s), "
                     "on=load|running|waiting (default: 1:1)"),
	OPTION_PARSED_BY(0, "host-blocks", "N[,rate=TOKENS/S]", struct sim_options, host, engine_parse_tier,
                     "keep N evicted blocks of the KV cache in the memory of the host, from where they come back at "
                     "this rate (default: none, 1M)"),
	OPTION_PARSED_BY(0, "disk-blocks", "N[,rate=TOKENS/S]", struct sim_options, disk, engine_parse_tier,
                     "keep N more blocks on disk, or elsewhere (default: none, 200k)"),
	OPTION_PARSED_BY(0, "spec", "tokens=N,accept=SHARE[,draft=TIME]", struct sim_options, spec, engine_parse_spec,
                     "speculative decoding: draft N tokens in a step, each accepted with this probability if those "
                     "before it were; drafting takes TIME (default: none)"),
	ROW(OPTION_DURATION, 0, "kv-transfer", "TIME", kv_transfer_ns,
        "as if prefill and decode ran apart: no step of a request for TIME after its first token (default: 0)"),
	ROW(OPTION_DURATION, 0, "batch-base", "TIME", batch_base_ns,
        "service time of a batch of embeddings, a ranking or scores, however many are in flight (default: 5ms)"),
	ROW(OPTION_DURATION, 0, "batch-input", "TIME", batch_input_ns,
        "additional service time for each of its inputs (default: 1ms)"),
	ROW(OPTION_DURATION, 0, "audio-base", "TIME", audio_base_ns,
        "service time of a transcription, or until a speech begins, however many are in flight (default: 5ms)"),
	ROW(OPTION_NUMBER, 0, "audio-factor", "N", audio_factor,
        "additional service time, as a part of the length of its audio (default: 0.01)"),
	OPTION_PARSED_BY(0, "drift", "SHARE/TIME", struct sim_options, pace, engine_parse_drift,
                     "throughput falls by SHARE in each TIME after the first step, as in 2%/10s; -2%/10s: it rises "
                     "(default: none)"),
	OPTION_PARSED_BY(0, "warm-up", "TIME:FACTOR", struct sim_options, pace, engine_parse_warm_up,
                     "steps take FACTOR times as long for TIME after the first one (default: none)"),
	OPTION(OPTION_SHARE, 0, "jitter", "SHARE", struct sim_options, pace.jitter,
           "steps vary: log-normal with this standard deviation, by --seed, with the same mean (default: 0)"),
	OPTION_PARSED_BY(0, "pause", "TIME/TIME", struct sim_options, pace, engine_parse_pause,
                     "pauses of the first TIME, one in the second TIME of steps, on average, by --seed, as in 50ms/2s "
                     "(default: none)"),
	OPTION_HEADING("Devices"),
	ROW(OPTION_COUNT, 0, "gpus", "N", gpu.count, "report N devices at /dcgm/metrics and /amd/metrics (default: 0)"),
	OPTION_PARSED_BY(0, "gpu-power", "IDLE:BUSY", struct sim_options, gpu, gpu_parse_power,
                     "watts of a device between steps and within one (default: 80:600)"),
	OPTION_HEADING("Answers"),
	ROW(OPTION_COUNT, 0, "template-tokens", "N", template_tokens,
        "tokens added to each message of a chat (default: 0)"),
	ROW(OPTION_COUNT, 0, "max-model-len", "N", model_len,
        "most tokens of prompt and answer together (default: 131072)"),
	ROW(OPTION_COUNT, 0, "default-tokens", "N", default_tokens,
        "length of an answer if the request gives none (default: 128)"),
	ROW(OPTION_NUMBER, 0, "eos-mean", "N", eos_mean,
        "answers end by themselves after N tokens on average, unless ignore_eos is set (default: never)"),
	ROW(OPTION_FLAG, 0, "strict-tools", NULL, strict_tools,
        "refuse chats in which a tool call has no result, a result no call, or an answer follows another (400)"),
	ROW(OPTION_FLAG, 0, "role-early", NULL, role_early,
        "send a chat's role chunk with the head instead of with the first token"),
	ROW(OPTION_FLAG, 0, "request-metrics", NULL, request_metrics,
        "answers have the server's metrics of the request, as vLLM's --enable-per-request-metrics adds them"),
	OPTION_PARSED_BY(0, "clock-offset", "[-]TIME", struct sim_options, clock, parse_clock_offset,
                     "send a Date header, from a clock TIME ahead (default: none is sent)"),
	OPTION_HEADING("Failures"),
	ROW(OPTION_LIST, 0, "fail", "MODE[:KEY=VALUE,…]", fails,
        "fail in this mode; share=0.1 in a tenth of the requests; may be given several times"),
	OPTION_PARSED_BY(0, "wrong", "SHARE[,above=SHARE]", struct sim_options, faults.wrong, answer_faults_parse_wrong,
                     "replace a token in SHARE of the answers that see the KV cache fuller than above (0)"),
	OPTION(OPTION_SHARE, 0, "crosstalk", "SHARE", struct sim_options, faults.crosstalk,
           "give SHARE of the requests the answer of another one in flight"),
	OPTION_PARSED_BY(0, "near-ties", "SHARE[,load=N]", struct sim_options, faults.near_ties, answer_faults_parse_load,
                     "SHARE of the prompts has a token with two nearly equal candidates; with N (2) requests in "
                     "flight, answers continue with the other one"),
	OPTION_PARSED_BY(0, "cut", "SHARE[,load=N]", struct sim_options, faults.cut, answer_faults_parse_load,
                     "end SHARE of the answers early, as if complete, with N (2) requests in flight"),
	OPTION_PARSED_BY(
		0, "rate-limit", "RATE[,burst=N][,say=FORM]", struct sim_options, limit, rate_limit_parse,
		"answer 429 to requests beyond a token bucket of N tokens (1), which fills at RATE; it says when to "
		"come again in seconds (the default), as a date, in ms, as openai does, or nothing"),
	OPTION_CHOICE_OF(
		0, "cache-reset", "MODE", struct sim_options, cache_reset, cache_resets,
		"a request to reset the prefix cache works, lies (answers 200 and does nothing), fails (500) or is missing (404)"),
	OPTION_CHOICE_OF(0, "trace-replay", "MODE", struct sim_options, trace_replay, trace_replays,
                     "a request with the token ids of its answer is answered so (works), as any other (ignored), or "
                     "with 400 (refused)"),
	OPTION_CHOICE_OF(0, "metrics-mode", "MODE", struct sim_options, scrape_mode, scrape_modes,
                     "answer requests for metrics in this way (default: well)"),
	ROW(OPTION_FLAG, 0, "list-modes", NULL, list_modes, "list the modes and their keys, and exit"),
	OPTION_HEADING("Common options"),
	ROW(OPTION_OUTPUT, 0, "log", "FILE", log, "append a line of JSON for each generating request"),
	ROW(OPTION_DURATION, 0, "max-time", "TIME", max_time_ns, "exit after TIME (default: 0, never)"),
	ROW(OPTION_FLAG, 0, "die-with-parent", NULL, die_with_parent, "exit when the parent process exits"),
	OPTION(OPTION_SEED, 0, "seed", "N", struct sim_options, common, "random seed (default: 1)"),
	ROW(OPTION_COUNTER, 'v', "verbose", NULL, common.verbose, "report the served requests at the end"),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
	{.kind = OPTION_VERSION, .name = "version", .help = "show the version, and those of the libraries"},
	{.kind = OPTION_COMPLETION,
     .name = "completion",
     .argument = "[SHELL]",
     .choices = completion_shells,
     .help = "print a completion script for bash (the default), zsh or fish"},
};

static const struct program program = {
	.name = "ipf-sim",
	.summary = "a simulated model server, for tests",
	.details = "Prints one line, `listening on http://127.0.0.1:PORT`, when it accepts\n"
			   "connections. SIGTERM and SIGINT end it.\n"
			   "\n"
			   "  ipf-sim --port 8000\n"
			   "  ipf-sim --kv-blocks 500 --max-batch 16 --step-base 20ms\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = 0,
};

static int range(const char *name, int64_t value, int64_t least, int64_t most, struct ipf_error *err)
{
	if (value >= least && value <= most)
		return 0;
	return ipf_error_set(err, IPF_USAGE, "--%s: expected %lld to %lld, got %lld", name, (long long)least,
	                     (long long)most, (long long)value);
}

static int read_fails(const struct sim_options *o, struct server_options *server, struct ipf_error *err)
{
	server->fails = calloc(o->fails.count + 1, sizeof *server->fails);
	if (!server->fails)
		return ipf_error_errno(err, ENOMEM, NULL, "--fail");
	for (size_t i = 0; i < o->fails.count; i++) {
		struct ipf_error why = {0};
		if (mode_parse_option(o->fails.items[i], &server->fails[server->fail_count++], &why) < 0)
			return ipf_error_set(err, IPF_USAGE, "--fail: %s", why.text);
	}
	return 0;
}

static int check_ranges(const struct sim_options *o, struct ipf_error *err)
{
	const int64_t most = 1 << 26;
	if (range("port", o->port, 0, 65535, err) < 0 || range("max-batch", o->max_batch, 1, most, err) < 0 ||
	    range("kv-blocks", o->kv_blocks, 1, most, err) < 0 || range("step-tokens", o->step_tokens, 1, most, err) < 0 ||
	    range("default-tokens", o->default_tokens, 1, most, err) < 0 ||
	    range("max-model-len", o->model_len, 2, most, err) < 0 ||
	    range("template-tokens", o->template_tokens, 0, most, err) < 0 || range("gpus", o->gpu.count, 0, 64, err) < 0 ||
	    range("replicas", o->replicas.most, 1, 64, err) < 0)
		return -1;
	if (o->kv_blocks * o->replicas.most > INT32_MAX / 2 || o->max_batch * o->replicas.most > INT32_MAX / 2)
		return ipf_error_set(err, IPF_USAGE, "--replicas: --kv-blocks or --max-batch of all replicas is too large");
	if (o->step_base_ns + o->step_per_seq_ns <= 0)
		return ipf_error_set(err, IPF_USAGE, "--step-base and --step-per-seq: a step has to take some time");
	if (!(o->prefill_rate > 0) || o->eos_mean < 0 || !(o->audio_factor >= 0 && o->audio_factor <= 1000))
		return ipf_error_set(err, IPF_USAGE,
		                     "--prefill-rate has to be above 0, --eos-mean not below, --audio-factor 0 to 1000");
	return 0;
}

static int check_options(const struct sim_options *o, struct server_options *server, struct ipf_error *err)
{
	if (check_ranges(o, err) < 0)
		return -1;
	*server = (struct server_options){.engine = {.step_base_ns = o->step_base_ns,
	                                             .step_per_seq_ns = o->step_per_seq_ns,
	                                             .prefill_rate = o->prefill_rate,
	                                             .step_tokens = o->step_tokens,
	                                             .max_batch = o->max_batch,
	                                             .kv_blocks = o->kv_blocks,
	                                             .prefix_cache = !o->no_prefix_cache,
	                                             .most_replicas = o->replicas.most,
	                                             .pace = o->pace,
	                                             .spec = o->spec,
	                                             .tiers = {[TIER_HOST] = o->host, [TIER_STORAGE] = o->disk}},
	                                  .ask = {.template_tokens = o->template_tokens,
	                                          .digest = o->log != NULL,
	                                          .strict_tools = o->strict_tools,
	                                          .replay = (enum trace_replay)o->trace_replay},
	                                  .gpu = o->gpu,
	                                  .replicas = o->replicas,
	                                  .limit = o->limit,
	                                  .faults = o->faults,
	                                  .port = (int)o->port,
	                                  .all_addresses = o->all_addresses,
	                                  .models = o->models.items,
	                                  .model_count = o->models.count,
	                                  .adapters = o->adapters.items,
	                                  .adapter_count = o->adapters.count,
	                                  .api_key = o->api_key,
	                                  .model_len = o->model_len,
	                                  .default_tokens = o->default_tokens,
	                                  .eos_mean = o->eos_mean,
	                                  .seed = o->common.seed,
	                                  .keep_alive_ns = o->keep_alive_ns,
	                                  .loading_ns = o->loading_ns,
	                                  .max_time_ns = o->max_time_ns,
	                                  .body_limit = o->max_body,
	                                  .out_limit = o->out_limit,
	                                  .role_early = o->role_early,
	                                  .priority = o->priority,
	                                  .generate_on = o->generate_on,
	                                  .request_metrics = o->request_metrics,
	                                  .kv_transfer_ns = o->kv_transfer_ns,
	                                  .batch_base_ns = o->batch_base_ns,
	                                  .batch_input_ns = o->batch_input_ns,
	                                  .audio_base_ns = o->audio_base_ns,
	                                  .audio_factor = o->audio_factor,
	                                  .date = o->clock.given,
	                                  .date_offset_ns = o->clock.ns,
	                                  .cache_reset = (enum cache_reset)o->cache_reset,
	                                  .scrape_mode = (enum scrape_mode)o->scrape_mode,
	                                  .verbose = o->common.verbose};
	server->engine.pace.seed = o->common.seed;
	return read_fails(o, server, err);
}

static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The parent may have ended before the kernel was asked to tell. */
static int follow_parent(pid_t parent, struct ipf_error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return ipf_error_errno(err, errno, NULL, "--die-with-parent");
	return getppid() == parent ? 0 : ipf_error_set(err, IPF_SYSTEM, "--die-with-parent: the parent is gone");
}

static void say_totals(const struct server *s)
{
	struct batching_counts c = batching_counts(s->engine);
	char up[32], slipped[32];
	fprintf(stderr,
	        "ipf-sim: %s: %lld connections, %lld requests (%lld refused, %lld left early), "
	        "%lld prompt tokens (%lld of %lld cached), %lld tokens generated in %lld steps, %lld preemptions, "
	        "steps moved by %s, %lld readers too slow, %lld times without descriptors\n",
	        format_duration(clock_now() - s->begin_ns, up), (long long)s->totals.connections,
	        (long long)s->totals.requests, (long long)s->totals.refused, (long long)s->totals.cut,
	        (long long)c.prompt_tokens, (long long)c.cache_hits, (long long)c.cache_queries, (long long)c.output_tokens,
	        (long long)c.steps, (long long)c.preemptions, format_duration(c.slipped_ns, slipped),
	        (long long)s->totals.overrun, (long long)s->totals.starved);
}

static int serve(const struct sim_options *o, struct server_options *options, struct ipf_error *err)
{
	struct server *server = NULL;
	int result = 0;
	if (o->log && !(options->log = fopen(o->log, "ae")))
		return ipf_error_errno(err, errno, o->log, "cannot open");
	raise_file_limit();
	result = server_open(&server, options, err);
	if (result == 0 && (printf("listening on http://127.0.0.1:%d\n", server_port(server)) < 0 || fflush(stdout) != 0))
		result = ipf_error_errno(err, errno, NULL, "standard output");
	if (result == 0)
		result = server_run(server, err);
	if (server && options->verbose)
		say_totals(server);
	server_close(server);
	if (options->log && fclose(options->log) != 0)
		result = ipf_error_errno(err, errno, o->log, "cannot write");
	return result;
}

static int list_modes(void)
{
	modes_print(stdout);
	struct ipf_error err = {0};
	if (fflush(stdout) != 0)
		ipf_error_errno(&err, errno, NULL, "standard output");
	return ipf_error_report(&err, stderr, program.name);
}

int main(int argc, char **argv)
{
	pid_t parent = getppid();
	struct sim_options options = {.common = COMMON_DEFAULTS,
	                              .step_base_ns = 8 * NS_PER_MS,
	                              .batch_base_ns = 5 * NS_PER_MS,
	                              .batch_input_ns = NS_PER_MS,
	                              .audio_base_ns = 5 * NS_PER_MS,
	                              .audio_factor = 0.01,
	                              .faults = answer_faults_none,
	                              .step_per_seq_ns = 20 * NS_PER_US,
	                              .prefill_rate = 100000,
	                              .step_tokens = 8192,
	                              .max_batch = 1024,
	                              .kv_blocks = 262144,
	                              .host = {.rate = 1e6},
	                              .disk = {.rate = 2e5},
	                              .replicas = REPLICAS_DEFAULT,
	                              .gpu = {.idle_w = 80, .busy_w = 600},
	                              .model_len = 131072,
	                              .default_tokens = 128,
	                              .keep_alive_ns = 75 * NS_PER_S,
	                              .max_body = 64 << 20,
	                              .out_limit = 4 << 20};
	struct server_options server = {0};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (options.list_modes)
		return list_modes();
	if (check_options(&options, &server, &err) < 0) {
		free(server.fails);
		return program_misuse(&program, &err);
	}
	if (!options.die_with_parent || follow_parent(parent, &err) == 0)
		serve(&options, &server, &err);
	free(server.fails);
	return ipf_error_report(&err, stderr, program.name);
}
