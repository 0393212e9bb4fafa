#!/bin/bash
# The manual pages' EXAMPLES, run as they stand there, one page after another in one folder; only the server's address is replaced
# and the load is cut to a second.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/s3.sh"

# A reader's own files: data sets, a trace of more than half an hour, another client's results, a descriptor, a key, a Pushgateway, a bucket.
cp "$ROOT/examples/chat.json" ShareGPT_V3.json
awk 'BEGIN { print "TIMESTAMP,ContextTokens,GeneratedTokens"
	for (i = 0; i < 120; i++) printf "2024-06-11 09:%02d:%02d.%07d,%d,%d\n", i / 2, i % 2 * 30, 1234567 + i, 20 + i, 10 + i % 7 }' \
	>AzureLLMInferenceTrace_conv.csv
jq -c '.[] | {question: .conversations[0].value}' ShareGPT_V3.json >questions.jsonl
jq -c '.[] | {query: .conversations[0].value, positive: ["yes"], negative: ["no", "never"]}' ShareGPT_V3.json >askubuntu.jsonl
cp "$ROOT/lib/api/apis/openai-chat.json" mine.json
cp "$TESTS/data/tokenizer/bytelevel.json" tokenizer.json
echo secret >llm.key
server_start --step-base 1ms
export URL
store_for_uploads
peer_start "$TESTS/helpers/push_target.py" push.log

# The descriptor in ipf-api(5) that says the least, against a server for which it is right.
awk '/^\{$/ { text = "" } { text = text $0 "\n" } /^\}$/ && text ~ /"name": "least"/ { printf "%s", text; exit }' "$ROOT/lib/api/ipf-api.5" >least.json
ipf-prep -q sharegpt ShareGPT_V3.json -n 5 --output-tokens 4 -o least.trace
ipf-sched -q burst:n=5 -t least.trace -o least.sched
for end in '{"eof": true}' '{"when": ["/choices"]}' '{"when": ["/nothing"]}'; do
	jq --argjson mark "$end" '.response_whole["end"] = $mark' least.json >least.end.json
	ipf-fire -q -u "$URL" --api ./least.end.json -t least.trace least.sched -o least.records --force
	ipf-collect -q -t approx least.records | jq -c 'select(.n != null) | [.ok, .output_tokens > 0, .error.text[:50]]' | sort -u >least.rows
	case $end in
	*nothing*) is "$(cat least.rows)" '[false,true,"expected a value at end.when of the API descriptor"]' "ipf-api(5): the error names the place that does not fit" ;;
	*) is "$(cat least.rows)" '[true,true,null]' "ipf-api(5): the least descriptor, with $end" ;;
	esac
done

examples_of() { # PAGE: each in a file example.N
	rm -f example.*
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$1" | awk '
		/^\.Dl / { n++; sub(/^\.Dl /, ""); print > ("example." n); next }
		/^\.Bd -literal/ { n++; inside = 1; next }
		/^\.Ed/ { inside = 0 }
		inside { print > ("example." n) }'
}

for program in prep prep-anonymize sched fire collect report report-compare report-export report-definitions twin whole; do
	case $program in
	prep-anonymize)
		for ((i = 0; i < 60; i++)); do
			echo "{\"messages\": [{\"role\": \"user\", \"content\": \"Say hello $((i % 3)) times.\"}], \"reply\": \"hello\", \"time\": $i, \"user\": \"u$((i % 7))\"}"
		done >production.jsonl
		ipf-prep sharegpt ShareGPT_V3.json -q -n 20 -o monday.trace.zst
		cp monday.trace.zst tuesday.trace.zst
		;;
	sched) ipf-prep azure AzureLLMInferenceTrace_conv.csv -q -o azure.trace.zst ;;
	collect)
		ipf-sched poisson:rate=20,for=1s -t chat.trace.zst -q -o chat.sched
		ipf-fire -q -u "$URL" -m sim -t chat.trace.zst chat.sched -o chat.records.zst
		ipf-collect -q chat.records.zst -o live.results.zst
		;;
	report)
		ipf-fire -q -u "$URL" -m sim -t chat.trace.zst chat.sched | ipf-collect -q -o east.results.zst
		ipf-fire -q -u "$URL" -m sim -t chat.trace.zst chat.sched | ipf-collect -q -o west.results.zst
		cp east.results.zst old.results.zst
		cp west.results.zst new.results.zst
		;;
	twin)
		cp chat.trace.zst t.zst
		twin ramp.twin step_base_ns=5000000 step_per_sequence_ns=300000 most_sequences=8
		ipf-sched -q poisson:rate=20,for=20s -t t.zst | ipf-twin predict -q ramp.twin -t t.zst | ipf-collect -q --events -o ramp.results.zst
		cp ramp.results.zst run.results.zst
		;;
	esac
	page=$ROOT/ipf-${program%%-*}/ipf-$program.1
	[ -f "$page" ] || page=$page.in
	[ $program != whole ] || page=$ROOT/lib/ipf.7
	examples_of "$page"
	count=$(find . -name 'example.*' | wc -l)
	between "$count" 2 20 "$(basename "$page") has $count examples"
	for ((i = 1; i <= count; i++)); do
		shorter='s/zzz/zzz/'
		[ $program = sched ] || shorter='s/for=[0-9]*[sm]/for=1s/g;s/replay:speed=2 /replay:speed=3600 /'
		sed -e 's/^\$ //' -e 's/\\e$/\\/' -e 's/\\-/-/g' -e "s,http://localhost:8000,$URL,g" -e "s,http://localhost:9091,$PEER_URL/metrics,g" \
			-e "s,s3://my-runs,s3://plain," -e "s,127.0.0.1:9464,127.0.0.1:0,g" -e "s,--linger 30s,--linger 100ms," -e "$shorter" "example.$i" >"example.$i.sh"
		run bash -e -u -o pipefail "example.$i.sh"
		case $program/$(cat "example.$i.sh") in
		report/*--strict* | report-compare/*) # exact: judged, whatever the verdict of a run on a busy machine is
			matches "$status" '^[04]$' "$(basename "$page"): $(head -1 "example.$i.sh" | cut -c 1-50) judges" ;;
		*) status_is 0 "$(basename "$page"): $(head -1 "example.$i.sh" | cut -c 1-70)" ;;
		esac
	done
done

# ---- --help ends with examples, exit statuses and the page to read ----
for program in prep sched fire collect report twin sim; do
	ipf-$program --help | tail -9 >help
	is "$(grep -c "^  ipf-.*$program\|| ipf-$program" help | sed 's/[3-9]/2/') $(tail -1 help)" "2 Manual: man ipf-$program; overview: man ipf" "ipf-$program --help ends with two examples and the page"
done
