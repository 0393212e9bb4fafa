#!/bin/bash
# Shards of a schedule: a part is never reported as the whole, nor a shard twice.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

# Clients in virtual time, as if they had measured: all begin at the same time, and deliver their load. (sched-shard.t has clients at a server.)
twin server.twin step_base_ns=1000000 step_per_sequence_ns=0 step_jitter=0.1
measured() { # RECORDS RUN: without the mark of a prediction; each run has a time of its own
	head -1 "$1" | jq -c 'del(.predicted) | .clock = "CLOCK_MONOTONIC"' | sed "s/\"t0_unix_ns\":[0-9]*/\"t0_unix_ns\":1790000$(printf '%03d' "'$2")000000000/"
	tail -n +2 "$1"
}
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 3 -n 8 -q -o chat.trace

# NAME.results of a client, by shard K of N of the stages.
client() { # NAME K/N STAGE…
	local name=$1 shard=$2
	shift 2
	ipf-sched "$@" --shard "$shard" -t chat.trace -q -o "$name.sched" &&
		ipf-twin predict -q server.twin --seed "$(printf '%d' "'$name")" -t chat.trace "$name.sched" -o "$name.virtual" && measured "$name.virtual" "$name" >"$name.records" &&
		ipf-collect -q "$name.records" -o "$name.results"
}
clients() { # PREFIX N STAGE…: PREFIX1.results … PREFIXN.results, at the same time
	local prefix=$1 count=$2 k pids=()
	shift 2
	for k in $(seq "$count"); do
		client "$prefix$k" "$k/$count" "$@" &
		pids+=($!)
	done
	for k in "${pids[@]}"; do wait "$k" || not_ok "client of $prefix"; done
}
load='.verdict.checks[] | select(.name == "load_delivered")' # exact: virtual time
report() { # RESULTS…: report.json
	run ipf-report -f json "$@" -o report.json
}

clients a 2 constant:rate=40,n=20
clients b 2 constant:rate=40,n=20
clients c 3 constant:rate=60,n=21 burst:n=4

# ---- the number of a part ----
is "$(for file in a2.sched a2.records; do head -1 $file | jq -c .shard; done)" '{"index":2,"of":2}
{"index":2,"of":2}' "the header of the records has the shard of the schedule"
is "$(head -1 a2.results | jq -c .shards)" '{"of":2,"present":[2],"missing":[1]}' "the header of results has the shard of the schedule"
run ipf-collect a1.records a2.records -o a.results
status_is 0 "shards are collected together"
stderr_is "" "complete shards give no message"
is "$(head -1 a.results | jq -c .shards)" '{"of":2,"present":[1,2]}' "the header of merged results has both shards"
is "$(tail -1 a.results | jq -c '.end.verdict.checks[0] | [.scheduled, .started]')" "[20,20]" "the verdict of merged results has the whole load"

# ---- all of them ----
for files in "a1.results a2.results" "a2.results a1.results" a.results; do
	# shellcheck disable=SC2086 # several files
	report $files
	status_is 0 "ipf-report $files ends with 0"
	is "$(jq -c '[.total.requests.scheduled, .total.requests.started, .total.rate.offered]' report.json)" "[20,20,40]" "$files are one run"
	is "$(jq -r '.verdict.checks[0].detail' report.json | grep -c 'missing')" 0 "$files lack no shard"
	isnt "$(jq -r "$load | .status" report.json)" INVALID "$files have a valid verdict"
done
report a.results <(ipf-collect -q b2.records b1.records)
status_is 0 "two runs of a schedule, each collected from all its shards, are repeats"
is "$(jq -c '[.total.requests.scheduled, .total.requests.started, .total.rate.offered]' report.json)" "[40,40,40]" "runs of two shards each have the same load"

# ---- some of them ----
missing() { # PRESENT MISSING SENTENCE RESULTS…
	local present=$1 missing=$2 sentence=$3
	shift 3
	report "$@"
	status_is 0 "ipf-report $* ends with 0"
	is "$(jq -c '.run.shards' report.json)" "$(jq -nc --argjson p "$present" --argjson m "$missing" '{of: ($p + $m | length), present: $p, missing: $m}')" "the report says which there are"
	is "$(jq -c "[.verdict.status, ($load | .status)]" report.json)" '["INVALID","INVALID"]' "a part of a run is INVALID" # exact: virtual time
	contains "$(jq -r "$load | .detail" report.json)" "$sentence: these are the figures of a part of the run" "the verdict says which part of the run it is"
	run ipf-report "$@"
	contains "$(tr -s ' \n' ' ' <"$OUT")" "$sentence" "the text says which part of the run it is"
	run ipf-report --strict -f csv "$@"
	status_is 4 "--strict refuses it"
}
missing '[1]' '[2]' "shard 2 of 2 is missing" a1.results
missing '[2]' '[1]' "shard 1 of 2 is missing" a2.results
missing '[1,3]' '[2]' "shard 2 of 3 is missing" c1.results c3.results
missing '[2]' '[1,3]' "shards 1 and 3 of 3 are missing" c2.results
run ipf-collect c3.records c1.records -o part.results
status_is 0 "some shards are collected together"
complains ipf-collect "shard 2 of 3 is missing" "ipf-collect says which shard is missing"
head -n 4 c1.records >cut.records
run ipf-collect -q cut.records c3.records -o cut.results
status_is 3 "the records of a shard were cut"
is "$(tail -1 cut.results | jq -r .end.incomplete)" "shard 1 of 3, on $(uname -n): cut after 3 good lines: the trailer is missing" \
	"the results name shard and host"
is "$(tail -1 part.results | jq -r .end.verdict.status)" INVALID "the verdict in results of some shards is INVALID" # exact: virtual time
missing '[1,3]' '[2]' "shard 2 of 3 is missing" part.results
report part.results c2.results
status_is 0 "the missing one beside it"
is "$(jq -c '[.total.requests.scheduled, .total.requests.started, .run.shards]' report.json)" '[25,25,{"of":3,"present":[1,2,3]}]' "the missing shard makes the run whole"
run ipf-sched sweep:from=part.results,for=1s
status_is 3 "a sweep does not take a part"
complains ipf-sched "part.results: shard 2 of 3 is missing" "ipf-sched says which shard is missing"

# ---- one too often, or one of another schedule ----
refused() { # PART COMMAND…
	local part=$1
	shift
	run "$@"
	status_is 3 "$* ends with 3"
	complains "$(basename "$1")" "$part" "$* has one message that names both files"
	is "$(wc -c <"$OUT")" 0 "$* writes nothing"
}
cp a1.results copy.results
refused "a1.results: is shard 1 of 2, as a1.results is" ipf-report a1.results a1.results
refused "copy.results: is shard 1 of 2, as a1.results is" ipf-report a1.results copy.results
refused "b1.results: is shard 1 of 2, as a1.results is" ipf-report a1.results a2.results b1.results
refused "b1.records: is shard 1 of 2, as a1.records is" ipf-collect a1.records b1.records
refused "a1.results: is shard 1 of 2, but a.results is no shard" ipf-report a.results a1.results
refused "a.results: is no shard, but a1.results is shard 1 of 2" ipf-report a1.results a.results
refused "a.results: has the shards of a.results" ipf-report a.results a.results
refused "c2.results: is shard 2 of 3, but a1.results is shard 1 of 2" ipf-report a1.results c2.results
other() { # SENTENCE STAGE… [OPTION…]
	local sentence=$1
	shift
	client other 2/2 "$@"
	refused "other.results: is shard 2 of 2 of another schedule than a1.results: $sentence" ipf-report a1.results other.results
	refused "other.records: is shard 2 of 2 of another schedule than a1.records: $sentence" ipf-collect a1.records other.records
}
other "its seed differs" constant:rate=40,n=20 --seed 7
other "its stages differ" constant:rate=41,n=20
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 4 -n 8 -q -o other.trace
mv chat.trace kept.trace && cp other.trace chat.trace
other "its trace differs" constant:rate=40,n=20
mv kept.trace chat.trace

# ---- shards without requests, and stages going round ----
clients few 3 constant:rate=20,n=2
report few1.results few2.results
is "$(jq -c '[.verdict.checks[0].scheduled, .run.shards]' report.json)" '[2,{"of":3,"present":[1,2]}]' "a shard that has no requests is not missed"
report few1.results few3.results
is "$(jq -c '.run.shards.missing' report.json)" '[2]' "a shard that has requests is missed"
report few3.results few2.results few1.results
status_is 0 "the empty one may come along"
isnt "$(jq -r "$load | .status" report.json)" INVALID "a shard without requests may come first"
clients loop 2 closed:users=4,for=200ms
missing '[1]' '[2]' "shard 2 of 2 is missing" loop1.results
report loop1.results loop2.results
isnt "$(jq -r "$load | .status" report.json)" INVALID "a closed loop in two shards is whole"

# ---- shards that did not run together ----
later() { # FILE SECONDS: later.results
	plain "$1" | sed '1d;$d' >rows
	plain "$1" | head -1 | jq -c --argjson s "$2" '.from[0].t0_unix_ns += $s * 1000000000' >header
	seal header rows >later.results
}
later a2.results 60
report a1.results later.results
is "$(jq -r "$load | .status" report.json)" DOUBTFUL "shards one after another are no load of the schedule"
matches "$(jq -r "$load | .detail" report.json)" 'the shards began (1 m|60).* apart, shard 2 last' "the verdict says how far apart shards began, and which one was last"

# One that began a quarter of a second after the other one.
plain a1.results | head -1 | jq '.from[0].t0_unix_ns + 250000000' >late
plain a2.results | head -1 | jq -c --slurpfile late late '.from[0].t0_unix_ns = $late[0]' >header
plain a2.results | sed '1d;$d' >rows
seal header rows >later.results
report later.results a1.results
between "$(jq '.clocks.starts.apart_ns' report.json)" 249999000 250001000 "the report says how far apart shards began" # exact: times that are written
is "$(jq -c '.clocks.starts | [.last, .last_shard]' report.json)" "[0,2]" "the report says which shard began last"
run ipf-report later.results a1.results
matches "$(tr -s ' \n' ' ' <"$OUT")" " starts 250 ms apart by the shards' clocks, shard 2 last, exactly: all ran on one machine" "the text says how far apart shards began"

is "$(jq -r "$load | .status" report.json)" DOUBTFUL "a quarter of a second is much of a run of half a second"
# On one machine, as its boot id says, there is one clock: how far apart they began is exact.
of_machine() { # FILE BOOT-ID TO
	plain "$1" | head -1 | jq -c --arg id "$2" '.from[0].host.boot_id = $id' >header
	plain "$1" | sed '1d;$d' >rows
	seal header rows >"$3"
}
of_machine a1.results one x.results && of_machine later.results one y.results && of_machine later.results two z.results
run ipf-report x.results y.results
matches "$(tr -s ' \n' ' ' <"$OUT")" " clocks one: all shards ran on one machine starts 250 ms apart by the shards' clocks, shard 2 last, exactly: all ran on one machine" \
	"shards on one machine have one clock"
report x.results y.results
is "$(jq -c '.clocks | [.offsets[0].low_ns, .offsets[0].high_ns, .offsets[0].by[0], .starts.at_most_ns == .starts.apart_ns]' report.json)" '[0,0,"machine",true]' \
	"the offset of their clocks is 0"
run ipf-report x.results z.results
is "$(grep -c 'one machine' "$OUT")" 0 "shards on two machines have two clocks"

# A header that is nonsense.
for shard in '{"index":3,"of":2}' '{"index":1,"of":1000000000000}' '{"of":2}' '"1/2"' '{"index":0,"of":2}'; do
	plain a1.results | head -1 | jq -c --argjson shard "$shard" '.from[0].from[0].shard = $shard' >header
	plain a1.results | sed '1d;$d' >rows
	seal header rows >bad.results
	refused "bad.results:1: shard: expected an index" ipf-report bad.results
done

# ---- a run that is no shard, twice ----
ipf-sched constant:rate=40,n=8 -t chat.trace -q -o whole.sched
ipf-twin predict -q server.twin -t chat.trace whole.sched -o whole.virtual
measured whole.virtual w >whole.records
ipf-collect -q whole.records -o whole.results
ipf-collect -q -t approx whole.records -o again.results
for twice in whole again; do
	run ipf-report -q -f json whole.results "$twice.results" -o report.json
	is "$(jq -r '.verdict.checks[0].status' report.json)" INVALID "figures of requests that count twice are no figures ($twice)" # exact: virtual time
	contains "$(jq -r '.verdict.checks[0].detail' report.json)" "$twice.results has requests of the same records as whole.results: they count twice" \
		"the verdict names the records that count twice"
done

# ---- sessions beginning in their middle: each shard has its own lines of the first round ----
jq -n -c 'range(7) as $s | range(1 + $s % 3) as $t | {id: "\($s)/\($t)", session: "\($s)", turn: $t, prompt: "x", output_tokens: 1}' >lines
trace_of lines >chat.trace
clients m 2 closed:users=3,for=200ms,middle
isnt "$(head -1 m1.sched | jq '.stages[1].once')" "$(head -1 m2.sched | jq '.stages[1].once')" "sessions of two shards differ"
report m1.results m2.results
status_is 0 "a closed loop in two shards is reported"
is "$(jq -c '[.stages[] | .name]' report.json)" '["closed primer","closed"]' "a closed loop in two shards has its primer"
