#!/bin/bash
# --dequantise and --scale: the properties they must keep, on a trace with a coarse clock and sessions.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep

# 300 sessions of two turns; a timestamp every three seconds, ten requests each
awk 'BEGIN { for (t = 0; t < 60; t++) for (k = 0; k < 5; k++) for (turn = 0; turn < 2; turn++)
	printf "{\"timestamp\": %d, \"input_length\": 520, \"output_length\": 8, \"hash_ids\": [%d, %d], \"session_id\": \"s%d-%d\"}\n", t * 3000, k, 100 + t, t, k }' >m.jsonl

run "$prep" mooncake m.jsonl --dequantise -o d.trace
status_is 0 "arrivals are spread"
contains "$(head -1 d.trace)" '"dequantised":' "the header says that arrivals are spread"
body d.trace | jq -r '[.id, .at_ns, .session] | @tsv' | sort -n >spread
is "$(wc -l <spread)" 600 "no request is lost by --dequantise"
is "$(awk -F '\t' '{ tick = int(($1 - 1) / 10) * 3e9; if ($2 < tick || $2 >= tick + 3e9) wrong++ } END { print wrong + 0 }' spread)" 0 \
	"arrivals lie between their timestamp and the next"
is "$(awk -F '\t' 'NR > 1 && $2 < last { wrong++ } { last = $2 } END { print wrong + 0 }' spread)" 0 "arrivals keep their order"
"$prep" stat -f json d.trace >stat.json
is "$(jq '.arrivals.cv > 0.6 and .arrivals.cv < 1.4' stat.json)" true "gaps vary like those of random arrivals"
run "$prep" mooncake m.jsonl --dequantise --seed 2
is "$(sed -e 1d -e '$d' "$OUT" | jq -r .at_ns | sort -n | head -3 | tr '\n' ' ' | grep -c "$(cut -f 2 spread | sort -n \
	| head -1)")" 0 "another seed draws other arrivals"

for factor in 0.3 2.5; do
	run "$prep" mooncake m.jsonl --scale $factor -o s.trace
	status_is 0 "a trace times $factor"
	body s.trace | jq -r '[.session, .turn, .id, .at_ns] | @tsv' >scaled
	is "$(cut -f 1 scaled | sort | uniq -c | awk '$1 != 2' | wc -l)" 0 "sessions are whole"
	is "$(awk -v f=$factor 'END { n = NR / 600; print (n > f * 0.85 && n < f * 1.15) }' scaled)" 1 "a trace times $factor has about as many times the sessions"
	is "$(cut -f 3 scaled | sort | uniq -d | wc -l)" 0 "no id occurs twice in a trace times $factor"
	is "$(awk -F '\t' '$2 == 0 { if ($4 < last) wrong++; last = $4 } END { print wrong + 0 }' scaled)" 0 "sessions of a trace times $factor are in the order of arrival"
	"$prep" stat -f json s.trace >stat.json
	is "$(jq '.sharing.hit_rate > 0.9' stat.json)" true "prompts share as they did"
done
