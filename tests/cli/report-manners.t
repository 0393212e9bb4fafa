#!/bin/bash
# ipf-report as a citizen: options, bad input, cut input, full disks, closed pipes.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report

# ---- usage ----------------------------------------------------------------------------------------------------------
misused() { fails_with 2 "$1" "$report" "${@:2}" "$data/one.results"; } # PART ARGUMENTS…
misused 'got "no-such-format"' -f no-such-format
misused '--window: expected stage, drain or steady, got "middle"' --window middle
misused '--by: expected stage, model, target, replica, session, tag, tag=NAME, inputs, time=TIME or input-tokens=COUNT, got "nothing"' --by nothing
misused '--percentiles: expected numbers between 0 and 100 such as 50,90,99.9, got "100"' --percentiles 50,100
misused 'got ""' --percentiles 50,,90
misused 'got "ttft"' --slo ttft
misused 'got "speed=5s"' --slo speed=5s
misused 'expected a duration' --slo ttft=500
misused 'got "p0:ttft=1s"' --slo p0:ttft=1s
misused 'got "x99:ttft=1s"' --slo x99:ttft=1s
misused 'the objectives of a class belong to the trace: ipf-prep --slo model=chat:ttft=1s' --slo model=chat:ttft=1s
misused 'unknown option --rate: the schedule has the load, as ipf-sched poisson:rate=5,for=60s' --rate 5
misused 'unknown option --concurrency: the schedule has the load' --concurrency 5
for picture in x.png x.svg x.PDF.pdf; do
	misused "-o $picture: a report is not a picture; \"ipf-report plot FOLDER\" draws plots" -o $picture
	yes_if "$picture is not written" [ ! -e $picture ]
done

# The formats the program knows are those of its completion, and each has a section in the manual.
{
	"$report" --completion | sed -n "/^[[:space:]]*-f|--format)/{n;s/.*-W '\([a-z0-9. -]*\)'.*/\1/p}"
	"$report" export --help | sed -n '/^FORMAT:/,/^$/p' | sed 's/^FORMAT://'
} | tr -s ', ' '\n' | grep . | sort -u >known
sed -n '/^\.Sh FORMATS/,/^\.Sh [^F]/s/^\.Ss //p' "$TESTS/../ipf-report/ipf-report.1" "$TESTS/../ipf-report/ipf-report-export.1" "$TESTS/../ipf-report/ipf-exports.5" |
	sed 's/, /\n/g' | sort >documented
same known documented "every output format has a section in ipf-report(1), ipf-report-export(1) or ipf-exports(5)"
contains "$("$report" --help | tr -s ' \n' ' ')" "formats: text md html json csv requests-csv requests-jsonl junit prometheus openmetrics sql " "ipf-report --help lists the formats"

# ---- --meta ---------------------------------------------------------------------------------------------------------
misused '--meta: expected KEY=VALUE' --meta commit
misused 'got "1st=x"' --meta 1st=x
misused 'got "a b=x"' --meta "a b=x"
misused 'got "=x"' --meta =x
misused 'the value is not UTF-8' --meta "$(printf 'key=\377')"
misused 'at most 64 keys' $(seq -f '--meta=k%g=v' 65)
noted=(--meta commit=5f3a9c1 --meta gpu=a --meta "gpu==H200, \e[31m" --meta empty=)
run "$report" "${noted[@]}" "$data/one.results"
contains "$(sed -n '/^  meta/,/^  [a-z]* *20/p' "$OUT")" 'commit=5f3a9c1, gpu==H200, \e[31m, empty=' "--meta: text has a line of notes"
run "$report" -f json "${noted[@]}" "$data/one.results"
is "$(jq -c .run.meta "$OUT")" '{"commit":"5f3a9c1","gpu":"=H200, \\e[31m","empty":""}' "JSON has them in order, of one key the last value"
run "$report" -f csv "${noted[@]}" "$data/one.results"
is "$(head -1 "$OUT" | tr -d '\r' | grep -o 'meta_.*')" "meta_commit,meta_gpu,meta_empty" "CSV has a column for each"
is "$(tail -1 "$OUT" | tr -d '\r' | grep -o '5f3a9c1,.*')" "5f3a9c1,\"'=H200, \\e[31m\"," "no spreadsheet evaluates a note"

# ---- verdict and --strict -------------------------------------------------------------------------------------------
run "$report" --strict "$data/errors.results"
status_is 4 "--strict: an invalid run ends with 4"
complains ipf-report "the verdict is INVALID" "--strict says that the verdict is INVALID"
contains "$(cat "$OUT")" "INVALID" "--strict prints the report"
run "$report" --strict "$data/closed.results"
status_is 0 "--strict: a doubtful run ends with 0"
run "$report" --strict -f json "$data/empty.results"
status_is 4 "--strict: no request at all is invalid"
is "$(jq -r '.verdict.status' "$OUT")" INVALID "the verdict of no request is INVALID"

# ---- streams --------------------------------------------------------------------------------------------------------
size=$(wc -c <"$data/mixed.results")
for part in 20 40 60 80 99; do
	head -c $((size * part / 100)) "$data/mixed.results" >cut.results
	run "$report" cut.results
	status_is 3 "cut at $part %: ends with 3"
	complains ipf-report "cut" "cut at $part %: says so"
	matches "$(head -1 "$OUT")" "^Incomplete  *cut.results: cut after [0-9]+ good line" "cut at $part %: the report says so first"
	run "$report" -f json cut.results
	is "$(jq -r '.run.incomplete | length' "$OUT")" 1 "cut at $part %: JSON says so first"
done
head -c $((size * 60 / 100)) "$data/mixed.results" >cut.results
is "$("$report" -f json cut.results 2>&- | jq '[.stages[].requests | .ok + .failed] | add')" \
	"$(head -c $((size * 60 / 100)) "$data/mixed.results" | sed '$d' |
	grep -c '^{"n":')" "a cut stream: every good row counts"
run "$report" --strict cut.results
status_is 3 "a cut stream ends with 3 also when it is invalid"
run "$report" "$data/mixed.results" cut.results
status_is 3 "a cut stream beside a whole one ends with 3"
head -c 100 "$data/mixed.results" >beheaded
run "$report" beheaded
status_is 3 "cut within the header: ends with 3"
is "$(wc -c <"$OUT" | tr -d ' ')" 0 "a stream cut in its header gives no report"
run "$report" /dev/null
status_is 3 "an empty input ends with 3"
run "$report" no-such-file
status_is 1 "a file that is not there ends with 1"
complains ipf-report "no-such-file" "ipf-report names the missing file"
run "$report" "$TESTS/tap.sh"
status_is 3 "a file that is no stream ends with 3"
head -1 "$data/one.results" | sed 's/"ipf":"results"/"ipf":"trace"/' >header
: >body
seal header body >trace
run "$report" trace
status_is 3 "another kind of stream ends with 3"
complains ipf-report "results" "ipf-report says that it expects results"

head -1 "$data/one.results" >header
sed -n 2p "$data/one.results" >row
{ cat row; sed 's/"ttft_ns":[0-9]*/"ttft_ns":"soon"/; s/"n":0/"n":1/' row; } >body
seal header body >bad.results
run "$report" bad.results
status_is 3 "a row that makes no sense ends with 3"
complains ipf-report 'bad.results:3: ttft_ns: expected an integer, got "soon"' "ipf-report names line, member and value"
contains "$(head -1 "$OUT")" "Incomplete    bad.results:3" "the report says so first"
contains "$(cat "$OUT")" "none in 1 request" "the report goes on without the wrong row"
sed 's/"n":0/"n":0,"slo":{"ttft":"soon"}/' row >body
seal header body >slo.results
run "$report" slo.results
status_is 3 "an objective of a request that makes no sense ends with 3"
complains ipf-report 'slo.results:2: slo.ttft: expected a duration such as "500ms", got "soon"' "ipf-report names the wrong objective of a request"

# A run its writer called incomplete
cp row body
seal header body | sed 's/"end":{/"end":{"incomplete":"the run was stopped",/' >stopped.results
run "$report" stopped.results
status_is 0 "a whole stream that says that something is missing ends with 0"
matches "$(head -1 "$OUT")" "^Incomplete  .*the run was stopped" "the report begins with the missing part"
is "$("$report" -f json stopped.results | jq -r .verdict.checks[0].status)" DOUBTFUL "the verdict doubts results with a missing part"

run "$report" "$data/mixed.results" "$data/one.results"
status_is 3 "results with other stages are refused"
complains ipf-report "not the same run" "ipf-report says that the results are not of the same run"

sed '1s/"itl":"gap"/"itl":"token"/' "$data/one.results" >token.results
run "$report" token.results
contains "$(cat "$OUT")" "ITL    per token" "the report names the samples of ITL"
run "$report" "$data/one.results" token.results
status_is 3 "gaps of two kinds are not pooled"
complains ipf-report "token.results: was collected with --itl token" "ipf-report names the results of another --itl"

# ---- input and output -----------------------------------------------------------------------------------------------
"$report" "$data/mixed.results" >want
yes_if "the report to compare with has a verdict" grep -q '^Verdict' want
zstd -q -c "$data/mixed.results" >mixed.results.zst
for how in "$report mixed.results.zst" "$report - <mixed.results.zst" "cat mixed.results.zst | $report" "$report <$data/mixed.results" \
	"$report -o - $data/mixed.results"; do
	is "$(eval "$how" | md5sum)" "$(md5sum <want)" "${how//"$report"/ipf-report} gives the same report" | sed "s|$data/||"
done
run "$report" -o out.txt "$data/mixed.results"
same out.txt want "-o writes the same"
run "$report" -o out.txt.zst "$data/mixed.results"
is "$(zstd -dqc out.txt.zst | md5sum)" "$(md5sum <want)" "-o with .zst compresses it"
run "$report" -o no/such/folder/out "$data/mixed.results"
status_is 1 "-o where nothing can be created ends with 1"
complains ipf-report "no/such/folder/out" "ipf-report names the output that it cannot create"

if [ -w /dev/full ]; then
	for format in text json csv; do
		status=0
		"$report" -f $format "$data/mixed.results" >/dev/full 2>"$ERR" || status=$?
		status_is 1 "-f $format on a full disk ends with 1"
		complains ipf-report "standard output" "-f $format on a full disk names standard output"
	done
	status=0
	"$report" definitions >/dev/full 2>"$ERR" || status=$?
	status_is 1 "definitions on a full disk ends with 1"
	run "$report" -o /dev/full "$data/mixed.results"
	status_is 1 "-o on a full disk ends with 1"
else
	skip "a full disk is noticed" "no /dev/full"
fi
{
	"$report" -f json "$data/mixed.results" 2>pipe.err
	echo $? >pipe.status
} | head -1 >/dev/null
is "$(cat pipe.status pipe.err)" 0 "a reader that goes away ends it quietly"
status=0
"$report" "$data/mixed.results" >&- 2>"$ERR" || status=$?
status_is 1 "a closed standard output ends with 1"
status=0
"$report" <&- >"$OUT" 2>"$ERR" || status=$?
isnt "$status" 0 "a closed standard input is noticed"

# ---- looks ----------------------------------------------------------------------------------------------------------
is "$(grep -c "$(printf '\033')" want)" 0 "text in a file has no colours"
if command -v script >/dev/null; then
	escapes() { env "$@" TERM=xterm script -qec "$report $data/mixed.results" /dev/null </dev/null |
		grep -c "$(printf '\033')"; }
	isnt "$(escapes NO_COLOR=)" 0 "colours on a terminal"
	is "$(escapes NO_COLOR=1)" 0 "NO_COLOR suppresses colours"
else
	skip "colours on a terminal" "no script(1)"
fi
run "$report" -v "$data/one.results" "$data/one.results"
is "$(grep -c 'one.results: 1 request$' "$ERR")" 2 "-v says what was read"
run "$report" --progress "$data/one.results"
status_is 0 "--progress does no harm"
same "$OUT" <("$report" "$data/one.results") "--progress does not change the report"
"$report" -f json --reproducible "$data/one.results" >a
sed 's/2026-11-20T06:29:00.123Z/2027-01-01T00:00:00.000Z/' "$data/one.results" >b.results
"$report" -f json --reproducible b.results >b
same a b "--reproducible: another date, the same report"

# Long names stay in their column, several bytes to a character or not.
sed '1s/"name":"constant"/"name":"sehr-langsam-und-ausführlich-gemäß-Plan"/g' "$data/one.results" >long.results
run "$report" long.results
matches "$(cat "$OUT")" '^  sehr-langsam-und-aus[^ ]*$' "a long name has a line of its own"
matches "$(cat "$OUT")" '^ {10,}1\.00' "figures of a long name are in the next line"

# Names come from files and servers: none of them speaks to the terminal.
sed -e '1s/"name":"constant"/"name":"a\\u001b[2Jb\\u009bc\\nd"/g' "$data/one.results" >evil.results
run "$report" evil.results
is "$(tr -d '\n' <"$OUT" | LC_ALL=C tr -d '\040-\176\200-\377' | wc -c |
	tr -d ' ')" 0 "no control character of a name reaches the terminal"
contains "$(cat "$OUT")" "  a\\x1b[2Jb\\u009bc\\n" "control characters of a name are shown as escapes"

# CSV: as many fields on each line, RFC 4180 for odd names
sed '1s/"name":"constant"/"name":"a,\\"b\\""/g' "$data/one.results" >odd.results
run "$report" -f csv odd.results
matches "$(sed -n 2p "$OUT")" '^"a,""b""",constant,true,' "CSV: a name with comma and quotes is quoted"
"$report" -f csv "$data/mixed.results" >m.csv
is "$(awk -F, '{ print NF }' m.csv | sort -u | wc -l | tr -d ' ')" 1 "CSV: every line has as many fields as the first"
between "$(head -1 m.csv | tr ',' '\n' | sort -u | wc -l)" 300 "$(head -1 m.csv | tr ',' '\n' |
	wc -l)" "CSV: the heading has hundreds of names"
is "$(head -1 m.csv | tr ',' '\n' | sort | uniq -d)" "" "CSV: no name occurs twice"
is "$(grep -c "$(printf '\r')$" m.csv)" 6 "CSV: a line of names, four stages, the total; ended by CR LF"

# ---- signals: Ctrl-C reaches a whole pipeline, and the report of the part before it is worth having
# --------------------
mkfifo pipe
"$report" <pipe >interrupted.txt 2>"$ERR" &
pid=$!
stop_at_exit $pid
exec 3>pipe
head -3 "$data/one.results" >&3
# ipf-report and no longer the shell, asleep, with a handler for SIGINT (bit 1 of the signals caught)
reading() { grep -q '^Name:.ipf-report$' /proc/$pid/status && grep -q '^State:.S' /proc/$pid/status && grep -q '^SigCgt:.*[2367abef]$' /proc/$pid/status; }
yes_if "ipf-report waits for more input" wait_for reading
kill -INT $pid
sleep 0.15
kill -HUP $pid
tail -n +4 "$data/one.results" >&3
exec 3>&-
status=0
wait $pid || status=$?
status_is 0 "two signals do not keep it from reading on"
"$report" "$data/one.results" >want
same interrupted.txt want "a report after two signals is whole"

"$report" <pipe >interrupted.txt 2>"$ERR" &
pid=$!
stop_at_exit $pid
exec 3>pipe
head -2 "$data/one.results" >&3
yes_if "ipf-report waits for more input in the second call" wait_for reading
# One at a time: of two waiting at once the system may keep only one, and those within a tenth of a second are one. A signal was taken when none waits
# and the program sleeps again, or has ended.
taken() { tap_gone $pid || { reading && [ "$(awk '/^(SigPnd|ShdPnd)/ && $2 !~ /^0*$/ { n = 1 } END { print n + 0 }' /proc/$pid/status)" = 0 ]; }; }
for signal in INT TERM INT; do
	kill -$signal $pid
	wait_for taken
	sleep 0.15
done
status=0
wait $pid || status=$?
exec 3>&-
status_is 3 "a third signal ends the reading with 3"
complains ipf-report "interrupted after" "ipf-report says that it was interrupted"
contains "$(head -1 interrupted.txt)" "Incomplete" "the report begins with the interrupt"
