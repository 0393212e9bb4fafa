#!/bin/bash
# examples/kubernetes on a real Kubernetes: every manifest, a run in one pod, a run in several pods starting together, the chart.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/cluster/image.sh"
. "$TESTS/cluster/kubernetes.sh"

kube_cluster ipf
cp -r "$ROOT/examples/kubernetes" manifests

# ---- every manifest, as the API server takes it ----
server_takes() { # FILE: its objects, and each template of a pod as a pod, which pod security refuses if it may do too much
	kubectl apply --dry-run=server -f "$1" -o json >applied.json || return 1
	jq -c '(.items // [.])[] | select(.spec.template.spec.containers) | .metadata.name as $name | .spec.template |
		{apiVersion: "v1", kind: "Pod", metadata: (.metadata + {name: $name}), spec: .spec}' applied.json >pods.json
	[ ! -s pods.json ] || kubectl create --dry-run=server -f pods.json
}
for overlay in base sharded upload monitor autoscale lora servers/vllm servers/sglang servers/tgi servers/triton servers/llama-cpp servers/sim; do
	kubectl kustomize "manifests/$overlay" >"rendered.yaml"
	yes_if "the API server takes the overlay $overlay" server_takes rendered.yaml
done
charted() { # TEXT OPTION…
	local text=$1
	shift
	helm template run manifests/chart "$@" >rendered.yaml
	yes_if "the API server takes the chart: $text" server_takes rendered.yaml
}
charted "its defaults"
charted "several shards" --set shards=4
charted "a PodMonitor" --set podMonitor=true
charted "a server with an autoscaler" --set server.enabled=true --set server.autoscale.enabled=true --set makefile=autoscale.mk
run helm template run manifests/chart --set shards=4 --set makefile=lora.mk
isnt "$status" 0 "chart: shards of another makefile are refused"
for wrong in shards=x shards=0 shard=4 makefile=nosuch.mk resources=7 run.IPF_RATES=4 run.REQUESTS=2000000 results.size=big; do
	run helm template run manifests/chart --set "$wrong"
	isnt "$status" 0 "chart: $wrong is refused"
	contains "$(cat "$ERR")" "at '" "helm says where the value is wrong"
done
run kubectl run root --image="$IMAGE" --dry-run=server
isnt "$status" 0 "pod security refuses other pods here"

# ---- a server, and volumes on the node ----
mkdir volume
chmod 777 volume
for volume in one two three four five six; do # a claim deleted keeps its own
	cat <<END
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: $volume}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce, ReadWriteMany]
  persistentVolumeReclaimPolicy: Retain
  hostPath: {path: $PWD/volume}
END
done | kubectl apply -f - >/dev/null
overlay() { # NAME RESOURCE LINE…: a kustomization of the test, with our image
	local name=$1 resource=$2
	shift 2
	mkdir "$name"
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../manifests/%s]\n' "$resource"
		printf 'images:\n- {name: registry.example.com/ipf, newName: localhost/ipf, newTag: test}\n'
		printf '%s\n' "$@"
	} >"$name/kustomization.yaml"
}
overlay server servers/sim
kubectl apply -k server >/dev/null
yes_if "the simulated server becomes ready" kubectl wait --for=condition=available deployment/model --timeout=120s
address=$(kubectl get pod -l app.kubernetes.io/name=model -o jsonpath='{.items[0].status.podIP}')
load=('configMapGenerator:' '- name: ipf' '  behavior: merge' '  literals:' "  - URL=http://$address:8000" '  - MODEL=sim' '  - RATE=40'
	'  - FOR=4s' '  - WARMUP=1s' '  - REQUESTS=300' '  - INPUT=20' '  - OUTPUT=8')
small=('patches:' '- target: {kind: Job}' '  patch: |' '    - {op: replace, path: /spec/template/spec/containers/0/resources/requests/cpu, value: 10m}'
	'    - {op: replace, path: /spec/template/spec/containers/0/resources/requests/memory, value: 64Mi}')

# ---- a run in one pod ----
overlay single base "${load[@]}" "${small[@]}"
kubectl apply -k single >/dev/null
yes_if "a Job measures" kubectl wait --for=condition=complete job/ipf --timeout=120s
contains "$(kubectl logs job/ipf)" "Verdict " "the log of the Job has the report"
mv volume/ipf-* whole
is "$(jq -r .total.requests.failed whole/report.json)" 0 "files of the Job are on the volume"
kubectl delete -k single >/dev/null

# ---- a bucket instead of a volume ----
kube_store store
overlay bucket upload "${load[@]}" '  - UPLOAD_TO=s3://plain/ipf' '  - AWS_REGION=us-east-1' 'secretGenerator:' '- name: ipf-keys' '  behavior: merge' '  literals:' \
	"  - AWS_ENDPOINT_URL=$STORE" '  - AWS_ACCESS_KEY_ID=AKIDTEST' '  - AWS_SECRET_ACCESS_KEY=kEy/With+Marks=' "${small[@]}"
kubectl apply -k bucket >/dev/null
yes_if "a Job without a volume measures" kubectl wait --for=condition=complete job/ipf --timeout=120s
pod=$(kubectl get pod -l job-name=ipf -o jsonpath='{.items[0].metadata.name}')
is "$(jq -r .total.requests.failed "store/objects/plain/ipf/$pod/report.json")" 0 "the report of the Job is in a folder of the bucket"
yes_if "results of the Job are in the bucket" whole "store/objects/plain/ipf/$pod/results.zst"
is "$(ls volume)" "" "the volume of a Job with a bucket is empty"
kubectl delete -k bucket >/dev/null

# ---- several pods, one start ----
overlay several sharded "${load[@]}" '  - START_IN=5' "${small[@]}"
kubectl apply -k several >/dev/null
yes_if "an Indexed Job measures" kubectl wait --for=condition=complete job/ipf --timeout=180s
logs=$(kubectl logs -l batch.kubernetes.io/job-completion-index=0 --tail=-1)
contains "$logs" "all clients ended well" "every client of the Indexed Job ends with 0"
contains "$logs" "Verdict " "the first pod reports"
mv "$(dirname volume/*/start)" parts
between "$(for file in parts/shard-*/records.zst; do plain "$file" | head -1; done | jq -s 'map(.t0_clock_ns) | max - min')" 0 5000000 \
	"the clients start within 5 ms of each other"
figures='[.stages[] | .requests.scheduled, .requests.ok], .total.tokens.input, .total.tokens.output'
is "$(jq -c "$figures" parts/report.json)" "$(jq -c "$figures" whole/report.json)" "requests and tokens are those of the run in one pod"
arrivals() { ipf-report -f requests-csv "$1/results.zst" | csv_columns; }
csv_columns() { python3 -c 'import csv, sys
rows = csv.DictReader(sys.stdin)
print(*sorted((int(row["n"]), row["due_ns"]) for row in rows), sep="\n")'; }
arrivals parts >parts.txt
arrivals whole >whole.txt
same parts.txt whole.txt "requests are due at the same times in several pods as in one"
kubectl delete -k several >/dev/null

# ---- a start that has passed ----
overlay late sharded "${load[@]}" '  - START_IN=0' "${small[@]}"
kubectl apply -k late >/dev/null
yes_if "a run whose start has passed fails" kubectl wait --for=condition=failed job/ipf --timeout=180s
contains "$(kubectl logs -l batch.kubernetes.io/job-completion-index=2 --tail=-1)" "--start-at: missed @" "clients say by how much they missed the start"
kubectl delete -k late >/dev/null
rm -rf volume/*

# ---- a pod failing in the middle, and one that is stopped ----
overlay failing sharded "${load[@]}" '  - START_IN=5' '  - SILENCE=10' "${small[@]}"
sed -i 's/FOR=4s/FOR=15s/' failing/kustomization.yaml
kubectl apply -k failing >/dev/null
has_records() { [ "$(plain volume/*/shard-3/part.records.zst | wc -l)" -gt 5 ]; }
yes_if "client 3 sends" wait_for has_records
for process in $(grep -lsz '^JOB_COMPLETION_INDEX=3$' /proc/[0-9]*/environ | cut -d / -f 3); do kill -KILL "$process"; done
yes_if "the run ends without one of its pods" kubectl wait --for=condition=failed job/ipf --timeout=180s
logs=$(kubectl logs -l batch.kubernetes.io/job-completion-index=0 --tail=-1)
contains "$logs" "shard 3 on node: did not end" "the report names the client and its node"
contains "$(tr -s ' \n' ' ' <<<"$logs")" "shard 3 of 4, on ipf-3: cut after" "the report names the pod"
kubectl delete -k failing >/dev/null

# ---- the chart ----
# shellcheck disable=SC2054 # helm's lists
values=(--set image.repository=localhost/ipf,image.tag=test --set run.URL="http://$address:8000",run.MODEL=sim,run.FOR=2s,run.WARMUP=0
	--set-string run.REQUESTS=100,run.INPUT=20,run.OUTPUT=8,run.RATE=20 --set resources.requests.cpu=10m,resources.requests.memory=64Mi)
run helm install chat manifests/chart --namespace ipf "${values[@]}"
status_is 0 "helm install ends with 0"
yes_if "the Job of the chart measures" kubectl wait --for=condition=complete job/chat-1 --timeout=120s
run helm upgrade chat manifests/chart --namespace ipf "${values[@]}" --set-string run.RATE=40
status_is 0 "helm upgrade ends with 0"
yes_if "helm upgrade makes another Job" kubectl wait --for=condition=complete job/chat-2 --timeout=120s
run helm uninstall chat --namespace ipf
status_is 0 "helm uninstall ends with 0"
yes_if "helm uninstall leaves the results" kubectl get pvc chat-results
