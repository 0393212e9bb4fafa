#!/usr/bin/env bash
# A simulated server that changes: its pace, its clock, and its answers to scrapes.
. "$TESTS/tap.sh"

ask() { curl -s -m 3600 -o "$OUT" "$URL/v1/completions" -d "{\"prompt\":\"x\",\"max_tokens\":$1}"; }
took_ms() { jq -s ".[$1] | (.last_token_ns - .arrival_ns) / 1e6" log.ndjson; }

# ---- pace ----
# A device drawing 1000 W while it computes counts the length of the steps, in microseconds, whatever the machine does.
computed_us() { curl -s "$URL/dcgm/metrics" | sed -n 's/^DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{.*} //p'; }
server_start --log log.ndjson --step-base 10ms --step-per-seq 0 --prefill-rate 1000M --warm-up 600ms:20 --gpus 1 --gpu-power 0:1000
ask 5
wait_for test -s log.ndjson
at_least "$(took_ms 0)" 620 "warm-up: three steps of 10 ms take twenty times as long, and then two do not"
before=$(computed_us)
ask 5
is $(($(computed_us) - before)) 50000 "five steps after the warm-up take 10 ms each"
lines_are() { [ "$(wc -l <log.ndjson)" = "$1" ]; }
wait_for lines_are 2
at_least "$(took_ms 1)" 50 "five steps after the warm-up are never early"
rm log.ndjson
server_start --log log.ndjson --step-base 10ms --step-per-seq 0 --drift 50%/100ms
ask 12
wait_for test -s log.ndjson
# 10 ms, and each step 2^(t/100ms) times as long: the sum of twelve such steps
at_least "$(took_ms 0)" "$(awk 'BEGIN { while (n++ < 12) t += 10 * 2 ^ (t / 100); print t - 1 }')" "--drift makes each step longer than the one before"
rm log.ndjson
server_start --log log.ndjson --step-base 10ms --step-per-seq 0 --jitter 10% --pause 100ms/1ms
ask 6
wait_for test -s log.ndjson
# six steps with a pause each, whose sum the seed decides: 456 ms
at_least "$(took_ms 0)" 300 "a server that pauses in each step"
for wrong in "--jitter 2" "--pause 50ms" "--pause 50ms/0" "--drift 2" "--drift 2%/0" "--warm-up 5s" "--warm-up 5s:0" "--clock-offset x" "--metrics-mode x"; do
	# shellcheck disable=SC2086 # two words
	run "$BIN/ipf-sim" $wrong
	status_is 2 "$wrong is refused"
done

# ---- clock ----
date_of() { curl -s -o /dev/null -D - "$@" | tr -d '\r' | sed -n 's/^Date: //p'; }
# Is the Date of an answer so many seconds off? The server made it between two readings of this clock.
dated() { # SECONDS TEXT CURL-ARGUMENT…
	local off=$1 text=$2 before after date
	before=$(date +%s) # exact: the Date lies between
	date=$(date_of "${@:3}")
	after=$(date +%s) # exact: the Date lies between
	between "$(date -d "$date" +%s)" $((before + off)) $((after + off)) "the Date is off as asked: $text" # exact: the Date lies between
}
is "$(date_of "$URL/health")" "" "a server without --clock-offset sends no Date"
server_start --clock-offset -1h
for path in health v1/models nix metrics; do
	dated -3600 "the Date of /$path is an hour behind" "$URL/$path"
done
for body in '{"prompt":"x","max_tokens":2,"stream":true}' '{"prompt":"x","max_tokens":2}'; do
	dated -3600 "the Date of an answer is an hour behind: $body" "$URL/v1/completions" -d "$body"
done
dated -3600 "the Date of another API is an hour behind" "$URL/tgi/generate" -d '{"inputs":"x","parameters":{"max_new_tokens":2}}'
server_start --clock-offset 2m
dated 120 "the Date is two minutes ahead" "$URL/health"

# ---- scrapes ----
scrape() { code=$(curl -s -m "${1:-120}" -o scraped -w '%{http_code}' "$URL/metrics"); status=$?; }
server_start --metrics-mode hang
scrape 1
is "$status $code" "28 000" "hang: no answer"
ask 2
is "$(jq .usage.completion_tokens "$OUT")" 2 "requests are answered nevertheless"
server_start --metrics-mode die
scrape
is "$status $code" "18 200" "die: the connection is closed in the middle"
server_start --metrics-mode garbage --gpus 1
scrape
matches "$(head -1 scraped)" '^<!doctype' "metrics are garbage"
curl -s -o scraped "$URL/dcgm/metrics"
matches "$(head -1 scraped)" '^<!doctype' "metrics of devices are garbage"
server_start --metrics-mode huge
scrape
between "$(wc -c <scraped)" 67108864 67200000 "huge: 64 MiB"
server_start --metrics-mode control
scrape
is "$(grep -ac "$(printf '\033')" scraped) $(grep -ac '^vllm:num_requests_running{engine="0"' scraped)" "2 1" "control characters among the good ones"
server_start --metrics-mode fail
scrape
is "$status $code" "0 500" "fail: a status"
