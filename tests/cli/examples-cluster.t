#!/bin/sh
# The examples of clusters, as far as they can be checked without one; make check-cluster runs them on real ones.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
run python3 "$TESTS/helpers/manifests.py" "$ROOT" "$BIN"
status_is 0 "the examples can be checked"
stdout_is "" "files, variables and options that they name exist"

mkdir -p wrong/examples wrong/share
cp -r "$ROOT/examples/kubernetes" wrong/examples
cp -r "$ROOT/share/ipf" wrong/share
sed -i 's/^RATE=/RATES=/' wrong/examples/kubernetes/base/run.env
sed -i 's/run\.mk/walk.mk/' wrong/examples/kubernetes/base/job.yaml
sed -i 's/\.Values\.shards/.Values.shard/' wrong/examples/kubernetes/chart/templates/config.yaml
sed -i 's/--probe/--prob/' wrong/examples/kubernetes/shards.sh
sed -i 's/"WARMUP"/"WARM"/; s/"podMonitor"/"podMonitors"/' wrong/examples/kubernetes/chart/values.schema.json
rm wrong/examples/kubernetes/sharded/indexed.yaml
sed -i 's/rate: 4/rats: 4/' wrong/examples/kubernetes/operator/samples/catalogue.yaml
sed -i "s/'the folder of that run, as in status.folder'/the folder, as in status.folder/" wrong/examples/kubernetes/operator/deploy/crds.yaml
sed -i 's/"SCRAPE"/"SCRAPES"/' wrong/examples/kubernetes/operator/source/kinds/benchmark_config.c
sed -i 's/resources: \[pods\]/resources: [secrets]/' wrong/examples/kubernetes/operator/deploy/rights.yaml
run python3 "$TESTS/helpers/manifests.py" wrong "$BIN"
for mistake in RATES: WARM: WARMUP: values.podMonitor: walk.mk: .Values.shard: --prob: indexed.yaml: spec.performance.traffic.rats: SCRAPES: secrets: 'as in status.folder'; do
	contains "$(cat "$OUT")" "$mistake" "a mistake is found: $mistake"
done
