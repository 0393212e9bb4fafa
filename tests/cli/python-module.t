#!/bin/bash
# The Python module of the wheel, with the programs of this build: runs, results, reports, errors. PYTHON may be one with pandas and others.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || skip_all "there is no Python"
export PYTHONPATH=$ROOT/packaging/wheel PYTHONDONTWRITEBYTECODE=1

py() { # SCRIPT: its standard output
	timeout "$HANG" "$python" -c "import json, os, sys, ipf
$1" >"$OUT" 2>"$ERR" || status=$?
	sed 's/^/# /' "$ERR" >&2
	cat "$OUT"
}

small_run 40
mv chat.results results
rows() { grep '^{"n":' results; }

# ---- results and reports ----
is "$(py 'print(sum(1 for _ in ipf.results("results")))')" "$(rows | wc -l)" "results have all rows"
is "$(py 'for row in ipf.results("results"): print(json.dumps(row))' | jq -cS . | sort)" "$(rows | jq -cS . | sort)" "rows are those of the stream"
is "$(py 'row = next(iter(ipf.results("results"))); print(row.n, row["n"] == row.n, row.get("nothing"), "ttft_ns" in dir(row))')" "0 True None True" \
	"a row has members and attributes"
is "$(py '
try: next(iter(ipf.results("results"))).ttft
except AttributeError as error: print(str(error)[:29])')" "no member 'ttft'; there are n" "a member that is not there is named, with those that are"
is "$(py 'for row in ipf.results("results"): break
print("left")')" "left" "a loop may end early"
cp results ./-x.zst
is "$(py 'print(len(list(ipf.results("-x.zst"))) == len(list(ipf.results(b"-x.zst"))) == ipf.report("-x.zst").total.requests.scheduled)')" True \
	"a name that looks like an option is a file"
ipf-report -q -f json --slo ttft=5s,p99:e2e=9s --by model results >expected.json
is "$(py 'print(json.dumps(ipf.report("results", slo="ttft=5s,p99:e2e=9s", by="model")))' | jq -S 'del(.run.report)')" "$(jq -S 'del(.run.report)' expected.json)" \
	"a report is that of ipf-report"
is "$(py 'r = ipf.results("results").report(); print(r.total.requests.ok, r.stages[0].name)')" "$(jq -r '"\(.total.requests.ok) \(.stages[0].name)"' expected.json)" \
	"a report has attributes, in lists too"
is "$(py 'ipf.results("results"); print([m for m in ("pandas", "polars", "pyarrow") if m in sys.modules])')" "[]" "no large package is imported before it is needed"

# ---- errors ----
failing() { # EXPRESSION EXPECTED TEXT
	is "$(py "
try: $1
except (ipf.Error, OSError) as error: print(type(error).__name__, getattr(error, 'status', ''), error)")" "$2" "$3"
}
failing 'ipf.results("nope")' "FileNotFoundError  nope: no such file" "a file that is not there"
echo 'no results' >text
failing 'list(ipf.results("text"))' "Error 3 $(ipf-report export requests-jsonl text 2>&1)" "a file that is something else"
failing 'ipf.report("results", slo="ttft=fast")' "Error 2 $(ipf-report --slo ttft=fast results 2>&1 | head -1)" "a wrong option of a report"
failing 'ipf.run(url="http://127.0.0.1:1", modell="sim")' "Error 2 ipf: run has no --modell, did you mean --model? (ipf help run lists all)" "a wrong option of a run"
failing 'ipf.report()' "Error 3 ipf-report: standard input: empty: expected an ipf results stream" "a report of nothing does not wait for standard input"
failing 'ipf.run(url="")' 'Error 2 ipf: URL is missing; "ipf help run" describes it' "the errors of a makefile are told"
contains "$(py '
try: ipf.run(url="http://127.0.0.1:1", out="a b")
except ipf.Error as error: print(error)')" "ipf: OUT: expected a folder's name without spaces" "an odd folder is an error that is told"
contains "$(py '
try: ipf.run(url="http://127.0.0.1:1", out="text")
except ipf.Error as error: print(error)')" "mkdir: " "a folder that is a file is an error that is told"
contains "$(py '
try: ipf.run(url="http://127.0.0.1:1", model="sim", requests=10, duration="1s", warmup=0, out="refused")
except ipf.Error as error: print(error.message)')" "ipf-fire: http://127.0.0.1:1/v1/chat/completions: cannot connect: Connection refused" "a server that is not there"

# ---- runs ----
server_start
run_it="run = ipf.run(url='$URL', rate=20, duration='2s', warmup=0, requests=100, input=20, output=4, slo='ttft=9s', out='measured', progress=lines.append)"
is "$(py "lines = []
$run_it
print(run, len(list(run)) == run.report().total.requests.scheduled, 'goodput' in run.report().total, any('in flight' in line for line in lines))")" \
	"ipf.results('measured/results.zst') True True True" "a run measures, and reports its progress"
before=$(stat -c %Y.%Z measured/records.zst)
py "lines = []
$run_it" >/dev/null
is "$(stat -c %Y.%Z measured/records.zst)" "$before" "the same run is not measured twice"
py "lines = []
${run_it/, progress=lines.append/, page=False, gpu=[]}" >/dev/null
is "$(stat -c %Y.%Z measured/records.zst)" "$before" "the same run without progress is not measured again"
failing "ipf.run(url='$URL', duration='2s', out='unmeasured', slo='ttft=fast')" "Error 2 $(ipf-report --slo ttft=fast results 2>&1 | head -1)" \
	"wrong objectives are found before anything is measured"
is "$(py "
run = ipf.run(url='$URL', rate=20, duration='1s', warmup=0, requests=100, input=20, output=4, out='listed', fire_options=['-H', 'X: a b'], slo=['ttft=9s', 'e2e=9s'])
print(len(run.report().total.goodput.objectives))")" 2 "a list of objectives"
is "$(plain listed/records.zst | sed -n 1p | jq -c '.argv | .[index("-H") + 1]')" '"X: [redacted]"' "a list of options, one with a space"
py "
import signal
def stop(line):
    if 'in flight' in line:
        os.kill(os.getpid(), signal.SIGINT)
try: ipf.run(url='$URL', rate=20, duration='100s', warmup=0, requests=100, input=20, output=4, out='stopped', progress=stop)
except KeyboardInterrupt: print('interrupted')" >stopped.txt
is "$(cat stopped.txt)" interrupted "an interrupt ends a run"
yes_if "what was measured before an interrupt is kept" whole stopped/part.records.zst
server_stop 2>/dev/null || true
server_start --fail status:share=1
is "$(py "
try: ipf.run(url='$URL', rate=50, duration='20s', warmup=0, requests=100, input=20, output=4, out='failed')
except ipf.Error as error: print(error.status, 'requests so far failed (--stop-after-failures 100)' in error.message)")" "5 True" \
	"the status is that of the program that failed"
server_stop 2>/dev/null || true

# ---- tables ----
for package in pandas polars arrow; do
	module=${package/arrow/pyarrow}
	if "$python" -c "import pyarrow, $module" 2>/dev/null; then
		is "$(py "
table = ipf.results('results').to_$package()
column = table['ttft_ns'].to_pylist() if '$package' == 'arrow' else list(table['ttft_ns'])
print(sorted(column) == sorted(row.ttft_ns for row in ipf.results('results')), len(ipf.results('results').to_$package('windows')) > 0)")" "True True" \
			"a table of $package has the values of the rows"
	else
		skip "a table of $package has the values of the rows" "PYTHON has no $module"
	fi
done

# ---- the notebook ----
if "$python" -c 'import nbconvert, ipykernel, pandas, pyarrow, matplotlib' 2>/dev/null; then
	server_start
	cp "$ROOT/examples/notebook/measure.ipynb" .
	run env URL="$URL" DURATION=3s "$python" -m jupyter nbconvert --to notebook --execute measure.ipynb --output done.ipynb
	status_is 0 "the notebook runs from its first cell to its last"
	is "$(jq -r '[.cells[].outputs[]?.data["image/png"] // empty] | length' done.ipynb)" 1 "the notebook has its plot"
else
	skip "the notebook runs from its first cell to its last" "PYTHON has no nbconvert, ipykernel, pandas, pyarrow and matplotlib"
fi
