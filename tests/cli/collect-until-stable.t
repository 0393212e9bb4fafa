#!/bin/bash
# --until-stable: a run ends when it is stable, and the same records from a file give the same results. IPF_LONG=1 tries twenty seeds.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"
set -o pipefail

# ---- wrong usage ----
for value in 0% 5%,windows=1 5%,window=1 often "5%,"; do
	run "$BIN/ipf-collect" --until-stable "$value" /dev/null
	status_is 2 "--until-stable $value is refused"
	matches "$(head -1 "$ERR")" '^ipf-collect: --until-stable: ' "the error names --until-stable"
done
run "$BIN/ipf-collect" --until-stable 5% a.records b.records
status_is 2 "several inputs are refused"
stderr_contains "--until-stable: expected the records of one client, got 2 inputs" "--until-stable says how many inputs it got"

# ---- live, in virtual time: when a run is stable follows by arithmetic ----
twin sim.twin step_base_ns=2000000 step_per_sequence_ns=0 step_jitter=0.05
ipf-prep synthetic -n 4000 --input-tokens 20 --output-tokens uniform:4-12 -q -o run.trace
# Standard error of the three programs in run.err.
live() { # LIMIT FOR COMMAND…: run.results; $statuses
	: >run.err
	ipf-sched -q closed:users=8,for="$2" constant:rate=10,for=1s -t run.trace 2>>run.err |
		"${@:3}" -m sim -t run.trace 2>>run.err |
		"$BIN/ipf-collect" --until-stable "$1" -o run.results 2>>run.err
	statuses="${PIPESTATUS[*]}"
}
live 50%,windows=2,window=300ms 100s ipf-twin predict sim.twin
is "$statuses" "0 0 0" "a pipeline that ends when stable succeeds"
matches "$(cat run.err)" '^ipf-collect: stable from .* \(--until-stable 50%,windows=2,window=300ms\): 2 windows of 300 ms agree$' "ipf-collect says when the run was stable"
is "$(grep -vc '^ipf-collect: ' run.err)" 0 "no other program of the pipeline has messages"
yes_if "the results are whole" whole run.results
tail -1 run.results >trailer
is "$(jq -c '[.end | has("incomplete"), has("not_stable")]' trailer)" '[false,false]' "results of a stable run are not called incomplete"
is "$(jq -c '.end.stopped.until_stable | [.tolerance, .windows, .window_ns, .stage, .to_ns - .from_ns, (.requests_per_s | length), (.e2e_ns | length), .at_ns >= .to_ns + 30000000]' trailer)" \
	'[0.5,2,300000000,0,600000000,2,2,true]' "the trailer says what agreed"
is "$(jq -c '.end.stopped.until_stable | (.requests_per_s | max / min <= 1.5), (.e2e_ns | max / min <= 1.5), .requests_drift <= 0.5, .e2e_drift <= 0.5' trailer | sort -u)" \
	true "windows that agree are within the limit"
check() { # NAME: status and detail of a check of the verdict in the trailer
	jq -r --arg name "$1" '.end.verdict.checks[] | select(.name == $name) | "\(.status) \(.detail)"' trailer
}
contains "$(check load_delivered)" "in closed loop" "the verdict counts what was sent" # exact: the run is virtual
contains "$(check enough_samples)" "stable from " "the verdict says why the run ended"
is "$(check load_delivered | grep -c 'part of the run is missing')" 0 "the verdict does not miss a part of the run" # exact: the run is virtual
is "$(check enough_samples | grep -c 'has no requests')" 0 "the verdict does not miss a stage that did not begin"

# The windows' requests are in the rows.
body run.results | jq -c 'select(has("n"))' >rows
is "$(jq -s -c --slurpfile t trailer '$t[0].end.stopped.until_stable as $u | . as $rows
	| [range(2) | ($u.from_ns + . * $u.window_ns) as $from | $rows | map(select(.ok and .end_ns >= $from and .end_ns < $from + $u.window_ns)) | length]
	== ($u.requests_per_s | map(. * 0.3 + 0.01 | floor))' rows)" true "the throughput of the windows is that of the rows"

# The report.
run ipf-report -f json run.results
status_is 0 "ipf-report reads a run that ended when stable"
is "$(jq -c --slurpfile t trailer '[.run.stopped == $t[0].end.stopped, (.stages[0].window_s * 1e9 - $t[0].end.stopped.until_stable.to_ns | fabs < 5e7), .stages[0].requests.scheduled]' "$OUT")" \
	'[true,true,null]' "the report ends the stage with the windows that agree"
contains "$(jq -r '.verdict.checks[3].detail' "$OUT")" "ended when stable (--until-stable): 2 windows of 300 ms agree within 50 %" "the report says that the run ended when stable"

# ---- live, against a server: the schedule has an hour, and the run ends before ----
server_start --step-base 2ms --step-per-seq 0
live 50%,windows=2,window=300ms 1h ipf-fire -u "$URL"
is "$statuses" "0 0 0" "programs of the pipeline succeed when a run against a server is stable"
matches "$(cat run.err)" '^ipf-collect: stable from .* \(--until-stable 50%,windows=2,window=300ms\): 2 windows of 300 ms agree$' \
	"ipf-collect says when a run against a server was stable"
is "$(grep -vc '^ipf-collect: ' run.err)" 0 "no other program has messages in a run against a server"
yes_if "results of a stable run against a server are whole" whole run.results
is "$(tail -1 run.results | jq -c '[.end | has("incomplete"), has("not_stable"), has("stopped")]')" '[false,false,true]' \
	"the trailer says that a run against a server was stopped"
server_stop

# ---- an open loop, of which the schedule is known ----
ipf-sched -q constant:rate=100,for=30s -t run.trace -o open.sched
ipf-twin predict -q sim.twin -m sim -t run.trace open.sched |
	"$BIN/ipf-collect" -q --until-stable 50%,windows=2,window=500ms -o run.results
is "$?" 0 "an open loop ends, too"
tail -1 run.results >trailer
is "$(jq -r '.end | has("stopped")' trailer)" true "an open loop ends when it is stable"
contains "$(check load_delivered)" "requests until the run was ended on purpose" "the verdict knows that the schedule was longer" # exact: the run is virtual
is "$(jq -r '.end.verdict.checks[0] | has("scheduled")' trailer)" false "the verdict does not count the rest of the schedule"
contains "$(ipf-report run.results | tr -s ' \n' ' ')" "requests until the run was ended on purpose" "the report says that the open loop was ended on purpose"

# ---- the same from a file ----
ipf-sched -q closed:users=8,for=4s -t run.trace | ipf-twin predict -q sim.twin -m sim -t run.trace -o whole.records
file() { "$BIN/ipf-collect" -q --until-stable 50%,windows=2,window=300ms "$@"; }
file whole.records -o file.results && ok "a file of records stops there, too"
cat whole.records | file -o pipe.results
same pipe.results file.results "a pipe gives the same bytes as a file"
lines=$(tail -1 file.results | jq '.end.from[0].lines')
head -$((lines + 1)) whole.records >cut.records
file cut.records -o cut.results && ok "records after the end are not read"
same cut.results file.results "records after the end change nothing"
head -$lines whole.records >short.records
run "$BIN/ipf-collect" --until-stable 50%,windows=2,window=300ms short.records -o short.results
status_is 3 "a line less, and it is not known: the records are cut"
is "$(tail -1 short.results | jq -c '.end | [has("stopped"), has("not_stable")]')" '[false,true]' "the trailer of records cut before the end says nothing of stability"
between "$lines" 10 "$(($(wc -l <whole.records) - 3))" "the file goes on after the end of the stable run"
run "$BIN/ipf-collect" whole.records -o all.results
is "$(tail -1 all.results | jq -c '.end | [has("stopped"), has("not_stable"), .from[0].lines]')" "[false,false,$(($(wc -l <whole.records) - 2))]" \
	"ipf-collect without --until-stable reads all records"

# ---- never stable: records whose answers take 2 % longer in each window ----
jq -c 'select(.n != null)' whole.records | jq -s -c 'sort_by(.start_ns)[0:400] | to_entries[] | .key as $k | .value | (pow(1.02; $k / 10)) as $slower
	| . + {n: $k, start_ns: (100e6 * $k | floor)} | .end_ns = .start_ns + (50e6 * $slower | floor) | .ready_ns = .start_ns
	| .first_byte_ns = .end_ns | .sent_ns = .start_ns | .reads = [[.end_ns, (.body | utf8bytelength), .end_ns]]' >drift.rows
seal <(head -1 whole.records) drift.rows >drift.records
run "$BIN/ipf-collect" --until-stable 5%,window=1s,windows=3 drift.records -o drift.results
status_is 0 "latency that drifts by 2 % in each window: the whole file is read"
matches "$(cat "$ERR")" '^ipf-collect: --until-stable 5%,window=1s,windows=3: not reached: .*latency' "ipf-collect says that the run was not stable"
tail -1 drift.results >trailer
matches "$(jq -r '.end.not_stable.reason' trailer)" '^latency (may drift by|of the last 3 windows differs by) [0-9.]* %|^a drift of latency cannot be excluded' "the trailer says why"
matches "$(check enough_samples)" '^DOUBTFUL .*not reached: .*latency' "the verdict doubts a run that was not stable"
contains "$(ipf-report drift.results | tr -s ' \n' ' ')" "not stable at its end (--until-stable): $(jq -r '.end.not_stable.reason' trailer)" "the report says that the run was not stable"
is "$(ipf-report -f json drift.results | jq -c --slurpfile t trailer '.run.not_stable == $t[0].end.not_stable')" true "JSON says that the run was not stable"

# Whether a run becomes stable is up to the machine as well: those that do not must say why, and end at the end of their schedule.
[ -n "$IPF_LONG" ] || { skip "twenty seeds, live and from a file" "IPF_LONG=1 runs them"; exit; }
server_start --step-base 2ms
seed_run() { # SEED: live, with a copy of the records
	ipf-sched -q --seed "$1" closed:users=16,for=60s -t run.trace | ipf-fire -q -u "$URL" -m sim -t run.trace | tee "$1.records" |
		"$BIN/ipf-collect" -q --until-stable 20%,window=1s -o "$1.live"
	"$BIN/ipf-collect" -q --until-stable 20%,window=1s "$1.records" -o "$1.file"
}
agree=0 stable=0 explained=0
for first in 1 6 11 16; do
	for seed in $first $((first + 1)) $((first + 2)) $((first + 3)) $((first + 4)); do seed_run $seed & done
	for job in $(jobs -p); do [ "$job" = "$SERVER" ] || wait "$job"; done
done
for seed in $(seq 20); do
	cmp -s "$seed.live" "$seed.file" && agree=$((agree + 1))
	case $(tail -1 "$seed.live" | jq '.end | has("stopped"), (.not_stable.reason // "" | length > 0)' | tr '\n' ' ') in
	"true false ") stable=$((stable + 1)) ;;
	"false true ") explained=$((explained + 1)) ;;
	esac
done
echo "# $stable of 20 seeds were stable before their time; live and from a file, $agree of 20 ended at the same line"
between $agree 19 20 "an offline look at the same records ends at the same place"
is $((stable + explained)) 20 "every run is stable before its time or says why not"
between $stable 10 20 "most of them are"
