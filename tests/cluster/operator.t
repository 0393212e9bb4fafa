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

# ---- what the API server takes ----
kubectl kustomize manifests/operator/deploy >rendered.yaml
for file in rendered.yaml manifests/operator/samples/*.yaml; do
	yes_if "apply --dry-run=server: $(basename "$file")" kubectl apply --dry-run=server -f "$file"
done
is "$(grep -c 'registry.example.com/ipf:0.1.0' rendered.yaml)" 2 "the operator measures with the image that it has itself"
benchmark() { # NAME URL [MORE OF ITS SPEC [DURATION]]: as JSON
	printf '{"apiVersion": "operator.ipf/v1alpha1", "kind": "Benchmark", "metadata": {"name": "%s"}, "spec": {"endpoint": {"url": "%s"}, "model": "sim",
		"performance": {"traffic": [{"rate": 20, "duration": "%s"}]}, "dataset": {"requests": 500, "inputTokens": 20, "outputTokens": 8},
		"pod": {"cpu": "10m", "memory": "64Mi"}%s}}' "$1" "$2" "${4:-3s}" "${3:-}"
}
refused() { # TEXT PART-OF-THE-REASON SPEC
	run kubectl apply --dry-run=server -f - <<<"{\"apiVersion\": \"operator.ipf/v1alpha1\", \"kind\": \"${4:-Benchmark}\", \"metadata\": {\"name\": \"x\"}, \"spec\": $3}"
	contains "$status $(cat "$ERR")" "$2" "the API server refuses $1"
}
traffic='"performance": {"traffic": [{"rate": 1, "duration": "1s"}]}'
refused "a Benchmark without a server" "endpoint.url and performance are required" "{$traffic}"
refused "a stage with two kinds of load" "one of rate, concurrency, ramp and spike" \
	'{"endpoint": {"url": "http://m"}, "performance": {"traffic": [{"rate": 1, "concurrency": 1, "duration": "1s"}]}}'
refused "what make would run" "spec.model" "{\"endpoint\": {\"url\": \"http://m\"}, \"model\": \"\$(shell id)\", $traffic}"
refused "a duration without a unit" "duration" '{"endpoint": {"url": "http://m"}, "performance": {"traffic": [{"rate": 1, "duration": "10"}]}}'
refused "shards without a volume" "several shards meet on a volume" "{\"endpoint\": {\"url\": \"http://m\"}, \"shards\": 3, $traffic}"
refused "a schedule without times" "one of schedule and every" '{"benchmark": "b"}' BenchmarkSchedule

# ---- the operator, as its page says, and two simulated servers ----
mkdir server volume
chmod 777 volume
sed -i 's,registry.example.com/ipf,localhost/ipf,; s,newTag: .*,newTag: test,' manifests/operator/deploy/kustomization.yaml
cat >server/kustomization.yaml <<'END'
resources: [../manifests/servers/sim]
replicas:
- {name: model, count: 2}
images:
- {name: registry.example.com/ipf, newName: localhost/ipf, newTag: test}
END
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
kubectl apply -k manifests/operator/deploy >/dev/null
kubectl apply -k server >/dev/null
yes_if "the operator becomes ready" kubectl wait --for=condition=available deployment/ipf-operator --timeout=120s
yes_if "so do the servers" kubectl wait --for=condition=available deployment/model --timeout=120s
read -r one two <<<"$(kubectl get pod -l app.kubernetes.io/name=model -o jsonpath='{.items[*].status.podIP}')"
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
	is "$(may $right 2>/dev/null)" no "it may not $right"
done

# ---- one Benchmark ----
make_one chat "http://$one:8000" "$on_volume"', "objectives": [{"metric": "ttft", "percentile": 99, "max": "1m"}]'
yes_if "a Benchmark measures" ends chat
report=volume/$(field chat folder)/report.json
is "$(field chat verdict) $(field chat figures.requests)" "$(jq -r '"\(.verdict.status) \(.total.requests.ok)"' "$report")" \
	"its status has verdict and figures of the report on the volume"
is "$(field chat 'conditions[?(@.type=="ObjectivesMet")].status')" True "and its objectives"
job=$(field chat job)
is "$(kubectl get job "$job" -o jsonpath='{.metadata.ownerReferences[0].kind}')" Benchmark "it owns its Job"
contains "$(kubectl get benchmarks)" "VERDICT" "kubectl shows it as a table"
contains "$(kubectl get events)" "Measured" "there are events"

# ---- the gate: no condition but one that must fail can be sure of how fast this machine is ----
make_one gated "http://$one:8000" "$on_volume, \"gate\": {\"baseline\": \"$(field chat folder)\", \"failIf\": [\"requests > 0.001\"]}"
yes_if "a Benchmark is compared with an earlier run" ends gated
is "$(field gated 'conditions[?(@.type=="Regressed")].status')" True "a condition that holds is a regression"

# ---- shards ----
make_one shards "http://$one:8000" "$on_volume, \"shards\": 2"
yes_if "a Benchmark of two shards measures" ends shards
is "$(jq -r .total.requests.ok "volume/$(field shards folder)/report.json")" "$(field shards figures.requests)" "and reports once"

# ---- a change, a deletion ----
make_one changes "http://$two:8000" "$on_volume" 60s
yes_if "a long one runs" wait_for 60 is_phase changes Running
job=$(field changes job)
make_one changes "http://$two:8000" "" 2s
yes_if "a change is another run" wait_for 120 is_phase changes Complete
isnt "$(field changes job)" "$job" "by another Job"
is "$(kubectl get job "$job" configmap/"$job" --ignore-not-found -o name)" "" "the first one and its ConfigMap are removed"
has_records() { [ "$(plain volume/deleted-*/part.records.zst 2>/dev/null | wc -l)" -gt 5 ]; }
make_one deleted "http://$two:8000" "$on_volume" 120s
yes_if "another long one sends" wait_for 120 has_records
yes_if "it can be deleted meanwhile" kubectl delete benchmark deleted --timeout=120s
is "$(kubectl get jobs,configmaps,pods -l operator.ipf/benchmark=deleted -o name)" "" "with its Job, ConfigMap and pods"
yes_if "whose records are whole" whole volume/deleted-*/*records.zst

# ---- ten at once ----
for k in 1 2 3 4 5 6 7 8 9 10; do
	if [ $((k % 2)) = 0 ]; then server=$one; else server=$two; fi
	benchmark "ten-$k" "http://$server:8000"
done | kubectl apply -f - >/dev/null
for k in 1 2 3 4 5 6 7 8 9 10; do yes_if "of ten at once, number $k ends" ends "ten-$k"; done
overlaps() { # pairs of Jobs of one server of which one began before the other had ended
	kubectl get jobs -o json | jq '[.items[] | select(.metadata.name | startswith("ten-")) | {at: .metadata.labels["operator.ipf/endpoint"], from: .status.startTime,
		to: .status.completionTime}] | group_by(.at) | map(sort_by(.from) | [.[:-1], .[1:]] | transpose | map(select(.[0].to > .[1].from)) | length) | add'
}
is "$(overlaps)" 0 "on each server one after another"

# ---- an operator that is killed, an API server that is away for a minute ----
make_one killed "http://$one:8000" "" 15s
yes_if "a Benchmark runs" wait_for 60 is_phase killed Running
job=$(kubectl get job "$(field killed job)" -o jsonpath='{.metadata.uid}')
kubectl delete pod -l app.kubernetes.io/name=ipf-operator --grace-period=0 --force >/dev/null 2>&1
yes_if "it ends although the operator was killed" ends killed
is "$(kubectl get jobs -l operator.ipf/benchmark=killed -o jsonpath='{.items[*].metadata.uid}')" "$job" "by the same Job"
make_one away "http://$one:8000" "" 15s
yes_if "another one runs" wait_for 60 is_phase away Running
kube_api_stop
sleep 60 # the outage itself
yes_if "the API server comes back after a minute" kube_api_start
yes_if "the Benchmark ends" ends away
make_one after "http://$two:8000"
yes_if "and the next one, too" ends after
is "$(kubectl get pod -l app.kubernetes.io/name=ipf-operator -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}')" 0 \
	"the operator was not started again for that"

# ---- a schedule ----
benchmark load "http://$one:8000" "$on_volume, \"suspend\": true" | kubectl apply -f - >/dev/null
kubectl apply -f - >/dev/null <<'END'
{"apiVersion": "operator.ipf/v1alpha1", "kind": "BenchmarkSchedule", "metadata": {"name": "often"},
 "spec": {"benchmark": "load", "every": "1m", "failIf": ["failures > 50%"]}}
END
has_run() { [ -n "$(kubectl get benchmarkschedule often -o jsonpath='{.status.lastRun}')" ]; }
yes_if "a schedule runs its Benchmark" wait_for 180 has_run
is "$(kubectl get benchmarkschedule often -o jsonpath='{.status.lastVerdict}')" \
	"$(field "$(kubectl get benchmarkschedule often -o jsonpath='{.status.lastRun}')" verdict)" "and has the verdict of the run"
yes_if "it can be deleted" kubectl delete benchmarkschedule often --timeout=60s
