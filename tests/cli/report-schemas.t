#!/bin/bash
# The JSON Schemas of the report and of the streams, compared with the programs' output. No member may be unknown to them.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"
schemas=$BUILD/schema
data=$TESTS/data/report

python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null ||
	skip_all "no python3 with jsonschema here"
cat >validate.py <<'END'
import json, sys, jsonschema

def forbid_unknown(schema):
    """Objects that do not say otherwise have no other members."""
    if isinstance(schema, dict):
        if "properties" in schema and "additionalProperties" not in schema and schema.get("type") == "object" and "if" not in schema:
            schema["additionalProperties"] = False
        for value in schema.values():
            forbid_unknown(value)
    elif isinstance(schema, list):
        for value in schema:
            forbid_unknown(value)

name, schema = sys.argv[1], json.load(open(sys.argv[2]))
jsonschema.Draft202012Validator.check_schema(schema)
forbid_unknown(schema)
validator = jsonschema.Draft202012Validator(schema)
seen = set()
for path in sys.argv[3:]:
    with open(path, encoding="utf-8") as file:
        documents = [json.load(file)] if name in ("report", "comparison", "gateway", "certificate", "model") else [json.loads(line) for line in file]
    for document in documents:
        for error in validator.iter_errors(document):
            while error.context:
                error = max(error.context, key=lambda e: len(e.absolute_path))
            where = "/".join("*" if isinstance(p, int) else str(p) for p in error.absolute_path)
            if (where, error.message[:100]) not in seen:
                seen.add((where, error.message[:100]))
                print(f"{path}: {where}: {error.message[:200]}")
END
valid() { # KIND TEXT FILE…
	python3 validate.py "$1" "$schemas/$1.schema.json" "${@:3}" >said 2>&1
	is "$(head -5 said)" "" "$2 fit the schema"
}

# ---- a run of all four streams, with as many members as can be had ----
server_start --step-base 1ms --fail error-inband:share=0.1 --fail reset:share=0.1,after=2 --fail reasoning:share=0.2 --fail cut:share=0.1 \
	--fail bad-utf8:share=0.1 --fail status:share=0.1
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 5ms --models a=0.5,b=0.5 --system "Be brief." -q -o a.trace
ipf-prep azure "$ROOT/examples/arrivals.csv" -n 20 -q -o b.trace
ipf-sched poisson:rate=200,n=60,slots=3 closed:users=2,for=300ms rest:for=100ms burst:n=5,warmup -t a.trace -q -o a.sched
ipf-sched replay:speed=30 -t b.trace -q -o b.sched
for run in a b; do
	ipf-fire -q -u "$URL" -m sim --name "run $run" --param temperature=0 --record-header content-type -t $run.trace $run.sched -o $run.records
	ipf-collect -q -t approx --events --text --every 100ms $run.records -o $run.results
done
valid trace "traces" a.trace b.trace
server_start --step-base 1ms --near-ties 50% --wrong 20% --crosstalk 20%
ipf-prep synthetic -q -n 40 --output-tokens 9 --canaries 30 --repeats 15 --repeat-logprobs -o c.trace
ipf-sched alone constant:rate=200,n=70,cache=cold alone -t c.trace -q -o c.sched
ipf-fire -q -u "$URL" -m sim --cache cold -t c.trace c.sched -o c.records
ipf-collect -q c.records -o c.results
ipf-report -f json c.results >c.json
ipf-report compare -q -f json c.results -- c.results >c-comparison.json
valid trace "traces with checked requests" c.trace
valid schedule "schedules with stages alone and cold" c.sched
valid report "reports on answers" c.json
valid comparison "comparisons of answers" c-comparison.json
for kind in records results; do plain c.$kind >c.$kind.plain; done
valid records "records of a cold cache" c.records.plain
valid results "results of checked requests" c.results.plain
ipf-report compare -q -f json a.results -- b.results >comparison.json 2>/dev/null
python3 "$TESTS/helpers/compare_results.py" >x.results
python3 "$TESTS/helpers/compare_results.py" --seed 2 --http 2 --fail 0.01 >y.results
ipf-report compare -q -f json --fail-if 'requests < -90%' --slo ttft=50ms x.results x.results -- y.results >compared.json
ipf-report compare -f json x.results -- "$TESTS/data/imports/aiperf-0.13.0.json" >imported.json
valid comparison "comparisons" comparison.json compared.json imported.json
python3 "$TESTS/helpers/gateway_truth.py" "$ROOT/lib/api/apis/openai-chat.json" front.records back.records retries=2 limited=2 cached=1 alone=1 sessions=3
ipf-collect -q --events front.records -o front.results
ipf-collect -q --events back.records -o back.results
ipf-report gateway -f json front.results back.results >gateway.json
python3 "$TESTS/helpers/gateway_truth.py" "$ROOT/lib/api/apis/openai-chat.json" front.records back.records id=trace shift=500000
ipf-collect -q front.records -o apart.results
ipf-report gateway -f json apart.results back.results >apart.json
valid gateway "reports of gateways" gateway.json apart.json
valid results "results of captures" front.results apart.results
ipf-prep fit b.trace -o b.model
ipf-prep fit a.trace -o a.model
valid model "models of traffic" a.model b.model
valid schedule "schedules" a.sched b.sched
valid records "records" a.records b.records
valid results "results" a.results b.results "$data"/*.results

# ---- reports: of these, of all goldens, of parts, of samples, of a sweep ----
reports=0
report() { # OPTION… RESULTS…
	reports=$((reports + 1))
	"$BIN/ipf-report" -q -f json --meta commit=5f3a9c1 "$@" >report.$reports.json
}
for file in a.results b.results "$data"/*.results; do
	report --slo ttft=150ms,p50:e2e=1s "$file"
	report --errors-as-inf --percentiles 50,99.99 --reproducible "$file"
done
report --slo tpot=1s "$data/shard-1.results" "$data/shard-2.results"
report "$data/one.results" "$data/one.results"
report x.results y.results
twin twin.json step_base_ns=9000000 step_per_sequence_ns=300000
ipf-twin why twin.json x.results -o why.json
report --why why.json x.results
is "$(jq -c '.why | keys' report.$reports.json)" '["describes","e2e","e2e_error","left_out","over_time","requests","ttft","ttft_error","twin"]' "a report has the breakdown of latencies"
head -c $(($(wc -c <"$data/mixed.results") * 60 / 100)) "$data/mixed.results" >cut.results
report cut.results
{
	sed -e 1d -e '$d' "$data/one.results"
	jq -nc 'range(0; 4) as $t | { sample: "server", t_ns: ($t * 1000000000), target: "a", server: "vllm", interval_ns: 1000000000,
		gauges: { running: $t, waiting: 0, kv_cache_usage: 0.5, replicas_ready: 1 }, counters: { requests_ok: 2, input_tokens: 9, output_tokens: 4, preemptions: 0 },
		histograms: { ttft_ns: { count: 2, sum: 100000000, buckets: [[40000000, 0], [60000000, 2], [null, 0]] } } }'
	jq -nc 'range(0; 3) | { sample: "gpu", t_ns: (. * 1000000000), source: "nvml", host: "h", device: "GPU-0", index: 0, model: "m", utilization: 0.5,
		memory_used_bytes: 1, memory_total_bytes: 2, memory_bandwidth: 0.1, power_w: 300, energy_j: (300 * .), temperature_c: 50, sm_clock_hz: 1 }'
} >body
head -1 "$data/one.results" >header
seal header body >sampled.results
report sampled.results
is "$(jq -c '[.server, .accelerators] | map(length > 0)' report.$reports.json)" "[true,true]" "a report has samples of servers and accelerators"
ipf-sched -q constant:rate=40,n=20 constant:rate=80,n=40 constant:rate=160,n=80 -t a.trace -o sweep.sched
ipf-fire -q -u "$URL" -m sim -t a.trace sweep.sched -o sweep.records
ipf-collect -q sweep.records -o sweep.results
report --slo ttft=1s sweep.results
is "$(jq -c '.saturation | length > 0' report.$reports.json)" true "a report has a curve"
python3 "$TESTS/helpers/queue_results.py" --fail 0.1 --replicas 0=1,10=2 20^150:15 20:5 >spike.results
report --slo ttft=200ms --early-stopping --price "EUR 2.5/gpu/h" --by time=5s spike.results
report --price 5/h --by input-tokens=2 spike.results
report --price 5/h --slo ttft=1s --by session a.results
is "$(jq -cs '[.[] | has("autoscaling", "sessions", "cost")]' "report.$((reports - 2)).json" "report.$reports.json")" '[true,false,true,false,true,true]' \
	"some have spikes, sessions and a price"
report --trace a.trace a.results
report --trace a.trace --cache-size 100 --accuracy 1ms a.results
report --trace b.trace --reproducible b.results
is "$(jq -cs 'map(has("cache", "fidelity")) | unique' report.{$((reports - 2)),$((reports - 1)),$reports}.json)" "[true]" "reports with a trace have cache and fidelity"
body b.trace | jq -c '.recorded_ttft_ns = 9000000 | .recorded_e2e_ns = 90000000' >lines
trace_of lines >known.trace
ipf-sched -q constant:rate=40,n=20 -t known.trace -o known.sched
ipf-fire -q -u "$URL" -m sim -t known.trace known.sched -o known.records
ipf-collect -q known.records -o known.results
report --trace known.trace known.results
is "$(jq -c '.reference | has("ttft_ms", "e2e_ms", "load", "outcome")' report.$reports.json | uniq)" true "a report has recorded latencies"
valid report "reports of all kinds" report.*.json
n=0
for file in a.results b.results "$data/one.results" x.results; do
	n=$((n + 1))
	ipf-report certificate -q -f json "$file" >certificate.$n.json
done
ipf-report certificate -q -f json "$data/shard-1.results" "$data/shard-2.results" >certificate.5.json
is "$(jq -cs 'map(.known) | unique' certificate.*.json)" "[false,true]" "certificates, of records that say how exact they are, and others"
valid certificate "certificates" certificate.*.json

# ---- the test can fail ----
bad() { # JQ PART TEXT
	jq "$1" report.1.json >bad.json
	python3 validate.py report "$schemas/report.schema.json" bad.json >said 2>&1
	contains "$(cat said)" "$2" "$3"
}
bad '.total.latency.ttft_ms.from_start.p50 = "fast"' "total/latency/ttft_ms/from_start/p50" "a text instead of a number is found"
bad '.total.requests.colour = 1' "'colour' was unexpected" "a member that the schema does not have is found"
bad 'del(.run.digest)' "'digest' is a required property" "a missing member is found"
jq -c 'if .n then .ttft_ns = 1.5 else . end' a.results >bad.results
python3 validate.py results "$schemas/results.schema.json" bad.results >said 2>&1
contains "$(cat said)" "ttft_ns" "a wrong type in a row is found"
