#!/bin/sh
# The operator of examples/kubernetes, against an API server with failures; tests/cluster/operator.t has a real one.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/s3.sh"

OPERATOR=$BIN/ipf-operator
echo secret-token >token
peer_start "$TESTS/helpers/api_server.py" secret-token
API=$PEER_URL
GROUP=/apis/operator.ipf/v1alpha1/namespaces/ns
BATCH=/apis/batch/v1/namespaces/ns

operator_start() { # OPTION…
	"$OPERATOR" --server "$API" --token-file token --namespace ns --port 0 "$@" 2>>operator.err &
	operator=$!
	stop_at_exit $operator
}
api() { curl -s -H "Authorization: Bearer secret-token" "$@"; }
get() { api "$API$1" >got.json && jq -r "$2" got.json; } # PATH FILTER
test_api() { curl -s -X POST "$API/test/$1" >/dev/null; }
make_one() { # NAME PORT [MORE OF ITS SPEC]
	api -X POST "$API$GROUP/benchmarks" -o created.json -d '{"apiVersion": "operator.ipf/v1alpha1", "kind": "Benchmark", "metadata": {"name": "'"$1"'"},
		"spec": {"endpoint": {"url": "http://model:'"$2"'"}, "performance": {"traffic": [{"rate": 4, "duration": "60s"}]}'"$3"'}}'
}
change() { api -X PATCH "$API$GROUP/benchmarks/$1" -d "{\"metadata\": {}, \"spec\": $2}" -o created.json; } # NAME SPEC
shows() { [ "$(get "$GROUP/benchmarks/$1" '"\(.status.phase) \(.status.conditions[0].reason)"')" = "$2" ]; } # NAME PHASE-AND-REASON
comes_to() { # NAME PHASE-AND-REASON TEXT
	if wait_for shows "$1" "$2"; then ok "$3"; else not_ok "$3" "$(cat got.json)" "$(tail -5 operator.err)"; fi
}
job_of() { get "$GROUP/benchmarks/$1" .status.job; }
finish() { # NAME PHASE MESSAGE
	curl -s -X POST "$API/test/finish?job=$(job_of "$1")&phase=$2" -d "$3" >/dev/null
}
requests() { curl -s "$API/test/log" | jq -r '.[]' | grep -cE "$1"; }
gone() { [ "$(api -o got.json -w '%{http_code}' "$API$1")" = 404 ]; }
RESULT='{"verdict": "OK", "reason": "", "folder": "f-1", "objectives": true, "figures": {"requests": 240, "failed": 0, "ttftP99Ms": 12.5}}' # exact: made up

# ---- from a Benchmark to its Job and back ----
make_one chat 8000 ', "objectives": [{"metric": "ttft", "percentile": 99, "max": "500ms"}], "dataset": {"inputTokens": 100},
	"results": {"pushgateways": ["http://p:9091"]}'
operator_start --image ipf:test
comes_to chat "Running Measuring" "a Benchmark gets its Job"
job=$(job_of chat)
is "$(get "$BATCH/jobs/$job" '.metadata.ownerReferences[0].kind + " " + .spec.template.spec.containers[0].image')" "Benchmark ipf:test" "a Job belongs to its Benchmark"
is "$(get "/api/v1/namespaces/ns/configmaps/$job" '.data | to_entries | map("\(.key)=\(.value)") | sort | join(" ")')" \
	"INPUT=100 IPF_REPORT_SLO=p99:ttft=500ms PUSH_AS=chat PUSH_REPORT=http://p:9091 STAGES=poisson:rate=4,for=60s URL=http://model:8000" "the ConfigMap of a Job has the load"
is "$(get "$GROUP/benchmarks/chat" '.metadata.finalizers[0]')" operator.ipf/jobs "a Benchmark has a finalizer"
make_one waits 8000
comes_to waits "Pending EndpointBusy" "another Benchmark of this server waits"
make_one other 8001
comes_to other "Running Measuring" "a Benchmark of another server does not wait"
finish chat Complete "$RESULT"
comes_to chat "Complete Measured" "a Benchmark is complete when its Job is"
is "$(get "$GROUP/benchmarks/chat" '.status | "\(.verdict) \(.figures.requests) \(.figures.ttftP99Ms) \(.folder) \(.observedGeneration)"')" \
	"OK 240 12.5 f-1 1" "the status has the verdict and the figures of the report"
is "$(get "$GROUP/benchmarks/chat" '[.status.conditions[] | "\(.type)=\(.status)"] | join(" ")')" \
	"Ready=True Running=False Complete=True Failed=False Verdict=True ObjectivesMet=True" "the status has its conditions"
comes_to waits "Running Measuring" "the Benchmark that waited has its turn"
matches "$(get "/api/v1/namespaces/ns/events" '.items[] | "\(.type) \(.reason) \(.involvedObject.kind)"')" '^Normal (Measured|Measuring|EndpointBusy) Benchmark$' \
	"the operator writes events"

# ---- a change, a failure ----
old=$(job_of other)
change other '{"model": "m2"}'
replaced() { [ "$(job_of other)" != "$old" ] && gone "$BATCH/jobs/$old" && shows other "Running Measuring"; }
yes_if "another spec makes another Job and removes the old one" wait_for replaced
yes_if "the ConfigMap of the old Job is removed" gone "/api/v1/namespaces/ns/configmaps/$old"
finish other Failed "the server was not ready within 30m"
comes_to other "Failed JobFailed" "a Job that fails fails the Benchmark"
contains "$(get "$GROUP/benchmarks/other" '.status.conditions[3].message')" "not ready within 30m" "the condition says why the Job failed"

# ---- ended in the middle ----
kill -9 $operator
wait $operator 2>/dev/null
finish waits Complete '{"verdict": "INVALID", "reason": "load_delivered: 3 of 240", "figures": {"requests": 3}}' # exact: made up
made=$(requests "POST $BATCH/jobs")
operator_start --pod operator-7f-x
yes_if "an operator that does not find its own pod says so" wait_for grep -q "pod operator-7f-x: its image is not known: there is no such pod" operator.err
curl -s -X POST "$API/test/put?resource=pods" -d '{"metadata": {"name": "operator-7f-x"}, "spec": {"containers": [{"name": "proxy", "image": "proxy:1"},
	{"name": "operator", "image": "ipf:own"}]}}' >/dev/null
comes_to waits "Complete Measured" "an operator that was killed goes on where it was"
is "$(get "$GROUP/benchmarks/waits" '.status.conditions[] | select(.type == "Verdict") | "\(.status) \(.reason) \(.message)"')" \
	"False INVALID load_delivered: 3 of 240" "a verdict has its reason" # exact: made up
is "$(requests "POST $BATCH/jobs")" "$made" "a restarted operator makes no second Job"

# ---- conflicts, 410, cut connections, lines too long, an API server away ----
test_api "conflict?count=2"
make_one conflict 8002
comes_to conflict "Running Measuring" "a conflict is tried again"
is "$(get "$BATCH/jobs/$(job_of conflict)" '.spec.template.spec.containers[0].image')" ipf:own "a Job has the image of the operator's pod"
lists() { [ "$(requests "GET $GROUP/benchmarks\?limit")" -gt "$1" ]; }
before=$(requests "GET $GROUP/benchmarks\?limit")
test_api compact
make_one after-410 8003
comes_to after-410 "Running Measuring" "after 410, all is listed again"
yes_if "the operator lists after a compacted watch" lists "$before"
test_api cut
make_one after-cut 8004
comes_to after-cut "Running Measuring" "a watch that is cut is begun again"
test_api huge
make_one after-huge 8005
comes_to after-huge "Running Measuring" "a line without end is not read to its end"
yes_if "the operator reports an object that is too large" wait_for grep -q "an object of more than 4 MiB; trying again" operator.err
test_api "fail?status=503&count=4"
test_api cut
make_one after-503 8006
comes_to after-503 "Running Measuring" "an API server that fails is asked again"
test_api "fail?status=0&count=3"
test_api cut
make_one after-away 8007
comes_to after-away "Running Measuring" "an API server that does not answer is asked again"

# ---- presets, and errors ----
make_one from-preset 8008 ', "preset": "missing"'
comes_to from-preset "Pending PresetNotFound" "a preset that does not exist is awaited"
make_one missing 8009 ', "suspend": true, "model": "of-preset", "pod": {"cpu": "1"}'
comes_to from-preset "Running Measuring" "a preset that exists later is taken"
is "$(get "/api/v1/namespaces/ns/configmaps/$(job_of from-preset)" '.data.MODEL + " " + .data.URL')" "of-preset http://model:8008" \
	"members of a Benchmark replace those of its preset"
comes_to missing "Pending Suspended" "a suspended Benchmark is not run"
make_one evil 8010 ', "model": "$(shell id)"'
comes_to evil "Pending InvalidSpec" "a value that make would execute is refused"
make_one refused 8011
comes_to refused "Pending JobRefused" "the condition says that the Job was refused"
change refused '{"suspend": true}'
make_one stuck 8013
comes_to stuck "Running Starting" "pods that are not ready are starting"
put_pod() { # NAME BENCHMARK STATUS
	curl -s -X POST "$API/test/put?resource=pods" -d '{"metadata": {"name": "'"$1"'", "creationTimestamp": "2026-01-01T00:00:00Z",
		"labels": {"batch.kubernetes.io/job-name": "'"$(job_of "$2")"'"}}, "status": '"$3"'}' >/dev/null
}
put_pod p stuck '{"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "PodReadyToStartContainers", "status": "False"}],
	"containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}'
comes_to stuck "Running StartIsSlow" "a pod whose status gives no cause is told after a while"
is "$(get "$GROUP/benchmarks/stuck" '.status.conditions[0].message')" \
	"after 30 s, pod p has no volumes or no network (sandbox); see: kubectl describe pod p" "the condition has the command that shows the cause"
put_pod p stuck '{"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}]}'
make_one shards 8012 ', "shards": 3, "results": {"claimName": "c"}'
comes_to stuck "Running ErrImagePull" "the condition says in the next pass what pods wait for"
comes_to shards "Running Measuring" "shards are an Indexed Job"
is "$(get "$BATCH/jobs/$(job_of shards)" '.spec | "\(.completionMode) \(.completions) \(.parallelism)"')" "Indexed 4 4" "an Indexed Job has a pod more than shards"
put_pod late shards '{"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}]}'
get "$BATCH/jobs/$(job_of shards)" '.status.active = 4 | .status.ready = 3' >part.json
curl -s -X POST "$API/test/put?resource=jobs" -d @part.json >/dev/null
comes_to shards "Running Unschedulable" "the condition says that a pod cannot start"
put_pod late shards '{"phase": "Running"}'
comes_to shards "Running Measuring" "shards measure when the last pod starts"

# ---- a schedule ----
HOURS_AGO=$(date -u -d '3 hours ago' +%Y-%m-%dT%H:%M:%SZ)
curl -s -X POST "$API/test/put?resource=benchmarks" -d '{"metadata": {"name": "nightly-1", "labels": {"operator.ipf/schedule": "nightly"},
	"creationTimestamp": "'"$HOURS_AGO"'", "finalizers": ["operator.ipf/jobs"]}, "spec": {"suspend": true},
	"status": {"phase": "Complete", "verdict": "OK", "folder": "good-1", "job": "nightly-1-'"$(printf 0)"'"}}' >/dev/null # exact: made up
curl -s -X POST "$API/test/put?resource=benchmarkschedules" -d '{"metadata": {"name": "hourly", "creationTimestamp": "'"$HOURS_AGO"'"},
	"spec": {"benchmark": "missing", "every": "1h", "failIf": ["ttft.p99 > +10%"]}}' >/dev/null
made_run() { [ "$(get "$GROUP/benchmarkschedules/hourly" .status.active)" != null ]; }
yes_if "a schedule makes the run that is due" wait_for made_run
run=$(get "$GROUP/benchmarkschedules/hourly" .status.active)
comes_to "$run" "Running Measuring" "a scheduled run is measured"
is "$(get "$GROUP/benchmarks/$run" '.spec.model + " " + (.spec.gate | tostring)')" "of-preset null" "a scheduled run has the spec of its Benchmark"
finish "$run" Complete "$RESULT"
good() { [ "$(get "$GROUP/benchmarkschedules/hourly" .status.lastGoodRun)" = "$run" ]; }
yes_if "a good run is the one to compare with" wait_for good
matches "$(get "$GROUP/benchmarkschedules/hourly" '.status.nextScheduleTime')" '^20.*Z$' "the next one is known"

# ---- the end of a Benchmark, and of the operator ----
job=$(job_of conflict)
api -X DELETE "$API$GROUP/benchmarks/conflict" -o got.json
yes_if "a Benchmark that is deleted goes" wait_for gone "$GROUP/benchmarks/conflict"
yes_if "the Job of a deleted Benchmark goes" gone "$BATCH/jobs/$job"
port=$(sed -n 's/.*health on port //p' operator.err | tail -1)
is "$(curl -s "http://127.0.0.1:$port/healthz" "http://127.0.0.1:$port/readyz" | tr '\n' ' ')" "ok ok " "the operator is healthy and ready"
kill -TERM $operator
wait $operator
is $? 0 "SIGTERM ends it in good order"
is "$(grep -c secret-token operator.err)" 0 "messages of the operator do not contain its token"

# ---- its pods ----
cp -r "$ROOT/share/ipf" programs
cp "$ROOT/examples/kubernetes/operator/benchmark.sh" programs
server_start
mkdir work
measure() { # RUN VARIABLE=VALUE…: as in a pod. A burst lasts until its last answer, so it has a rate on a busy machine.
	name=$1
	shift
	run env WORK="$PWD/work" RUN="$name" MESSAGE="$PWD/message" URL="$URL" MODEL=sim STAGES=burst:n=10 REQUESTS=50 INPUT=20 \
		OUTPUT=4 IPF_REPORT_SLO=p99:ttft=1h "$@" sh programs/benchmark.sh
}
said() { jq -r "$1" message; }
measure one
status_is 0 "a pod measures"
is "$(said '"\(.verdict) \(.figures.requests) \(.folder) \(.objectives) \(has("regression"))"')" \
	"$(jq -r .verdict.status work/one/report.json) 10 one true false" "a pod leaves verdict and figures as its message" # exact: two texts of one run
measure one BASELINE=one FAIL_IF='requests > 0.001
failures > 100%'
status_is 0 "a pod compares with a baseline"
matches "$(said .regression)" '^requests > 0.001: ' "the message of a pod has the condition that held"
between "$(wc -c <message)" 100 4095 "the message of a pod has less than 4096 bytes"
store_start store
peer_start "$TESTS/helpers/push_target.py" pushed
gateway=$PEER_URL/ok
keys="AWS_ENDPOINT_URL=$STORE AWS_ACCESS_KEY_ID=AKIDTEST AWS_REGION=us-east-1"
# shellcheck disable=SC2086 # several variables
measure one $keys AWS_SECRET_ACCESS_KEY=kEy/With+Marks= UPLOAD=s3://plain/nightly/ PUSH_REPORT="$gateway/metrics $gateway/metrics/job/x" PUSH_AS=chat
status_is 0 "a pod delivers its report"
is "$(cd store/objects/plain && find . -type f | sort | tr '\n' ' ')" "./nightly/one/report.html ./nightly/one/report.json ./nightly/one/results.zst " \
	"a pod uploads to a folder of its own in the bucket"
is "$(cut -d ' ' -f 2 pushed | tr '\n' ' ')" "/ok/metrics/job/ipf-report/run/chat /ok/metrics/job/x " "a pod pushes to Pushgateways as the Benchmark's run"
# shellcheck disable=SC2086
measure one $keys AWS_SECRET_ACCESS_KEY=wrong UPLOAD=s3://plain/nightly
status_is 1 "a bucket that refuses fails it"
matches "$(said '"\(.figures.requests) \(.problem)"')" '^10 not delivered: ipf-report: .*plain.*403' "the message of a pod has its figures and the failed delivery"
run "$OPERATOR" --server "$API"
complains ipf-operator "--pod or --image is missing" "an image is required"
status_is 2 "ipf-operator without an image ends with 2"
run "$OPERATOR" --server "$API" --namespace ns --pod 'x&limit=1'
complains ipf-operator "--pod: no name of a pod" "ipf-operator refuses a wrong name of a pod"
