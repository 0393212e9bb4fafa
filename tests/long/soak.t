#!/bin/bash
# Half an hour at half load, then ten minutes at full load with all faults of the simulated server: the programs' needs stay the same, and the
# verdict is right in each minute. SOAK='30 10' are the minutes. SOAK_RATE=N is the full load, requests/s; by default 0.9 of a closed loop's
# here. SOAK_KEEP=FOLDER keeps the results and the plots.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
read -r half_minutes full_minutes <<<"${SOAK:-30 10}"
warm_up=30

# Each mode in a part of the requests; together a quarter of them fail.
faults="--fail status:code=429,retry=1s,share=0.03 --fail status:code=503,share=0.02 --fail never:share=0.01 --fail reset:share=0.02 --fail reset:after=9,share=0.02
	--fail cut:after=5,share=0.03 --fail stall:after=5,pause=1s,share=0.02 --fail slow-headers:delay=500ms,share=0.02 --fail html200:share=0.01 --fail nothing:share=0.01
	--fail whole:share=0.01 --fail garbage:share=0.02 --fail error-inband:after=5,share=0.02 --fail malformed:after=5,share=0.02 --fail bad-utf8:after=5,share=0.01
	--fail empty:share=0.01 --fail split:share=0.03 --fail coalesce:share=0.03 --fail crlf:share=0.02 --fail ping:share=0.02 --fail no-usage:share=0.02 --fail no-done:share=0.02
	--fail unterminated:share=0.02 --fail close:share=0.03 --fail idle-close:delay=200ms,share=0.03 --fail content-length-short:share=0.02 --fail http10:share=0.02 --fail interim:share=0.02"

# A schedule of stages of a minute each, s1, s2, …
schedule() { # MINUTES RATE
	local -a stages=()
	for ((i = 1; i <= $1; i++)); do stages+=("poisson:rate=$2,for=60s,name=s$i"); done
	ipf-prep synthetic -q -n $(($2 * 70)) --input-tokens 100 --output-tokens 60 -o soak.trace
	ipf-sched -q --new-prompts "${stages[@]}" -t soak.trace -o soak.sched
}

# Requests/s a closed loop completes, with the programs as they run below.
full_load() {
	ipf-prep synthetic -q -n 10000 --input-tokens 100 --output-tokens 60 -o full.trace
	ipf-sched -q closed:users=400,for=12s -t full.trace -o full.sched
	ipf-fire -q -u "$URL" -m sim -t full.trace full.sched | ipf-collect -q -o full.results
	ipf-report -f json full.results 2>/dev/null | jq '.total.throughput.requests_per_s * 0.9 | floor'
}

# The pipeline, live, its programs scraped: NAME.records.zst, NAME.results.
soak() { # NAME
	echo "$SERVER" >sim.pid
	sh -c 'echo $$ >fire.pid; exec ipf-fire -q -u "$1" -m sim -t soak.trace --timeout 20s soak.sched' - "$URL" |
		tee >(zstd -q -1 -f -o "$1.records.zst") |
		sh -c 'echo $$ >collect.pid; exec ipf-collect -q --scrape ipf-fire="$1/fire" --scrape ipf-collect="$1/collect" --scrape ipf-sim="$1/sim" \
			--metric "process_*" --every 10s -o "$2.results"' - "http://127.0.0.1:$port" "$1"
	is "${PIPESTATUS[*]}" "0 0 0" "$1: the programs end well"
}

stays_flat() { # NAME MINUTES
	local line
	while read -r line; do
		case $line in
		"not ok "*) not_ok "$1: ${line#not ok }" ;;
		"ok "*) ok "$1: ${line#ok }" ;;
		*) is "$line" "7 figures" "$1: memory and files of three programs, and the lag, are known" ;;
		esac
	done < <(python3 "$TESTS/helpers/flat.py" "$1.results" $warm_up "$2")
}

# The verdict of each minute: load delivered, client headroom, server answers, enough samples. Where others use the processors, the first two may say so.
verdicts() { # NAME MINUTES ANSWERS
	local i
	for ((i = 1; i <= $2; i++)); do ipf-report -f json --stage "s$i" "$1.results" 2>/dev/null | jq -r '.verdict.checks
		| (map(.detail) | join(" ") | test("another process used the core")) as $busy
		| map(if .status == "DOUBTFUL" and $busy then "BUSY" else .status end) | join(" ")'; done | sort | uniq -c | awk '{ $1 = $1; print }' >verdicts
	matches "$(grep -vEc "^[0-9]+ (OK|BUSY) (OK|BUSY) $3 OK\$" verdicts)" '^0$' "$1: the verdict of each minute: $(paste -sd ';' verdicts | sed 's/;/; /g')"
	is "$(awk '{ n += $1 } END { print n }' verdicts)" "$2" "$1: each minute has one"
}

look() { # NAME
	ipf-report plot -q --plot-format png "$1.plots" "$1.results"
	[ -z "${SOAK_KEEP:-}" ] || { mkdir -p "$SOAK_KEEP" && cp -r "$1.plots" "$1.results" "$SOAK_KEEP"; }
	plain "$1.records.zst" >"$1.records"
	python3 "$TESTS/faults/check_run.py" "$1.records" "$1.results" <(ipf-report -f json "$1.results") >"$1.said"
	is "$(tail -n +2 "$1.said")" "" "$1: every request is accounted for, every byte is there"
	echo "# $1: $(head -1 "$1.said" | cut -c 1-800)"
	rm "$1.records"
}

server_start --no-prefix-cache
python3 "$TESTS/helpers/process_metrics.py" fire=fire.pid collect=collect.pid sim=sim.pid >port.file &
stop_at_exit $!
wait_for test -s port.file
port=$(cat port.file)
rate=${SOAK_RATE:-$(full_load)}
echo "# full load: $rate requests/s"

schedule "$half_minutes" "$((rate / 2))"
soak half
stays_flat half "$half_minutes"
verdicts half "$half_minutes" OK
look half

server_stop
# shellcheck disable=SC2086 # options
server_start --no-prefix-cache $faults
schedule "$full_minutes" "$rate"
soak full
stays_flat full "$full_minutes"
verdicts full "$full_minutes" INVALID
look full
