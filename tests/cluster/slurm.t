#!/bin/bash
# examples/slurm on a real Slurm: the clients as an array with one start, a node failing in the middle, in an allocation.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/cluster/slurm.sh"

lacks=$(slurm_lacks)
[ -z "$lacks" ] || skip_all "$lacks is missing"
slurm_start
EXAMPLE=$ROOT/examples/slurm

port=$(slurm_ports 1)
settings() { # STAGE…: settings.sh of a run
	cat >settings.sh <<END
SERVER='ipf-sim --port $port'
URL='http://127.0.0.1:$port'
MODEL=sim
READY=60s
SHARDS=4
TRACE=(synthetic -n 400 --input-tokens 20 --output-tokens 8)
STAGES=($*)
START_IN=6
FIRE=()
COLLECT=()
REPORT=()
SERVER_JOB=(--gres=gpu:1)
CLIENT_JOB=(--nodes=1 --cpus-per-task=3)
REPORT_JOB=()
RUNS=$PWD/runs
PATH=$BIN:\$PATH
END
}
ended() { # FOLDER: is the job of its report over
	[ -z "$(squeue --noheader --jobs="$(cat "$1/report.job")" 2>/dev/null)" ]
}
starts() { # FOLDER: from the first client's start to the last one's, ns
	for file in "$1"/shard-*.records.zst; do plain "$file" | head -1; done | jq -s 'map(.t0_clock_ns) | max - min'
}

# ---- an array with one start ----
settings poisson:rate=40,for=5s
run "$EXAMPLE/submit.sh" settings.sh
status_is 0 "a run is submitted"
folder=$(cat "$OUT")
is "$folder" "$PWD/runs/$(basename "$folder")" "submit prints the folder of the run"
yes_if "the run ends" wait_for ended "$folder"
is "$(cat "$folder"/shard-*.status | tr '\n' ' ')" "0 0 0 0 " "every client ends with 0"
is "$(cat "$folder"/shard-*.node | sort | tr '\n' ' ')" "n0 n1 n2 n3 " "clients run on nodes of their own"
is "$(for file in "$folder"/shard-*.records.zst; do plain "$file" | head -1 | jq -r .host.name; done | sort | tr '\n' ' ')" "n0 n1 n2 n3 " \
	"records name their nodes"
between "$(starts "$folder")" 0 5000000 "clients start within 5 ms of each other"
ipf-prep synthetic -n 400 --input-tokens 20 --output-tokens 8 -q -o trace
ipf-sched poisson:rate=40,for=5s -t trace -q -o whole.sched
is "$(jq '.total.requests.scheduled' "$folder/report.json")" "$(($(wc -l <whole.sched) - 2))" "the report has all requests of the schedule"
is "$(jq -r '[.run.meta.slurm_job, (.run.meta | has("failed"))] | map(tostring) | join(" ")' "$folder/report.json")" "$(basename "$folder") false" \
	"the report has the number of the job"
is "$(find "$folder" -name report.txt -o -name report.html -o -name report.log -o -name results.zst | wc -l)" 4 "the folder has the report in four forms"

# ---- a late client, a server without a start ----
cp "$folder/shard-2.records.zst" first.records.zst
run env SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_JOB_ID="$(basename "$folder")" bash "$EXAMPLE/shard.sh" "$PWD/runs"
status_is 1 "a client that comes late is refused"
contains "$(cat "$ERR")" "--start-at: missed @" "ipf-fire says by how much it missed the start"
same "$folder/shard-2.records.zst" first.records.zst "the records that are there are kept"
settings poisson:rate=40,for=5s
sed -i "s/^SERVER=.*/SERVER='echo no such model; false'/" settings.sh
run "$EXAMPLE/submit.sh" settings.sh
folder=$(cat "$OUT")
yes_if "a run whose server does not start ends" wait_for ended "$folder"
is "$(cat "$folder"/shard-*.status | tr '\n' ' ')" "1 1 1 1 " "clients of a server that does not start fail"
contains "$(cat "$folder/report.log")" "the server ended before it was ready" "the report says that the server ended"
contains "$(cat "$folder/server.log")" "no such model" "the server's log is kept"

# ---- a time limit ----
has_records() { # SHARD: are there some lines of them
	[ "$(plain "$folder/shard-$1.records.zst" 2>/dev/null | wc -l)" -gt 5 ]
}
settings poisson:rate=40,for=60s
run "$EXAMPLE/submit.sh" settings.sh
folder=$(cat "$OUT")
for shard in 1 2 3 4; do yes_if "client $shard sends" wait_for has_records $shard; done
scancel --batch --signal=TERM "$(basename "$folder")" # as before a time limit
yes_if "a run whose clients are stopped ends" wait_for ended "$folder"
is "$(cat "$folder"/shard-*.status | tr '\n' ' ')" "0 0 0 0 " "stopped clients end with 0"
for shard in 1 2 3 4; do yes_if "the records of client $shard are whole" whole "$folder/shard-$shard.records.zst"; done
contains "$(tr -s ' \n' ' ' <"$folder/report.txt")" "interrupted" "the report says that they were interrupted"

# ---- a failing node ----
settings poisson:rate=40,for=12s
run "$EXAMPLE/submit.sh" settings.sh
folder=$(cat "$OUT")
wait_for test -s "$folder/start"
shard=$(grep -lx n2 "$folder"/shard-*.node | sed 's/.*shard-//; s/\.node//')
yes_if "a client sends" wait_for has_records "$shard"
slurm_kill_node 2
yes_if "a run of which a node fails ends" wait_for ended "$folder"
is "$(jq -r .run.meta.failed "$folder/report.json")" "shard $shard on n2: NODE_FAIL" "the report names the node"
contains "$(tr -s ' \n' ' ' <"$folder/report.txt")" "shard $shard of 4, on n2: cut after" "the report says where the records of the node end"
is "$(jq -r .verdict.status "$folder/report.json")" INVALID "the run is invalid"
is "$(cat "$folder"/shard-*.status | tr '\n' ' ')" "0 0 0 " "other clients end with 0"

# ---- in an allocation ----
settings poisson:rate=40,for=3s
sed -i "s/^SHARDS=.*/SHARDS=2/" settings.sh
run salloc --quiet --nodes=3 --exclusive "$EXAMPLE/interactive.sh" settings.sh
status_is 0 "a run in an allocation"
contains "$(cat "$OUT")" "Verdict " "a run in an allocation shows its report"
folder=$(find runs -name 'shard-0.log' -printf '%h\n')
is "$(cat "$folder"/shard-*.node | tr '\n' ' ')" "n1 n3 " "clients in an allocation are not on the server's node"
between "$(starts "$folder")" 0 5000000 "clients in an allocation start within 5 ms of each other"
