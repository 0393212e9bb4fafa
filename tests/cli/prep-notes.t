#!/bin/bash
# Messages of ipf-prep without an option, in one line: fewer requests than asked for, prompts that repeat each other, a file where the
# source belongs.
. "$TESTS/tap.sh"

export XDG_CACHE_HOME=$PWD/cache
prep=$BIN/ipf-prep
for i in $(seq 70); do printf '{"prompt":"Question %d?","output":"Yes."}\n' "$i"; done >seventy.jsonl
# A conversation of TURNS answers.
conversation() { # TURNS NAME
	jq -nc --argjson n "$1" --arg name "$2" '{conversations: [range($n) | {from: "human", value: "\($name) \(.)?"}, {from: "gpt", value: "Answer."}]}'
}
says() { # PART TEXT: the only line on standard error
	complains ipf-prep "$1" "ipf-prep reports $2"
	is "$(wc -l <"$ERR")" 1 "$2: one message"
}

# ---- fewer than asked for ----
run "$prep" jsonl seventy.jsonl -n 1000
status_is 0 "1000 requests of 70: status 0"
says '70 of the 1000 requests of -n were written: the data has no more; --sample with draws some of it again' "it is said"
run "$prep" jsonl seventy.jsonl -n 1000 -q
stderr_is "" "-q suppresses the note on -n"
run "$prep" jsonl seventy.jsonl -n 70
stderr_is "" "seventy of seventy requests give no note"
run "$prep" jsonl seventy.jsonl --sessions 71
says '70 of the 71 sessions of --sessions were written' "sessions are counted too"
run "$prep" jsonl seventy.jsonl -n 80 --sessions 70
stderr_is "" "one limit of two that is reached gives no note"
run "$prep" jsonl seventy.jsonl -n 80 --shuffle
says '70 of the 80 requests of -n' "fewer requests with --shuffle"
run "$prep" jsonl seventy.jsonl -n 70 --max-input 2
status_is 3 "a filter that leaves nothing ends with 3"
run "$prep" text <(printf 'a longer line\nb\nanother line\n') -n 3 --min-input 2
contains "$(cat "$ERR")" 'ipf-prep: 2 of the 3 requests of -n were written: the data has no more usable, selected ones (-v shows why)' "left out by a filter"
{ cat seventy.jsonl; echo '{"nothing":1}'; } >bad.jsonl
run "$prep" jsonl bad.jsonl -n 71
status_is 3 "a bad record: status 3"
contains "$(cat "$ERR")" '70 of the 71 requests of -n' "the note on -n follows a bad record"
printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,4,44\n' >a.csv
run "$prep" azure a.csv -n 2
is "$(cat "$ERR")" "ipf-prep: 1 of the 2 requests of -n were written: the data has no more" "a recorded trace is not to be drawn from again"

# ---- requests left out by limits ----
run "$prep" text <(printf 'a longer line\nb\nanother line\n') --min-input 2
says '--min-input 2 left out 1 of 3 requests' "a limit on lengths says what it left out"
run "$prep" text <(printf 'a longer line\nb\nanother line\n') --min-input 2 -q
stderr_is "" "-q suppresses the note on limits"
run "$prep" text <(printf 'a longer line\nb\nanother line, which is the longest\n') --min-input 2 --max-input 4
says '--min-input 2 left out 1 of 3 requests; --max-input 4 left out 1 of 3 requests' "two limits"
{ conversation 2 a; conversation 9 b; conversation 3 c; conversation 8 d; } >four.jsonl
run "$prep" sharegpt four.jsonl --turns all --max-input 15
says '--max-input 15 left out 2 of 4 sessions (17 requests)' "sessions are left out whole"
run "$prep" sharegpt four.jsonl --turns all --max-total 15 --shuffle
says '--max-total 15 left out 2 of 4 sessions (17 requests)' "sessions left out with --shuffle"
run "$prep" sharegpt four.jsonl --turns all --max-output 1
status_is 3 "limits that leave no session end with 3"
contains "$(cat "$ERR")" 'ipf-prep: --max-output 1 left out 4 of 4 sessions (22 requests)' "ipf-prep says that a limit left out all sessions"
run "$prep" sharegpt four.jsonl --turns all
stderr_is "" "sessions without limits give no note"

# ---- sessions without room ----
conversation 53 long >long.json
run "$prep" sharegpt long.json --turns all -n 20
status_is 3 "-n 20 of a session of 53 turns: status 3"
says 'no requests: -n 20 has no room for the shortest session, which has 53, and sessions are written whole; use -n 53, --turns 20 or --sessions 1' \
	"it is said what to do"
for way in "-n 53" "--turns 20 -n 20" "--sessions 1"; do
	# shellcheck disable=SC2086 # words
	run "$prep" sharegpt long.json --turns all $way
	status_is 0 "$way: status 0"
	stderr_is "" "$way: nothing is said"
done
run "$prep" sharegpt long.json --turns all -n 20 --sample with
status_is 3 "-n 20 with --sample: status 3"
says 'the shortest session, which has 53' "a session that does not fit, and what to do"
{ conversation 60 a; conversation 7 b; conversation 53 c; } >several.jsonl
run "$prep" sharegpt several.jsonl --turns all -n 20
status_is 0 "a session that fits is written"
says '7 of the 20 requests of -n were written: the shortest remaining session has 53 requests, and sessions are written whole' "the requests that are missing"
printf '{"id":"c","models":["m"],"block_size":4,"hash_id_scope":"local","requests":[{"t":0,"type":"n","model":"m","in":9,"out":3,"hash_ids":[1,2]},{"t":9,"type":"n","model":"m","in":9,"out":3,"hash_ids":[1,2]}]}\n' >w.jsonl
run "$prep" weka w.jsonl -n 1
status_is 3 "a recorded session: status 3"
says 'which has 2, and sessions are written whole; use -n 2 or --sessions 1' "a session without --turns"

# ---- repeated prompts ----
echo '{"prompt":"Again?","output":"Yes."}' >one.jsonl
run "$prep" jsonl one.jsonl --sample with -n 85
status_is 0 "one prompt 85 times ends with 0"
says "84 of 85 prompts repeat an earlier one, and one occurs 85 times: a server's prefix cache" "it is said"
run "$prep" jsonl one.jsonl --sample with -n 85 -q
stderr_is "" "-q suppresses the note on repeated prompts"
{ cat seventy.jsonl; head -3 seventy.jsonl; } >twice.jsonl
run "$prep" jsonl twice.jsonl
says "3 of 73 prompts repeat an earlier one, and one occurs 2 times" "some of a dataset"
for form in text none; do
	run "$prep" jsonl twice.jsonl --prompt $form
	is "$(grep -c '3 of 73' "$ERR")" "$([ $form = text ] && echo 1 || echo 0)" "--prompt $form reports repeated prompts only if there are texts"
done
run "$prep" jsonl twice.jsonl --system "Be brief."
says "3 of 73 prompts" "a common system message is no repetition, only whole prompts are"
run "$prep" jsonl twice.jsonl --input-tokens 40
stderr_is "" "prompts that are extended differ"
{ conversation 2 a; conversation 3 a; conversation 2 b; } >sessions.jsonl
run "$prep" sharegpt sessions.jsonl --turns all
says "1 of 3 prompts repeats an earlier one" "repeated first prompts of sessions"
run "$prep" synthetic -n 500 --input-tokens 64
stderr_is "" "synthetic prompts differ"
for i in 1 2 3; do
	printf '{"timestamp":"2026-01-01T00:00:0%dZ","request":{"model":"m","messages":[{"role":"user","content":"Same?"}]},"response":{"choices":[{"message":{"content":"Yes."}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}}\n' $i
done >log.jsonl
run "$prep" openai-log log.jsonl
status_is 0 "a log with the same prompt three times"
stderr_is "" "recorded repetitions give no note"
run "$prep" openai-log log.jsonl --scale 3
contains "$(cat "$ERR")" "prompts repeat an earlier one" "copies are not recorded"

# ---- the source comes first ----
wrong() { fails_with 2 "$1" "$prep" "${@:2}"; } # PART ARGUMENT…
wrong '"one.jsonl" is not a source: the source comes first; try auto: ipf-prep auto one.jsonl' one.jsonl
wrong 'the source comes first; try auto: ipf-prep auto missing.json' missing.json -n 3
wrong 'the source comes first; try sharegpt: ipf-prep sharegpt long.json' long.json sharegpt
wrong 'the source comes first; try auto: ipf-prep auto long.json' long.json auto
mkdir folder
wrong 'the source comes first; try auto: ipf-prep auto folder' folder
wrong 'the source comes first; try auto: ipf-prep auto -' -
wrong 'ADDRESS is not a source: the source comes first' 'https://example.org/data.json?token=secret'
no_secret() { ! grep -q secret "$ERR"; }
yes_if "an address is not shown" no_secret
wrong 'unknown format "sharegtp", did you mean "sharegpt"?' sharegtp
wrong 'expected a SOURCE, the format of the input: auto, or one of --list' -n 3

# ---- times in the wrong unit ----
rows() { # COUNT GAP: JSON Lines with times
	awk -v n="$1" -v gap="$2" 'BEGIN { for (i = 0; i < n; i++) printf "{\"p\":\"Question %d?\",\"n\":3,\"t\":%.10g}\n", i, i * gap }' >times.jsonl
}
times() { # FIELD: the same rows, with their times in this unit
	run "$prep" jsonl times.jsonl --field prompt=/p --field output_tokens=/n --field "$1=/t"
	status_is 0 "times as $1"
}
rows 100 0.25
times at_ms
says 'arrivals give 4,000 requests per second: if the times are in seconds, --field at=/t reads them so' "seconds that were read as milliseconds"
times at_us
says 'if the times are in seconds, --field at=/t reads them so' "seconds that were read as microseconds: milliseconds would be 4,000 a second"
times at
stderr_is "" "seconds as seconds"
rows 100 2.3
times at_ms
says 'arrivals give 434 requests per second: if the times are in seconds' "fractions of a millisecond at 400 per second"
rows 100 4
times at_ms
stderr_is "" "whole milliseconds at 250 per second"
rows 100 90000
times at_ms
stderr_is "" "milliseconds of a slow service"
times at
says 'arrivals give one request in 1 d 1 h: if the times are in milliseconds, --field at_ms=/t reads them so' "milliseconds that were read as seconds"
run "$prep" jsonl times.jsonl --field prompt=/p --field output_tokens=/n --field at=/t -q
stderr_is "" "-q says nothing of times"
rows 20 0.25
times at_ms
stderr_is "" "twenty requests at once are not judged"
awk 'BEGIN { for (i = 0; i < 100; i++) printf "{\"timestamp\":%.10g,\"input_length\":9,\"output_length\":3,\"hash_ids\":[1]}\n", i * 0.25 }' >mooncake.jsonl
run "$prep" mooncake mooncake.jsonl
is "$(cat "$ERR")" "ipf-prep: arrivals give 4,000 requests per second" "a format with its own unit: only the rate"
{
	echo 't,i,o'
	awk 'BEGIN { for (i = 0; i < 100; i++) printf "%.10g,9,3\n", i * 0.2 }'
} >times.csv
run "$prep" csv times.csv --field input_tokens=i --field output_tokens=o --field at_ms=t
says 'arrivals give 5,000 requests per second: if the times are in seconds, --field at=t reads them so' "columns of CSV"
