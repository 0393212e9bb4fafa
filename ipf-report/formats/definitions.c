#include "formats/definitions.h"

#include "formats/text_layout.h"
#include "verdict/verdict.h"

static const struct {
	const char *name; /* NULL: a heading, its text in `text` */
	const char *text;
} definitions[] = {
	{NULL, "Times of one request"},
	{"due", "When the request should be sent according to the schedule. A follower in a session is due when its "
            "parents have ended and its wait is over. A closed loop has no due times."},
	{"ready", "When due has passed, the parents have ended and the wait is over: from then on, it can only wait for a "
              "slot or for the client."},
	{"start", "When ipf-fire hands the request to the network."},
	{"first_byte", "When the first byte of the response arrives, status line included."},
	{"event", "A unit of the response: an SSE event, a line of NDJSON, or the whole body if the response is not "
              "streamed. Its time is that of the read that returned its last byte: the kernel's receive timestamp if "
              "there is one, else the clock of ipf-fire."},
	{"content event", "An event with at least one character of reasoning, answer or tool call."},
	{"end", "When the response is complete, or the error is known."},

	{NULL, "Latencies of successful requests (--errors-as-inf counts failures as infinite)"},
	{"from_start", "Counted from start: the service's own time."},
	{"from_due", "Counted from due, which is from_start plus lag: what a user waits, free of coordinated "
                 "omission. Absent for closed loops."},
	{"ttfb", "first_byte - start."},
	{"ttft", "First content event - start. A role-only or empty first event does not count; one-token answers "
             "have it too. Absent if the response was not streamed."},
	{"ttfa", "First event with answer text - start; later than ttft if a model reasons first. Absent if "
             "the response was not streamed."},
	{"ttst", "Second content event - first content event."},
	{"e2e", "Last content event - start. A trailing usage chunk or end mark delays no content; it counts in "
            "stream."},
	{"stream", "end - start."},
	{"itl", "Gaps between successive content events, pooled over requests, from a histogram that is accurate to 0.1 "
            "%. `ipf-collect --itl` selects whether a sample is a gap, a token's share of a gap, or the mean gap of a "
            "request."},
	{"itl_by_position",
     "The samples of itl by their number in the answer: the first gap has position 1. With `--itl token`, an event of "
     "several tokens has as many positions. Bins double: 1, 2-3, 4-7, and so on. Accurate to 0.8 %. Later positions "
     "are those of longer answers only. Absent if a sample is the mean of a request."},
	{"itl_mean", "The mean gap of a request."},
	{"itl_max", "The longest gap of a request."},
	{"tpot", "(e2e - ttft) / (output_tokens - 1). Absent with fewer than two tokens or two content events."},
	{"tpot_corrected",
     "The same, subtracting the tokens of the first event instead of 1. Absent unless the server's usage or "
     "token ids, or the tokenizer, show how many these are."},
	{"ntpot", "e2e / output_tokens. Absent without tokens."},
	{"fluidity",
     "Share of the tokens after the first that arrive by their deadline. The deadline is that of the previous token "
     "plus the time of `ipf-collect --deadline`, so that time saved is carried over; if the previous token was late, "
     "it counts from its arrival. Absent without --deadline."},
	{"stall", "A gap longer than the limit of `ipf-collect --stall`."},
	{"coalesced",
     "Content events that arrived in the same read as another one and therefore have the same time; also as a "
     "share of all content events."},

	{"not_streamed",
     "Whole responses: streaming was not requested (not-asked), the API has none (no-streaming), or the server "
     "ignored the request for it (ignored). They have e2e and stream, but no ttft, ttfa, ttst, itl and tpot. What came "
     "decides: events that share a read were streamed nevertheless."},
	{"after_end",
     "Content events after the end mark, and the responses that have any. They count as content. The response has "
     "failed (malformed) if its API promises that nothing follows the end mark."},

	{NULL, "Times that the server reports, of successful requests"},
	{"server_load", "Loading the model."},
	{"server_queue", "From the request's arrival until its processing began."},
	{"server_prefill", "Processing the prompt."},
	{"server_ttft", "From the request's arrival to the first token."},
	{"server_decode", "Generating the tokens after the first."},
	{"server_tpot", "Time per such token."},
	{"server_inference", "Prompt and tokens, without the queue."},
	{"server_total", "From the request's arrival to its end."},
	{"server_prefill_queue", "Waiting for the machine that prefills, if another one decodes."},
	{"server_kv_transfer", "Moving the KV cache of the prompt to the machine that decodes."},
	{"server_decode_queue", "Waiting for the machine that decodes."},

	{NULL, "Lateness of all started requests"},
	{"lag", "start - due."},
	{"slot_wait",
     "start - ready, for requests that waited for a slot of their stage: the limit of the stage, not the fault "
     "of the client."},
	{"client_lag",
     "start - the time from which only the client delayed the request (ready, or when a slot became free): the "
     "fault of the client."},

	{NULL, "Load and throughput"},
	{"window",
     "The measured part of a stage, from its beginning to its end. An open-loop stage ends as scheduled, with n= one "
     "gap after its last arrival, and requests that end later do not count; a closed loop with n= and a burst without "
     "for= end when their last request has ended. With --window drain, every stage lasts until its last request has "
     "ended; with --window steady, from the end of its warm-up to its last start, if it was steady in between. A request counts in the window in which it ended. The window of the total is made up of the windows of the measured "
     "stages. If a stream was cut, a window ends with the last line of the stream; if ipf-collect "
     "--until-stable ended the run, with the windows that agree."},
	{"offered", "Scheduled arrivals / scheduled length of the stage. Absent for closed loops, and for a total that "
                "includes one. The arrivals of a model are known if every scheduled request has a result."},
	{"achieved",
     "(starts - 1) / (last start - first start); over several stages, the sum of the numerators / the sum of "
     "the denominators."},
	{"completed", "Successful requests that ended in the window / window; also called requests_per_s. Absent, like all "
                  "rates that count them, if successful requests ended only after the window: that is no rate of 0."},
	{"tokens_per_s", "Input, output or all tokens of the successful requests that ended in the window / window."},
	{"in_flight", "Requests of any stage between their start and end, within the window: mean over time, and maximum."},
	{"little", "Requests of any stage that ended in the window / window, times their mean of end - start: by Little's "
               "law close to the mean in flight if the load was steady."},
	{"goodput",
     "Requests that met every objective / window, and their share. An objective is compared with the latency "
     "from due if there is one. Failed and cut requests are never good and stay in the denominator of the "
     "share; requests that ipf-fire disconnected on purpose are excluded (left_out counts them). An objective "
     "on a figure that an answer cannot have, such as the tpot of one token, counts as met. One on a figure that "
     "only streamed responses have cannot be measured if the response was not streamed; such requests are excluded "
     "(unmeasured counts them), and above 1 % of them there is no goodput."},

	{NULL, "Tokens of successful requests"},
	{"output_tokens",
     "Tokens of reasoning, answer and tool calls: the number in the server's usage, else the tokenizer's count "
     "of the joined text, else the token ids that the server lists, else the number of content events, which is not known "
     "for a response that was not streamed; source shows which."},
	{"input_tokens", "The same for the prompt."},
	{"asked", "Tokens that the trace requested."},
	{"residual", "The difference of two counts of the same tokens over the requests that have both; share is "
                 "the sum of the differences divided by the sum of the second count."},
	{"cached_share", "Input tokens that the server reports as cached / input tokens."},

	{NULL, "Errors"},
	{"connect", "No connection: name resolution failed, connection refused, host unreachable, or connect timeout."},
	{"tls", "The TLS handshake failed."},
	{"timeout", "The request took longer than --timeout or --first-token-timeout of ipf-fire."},
	{"reset", "The connection was lost before the response was complete. stale_resets are those of kept-alive "
              "connections that the server had already closed: neither the server's fault nor the client's."},
	{"http-status", "A status other than 2xx."},
	{"in-band", "The body of a 200 response contains an error object."},
	{"cut", "The response ended without the end mark of its API, or without any content."},
	{"malformed", "The response does not conform to the API."},
	{"hung-up",
     "Disconnected by ipf-fire on purpose (--cancel): neither a success nor a failure. The request counts in the load, "
     "in flight and in hung_up, but in no latency, share or percentile, not even with --errors-as-inf."},
	{"cancelled", "Cancelled by ipf-fire at the end of its grace period."},
	{"too-large", "Cut by ipf-fire: larger than --max-answer, or the largest answer in flight when --memory was nearly "
                  "reached."},

	{NULL, "Over time"},
	{"series",
     "Windows of the run, of equal length (ipf-collect --every), all stages together: requests by when they were due, "
     "started or ended, tokens when they arrived, latencies when they happened. The time line shows several windows as "
     "one if there are more than 48. Shards are merged by their clocks."},

	{NULL, "Servers and accelerators, as they report themselves while the run lasts (ipf-collect --scrape, --gpu)"},
	{"running", "Requests that the servers work on, and with waiting those in their queues: mean over time, p90 over "
                "time, and maximum, from the first start to the last end of a request. The sum over all targets."},
	{"kv_cache_usage", "The share of the KV cache in use, over time; the mean over all targets."},
	{"replicas_ready",
     "Replicas that are ready, over time, by Kubernetes or another autoscaler; the sum over all targets."},
	{"hit_rate", "Tokens found in the prefix cache / tokens looked up, by the servers' counters."},
	{"acceptance", "Draft tokens accepted / draft tokens, of speculative decoding."},
	{"comparison",
     "The client's figures beside the servers' own, of the time between the first and the last scrape: all stages, "
     "also those that are not measured. Quantiles of the servers are known as the bucket that they are in, means "
     "exactly. Shards that scraped the same target count once. Parts that are repeats are not compared. Of several "
     "targets, one at the host and port of a URL is also compared alone, with the requests to that URL. connect_ms is "
     "the fastest TCP connection that the client opened, about one round trip."},
	{"differences",
     "What differs by more than can be known: numbers of requests or tokens by more than 1 % (tokens that the server "
     "did not report in its answers, 5 %) and more than the requests at the edges explain; latencies if p50 or p90 of "
     "the client is outside of the server's bucket, and the means differ by more than 5 % and 5 ms (tpot: 1 ms). The "
     "causes that are named are possible ones."},
	{"clocks",
     "How much later the wall clock of a shard is than that of the first: certainly between low_ns and high_ns. "
     "Known from the Date headers of a server that both send to, which change at the same moment, and from "
     "their NTP state (adjtimex). Merged series are not corrected by it."},
	{"starts",
     "From the first start of a shard to the last one: by their own clocks (0 with --start-at), and truly, at most, by "
     "what is known of the clocks. ipf-fire refuses a start that has passed."},
	{"utilization", "The share of the time in which the accelerator was busy, by its own count. Figures of "
                    "accelerators are means over time and maxima."},

	{NULL, "Saturation: of stages at several constant rates, of a ramp or, without these, of closed loops with "
           "different numbers of users"},
	{"capacity",
     "The rate from which on a server completes no more: the curve min(offered, capacity), the asymptotic bound of an "
     "open system (Denning and Buzen, 1978), fitted by least squares to a point for each rate. Beyond it, the curve "
     "may fall. A point counts what is completed, of any stage, from the p99 latency after the begin of its stage (at "
     "most half of it) to its end, and what arrived in as long a time, earlier by the median latency."},
	{"capacity of closed loops",
     "The mean throughput of the plateau: the numbers of users, from the fewest on, that complete 95 % of the most that "
     "any completes, or less by no more than two standard errors, up to the first that completes less again. The users "
     "that reach it are estimated from the next fewer users: as many as would complete it if each of them did as much "
     "as each of those. A stage counts from the p99 latency after its begin or its ramp-up (at most half of it) to its "
     "end, and each request in it by the share of its time in there. The users of shards add up."},
	{"interval",
     "95 %, by the bootstrap: each point is measured in 10 parts, which are drawn anew 1,000 times. It covers what "
     "varies within stages, not what differs from run to run."},
	{"saturated",
     "The interval ends 3 % or more below the highest rate. Of closed loops: beyond the plateau the throughput falls, "
     "or its last users are 1.2 times its first or more, and bring less than half of what they would in proportion. "
     "Otherwise not saturated: the capacity may be anything above. Not known with fewer than 3 usable rates or "
     "numbers of users, if the points differ from the curve by more than 10 % (root of "
     "the mean square), or if load_delivered or client_headroom is INVALID. Stages are left out if their requests "
     "waited for slots or connections, depend on earlier answers, are fewer than 20, or took more than a quarter of "
     "the stage; pieces of a ramp (20) only count if it rises."},
	{"within",
     "The highest rate such that it and all lower ones are within the objectives: 99 % of the requests meet those of "
     "each request, and for pNN that share of them; failures miss them. The headroom is 1 - that rate / the "
     "capacity."},

	{NULL, "Autoscaling: after the begin of each spike and ramp, until the next one"},
	{"event",
     "A spike of a stage of that kind; a stage of constant rate that is 1.5 times that of the stages before and "
     "after it; or, with objectives, a rising ramp."},
	{"missed_after, met_after",
     "From its begin until the first request missed an objective in a window that missed them; and until the first of "
     "three successive windows that met them again. A window is judged by the requests that were due in it: 99 % of "
     "them must meet the objectives of each request, and for pNN that share of them. Windows are as long as 20 requests "
     "take to come at the mean rate, from 1 to 60 s."},
	{"missed_requests", "The debt: requests that missed an objective or failed, of those that were due until the next "
                        "event, and their output tokens."},
	{"replicas_enough",
     "The peak rate (over three windows) / the highest rate per replica, over three windows, at which the objectives "
     "were met, rounded up: what certainly would have been enough, if replicas are alike; fewer may be."},

	{NULL, "Cost"},
	{"price",
     "The price of the time of the measured stages / the output tokens, or the requests, that were completed in it. A "
     "price for each GPU counts the accelerators that were sampled; one that two sources report counts once."},
	{"energy",
     "The energy of the accelerators from the first start to the last end of a request of the measured stages / all "
     "output tokens, or requests, of theirs that succeeded. Known only if the energy of every accelerator is valid. If "
     "there are also stages that are not measured, and measured ones overlap by more than 1 % of their time, it is not "
     "known."},
	{"of good", "Output tokens of requests that met all of their objectives, and these requests."},

	{NULL, "Sessions in measured stages, if any has several requests; without failures, unless stated otherwise"},
	{"time",
     "From when the first request of the session's critical path was due (in a closed loop: ready) to the end of its "
     "last answer. The critical path goes from the request that ends last back to the latest one that ended before it "
     "was due, and so on; branches beside it take no time."},
	{"parts",
     "Of this time, which they add up to: model, requests from start to end; think, from the end of a request until the "
     "next was due (tools, or a user who thinks); from due to start, waiting for a slot or a connection, and client, its "
     "own lateness."},
	{"complete_per_hour",
     "Sessions without failures / the time from the first start to the last end of a request of any session."},
	{"good", "Sessions, with or without failures, all of whose requests met their objectives."},

	{NULL, "Fidelity of a replay (--trace)"},
	{"fidelity",
     "The mean over all requests that measured replay stages were to send, of the product of each request's "
     "shares: of its time, its lengths in and out, and its reuse of prefixes. 1 as recorded. A product, since a "
     "request with a wrong length at a wrong time is less than either; a mean, so that one request is worth the "
     "same in each trace. Shares that are not known count 1 (judged says which are known); a request that failed "
     "or was not sent counts 0."},
	{"time",
     "1 up to 10 ms from when it should have started, about a step of a server; beyond that, by x ms, 1 / (1 + x /"
     " 1 s): a second, the window of most figures, counts half. It should have started at its recorded time "
     "divided by the speed of the replay or, if it follows others, when these had ended and its recorded wait was "
     "over, if that is later."},
	{"lengths",
     "The smaller of both / the larger: input tokens of the server's usage against those of the trace, output "
     "tokens against those of the trace."},
	{"prefix",
     "1 - missing / prompt tokens. Missing: tokens that other requests of the run had certainly had computed (they"
     " had their first token before this one started), and that the server did not find again, less a part of a "
     "block."},
	{"causes",
     "1 - fidelity, divided among what each share lacks: unsent, schedule (another time than recorded), slots "
     "(waiting for a slot or a connection), client (its own lateness), causality (sent before what it follows had "
     "ended: counts 0), input, routing (of what prefix lacks, the part that another replica had, and not the one "
     "that answered: by --replica-header of ipf-collect, else by target); and by the server: failed, output, "
     "prefix. They add up."},
	{"moved_by_server",
     "Requests that follow others and became due later than recorded because these took longer, in the mean by "
     "mean_ms. It is no loss: how fast the server is, is what a replay measures."},

	{NULL, "Prefix cache (--trace): successful requests of measured stages, in the order in which they started"},
	{"ideal",
     "Prompt tokens that a cache without a limit finds, which is empty when the run begins: the leading blocks of "
     "a prompt that begin the prompt of a request that started before. At least the last token of a prompt is "
     "computed. Blocks have 16 tokens; they are joined in pairs as often as the memory for a large trace requires."},
	{"recorded",
     "Of the requests that were sent, each once and in the order of their recorded arrivals: prompt tokens that "
     "the same cache would have found by the blocks that the trace recorded of its prompts. Where the trace has "
     "none, it is not shown. Far from ideal, the prompts as sent have not in common what the recorded ones had, "
     "or were sent in another order. ipf-prep stat computes it of the whole trace."},
	{"prompt tokens",
     "As the server's usage reports them, else as counted from the trace: a token is a token id, or 4 bytes of a "
     "message's text. Where the server counts otherwise, apart from a chat template of at most 128 tokens, shares "
     "of the counted tokens are applied to its own. The template's tokens count as found with the first block."},
	{"found",
     "Of it, what the server says it found (cached_tokens of its usage), and where. If it says so for any request,"
     " it found nothing for the requests with a usage for which it says nothing."},
	{"gap", "ideal - found, of requests that say what was found. Below 0 if the server finds parts of blocks, or its "
            "cache was not empty."},
	{"by size",
     "The same as ideal for a cache that keeps a number of tokens and replaces the least recently used block, the "
     "end of a prompt first: for all sizes in one pass, by the distances of Mattson et al. (1970). Answers take "
     "room too. Sizes that have no room for the largest request are left out."},
	{"warm",
     "Tokens found beyond all that any other request could have left: those that started before this one had its "
     "first token. of_tokens: all tokens that the run sent for the first time in this sense. With a chat "
     "template's tokens and a part of a block as allowance. Absent if requests of the run are missing, and for "
     "repeats."},

	{NULL, "Statistics"},
	{"percentile",
     "Exact, by linear interpolation between order statistics (NumPy's default); for itl, from the histogram. "
     "Marked with ~ if there are too few samples: p90 needs 44, p99 459, p99.9 4,603 (binomial bound, 99 % "
     "confidence). Several results are pooled request by request; percentiles are never averaged."},
	{"with failures",
     "The same of all requests except those that were disconnected on purpose: the latency of a failure is infinite, "
     "from due if there is one. Shown beside the others if any request failed."},
	{"accuracy",
     "The error of the client: how much it may have added to a latency, by what was measured of each request. "
     "A request has a least and a greatest possible value; the error bar of a percentile lies between the "
     "percentiles of these, that of a mean between their means. It covers when the request left, events that "
     "came before the time of their read, and the clocks; not the network, the server, or chance. See "
     "ACCURACY in ipf-results(5)."},
	{"early stopping",
     "MLPerf's estimate of a percentile p: of n requests, the t-th highest latency, where t is the largest number with "
     "P[Binomial(n, 1 - p) <= t] < 0.01 (LoadGen, early_stopping.cc, 2025). An upper bound at 99 % confidence; failures "
     "are infinite. Absent with too few requests: p90 needs 64, p99 662, p99.9 6,636."},
	{"std", "Population standard deviation."},
	{"n_eff",
     "Effective sample size: how many independent samples would tell as much about the mean as these, whose neighbours "
     "in the order of the starts resemble each other. n / (1 + 2 * the sum of the autocorrelations), by Geyer's initial "
     "monotone sequence estimator (1992); at most n; needs 40 samples."},
	{"ci95", "95 % confidence interval of the mean: that of n_eff independent samples, by Student's t with n_eff - 1 "
             "degrees of freedom, on a scale of logarithms: mean / f to mean * f. It is never negative; of skewed "
             "latencies it holds the mean more often than a symmetric one. Absent if n_eff is below 4; below 20 or so, "
             "it is too narrow, as long correlations do not show in a short run."},
};

const char *definition_at(size_t i, const char **name)
{
	if (i >= sizeof definitions / sizeof *definitions)
		return NULL;
	*name = definitions[i].name;
	return definitions[i].text;
}

void definitions_format(struct buffer *out)
{
	struct layout l = {.out = out};
	for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
		if (!definitions[i].name) {
			if (i > 0)
				layout_end_line(&l);
			layout_wrapped(&l, 0, PLAIN, definitions[i].text);
			continue;
		}
		layout_to(&l, 2);
		layout_text(&l, PLAIN, definitions[i].name);
		layout_to(&l, 18);
		layout_wrapped(&l, 18, PLAIN, definitions[i].text);
	}
	const char *about, *rule, *before = "";
	layout_end_line(&l);
	layout_wrapped(
		&l, 0, PLAIN,
		"Verdict: OK, DOUBTFUL or INVALID, or UNKNOWN if it cannot be judged; the run has the worst verdict of its "
		"checks");
	for (size_t i = 0; (rule = verdict_rule(i, &about)) != NULL; i++) {
		layout_to(&l, 2);
		layout_text(&l, PLAIN, about == before ? "" : about);
		layout_to(&l, 18);
		layout_wrapped(&l, 18, PLAIN, rule);
		before = about;
	}
}
