/* What each number means: the one table that --definitions prints and that ipf-report(1) is held against. */
#include "formats/definitions.h"

#include "formats/text_layout.h"
#include "verdict/verdict.h"

static const struct {
	const char *name; /* NULL: a heading, its text in `text` */
	const char *text;
} definitions[] = {
	{NULL, "Times of one request"},
	{"due", "The moment at which the schedule wants the request sent. A follower in a session is due when its "
            "parents have ended and its wait is over. A closed loop has none."},
	{"ready", "due has passed, the parents have ended, the wait is over: only a slot can be missing from here "
              "on."},
	{"start", "ipf-fire hands the request to the network."},
	{"first_byte", "The first byte of the answer, status line included."},
	{"event", "What the server sends in one piece: an SSE event, a line of NDJSON, the whole body where nothing "
              "streams. Its time is that of the read that brought its last byte: the kernel's receive stamp where "
              "there is one, else our own clock."},
	{"content event", "An event with at least one character of reasoning, answer or tool call."},
	{"end", "The answer is complete, or the error is known."},

	{NULL, "Latencies, of successful requests only (--errors-as-inf puts failures at infinity)"},
	{"from_start", "Counted from start: the service's own time."},
	{"from_due", "Counted from due, which is from_start plus lag: what a user waits, free of coordinated "
                 "omission. Closed loops have none."},
	{"ttfb", "first_byte - start."},
	{"ttft", "First content event - start. A role-only or empty first event does not count; one-token answers "
             "have it too."},
	{"ttfa", "First event with answer text - start; later than ttft where a model reasons first."},
	{"ttst", "Second content event - first content event."},
	{"e2e", "Last content event - start. A trailing usage chunk or end mark is nobody's wait; it counts in "
            "stream."},
	{"stream", "end - start."},
	{"itl", "Gaps between successive content events, pooled over requests, from a histogram that is right to "
            "0.1 %. `ipf-collect --itl` says whether a sample is a gap, a token's share of one, or a request's mean."},
	{"itl_mean", "A request's mean gap."},
	{"itl_max", "A request's longest gap."},
	{"tpot", "(e2e - ttft) / (output_tokens - 1). Absent with fewer than two tokens or two content events."},
	{"tpot_corrected", "The same, taking off the tokens of the first event instead of 1."},
	{"ntpot", "e2e / output_tokens. Absent without tokens."},
	{"fluidity",
     "Share of the tokens after the first that come by their deadline: `ipf-collect --deadline` after the deadline of "
     "the token before, so that time saved is carried over, or after its coming where that was late. Absent without --deadline."},
	{"stall", "A gap longer than the limit of `ipf-collect --stall`."},
	{"coalesced", "Content events that share their read, hence their time, with another one; as a share of all."},

	{NULL, "Lateness, of all requests that were started"},
	{"lag", "start - due."},
	{"slot_wait", "start - ready, of requests that waited for a slot of their stage: the stage's limit, not the "
                  "client's fault."},
	{"client_lag", "start - the moment when nothing but the client was missing (ready, or the slot that came "
                   "free): the client's fault."},

	{NULL, "Load and throughput"},
	{"window", "The measured part of a stage, from its begin to its end; a stage that is bounded by a count "
               "ends with its last request. With --window drain every stage lasts until its last request has ended. A "
               "request counts in it when it ended in it. The windows of the total are those of the measured stages, "
               "end to end; where a stream was cut, a window ends with its last line."},
	{"offered", "Scheduled arrivals / scheduled length of the stage. Closed loops offer no rate, and a total "
                "over one does not either."},
	{"achieved", "(starts - 1) / (last start - first start); over several stages, sums of both."},
	{"completed", "Successes in the window / window, also called requests_per_s."},
	{"tokens_per_s", "Input, output or all tokens of the successes in the window / window."},
	{"in_flight", "Requests between start and end, of whatever stage, in the window: mean over time, and "
                  "maximum."},
	{"little", "Requests that ended in the window, of whatever stage, / window, times their mean of end - start: by "
               "Little's law near the mean in flight where the load was steady."},
	{"goodput",
     "Requests that met every objective / window, and their share. An objective is held against the "
     "latency from due where there is one. Failed and cut requests are never good and stay in the denominator "
     "of the share; those on which ipf-fire hung up on purpose are left out of it (left_out counts them). An "
     "objective on a figure that an answer cannot have, such as the tpot of one token, is met."},

	{NULL, "Tokens, of successful requests"},
	{"output_tokens", "Reasoning, answer and tool calls. As the server's usage says, else as the tokenizer "
                      "counts the joined text, else the number of content events; source names which."},
	{"input_tokens", "The same for the prompt."},
	{"asked", "What the trace asked for."},
	{"residual", "The difference of two counts of the same tokens over the requests that have both; share is "
                 "the sum of the differences by the sum of the second count."},
	{"cached_share", "Input tokens that the server says came from its cache / input tokens."},

	{NULL, "Errors"},
	{"connect", "No connection: look-up, refusal, unreachable, connect timeout."},
	{"tls", "No agreement on TLS."},
	{"timeout", "Longer than --timeout."},
	{"reset", "The connection broke before the end mark. stale_resets are those of kept connections that the "
              "server had closed already: nobody's fault."},
	{"http-status", "A status other than 2xx."},
	{"in-band", "An error object in the body of a 200."},
	{"cut", "No end mark, or an answer without any content."},
	{"malformed", "Not what the API promises."},
	{"hung-up",
     "By ipf-fire on purpose (--cancel): neither a success nor a failure. Such a request is in the load, in flight and in hung_up, "
     "and in no latency, no share and no percentile, not even with --errors-as-inf."},
	{"cancelled", "By ipf-fire at the end of its grace period."},

	{NULL, "Statistics"},
	{"percentile",
     "Exact, by linear interpolation between order statistics (NumPy's default); of itl from the "
     "histogram. Marked with ~ where there are too few samples: p90 needs 44, p99 459, p99.9 4,603 (binomial "
     "bound, 99 % confidence). Several results are pooled request by request; percentiles are never averaged."},
	{"std", "Population standard deviation."},
	{"ci95", "95 % confidence interval of the mean by 20 batch means in the order of the starts; from 40 "
             "samples on."},
};

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
	layout_wrapped(&l, 0, PLAIN, "Verdict: OK, DOUBTFUL or INVALID; the worst of the checks is the run's");
	for (size_t i = 0; (rule = verdict_rule(i, &about)) != NULL; i++) {
		layout_to(&l, 2);
		layout_text(&l, PLAIN, about == before ? "" : about);
		layout_to(&l, 18);
		layout_wrapped(&l, 18, PLAIN, rule);
		before = about;
	}
}
