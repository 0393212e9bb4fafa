#!/bin/bash
# examples/ci: the scripts within the files for GitHub Actions and GitLab, step by step as these run them, against two virtual servers, so each
# verdict is exact. One of them takes 3.2 s for an answer.
. "$TESTS/tap.sh"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
ROOT=$(cd "$TESTS/.." && pwd)
. "$TESTS/fixture.sh"
. "$TESTS/virtual.sh"
export PATH XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA V
ci=$ROOT/examples/ci
steps=$PWD/steps
mkdir -p "$steps/gitlab" "$steps/github/action"

# ---- the files -----------------------------------------------------------------------------------------------------
run python3 "$TESTS/helpers/ci_steps.py" github "$ci/github.yml" "$steps/github"
status_is 0 "the workflow can be read"
cp "$OUT" workflow.steps
run python3 "$TESTS/helpers/ci_steps.py" action "$ci/action.yml" "$steps/github/action"
status_is 0 "the action can be read"
# The steps of the action take the place of the one that uses it.
sed 's,^,action/,' "$OUT" | sed -e '/^uses: .\/ci\/ipf/{' -e 'r /dev/stdin' -e d -e '}' workflow.steps >github.steps
is "$(cut -f 1 github.steps | grep -v 'uses: ')" "Start the server
action/Install ipf
action/Measure
action/Compare
action/Show the comparison
action/Comment
action/Make the new baseline
Stop the server" "the workflow has its steps, those of the action among them"
is "$(grep -o '^export input_[a-z_]*' "$steps/github/env" | grep -vxFf <(grep -o '^export input_[a-z_]*' "$steps/github/action/env"; echo "export input_url"))" "" \
	"the workflow gives only inputs that the action has"
run python3 "$TESTS/helpers/ci_steps.py" gitlab "$ci/gitlab.yml" "$steps/gitlab"
status_is 0 "the file for GitLab can be read"
contains "$(cat "$OUT")" '"reports": {"junit": "report/comparison.xml"}' "the file for GitLab says where the test report is"
is "$(. "$steps/gitlab/env"; echo "$LOAD$RUNS$FAIL_IF")" "$(. "$steps/github/env"; echo "$input_load$input_runs$input_fail_if")" "both files have the same load and conditions"
yes_if "scripts are for bash" bash -n "$steps/github/action/Measure.sh"

# The used parts of ipf exist: the variables of run.mk, and the conditions.
# shellcheck disable=SC2046 # words
is "$(for word in $(. "$steps/github/env"; echo "$input_load OUT= SALT= FIRE_OPTIONS="); do
	grep -qE "^${word%%=*} *\?=" "$ROOT"/share/ipf/{run,common}.mk || echo "$word"; done)" "" "makefiles have every variable of the workflow"
python3 "$TESTS/helpers/compare_results.py" --seed 1 >some.results
run env FAIL_IF="$(. "$steps/github/env"; echo "$input_fail_if")" bash -c 'mkdir -p a/1 b/1; cp some.results a/1/results.zst; cp some.results b/1/results.zst; '"'$ci/gate.sh' a b r"
status_is 0 "the conditions are read, and a run does not differ from itself"
is "$(grep -c '^ *passed ' r/comparison.txt)" "$(. "$steps/github/env"; grep -c . <<<"$input_fail_if")" "the comparison has every condition"

# ---- servers -------------------------------------------------------------------------------------------------------
fast=http://fast.test
slow=http://slow.test
# A little chance tells the records of two runs apart.
virtual_server $fast step_base_ns=2000000 step_per_sequence_ns=0 step_jitter=0.001
virtual_server $slow step_base_ns=800000000 step_per_sequence_ns=0 step_jitter=0.001
settings='SERVER="sleep 600" MODEL=sim RUNS=2 IPF='$ROOT'/share/ipf LOAD="STAGES=closed:users=8,n=8 REQUESTS=20 INPUT=16 OUTPUT=4"
FAIL_IF="
e2e.p50 > +1500ms estimate

failures > +50% estimate"'

# Runs a step as the runner does, with the inputs of the action.
step() { # NAME
	local variables
	variables=$(cat "$steps/github/${1// /-}.sh.env")
	. "$steps/github/action/env"
	. "$steps/github/env"
	eval "export $settings"
	export input_url=$URL input_model=$MODEL input_load=$LOAD input_runs=$RUNS input_fail_if=$FAIL_IF GITHUB_ACTION_PATH=$PWD/ci/ipf
	eval "$variables"
	exec bash --noprofile --norc -eo pipefail "$steps/github/${1// /-}.sh"
}

# Each step in a shell of its own, until one fails; then those always run.
github() { # URL EVENT: in the folder of the checkout; $status is the first failure
	local name condition first=0 log
	rm -rf new report
	while IFS=$'\t' read -r name condition; do
		case "$first:$condition:$2" in
		0::* | *:"if always()":* | *:"if always() && github.event_name == 'pull_request'":pull_request | 0:"if inputs.keep == 'true'":push) ;;
		*) continue ;;
		esac
		[ -e "$steps/github/${name// /-}.sh" ] || continue # an action
		log=${name##*/}
		(
			export URL=$1 GITHUB_STEP_SUMMARY=$PWD/summary PULL_REQUEST=7 PATH=$PWD/../bin:$PATH
			step "$name" >"${log// /-}.log" 2>&1
		)
		status=$?
		[ $first -ne 0 ] || first=$status
	done <../github.steps
	status=$first
}
gitlab() { # URL BRANCH: all lines in one shell, then after_script in another one
	rm -rf new report
	(
		. "$steps/gitlab/env"
		eval "export $settings"
		export URL=$1 CI_API_V4_URL=$api CI_PROJECT_ID=3 CI_JOB_TOKEN=job CI_DEFAULT_BRANCH=main PERFORMANCE_TOKEN=comments
		export BASELINE=$api/projects/3/packages/generic/performance-baseline/1.0.0/baseline.tar
		if [ "$2" = main ]; then export CI_COMMIT_BRANCH=main; else export CI_MERGE_REQUEST_IID=7; fi
		bash --noprofile --norc -eo pipefail "$steps/gitlab/script.sh" >script.log 2>&1
		status=$?
		bash --noprofile --norc -eo pipefail "$steps/gitlab/after_script.sh" >after_script.log 2>&1
		exit $status
	)
	status=$?
}
# ---- GitHub --------------------------------------------------------------------------------------------------------
mkdir -p bin checkout/ci/ipf
cp "$ci/gate.sh" checkout/ci/ipf
cat >bin/gh <<'X'
#!/bin/sh
[ "$*" = "pr comment 7 --edit-last --create-if-none --body-file report/comparison.md" ] && cp report/comparison.md comment
X
chmod +x bin/gh
cd checkout || exit
# The step waits for a real server.
server_start --step-base 2ms --step-per-seq 0
real=$URL
(URL=$real step action/Measure >Measure.log 2>&1)
is "$? $(for run in 1 2; do body new/$run/results.zst | jq -s -c 'map(select(.n != null and .ok)) | length'; done | xargs)" "0 8 8" \
	"every measured run sends its requests to the server"
server_stop
github "$fast" push
is "$status" 0 "GitHub: the first run passes"
[ "$status" = 0 ] || cat ./*.log
contains "$(cat Compare.log)" "there is no baseline" "the gate says that there is no baseline"
is "$(cd baseline && ls -d */results.zst | tr '\n' ' ')" "1/results.zst 2/results.zst " "the results of the first run are the baseline"
gone() { [ ! -e "/proc/$1/status" ] || grep -q '^State:.Z' "/proc/$1/status"; } # nobody may wait for it
yes_if "the server is stopped" wait_for gone "$(cat server.pid)"
is "$(for run in 1 2; do plain new/$run/trace.zst | cksum; done | uniq | wc -l)" 2 "every run has its own prompts"
body new/1/trace.zst | cksum >prompts
cp -r baseline first
settings=${settings/RUNS=2/RUNS=1}
github "$fast" pull_request
is "$status" 0 "a pull request with the same server passes"
contains "$(cat report/comparison.txt)" "passed      e2e.p50 > +1500ms estimate" "the comparison shows the condition that passed"
is "$(body new/1/trace.zst | cksum)" "$(cat prompts)" "a pull request is measured with the prompts of the baseline"
yes_if "a pull request is no baseline" diff -r baseline first
github "$slow" pull_request
is "$status" 4 "a server that is much slower fails"
contains "$(cat report/comparison.txt)" "failed      e2e.p50 > +1500ms estimate" "a slow server fails by the condition"
same comment report/comparison.md "the comment shows the comparison"
contains "$(tail -n +2 summary)" "$(cat report/comparison.md)" "the summary shows the comparison"
run python3 -c 'import xml.etree.ElementTree as t; print(len(t.parse("report/comparison.xml").findall(".//failure")))'
is "$(cat "$OUT")" 1 "one test case of the JUnit report fails"
contains "$(cat report/comparison.html)" "</html>" "the comparison has a page"
rm -rf new && mkdir new
run ci/ipf/gate.sh baseline new report
is "$status $(cat "$ERR")" "2 gate: no results in new" "the gate does not pass without results"
cd .. || exit

# ---- GitLab --------------------------------------------------------------------------------------------------------
command -v curl >/dev/null || { skip GitLab "curl is not installed"; exit $tap_failed; }
mkdir registry
peer_start "$TESTS/helpers/ci_registry.py" registry
api=$PEER_URL/api/v4
mkdir -p lab/ci
cp "$ci/gate.sh" lab/ci
cd lab || exit
gitlab "$fast" main
is "$status" 0 "GitLab: the first run passes"
[ "$status" = 0 ] || cat script.log
is "$(tar -tf ../registry/baseline.tar)" 1/results.zst "GitLab keeps the first run as the baseline"
cksum ../registry/baseline.tar >kept
gitlab "$slow" change
is "$status" 4 "a server that is much slower fails"
same ../registry/notes report/comparison.md "the comment of GitLab shows the comparison"
is "$(cksum ../registry/baseline.tar)" "$(cat kept)" "a slow server does not replace the baseline"
is "$(grep -c 'job\|comments' script.log after_script.log)" "$(printf 'script.log:0\nafter_script.log:0')" "logs of GitLab show no token"
touch ../registry/broken
sed -i 's/--retry 3//' "$steps/gitlab/script.sh" # which waits between tries
gitlab "$fast" main
is "$status $(ls new 2>/dev/null)" "1 " "a registry that fails is not a missing baseline: nothing is measured"
contains "$(cat script.log)" "the baseline cannot be fetched: status 500" "GitLab says that the baseline cannot be fetched"
