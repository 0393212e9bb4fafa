#!/bin/bash
# Every way in which the simulated server misbehaves, from the socket to the row: kind of error, content events, tokens, finish reason.
# A hundred tokens in, eight out. ipf-sim/README.md describes the modes. Pauses take 3 s: a busy machine that held the client up for longer than a
# pause would let it read the events before and after at once.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text

server_start --step-base 3ms --step-per-seq 0
printf '{"id":"a","prompt":"%s","input_tokens":100,"output_tokens":8}\n' "$(printf '%0400d' 0)" >line
trace_of line >one.trace
"$BIN/ipf-sched" -q burst:n=2 -t one.trace -o two.sched

# The outcome: kind, content events, output tokens and who counted them, finish reason, and further members of a row.
understood() { # MODE API OPTIONS…
	local mode=$1 api=$2 limit=120s
	shift 2
	[ "$mode" != never ] || limit=300ms
	"$BIN/ipf-fire" -q -u "$URL" -m sim --api "$api" --timeout $limit -H "X-Sim: $mode" -t one.trace two.sched "$@" |
		"$BIN/ipf-collect" --text | tee last.results |
		jq -r 'select(.n != null) | "\(.error.kind // "ok") \(.events // "-") \(.output_tokens // "-")/\(.tokens_source // "-") \(.finish // "-")"' |
		sort | uniq -c | sed 's/^ *//'
}

while IFS='|' read -r mode expected also; do
	mode=${mode%% *}
	is "$(understood "$mode" openai-chat)" "2 ${expected## }" "understood as expected: $mode"
	[ -z "$also" ] || is "$(jq -r "select(.n == 0) | $also" last.results)" true "the first row of $mode has $also"
done <<'END'
pad;bytes=10                 |ok 8 8/usage length|.text | length > 8
status;code=503              |http-status - -/- -|.error.status == 503
429                          |http-status - -/- -|.error.text | length > 3
never                        |timeout - -/- -|.error.status == null
reset                        |reset - -/- -
reset;after=3                |reset 3 3/events -
cut;after=3                  |cut 3 3/events -
cut;after=3;terminator=1     |cut 3 3/events -|.error.text == "the stream ended without its end mark"
cut;after=8;finish=1         |cut 8 8/events length
cut;after=3;bytes=20;terminator=1|cut 3 3/events -
stall;after=3;pause=150ms    |ok 8 8/usage length|.stalls >= 1 and .itl_max_ns >= 140e6
slow-headers;delay=100ms     |ok 8 8/usage length|.ttfb_ns >= 100e6 and .ttft_ns >= .ttfb_ns
html200                      |malformed 0 -/- -
nothing                      |cut 0 -/- -
whole                        |ok 1 8/usage length|.ttft_ns == null and .ttfa_ns == null and .e2e_ns > 0 and .tpot_ns == null and .not_streamed == "ignored"
garbage                      |malformed - -/- -
error-inband;after=2         |in-band 2 2/events -|.error.text == "the engine died" and .error.status == 200
error-inband;form=vllm       |in-band 1 1/events -|.error.text == "the engine died"
error-inband;form=event;done=0|in-band 1 1/events -|.error.text == "the engine died"
malformed                    |malformed 8 8/usage length
bad-utf8                     |malformed 8 8/usage length
empty                        |ok 0 0/usage stop
short;tokens=3               |ok 3 3/usage stop
one-token                    |ok 1 1/usage stop|.ttft_ns == .e2e_ns and .tpot_ns == null and .itl_mean_ns == null
role-late;events=3;delay=3s  |ok 8 8/usage length|.ttft_ns >= 50e6 and .ttft_ns > .ttfb_ns + 20e6
role-late;after=2            |ok 8 8/usage length
role-never                   |ok 8 8/usage length
role-each                    |ok 8 8/usage length
nulls                        |ok 8 8/usage length
multi;tokens=4               |ok 2 8/usage length
coalesce;events=4            |ok 8 8/usage length|.coalesced == 8
split                        |ok 8 8/usage length
split-utf8                   |ok 8 8/usage length|.text | test("\\p{Han}|\\p{L}")
escapes                      |ok 8 8/usage length
crlf                         |ok 8 8/usage length
cr                           |ok 8 8/usage length
no-space                     |ok 8 8/usage length
fields                       |ok 8 8/usage length
multi-line                   |ok 8 8/usage length
ping;alone=1                 |ok 8 8/usage length
bom                          |ok 8 8/usage length
pad                          |ok 8 8/usage length
no-usage                     |ok 8 8/events length|.input_tokens == 100 and .input_tokens_usage == null
usage-null                   |ok 8 8/usage length
usage-each                   |ok 8 8/usage length|.tpot_corrected_ns != null
usage-in-last                |ok 8 8/usage length
usage-off;tokens=3           |ok 8 11/usage length
no-done                      |ok 8 8/usage length
unterminated                 |ok 8 8/usage length
finish-in-last               |ok 8 8/usage length
late-end;pause=3s            |ok 8 8/usage length|.stream_ns > .e2e_ns + 50e6
reasoning;tokens=3           |ok 8 8/usage length|.ttfa_ns >= .ttft_ns and .reasoning_tokens == 3
reasoning;tokens=3;field=reasoning|ok 8 8/usage length|.ttfa_ns >= .ttft_ns and (.reasoning | length > 2)
tools                        |ok 8 8/usage tool_calls|.ttfa_ns == null and .ttft_ns > 0
tools;after=2                |ok 8 8/usage tool_calls|.ttfa_ns == .ttft_ns
close                        |ok 8 8/usage length
idle-close                   |ok 8 8/usage length
content-length-short         |ok 8 8/usage length
http10                       |ok 8 8/usage length
interim                      |ok 8 8/usage length
END

is "$(understood "pad;bytes=1" openai-completions)" "2 ok 8 8/usage length" "padded completions are understood when streamed"
is "$(understood "pad;bytes=1" openai-completions --no-stream)" "2 ok 1 8/usage length" "padded completions are understood in one piece"
is "$(understood "pad;bytes=1" openai-chat --no-stream)" "2 ok 1 8/usage length" "padded chat is understood in one piece"
is "$(understood "cut" openai-chat --no-stream)" "2 cut 0 -/- -" "a whole answer, cut"
is "$(understood "malformed" openai-chat --no-stream)" "2 malformed 0 -/- -" "a whole answer, malformed"
is "$(understood "error-inband" openai-chat --no-stream)" "2 in-band 0 -/- -" "a whole answer that is an error"
is "$(understood "content-length-short" openai-chat --no-stream)" "2 ok 1 8/usage length" "a whole answer whose length is said wrong"
