#!/bin/bash
# The operator of examples/kubernetes on a real Kubernetes: from the Deployment of its page, in a namespace with pod security `restricted`.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/cluster/image.sh"
. "$TESTS/cluster/kubernetes.sh"

kube_cluster ipf
cp -r "$ROOT/examples/kubernetes" manifests
kubectl apply -f manifests/operator/deploy/crds.yaml >/dev/null
kubectl wait --for=condition=established crd/benchmarks.operator.ipf crd/benchmarkschedules.operator.ipf --timeout=60s >/dev/null

# ---- objects the API server takes ----
kubectl kustomize manifests/operator/deploy >rendered.yaml
for file in rendered.yaml manifests/operator/samples/*.yaml; do
	yes_if "apply --dry-run=server: $(basename "$file")" kubectl apply --dry-run=server -f "$file"
done
benchmark() { # NAME URL [MORE OF ITS SPEC [DURATION]]: as JSON
	printf '{"apiVersion": "operator.ipf/v1alpha1", "kind": "Benchmark", "metadata": {"name": "%s"}, "spec": {"endpoint": {"url": "%s"}, "model": "sim",
		"performance": {"traffic": [{"rate": 20, "duration": "%s"}]}, "dataset": {"requests": 500, "inputTokens": 20, "outputTokens": 8},
		"pod": {"cpu": "10m", "memory": "64Mi"}%s}}' "$1" "$2" "${4:-3s}" "${3:-}"
}
refused() { # TEXT PART-OF-THE-REASON SPEC [KIND [NAME]]
	run kubectl apply --dry-run=server -f - <<<"{\"apiVersion\": \"operator.ipf/v1alpha1\", \"kind\": \"${4:-Benchmark}\", \"metadata\": {\"name\": \"${5:-x}\"},
		\"spec\": $3}"
	contains "$status $(cat "$ERR")" "$2" "the API server refuses $1"
}
traffic='"performance": {"traffic": [{"rate": 1, "duration": "1s"}]}'
refused "a Benchmark without a server" "endpoint.url and performance are required" "{$traffic}"
refused "a stage with two kinds of load" "one of rate, concurrency, ramp and spike" \
	'{"endpoint": {"url": "http://m"}, "performance": {"traffic": [{"rate": 1, "concurrency": 1, "duration": "1s"}]}}'
refused "a variable that make would execute" "spec.model" "{\"endpoint\": {\"url\": \"http://m\"}, \"model\": \"\$(shell id)\", $traffic}"
refused "a duration without a unit" "duration" '{"endpoint": {"url": "http://m"}, "performance": {"traffic": [{"rate": 1, "duration": "10"}]}}'
refused "shards without a volume" "several shards meet on a volume" "{\"endpoint\": {\"url\": \"http://m\"}, \"shards\": 3, $traffic}"
refused "a name of more than 50 characters" "a name has at most 50 characters" "{\"endpoint\": {\"url\": \"http://m\"}, $traffic}" Benchmark \
	"$(printf 'x%.0s' $(seq 63))"
refused "a schedule without times" "one of schedule and every" '{"benchmark": "b"}' BenchmarkSchedule

# ---- the operator, as its page says, and two simulated servers ----
mkdir server slow operator volume
chmod 777 volume
images='images: [{name: registry.example.com/ipf, newName: localhost/ipf, newTag: test}]'
printf '%s\n' 'resources: [../manifests/operator/deploy]' "$images" >operator/kustomization.yaml
printf '%s\n' 'resources: [../manifests/servers/sim]' 'replicas: [{name: model, count: 2}]' "$images" >server/kustomization.yaml
# an answer of eight tokens takes six seconds
printf '%s\n' 'resources: [../manifests/servers/sim]' 'nameSuffix: -slow' "$images" 'labels: [{pairs: {app.kubernetes.io/name: slow}, includeSelectors: true}]' \
	'patches:' '- target: {kind: Deployment}' '  patch: |' '    - op: add' '      path: /spec/template/spec/containers/0/args' \
	'      value: [--port, "8000", --all-addresses, --step-base, 800ms, --step-per-seq, "0"]' >slow/kustomization.yaml
cat >volumes.yaml <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: results}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  hostPath: {path: $PWD/volume}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: results}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
END
kubectl apply -f volumes.yaml >/dev/null
kubectl apply -k operator >/dev/null
kubectl apply -k server >/dev/null
kubectl apply -k slow >/dev/null
yes_if "the operator becomes ready" kubectl wait --for=condition=available deployment/ipf-operator --timeout=120s
yes_if "both servers become ready" kubectl wait --for=condition=available deployment/model deployment/model-slow --timeout=120s
address_of() { kubectl get pod -l app.kubernetes.io/name="$1" -o jsonpath='{.items[*].status.podIP}'; }
read -r one two <<<"$(address_of model)"
slow=$(address_of slow)
make_one() { benchmark "$@" | kubectl apply -f - >/dev/null; }
field() { kubectl get benchmark "$1" -o jsonpath="{.status.$2}"; } # NAME PATH
is_phase() { [ "$(field "$1" phase)" = "$2" ]; }
ends() { kubectl wait --for=condition=Complete "benchmark/$1" --timeout=180s; }
on_volume=', "results": {"claimName": "results"}'

# ---- rights ----
may() { kubectl auth can-i --as=system:serviceaccount:ipf:ipf-operator "$@"; }
yes_if "the operator may create Jobs" may create jobs.batch
for right in "get secrets" "create pods" "get pods --subresource=log" "create pods --subresource=exec" "update benchmarks.operator.ipf" "list nodes" \
	"list benchmarks.operator.ipf --namespace=default" "create jobs.batch --namespace=default" "create roles.rbac.authorization.k8s.io"; do
	# shellcheck disable=SC2086 # several words
	is "$(may $right 2>/dev/null)" no "the operator may not $right"
done

# ---- one Benchmark ----
make_one chat "http://$one:8000" "$on_volume"', "objectives": [{"metric": "ttft", "percentile": 99, "max": "1m"}]'
yes_if "a Benchmark measures" ends chat
report=volume/$(field chat folder)/report.json
is "$(field chat verdict) $(field chat figures.requests)" "$(jq -r '"\(.verdict.status) \(.total.requests.ok)"' "$report")" \
	"the status has verdict and figures of the report on the volume"
is "$(field chat 'conditions[?(@.type=="ObjectivesMet")].status')" True "the status has the objectives"
job=$(field chat job)
is "$(kubectl get job "$job" -o jsonpath='{.metadata.ownerReferences[0].kind}')" Benchmark "a Job belongs to its Benchmark"
is "$(kubectl get job "$job" -o jsonpath='{.spec.template.spec.containers[0].image}')" "$IMAGE" "a Job has the operator's image, which an overlay of the test set"
contains "$(kubectl get benchmarks)" "VERDICT" "kubectl shows it as a table"
contains "$(kubectl get events)" "Measured" "the operator writes events"

# ---- the gate: no condition but one that must fail can be sure of how fast this machine is ----
make_one gated "http://$one:8000" "$on_volume, \"gate\": {\"baseline\": \"$(field chat folder)\", \"failIf\": [\"requests > 0.001\"]}"
yes_if "a Benchmark is compared with an earlier run" ends gated
is "$(field gated 'conditions[?(@.type=="Regressed")].status')" True "a condition that holds is a regression"

# ---- shards, under the longest name ----
longest=$(printf 'n%.0s' $(seq 50))
make_one "$longest" "http://$one:8000" "$on_volume, \"shards\": 2"
yes_if "a Benchmark of two shards measures" ends "$longest"
is "$(jq -r .total.requests.ok "volume/$(field "$longest" folder)/report.json")" "$(field "$longest" figures.requests)" "a Benchmark of two shards reports once"
make_one dies "http://$two:8000" "$on_volume, \"shards\": 2" 60s
clients() { # ipf-fire of client 1
	local process
	for process in $(grep -lsz '^JOB_COMPLETION_INDEX=1$' /proc/[0-9]*/environ | cut -d / -f 3); do
		[ "$(cat "/proc/$process/comm")" != ipf-fire ] || echo "$process"
	done
}
sends() { [ "$(plain volume/dies-*/shard-1/part.records.zst 2>/dev/null | wc -l)" -gt 5 ]; }
yes_if "a client of another one sends" wait_for sends
clients | xargs kill -KILL
yes_if "a Benchmark ends although a client dies" kubectl wait --for=condition=Failed benchmark/dies --timeout=180s
is "$(field dies verdict)" INVALID "a Benchmark whose client died is INVALID"
between "$(field dies figures.requests)" 1 100000 "a Benchmark whose client died has the figures of the others"

# ---- a bucket and a Pushgateway ----
kube_store store
command -v prometheus-pushgateway >/dev/null && kube_serve prometheus-pushgateway --web.listen-address="$kube_address:9091" --persistence.file= 2>pushgateway.log
keys() { # NAME KEY
	kubectl create secret generic "$1" --from-literal=AWS_ENDPOINT_URL="$STORE" --from-literal=AWS_ACCESS_KEY_ID=AKIDTEST \
		--from-literal=AWS_SECRET_ACCESS_KEY="$2" --from-literal=AWS_REGION=us-east-1 >/dev/null
}
with_keys() { sed "s/\"url\": \"[^\"]*\"/&, \"keysSecret\": \"$1\"/" | kubectl apply -f - >/dev/null; }
keys keys kEy/With+Marks=
benchmark delivered "http://$two:8000" ", \"results\": {\"upload\": \"s3://plain/nightly/\", \"pushgateways\": [\"http://$kube_address:9091\"]}" | with_keys keys
has_failed_or_ended() { is_phase "$1" Complete || is_phase "$1" Failed; }
wait_for has_failed_or_ended delivered
is "$(field delivered 'conditions[0].message')" "the run has ended" "results are delivered"
objects=store/objects/plain/nightly/$(field delivered folder)
is "$(jq -r .total.requests.ok "$objects/report.json")" "$(field delivered figures.requests)" "the bucket has the report, in a folder of the run"
contains "$(tail -c 20 "$objects/report.html")" "</html>" "the bucket has the page"
if command -v prometheus-pushgateway >/dev/null; then
	kube_in curl -s "http://$kube_address:9091/api/v1/metrics" >pushed.json
	is "$(jq -c '[.data[].labels]' pushed.json)" '[{"job":"ipf-report","run":"delivered"}]' "the Pushgateway has its figures as the run of the Benchmark"
	is "$(jq -r '[.data[0].ipf_requests_total.metrics[] | select(.labels.outcome == "ok").value | tonumber] | add' pushed.json)" "$(field delivered figures.requests)" \
		"the Pushgateway has the figures of the status"
else
	skip "the Pushgateway has the figures" "prometheus-pushgateway is not installed"
fi

# ---- errors ----
keys wrong no-key
benchmark refused "http://$two:8000" ', "results": {"upload": "s3://plain/nightly"}' | with_keys wrong
benchmark secretless "http://$one:8000" | with_keys late
make_one nowhere "http://$kube_address:1"
ready_reason() { [ "$(field "$1" 'conditions[?(@.type=="Ready")].reason')" = "$2" ]; }
yes_if "a Secret that is missing is told" wait_for ready_reason secretless CreateContainerConfigError
contains "$(field secretless 'conditions[?(@.type=="Ready")].message')" '"late" not found' "the condition names the missing Secret"
keys late unused
yes_if "the run begins when it is there" ends secretless
wait_for has_failed_or_ended refused
is "$(field refused phase)" Failed "a bucket that refuses fails a Benchmark"
matches "$(field refused 'conditions[?(@.type=="Failed")].message')" 'not delivered: .*403' "the condition says that the bucket refused"
between "$(field refused figures.requests)" 1 100000 "a Benchmark that could not deliver keeps its figures"
wait_for has_failed_or_ended nowhere
contains "$(field nowhere phase) $(field nowhere verdict) $(field nowhere 'conditions[?(@.type=="Failed")].message')" "refused" "a server that is not there is named"

# ---- a change, a deletion ----
make_one changes "http://$two:8000" "$on_volume" 60s
yes_if "a long one runs" wait_for is_phase changes Running
job=$(field changes job)
make_one changes "http://$two:8000" "" 2s
yes_if "a change is another run" wait_for is_phase changes Complete
isnt "$(field changes job)" "$job" "a change is measured by another Job"
is "$(kubectl get job/"$job" configmap/"$job" --ignore-not-found -o name)" "" "the first one and its ConfigMap are removed"
has_records() { [ "$(plain volume/deleted-*/part.records.zst 2>/dev/null | wc -l)" -gt 5 ]; }
make_one deleted "http://$two:8000" "$on_volume" 120s
yes_if "a long Benchmark sends" wait_for has_records
yes_if "a Benchmark can be deleted while it sends" kubectl delete benchmark deleted --timeout=120s
is "$(kubectl get jobs,configmaps,pods -l operator.ipf/benchmark=deleted -o name)" "" "Job, ConfigMap and pods of a deleted Benchmark go"
yes_if "records of a deleted Benchmark are whole" whole volume/deleted-*/*records.zst

# ---- ten at once ----
for k in 1 2 3 4 5 6 7 8 9 10; do
	if [ $((k % 2)) = 0 ]; then server=$one; else server=$two; fi
	benchmark "ten-$k" "http://$server:8000"
done | kubectl apply -f - >/dev/null
for k in 1 2 3 4 5 6 7 8 9 10; do yes_if "number $k of ten Benchmarks at once ends" ends "ten-$k"; done
overlaps() { # PATTERN: pairs of Jobs of one server of which one began before the other had ended
	kubectl get jobs -o json | jq --arg names "$1" '[.items[] | select(.status.completionTime and (.metadata.name | test($names))) | {at: .metadata.labels["operator.ipf/endpoint"], from: .status.startTime,
		to: .status.completionTime}] | group_by(.at) | map(sort_by(.from) | [.[:-1], .[1:]] | transpose | map(select(.[0].to > .[1].from)) | length) | add'
}
is "$(overlaps ^ten-)" 0 "Benchmarks at one server run one after another"

# ---- a killed operator, an API server away for a minute ----
make_one killed "http://$one:8000" "" 15s
yes_if "a Benchmark runs" wait_for is_phase killed Running
job=$(kubectl get job "$(field killed job)" -o jsonpath='{.metadata.uid}')
kubectl delete pod -l app.kubernetes.io/name=ipf-operator --grace-period=0 --force >/dev/null 2>&1
yes_if "a Benchmark ends although the operator was killed" ends killed
is "$(kubectl get jobs -l operator.ipf/benchmark=killed -o jsonpath='{.items[*].metadata.uid}')" "$job" "a restarted operator keeps the Job"
make_one away "http://$one:8000" "" 15s
yes_if "a Benchmark runs before the API server stops" wait_for is_phase away Running
kube_api_stop
sleep 60 # the outage itself
yes_if "the API server comes back after a minute" kube_api_start
yes_if "the Benchmark ends" ends away
make_one after "http://$two:8000"
yes_if "a Benchmark after the outage ends" ends after
is "$(kubectl get pod -l app.kubernetes.io/name=ipf-operator -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}')" 0 \
	"the operator was not started again for that"

# ---- two schedules of one load: as good as before, then on a server that is slower than any machine makes it ----
benchmark load "http://$one:8000" "$on_volume, \"suspend\": true" 10s | kubectl apply -f - >/dev/null
for schedule in often other; do
	printf '{"apiVersion": "operator.ipf/v1alpha1", "kind": "BenchmarkSchedule", "metadata": {"name": "%s"},
		"spec": {"benchmark": "load", "every": "1m", "failIf": ["failures > 50%%", "e2e.p50 > +1500ms estimate"]}}\n' $schedule
done | kubectl apply -f - >/dev/null
of_schedule() { kubectl get benchmarkschedule "$1" -o jsonpath="{.status.$2}"; } # NAME PATH
has_good_run() { [ -n "$(of_schedule often lastGoodRun)" ] && [ -n "$(of_schedule other lastGoodRun)" ]; }
regressed() { [ "$(of_schedule often 'conditions[?(@.type=="Regressed")].status') $(of_schedule other 'conditions[?(@.type=="Regressed")].status')" = "$1 $1" ]; }
if wait_for has_good_run; then
	good=$(of_schedule often lastGoodRun)
	matches "$(field "$good" verdict)" '^(OK|DOUBTFUL)$' "schedules run their Benchmark, and have a good run"
	yes_if "a later run is no regression" wait_for regressed False
	good=$(of_schedule often lastGoodRun)
	is "$(field "$(of_schedule often lastRun)" 'conditions[?(@.type=="Regressed")].reason')" WithinLimits "the condition says that the run is within limits"
	kubectl patch benchmark load --type merge -p "{\"spec\": {\"endpoint\": {\"url\": \"http://$slow:8000\"}}}" >/dev/null
	yes_if "a slower run is a regression" wait_for regressed True
	last=$(of_schedule often lastRun)
	contains "$(field "$last" 'conditions[?(@.type=="Regressed")].message')" "e2e.p50 > +1500ms estimate" "the condition names the limit of the regression"
	isnt "$(of_schedule often lastGoodRun)" "$last" "a regression is not the run to compare with"
	contains "$(kubectl get events --field-selector "involvedObject.name=$last")" "Regressed" "a regression has an event"
	is "$(overlaps '^(often|other)-')" 0 "runs of two schedules do not measure each other"
else
	skip "schedules run their Benchmark" "this machine is too busy: every run has the verdict $(of_schedule often lastVerdict)"
fi
yes_if "schedules can be deleted" kubectl delete benchmarkschedule often other --timeout=60s
