#!/bin/sh
# Formats of other tools, read by these tools themselves. IPF_EXPORT_PEERS is a folder with a virtual environment for each;
# tests/README.md lists their contents.
. "$TESTS/tap.sh"
report=$BIN/ipf-report
[ -n "$IPF_EXPORT_PEERS" ] || skip_all "IPF_EXPORT_PEERS is not set: a folder with the tools whose formats are written"

python3 "$TESTS/helpers/exports.py" make run.results
write() { # FORMAT FILE
	"$report" export "$1" -q -o "$2" run.results
}

# reads NAME TEXT: the Python on standard input runs in that tool's environment
reads() {
	cat >program.py
	if [ -x "$IPF_EXPORT_PEERS/$1/bin/python" ]; then
		HOME=$PWD MPLBACKEND=agg yes_if "the tool's own code accepts the file: $2" "$IPF_EXPORT_PEERS/$1/bin/python" program.py
	else
		skip "the tool's own code accepts the file: $2" "$IPF_EXPORT_PEERS/$1/bin/python does not exist"
	fi
}

mkdir aiperf-run sweep
write aiperf aiperf-run/profile_export_aiperf.json
write aiperf-jsonl aiperf-run/profile_export.jsonl
reads aiperf "AIPerf's plot command loads a run" <<'END'
from pathlib import Path
from aiperf.common.models.export_models import JsonExportData
from aiperf.plot.core.data_loader import DataLoader
run = DataLoader().load_run(Path("aiperf-run"))
assert len(run.requests) == 69, len(run.requests)
document = JsonExportData.model_validate_json(Path("aiperf-run/profile_export_aiperf.json").read_bytes())
values = run.requests["request_latency"].dropna()
assert abs(document.request_latency.avg - values.mean()) < 1e-6 and document.request_latency.count == len(values)
END

write vllm lines
jq -s . lines >sweep/summary.json
reads vllm "vLLM plots the throughput of stages against their users" <<'END'
from pathlib import Path
from vllm.benchmarks.sweep import plot_pareto
plot_pareto.plot_pareto(Path("sweep"), None, None, [], dry_run=False)
assert Path("sweep/pareto/PARETO.png").stat().st_size > 10000
END
reads vllm "vLLM plots any figure against another" <<'END'
from pathlib import Path
from vllm.benchmarks.sweep import plot
plot.plot(Path("sweep"), Path("figures"), [], [], [], [], var_x="total_token_throughput", var_y="median_ttft_ms", filter_by=plot.PlotFilters([]),
          bin_by=plot.PlotBinners([]), scale_x=None, scale_y=None, dry_run=False)
assert Path("figures/FIGURE.png").stat().st_size > 10000
END

write genai-bench openai_text-to-text_concurrency_6_time_30s.json
reads genai-bench "genai-bench loads a run" <<'END'
from genai_bench.analysis.experiment_loader import load_run_data
data = {}
load_run_data("openai_text-to-text_concurrency_6_time_30s.json", data)
(run,) = [value for key, value in data["sharegpt"].items() if isinstance(key, int)]
assert run["aggregated_metrics"].num_requests == 69 and len(run["individual_request_metrics"]) == 69
END

write benchmark-report report.yaml
write benchmark-report-0.2 before.yaml
reads llm-d "the models of llm-d's BenchmarkReport accept both versions, and forbid unknown members" <<'END'
import json
from benchmark_report.schema_v0_2 import BenchmarkReportV02
from benchmark_report.schema_v0_2_1 import BenchmarkReportV021
for path, model in ("before.yaml", BenchmarkReportV02), ("report.yaml", BenchmarkReportV021):
    document = json.load(open(path))
    model.model_validate(document)
    document["results"]["request_performance"]["unknown"] = 1
    try:
        model.model_validate(document)
    except ValueError:
        continue
    raise SystemExit(f"{path}: an unknown member was accepted")
END

# GuideLLM computes the figures again from the requests in the file. Its own times are doubles since 1970, exact to 0.2 us. A value it
# counts as 0 for requests that lack it is in "errored" and "total"; an unknown one is empty.
"$report" export guidellm -q --slo ttft=60ms,tpot=12ms --meta commit=5f3a9c1 -o benchmarks.json run.results
reads guidellm "GuideLLM loads a report, and computes the same figures from its requests" <<'END'
import json
from guidellm.benchmark.schemas.accumulator import GenerativeBenchmarkAccumulator
from guidellm.benchmark.schemas.metrics import GenerativeMetrics
from guidellm.benchmark.schemas.report import GenerativeBenchmarksReport

report = GenerativeBenchmarksReport.load_file("benchmarks.json")
assert report.config.metadata.labels == {"commit": "5f3a9c1"}
raw = json.load(open("benchmarks.json"))
compared, wrong = 0, []

def compare(theirs, ours, path):
    global compared
    if isinstance(theirs, dict) and ours is not None:
        for key in theirs.keys() & ours.keys() - {"errored", "total", "mode"}:
            compare(theirs[key], ours[key], f"{path}.{key}")
    elif isinstance(theirs, (int, float)):
        compared += 1
        if abs(theirs - ours) > 5e-4 * max(abs(theirs), abs(ours)) + 1e-6:
            wrong.append(f"{path}: {theirs} {ours}")

for benchmark, ours in zip(report.benchmarks, raw["benchmarks"], strict=True):
    again = GenerativeBenchmarkAccumulator(config=benchmark.config)
    again.completed.requests_stats, again.errored.requests_stats = benchmark.requests.successful, benchmark.requests.errored
    again.timings.measure_start, again.timings.measure_end = benchmark.start_time, benchmark.end_time
    metrics = json.loads(GenerativeMetrics.compile(again).model_dump_json())
    for unknown in "request_streaming_iterations_count", "time_to_last_round_trip_ms", "avg_round_trip_time_ms":
        del metrics[unknown]
    compare(metrics, ours["metrics"], "")
    for one, line in zip(benchmark.requests.successful, ours["requests"]["successful"], strict=True):
        compare(json.loads(one.model_dump_json()), line, one.request_id)
assert compared > 1000 and not wrong, (compared, wrong)
END

# LoadGen writes its own summary of a run of its own; ours has no line that is not one of its.
write mlperf summary.txt
reads loadgen "the lines of our summary are LoadGen's" <<'END'
import array
import re
import threading
import mlperf_loadgen as loadgen

def issue(samples):
    def answer():
        for sample in samples:
            text = array.array("B", bytes(16))
            response = [loadgen.QuerySampleResponse(sample.id, text.buffer_info()[0], 16, 4)]
            loadgen.FirstTokenComplete(response)
            loadgen.QuerySamplesComplete(response)
    threading.Thread(target=answer).start()

def label(line):
    return re.sub(r"[0-9]+$", "", line.split(":")[0])

settings, log, output = loadgen.TestSettings(), loadgen.LogSettings(), loadgen.LogOutputSettings()
settings.scenario, settings.mode, settings.use_token_latencies = loadgen.TestScenario.Server, loadgen.TestMode.PerformanceOnly, True
settings.server_target_qps, settings.min_duration_ms, settings.min_query_count = 200, 300, 1000
output.outdir, output.copy_summary_to_stdout, log.log_output = ".", False, output
loadgen.StartTestWithLogSettings(loadgen.ConstructSUT(issue, lambda: None), loadgen.ConstructQSL(64, 64, lambda x: None, lambda x: None), settings, log)
theirs = {label(line) for line in open("mlperf_log_summary.txt").read().splitlines()} | {"Recommendations"}
ours = [line for line in open("summary.txt").read().splitlines() if not line.startswith(" ") and "encountered" not in line]
strange = [line for line in ours if label(line) not in theirs]
assert len(ours) > 50 and not strange, strange
END
