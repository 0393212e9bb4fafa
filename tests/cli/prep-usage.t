#!/bin/bash
# Wrong usage: a line with the wrong value on standard error, exit status 2, and nothing is written.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
printf '{"prompt":"Hello","output":"Hi"}\n' >a.jsonl
printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,4,44\n' >a.csv

wrong() { # PART ARGUMENT…
	rm -f out.trace
	fails_with 2 "$1" "$prep" "${@:2}" -o out.trace
	[ ! -e out.trace ] || not_ok "ipf-prep ${*:2} makes no trace"
}

wrong 'unknown format "sharegtp", did you mean "sharegpt"? (known: aibrix aiperf-inputs' sharegtp a.jsonl
wrong '--turns: format jsonl has no conversations' jsonl a.jsonl --turns all
wrong '--field: format sharegpt has fixed fields' sharegpt a.jsonl --field prompt=/prompt
wrong '--from: format jsonl has no arrivals' jsonl a.jsonl --from 3s
wrong '--to: format text has no arrivals' text a.jsonl --to 3s
wrong '--salt: format text has its own text' text a.jsonl --salt x
wrong '--wait: format sharegpt has sessions only with --turns above 1' sharegpt a.jsonl --wait 2s
wrong '--wait: format azure has no sessions' azure a.csv --wait 2s
wrong '--wait: format jsonl has no sessions' jsonl a.jsonl --wait 2s
wrong '--wait: expected 2s, uniform:1s-5s' sharegpt a.jsonl --turns all --wait 2
wrong '--shuffle: format azure has recorded arrivals' azure a.csv --shuffle
wrong '--sample: format azure has recorded arrivals' azure a.csv --sample with -n 3
wrong '--sample: expected with or without, got "some"' jsonl a.jsonl --sample some -n 3
wrong '--sample: requires -n or --sessions' jsonl a.jsonl --sample with
wrong 'unknown tokenizer "gpt 5"' jsonl a.jsonl -t "gpt 5"
wrong '-n: expected 1 or more, got 0' jsonl a.jsonl -n 0
wrong '"many"' jsonl a.jsonl -n many
wrong '--input-tokens: expected 128, uniform:64-256' jsonl a.jsonl --input-tokens poisson:3
wrong '--output-tokens: 9 is more than 8' jsonl a.jsonl --output-tokens uniform:9-8
wrong '--turns: expected' sharegpt a.jsonl --turns none
wrong '--prefixes: expected COUNTxTOKENS such as 10x512, or several in shares such as 2x512=0.7,8x1024=0.3, got "10"' jsonl a.jsonl --prefixes 10
wrong '--prefixes: expected COUNTxTOKENS such as 10x512, or several in shares such as 2x512=0.7,8x1024=0.3, got "0x5"' jsonl a.jsonl --prefixes 0x5
wrong '--prefixes: expected COUNTxTOKENS' jsonl a.jsonl --prefixes 2x5=0.7,1x9
wrong '--prefixes: expected COUNTxTOKENS such as 10x512, or several in shares such as 2x512=0.7,8x1024=0.3, got "2x5=0.7,9=0.3"' jsonl a.jsonl --prefixes 2x5=0.7,9=0.3
for bad in a=0.5,b a=-1,b=2 a=0,b=0 a=x,b=1 =1; do
	wrong "--models: expected NAME=SHARE,… such as base=0.5,lora-a=0.5 or base=3,lora-a=1, got \"$bad\"" jsonl a.jsonl --models "$bad"
done
wrong '--models: expected NAME=SHARE' jsonl a.jsonl --models =0.5
wrong '--min-input: 5 is more than --max-input 4' jsonl a.jsonl --min-input 5 --max-input 4
wrong '--from: 5 s is not before --to 5 s' azure a.csv --from 5s --to 5s
wrong '--field: expected NAME=/POINTER or NAME=COLUMN, got "prompt"' jsonl a.jsonl --field prompt
wrong '--field: unknown name "promt"' jsonl a.jsonl --field promt=/prompt
wrong '--field: "~" is written "~0"' jsonl a.jsonl --field prompt=/a~b
wrong '--field: one of prompt, messages, request, query, input_tokens and audio is required' jsonl a.jsonl --field output=/output
wrong 'expected a SOURCE' -v
run "$prep" jsonl a.jsonl -o a.jsonl
status_is 2 "an output that is one of the inputs: status 2"
is "$(cat a.jsonl)" '{"prompt":"Hello","output":"Hi"}' "ipf-prep leaves its input as it was"

run "$prep" jsonl a.jsonl no-such-file -o out.trace
status_is 1 "a file that is not there: status 1"
complains ipf-prep "no-such-file: cannot open: No such file" "ipf-prep names the missing file"
yes_if "ipf-prep writes nothing if a file is missing" test ! -e out.trace
mkdir empty
run "$prep" jsonl empty -o out.trace
status_is 3 "a folder without a file: status 3"
complains ipf-prep "empty: there is no file in this folder" "ipf-prep says that the folder has no file"
wrong '--preset: expected vllm-sharegpt, sglang-sharegpt or lpg-sharegpt, got "x"' sharegpt a.jsonl --preset x
wrong '--preset: format jsonl has no presets' jsonl a.jsonl --preset vllm-sharegpt
wrong '--on-error: expected skip or stop, got "go"' jsonl a.jsonl --on-error go
wrong '--failed: expected keep or drop, got "no"' azure a.csv --failed no
wrong '--sub-agents: format jsonl has no sub-agents' jsonl a.jsonl --sub-agents drop
wrong '--sub-agents: expected keep or drop, got "x"' jsonl a.jsonl --sub-agents x
wrong '--scale: format jsonl has neither arrivals nor sessions' jsonl a.jsonl --scale 2
wrong '--scale: expected a number above 0' azure a.csv --scale 0
wrong '--dequantise: format jsonl has no arrivals' jsonl a.jsonl --dequantise
wrong '--profile: expected chat, code-generation' jsonl a.jsonl --profile x
wrong '--turns: format jsonl has no conversations' jsonl a.jsonl --profile chat
wrong '--content: format jsonl has its own text' jsonl a.jsonl --content a.csv
wrong '--failed: format jsonl has no recorded failures' jsonl a.jsonl --failed drop

run "$prep" --list
status_is 0 "--list ends with 0"
cut -d ' ' -f 1 "$OUT" | sort >listed
contains "$(tr '\n' ' ' <listed)" " mooncake mooncake-delta mtbench " "--list has the sources"
is "$(awk '{ print $2 }' "$OUT" | uniq | tr '\n' ' ')" "dataset trace agents log generated " "--list is ordered by group"
# the manual has the groups in the same order, with the same sources
awk '{ print $2, $1 }' "$OUT" | sort >by_group
awk '/^Datasets:/ { g = "dataset" } /^Traces of single requests:/ { g = "trace" } /^Traces of conversations and agents:/ { g = "agents" } /^Logs of servers:/ { g = "log" }
	/^Generated requests,/ { g = "generated" } /^\.Sh ANY/ { g = "" } g && /^\.It Cm [a-z0-9-]*$/ { print g, $3 }' "$BUILD/man/ipf-prep-formats.5" | sort >by_manual
is "$(diff by_group by_manual)" "" "ipf-prep-formats(5) has the same groups"
sed -n 's/^\.It Cm \([a-z0-9-]*\)$/\1/p' "$BUILD/man/ipf-prep-formats.5" |
	sort >written
is "$(comm -23 listed written | tr '\n' ' ')" "" "ipf-prep-formats(5) describes each of them"
status=0
"$prep" --list >/dev/full 2>"$ERR" || status=$?
status_is 1 "--list > /dev/full ends with 1"

# ---- ipf-prep SOURCE --help ----
run "$prep" azure --help
status_is 0 "azure --help ends with 0"
contains "$(cat "$OUT")" "usage: ipf-prep azure [OPTION…] [FILE…]" "azure --help is about that source"
contains "$(cat "$OUT")" "CSV with a" "azure --help has the layout of its files"
run "$prep" nothing --help
contains "$(cat "$OUT")" "usage: ipf-prep [OPTION…] SOURCE" "an unknown source has the general help"
# Options are listed for the sources taking them.
: >wrong
while read -r source; do
	run "$prep" "$source" -h
	cp "$OUT" help
	sed 's/…/./g' help | awk 'length > 79 { print "'"$source"': too long: " $0 }' >>wrong
	for option in "--from 1s" "--to 1s" "--sub-agents drop" "--turns 2" "--wait 2s" "--hit-rate 0.5" "--groups 2" "--content a.csv" "--salt x" "--scale 2" \
		--dequantise "--field prompt=/x" "--failed drop" "--preset vllm-sharegpt"; do
		refused=listed
		# shellcheck disable=SC2046,SC2086 # an option and its argument, perhaps a file
		"$prep" "$source" $(case $source in synthetic | prefix | canaries) ;; *) echo a.csv ;; esac) $option -q -n 2 2>&1 >/dev/null |
			grep -v "has sessions only with" | grep -q "^ipf-prep: ${option%% *}: format $source " && refused=missing
		told=missing
		grep -q -- "^      ${option%% *}\b" help && told=listed
		[ $refused = $told ] || echo "$source $option: $told, should be $refused" >>wrong
	done
done <<-END
	$(grep -v -x -e jsonl -e csv listed)
END
is "$(cat wrong)" "" "the help of each source lists the options that it takes"

if command -v script >/dev/null; then
	status=0
	timeout 120 script -qec "$prep sharegpt" /dev/null >"$OUT" 2>&1 || status=$?
	status_is 2 "standard input from a terminal ends with 2"
	contains "$(cat "$OUT")" "expected a FILE, or data on standard input" "ipf-prep says that it expects a file or data"
else
	skip "standard input from a terminal" "no script(1) here"
fi

run "$prep" jsonl a.jsonl --input-tokens histogram:no-such-file -o out.trace
status_is 1 "a histogram that is not there: status 1"
complains ipf-prep "no-such-file: cannot open" "ipf-prep names the missing histogram"
printf '# tokens\n3 1\n5 many\n' >lengths
run "$prep" jsonl a.jsonl --output-tokens histogram:lengths -o out.trace
status_is 3 "a file that is not a histogram: status 3"
complains ipf-prep 'lengths:3: expected a number such as 2 or -0.5, got "many"' "ipf-prep names the line of a wrong histogram"
printf '7 1\n' >lengths
run "$prep" jsonl a.jsonl --output-tokens histogram:lengths
is "$(body "$OUT" | jq .output_tokens)" 7 "a histogram gives its lengths"
is "$(tail -1 "$OUT" | jq -r '.end.from[1].file')" lengths "the trailer has the histogram"

# ---- a system message from a file ----
printf 'Be kind.\n' >system.txt
run "$prep" jsonl a.jsonl --system system.txt
is "$(body "$OUT" | jq -r '.messages[0].content')" "Be kind." "--system takes a file"
is "$(tail -1 "$OUT" | jq -r '.end.from[1].file')" system.txt "the trailer has the file of --system"
run "$prep" jsonl a.jsonl --system "Be brief."
is "$(body "$OUT" | jq -r '.messages[0].content')" "Be brief." "--system takes a text"
