#!/bin/bash
# Live figures of the makefiles: samples of a run are in its report, UNTIL_STABLE ends it, and its records are whole whatever
# becomes of the ipf-collect following it.
. "$TESTS/tap.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
export XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA V
server_start --step-base 5ms --step-per-seq 0
# Notes the process following a run.
mkdir bin
cat >bin/ipf-collect <<END
#!/bin/sh
case "\$*" in *part.live.zst) echo \$\$ >'$PWD/follower' ;; esac
exec '$BIN/ipf-collect' "\$@"
END
chmod +x bin/ipf-collect
PATH=$PWD/bin:$BIN:$PATH
export PATH
set -- -f "$SHARE/run.mk" URL="$URL" MODEL=sim REQUESTS=2000 INPUT=32 OUTPUT=8
again() { run make "$@"; }
made() { sed -nE 's/^(set -f; )?(env -S ")?(ipf-[a-z]+).*/\3/p; s/^exec sh .*measure\.sh .*/ipf-fire/p' "$OUT" | sort | tr '\n' ' '; }
whole() { plain "$1" | tail -1 | jq -e .end >/dev/null; }
followers() { # the followers of runs in this folder whose files are in FOLDER
	grep -lz -e "$1/part" /proc/[0-9]*/cmdline 2>/dev/null |
		while read -r file; do [ "$(readlink "${file%cmdline}cwd")" != "$PWD" ] || { tr "\0" " " <"$file"; } 2>/dev/null | grep -E "^(ipf-|tail|[^ ]*/ipf-)"; done
}

# ---- a run ending when it is stable --------------------------------------------------------------------------------
stable=("STAGES=closed:users=4,for=100s" "UNTIL_STABLE=50%,windows=2,window=300ms" SCRAPE="a=$URL b=$URL" COLLECT_OPTIONS="--every 200ms" OUT="out")
again "$@" "${stable[@]}"
status_is 0 "UNTIL_STABLE ends with 0"
contains "$(jq -r '.verdict.checks[3].detail' "out/report.json")" "ended when stable" "UNTIL_STABLE ends the run, as its report says"
is "$(jq -c '[.run.name, ([.server.targets[] | .target, (.scrapes > 1)])]' "out/report.json")" '["out",["a",true,"b",true]]' "the report has samples of both servers"
yes_if "the records are whole" whole "out/records.zst"
yes_if "live results are whole" whole "out/live.zst"
is "$(cd "out" && echo part.*)" "part.*" "no part of a file is left"
is "$(followers "out")" "" "no program is left"
samples() { plain "$1" | grep '^{"sample":"server"'; }
is "$(samples "out/results.zst" | cksum)" "$(samples "out/live.zst" | cksum)" "the results have the samples"
rows() { plain "$1" | grep '^{"n":' | cksum; }
is "$(rows "out/results.zst")" "$(rows "out/live.zst")" "live results have the rows of the results"
again "$@" "${stable[@]}" LISTEN=:0
is "$status $(cat "$OUT")" "0 " "LISTEN does not make a second run"
again "$@" "${stable[@]}" COLLECT_OPTIONS="--every 500ms -t approx"
is "$status $(made)" "0 ipf-collect ipf-report ipf-report ipf-report " "COLLECT_OPTIONS do not make a second run"
is "$(samples "out/results.zst" | cksum)" "$(samples "out/live.zst" | cksum)" "the samples remain"

# ---- while it lasts -----------------------------------------------------------------------------------------------------
env --default-signal=INT,TERM setsid make "$@" STAGES=constant:rate=40,for=100s OUT=cut LISTEN=:0 SCRAPE="$URL" >cut.out 2>cut.err &
maker=$!
stop_at_exit $maker
wait_for grep -q 'metrics at http' cut.err
metrics=$(sed -n 's/.*metrics at //p' cut.err)
yes_if "LISTEN: the figures can be scraped" wait_for sh -c "curl -fsS $metrics | grep -q '^ipf_requests_total{.* [1-9]'"
contains "$(curl -s "$metrics" | grep ^ipf_run_info)" 'name="cut"' "live figures have the name of the run"
kill -INT -- -$maker
wait $maker
is $? 130 "an interrupted run fails"
is "$(followers cut)" "" "no program outlives an interrupted run"
yes_if "records of an interrupted run have their end" whole cut/part.records.zst
yes_if "live results of an interrupted run have their end" whole cut/part.live.zst
yes_if "records of an interrupted run do not count as those of a run" test ! -e cut/records.zst
cp cut/part.records.zst interrupted

# ---- ipf-collect fails --------------------------------------------------------------------------------------------------
rm -f follower
make "$@" STAGES=constant:rate=15,for=8s OUT=cut SCRAPE="$URL" >killed.out 2>killed.err &
maker=$!
stop_at_exit $maker
wait_for test -e follower
wait_for test -s cut/part.live.zst
kill -9 "$(cat follower)"
wait $maker
is $? 0 "ipf-collect is killed: the run goes on"
matches "$(cat killed.err)" "^ipf-collect: failed while the run lasted: cut/records.zst is complete, but has no samples" "a line says so"
is "$(jq '.total.requests.ok' cut/report.json)" 120 "every request is in the report although ipf-collect was killed"
run ipf-collect cut/records.zst --samples cut/part.live.zst -o salvaged
is "$status $(jq -s 'map(select(.n != null)) | length' salvaged)" "3 120" "samples from before the kill can be taken over"
same cut/interrupted-1.records.zst interrupted "the records of the interrupted run are kept"
yes_if "live results of the interrupted run are kept" whole cut/interrupted-1.live.zst

# ---- ipf-collect cannot begin -------------------------------------------------------------------------------------------
again "$@" STAGES=constant:rate=40,for=100s OUT=wrong UNTIL_STABLE=often
is "$status $(ls wrong/records.zst 2>/dev/null)" "2 " "a wrong limit: no run"
is "$(grep -c '^ipf-collect: --until-stable: expected' "$ERR")" 1 "ipf-collect reports a wrong limit once"
again "$@" STAGES=constant:rate=40,for=100s OUT=taken LISTEN="${URL#http://}"
is "$status $(ls taken/records.zst 2>/dev/null)" "2 " "an address that is taken: no run"
matches "$(cat "$ERR")" "^ipf-collect: --listen .*in use" "ipf-collect reports an address that is taken"
is "$(followers wrong)$(followers taken)" "" "no program outlives a refused run"
again "$@" STAGES=constant:rate=40,for=1s OUT=gone URL=http://127.0.0.1:9 SCRAPE="$URL"
is "$status $(grep -c '^ipf-fire: .*cannot connect' "$ERR")" "2 1" "UNTIL_STABLE without a server fails"
