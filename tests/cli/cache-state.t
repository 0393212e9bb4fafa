#!/bin/bash
# The declared state of the prefix cache (ipf-fire --cache): reset, verified, recorded, judged and compared.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

server() { # ARGUMENTS OF ipf-sim…
	server_start --step-base 100us --step-per-seq 0 --prefill-rate 100M "$@"
}
fire() { # NAME ARGUMENTS OF ipf-fire…
	rm -f "$1.records"
	run ipf-fire -m sim -u "$URL" -t a.trace "${@:2}" a.sched -o "$1.records"
	[ -e "$1.records" ] && ipf-collect -q "$1.records" -o "$1.results" && ipf-report -f json "$1.results" >"$1.json"
}
header() { # NAME FILTER
	plain "$1.records" | head -1 | jq -c "$2"
}
outcome() { # NAME: the state, the outcome and the proof, and whether all cached tokens of the probe were left
	header "$1" '[.cache, (.cache_reset[0] | .outcome, .proof, (if .before then .after == .before else null end))]'
}
verdict() { # NAME
	jq -r '.verdict.checks[] | select(.name == "server_answers") | "\(.status) \(.detail)"' "$1.json"
}
cached() { # NAME
	jq '.total.tokens.cached_share' "$1.json"
}

ipf-prep prefix -q -n 50 --hit-rate 0.5 --groups 4 --input-tokens uniform:200-400 --output-tokens 5 -o a.trace
ipf-sched -q closed:users=1,n=50 -t a.trace -o a.sched

# ---- a server that can ----
server
fire first --cache cold
status_is 0 "a cold run succeeds"
is "$(outcome first)" '["cold","verified","usage",false]' "the reset is verified by usage"
is "$(header first '.cache_reset[0] | [.request, .status, .tries, .after, .before >= 1000]')" \
	'["POST /reset_prefix_cache",200,1,0,true]' "the header has the request, and the cached tokens of the probe"
fire second --cache cold
is "$(cached second)" "$(cached first)" "a second cold run of the same prompts finds as much as the first"
fire asis
isnt "$(cached asis)" "$(cached first)" "a run without a reset finds more"
is "$(header asis '[.cache, .cache_reset]')" '[null,null]' "nothing is declared by default"
is "$(jq -c '[.run.cache, (.run.cache_reset | length)]' first.json)" '["cold",1]' "the JSON report has the state and its proof"
matches "$(ipf-report --full first.results | tr -s ' \n' ' ')" 'prefix cache declared cold; reset by POST /reset_prefix_cache, verified by usage' "the report names both"
matches "$(verdict first)" '^OK' "a verified reset is no finding"

# ---- usage without cached tokens: the counters of the server ----
server --fail no-details
fire counters --cache cold
is "$(outcome counters)" '["cold","verified","counters",false]' "without cached tokens in usage, the server's counters verify the reset"
server --fail no-details --cache-reset lies
fire counted --cache cold
is "$(outcome counted)" '["cold","refuted","counters",true]' "they find a server that lies, too"

# ---- a server that lies, fails, shows nothing, cannot ----
server --cache-reset lies
fire liar --cache cold
status_is 0 "a run on a server that lies is recorded"
is "$(outcome liar)" '["cold","refuted","usage",true]' "the probe refutes a server that lies"
stderr_contains "ipf-fire: warning: the prefix cache is not cold: POST /reset_prefix_cache answered 200, but" "one line warns"
matches "$(verdict liar)" '^INVALID the prefix cache was not cold before the run, as declared: POST /reset_prefix_cache answered 200' \
	"such a run is INVALID"
fire liar-tried --cache try-cold
is "$(outcome liar-tried)" '["as-is","refuted","usage",true]' "try-cold declares such a cache as it is"
matches "$(verdict liar-tried)" '^OK' "which is no finding"
server --cache-reset fails
fire failed --cache cold
is "$(outcome failed)" '["cold","failed",null,null]' "a reset that fails is recorded"
matches "$(verdict failed)" '^INVALID .*: POST /reset_prefix_cache: status 500 \(the prefix cache cannot be reset\)' "such a run is INVALID, with the server's message"
server --no-prefix-cache
fire nothing --cache cold
is "$(outcome nothing)" '["cold","unverified",null,null]' "a server without cached tokens verifies nothing"
matches "$(verdict nothing)" '^DOUBTFUL the prefix cache may not have been cold before the run' "such a run is DOUBTFUL"
server --cache-reset missing
fire none --cache cold
status_is 1 "without a request for a reset, a cold run is refused"
stderr_contains "ipf-fire: $URL/v1/chat/completions: the prefix cache cannot be reset: POST /reset_prefix_cache: status 404 (needs vLLM with VLLM_SERVER_DEV_MODE=1)" \
	"the message names the requests tried and the setting they need"
[ ! -e none.records ]
is $? 0 "nothing is recorded"
fire none-tried --cache try-cold
status_is 0 "try-cold runs"
is "$(header none-tried .cache)" '"as-is"' "try-cold declares the cache as it is"
stderr_contains "ipf-fire: the prefix cache stays as it is: POST /reset_prefix_cache: status 404" "a message tells why"

# ---- other servers ----
server
for api in sglang llama-cpp; do
	run ipf-fire -q -m sim -u "$URL/$api" --api $api -t a.trace a.sched --cache cold -o $api.records
	is "$(outcome $api)" '["cold","verified","usage",false]' "the reset of $api"
done
run ipf-fire -q -u "$URL" --api tgi -t a.trace a.sched --cache cold -o tgi.records
status_is 2 "an API without cache_reset is refused"
stderr_contains "the API tgi has no cache_reset" "with the reason"

# ---- warm ----
server
fire warm --cache warm
is "$(header warm '[.cache, .cache_reset, .cache_warm.requests, .cache_warm.failed]')" '["warm",null,50,0]' "a warm run sends each prompt before"
between "$(cached warm)" 0.8 1 "the server then finds nearly all"
is "$(jq '.verdict.checks[] | select(.name == "enough_samples").detail' warm.json | grep -c 'it was warm')" 0 "hits are expected"
matches "$(ipf-report --full warm.results | tr -s ' \n' ' ')" 'prefix cache declared warm; 50 requests filled it' "the report counts the requests"
fire asis2
is "$(jq '.verdict.checks[] | select(.name == "enough_samples").detail' asis2.json | grep -c 'it was warm')" 1 "without the declaration, hits are a finding"
run ipf-fire -q -m sim -u "$URL" -t a.trace --cache warm -o x.records <a.sched
status_is 2 "warm requires a schedule in a file"
run ipf-fire -q -m sim -u "$URL" -t a.trace --cache cold --warm 2 a.sched -o x.records
status_is 2 "cold excludes requests before the run"

# ---- comparisons ----
run ipf-report compare -q first.results second.results
status_is 0 "two cold runs are compared"
run ipf-report compare -q asis.results asis2.results
status_is 0 "two runs without a declaration are compared"
run ipf-report compare -q first.results -- asis.results
status_is 3 "a cold run and one without a declaration are refused"
stderr_is "ipf-report: the declared states of the prefix cache differ: cold in the base, as-is in the new side; use --as-is to compare them anyway" \
	"one line tells why"
run ipf-report compare -q first.results -- second.results warm.results
status_is 3 "a side with several states is refused"
run ipf-report compare -q --as-is -f json first.results -- asis.results
status_is 0 "--as-is compares them"
is "$(jq -c '[.settings[] | select(.name == "records.cache")]' "$OUT")" '[{"base":"cold","name":"records.cache"}]' "the states are a setting that differs"

# ---- stages ----
resets() { # NAME: of the trailer: stage and outcome
	plain "$1.records" | tail -1 | jq -c '[.end.cache_reset[] | [.stage, .outcome]]'
}
stages() { # NAME: the cached share of each stage
	jq -c '[.stages[] | select(.measured) | .tokens.cached_share]' "$1.json"
}
server
ipf-sched -q closed:users=2,n=50,name=a rest:for=1ms constant:rate=1000,n=50,cache=cold,name=b burst:n=50,name=c -t a.trace -o a.sched
fire staged
share=$(cached first)
is "$(resets staged)" '[[2,"verified"]]' "the trailer has the reset before a stage"
# Requests side by side do not find each other's prompts: a busy machine finds less, and only a warm cache more.
is "$(stages staged | jq -c "[.[0] <= $share, .[1] <= $share, .[2] > .[0]]")" '[true,true,true]' "a stage with a cold cache finds no more than the first"
is "$(jq -r .run.cache staged.json)" "as-is, cold before 1 later stage" "the state of the run names it"
is "$(plain staged.records | tail -1 | jq -c '.end | .stages[2].begin_ns > .cache_reset[0].t_ns')" true "the stage begins after the reset"
is "$(plain staged.records | jq -s 'map(select(.stage == 2) | .start_ns - .due_ns) | max < 100e6')" true "its requests are not late for the reset"
between "$(jq '.total.requests.ok' staged.json)" 150 150 "all requests are sent"
ipf-sched -q sweep:rates=500,1000,n=50,cache=cold -t a.trace -o a.sched
fire swept
is "$(header swept '[.cache, .cache_reset[0].outcome]') $(resets swept)" '["cold","verified"] [[1,"verified"]]' "a sweep resets before each stage, also the first"
is "$(stages swept | jq -c "map(. > 0 and . <= $share)")" "[true,true]" "no stage finds the prompts of another one"
is "$(jq -r '.verdict.checks[].detail' swept.json | grep -c 'prompts sent before')" 0 "prompts of earlier stages are no finding"
run ipf-report compare -q first.results -- swept.results
status_is 3 "another number of resets is another state"
server --cache-reset lies
fire swept-liar
matches "$(verdict swept-liar)" '^INVALID .*; the prefix cache was not cold before stage sweep 1000/s, as declared' "a stage whose cache is not cold makes the run INVALID"
ipf-sched -q closed:users=2,n=50 closed:users=2,n=50,cache=cold -t a.trace -o a.sched
run ipf-fire -q -u "$URL" --api tgi -t a.trace a.sched -o x.records
status_is 2 "an API without cache_reset is refused before the run"

# ---- the servers' counters ----
server --fail no-details
ipf-sched -q closed:users=1,n=50 -t a.trace -o a.sched
for name in once again; do
	ipf-fire -q -m sim -u "$URL" -t a.trace a.sched | ipf-collect -q --scrape "$URL" -o $name.results
	ipf-report -f json $name.results | jq -r '.verdict.checks[] | select(.name == "enough_samples").detail' >$name.detail
done
is "$(grep -c "server's prefix cache were there" once.detail)" 0 "a cold cache by the counters of the server is no finding"
matches "$(cat again.detail)" "9[0-9]\.[0-9] % of the tokens looked up in the server's prefix cache were there, by its own counters; the trace allows at most" \
	"a warm cache is found by the counters if responses do not report it"

# ---- makefiles ----
made() { # FOLDER ARGUMENTS OF make…: the state in the report
	make -s -f "$ROOT/share/ipf/run.mk" OUT="$1" URL="$URL" MODEL=sim RATE=50 FOR=400ms WARMUP=0 INPUT=50 OUTPUT=2 REQUESTS=50 SHOW=0 PAGE=0 "${@:2}" \
		>"$1.out" 2>&1 || cat "$1.out"
	jq -r '.run.cache' "$1/report.json"
}
server
is "$(made can)" cold "a makefile begins with a cold cache if the server can"
is "$(made undeclared CACHE_STATE=)" null "CACHE_STATE can be empty"
server --cache-reset missing
is "$(made cannot)" as-is "if the server cannot, with the cache as it is"
contains "$(cat cannot.out)" "ipf-fire: the prefix cache stays as it is: POST /reset_prefix_cache: status 404" "make shows the reason"
