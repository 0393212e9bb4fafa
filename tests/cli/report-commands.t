#!/bin/bash
# The commands of ipf-report: each with a table of options, help and completion of its own.
. "$TESTS/tap.sh"
data=$TESTS/data/report
report=$BIN/ipf-report
cp "$data/mixed.results" "$data/one.results" .

# ---- the same bytes as by -f --------------------------------------------------------------------------
alike() { # TEXT COMMAND… --older OPTIONS…
	local text=$1 command=()
	shift
	while [ "$1" != --older ]; do
		command+=("$1")
		shift
	done
	shift
	"$report" "${command[@]}" >new.out 2>new.err
	local new=$?
	"$report" "$@" >old.out 2>old.err
	local old=$?
	is "$new $(sed 's/^ipf-report [a-z]*:/ipf-report:/' new.err)" "$old $(cat old.err)" "$text: the same status and messages"
	same new.out old.out "$text: the same bytes"
}
formats=$("$report" export --help | sed -n '/^FORMAT:/,/^$/p' | sed 's/^FORMAT://' | tr -d ',' | tr -s ' ' '\n' | grep .)
between "$(wc -l <<<"$formats")" 20 40 "export --help lists the formats"
for format in csv requests-csv junit prometheus openmetrics sql; do
	alike "export $format" export $format --reproducible mixed.results --older -f $format --reproducible mixed.results
done
run "$report" -f vllm mixed.results
status_is 2 "ipf-report -f refuses a format of another tool"
same <("$report" export json --reproducible <mixed.results) <("$report" -f json --reproducible <mixed.results) "export, from standard input"
alike "export with options before FORMAT" export --curve csv mixed.results --older -f csv --curve mixed.results
run "$report" plot new.plots mixed.results
status_is 0 "plot ends with 0"
is "$(wc -c <"$OUT" | tr -d ' ')" 0 "plot writes nothing but plots"
"$report" --plots old.plots mixed.results >/dev/null 2>&1
between "$(find new.plots -type f | wc -l)" 10 200 "plot: the folder has files"
same <(cd new.plots && md5sum -- *.tsv *.gp) <(cd old.plots && md5sum -- *.tsv *.gp) "plot: the same data and scripts as by --plots"
run "$report" definitions -o definitions.txt
same definitions.txt <("$report" definitions) "definitions -o FILE"
IPF_REPORT_STAGE=nothing run "$report" certificate mixed.results
complains "ipf-report certificate" nothing "variables of ipf-report set the options of its commands"
IPF_REPORT_BY=model run "$report" certificate mixed.results
status_is 0 "a command ignores variables of options that it does not have"

# ---- help ------------------------------------------------------------------------------------------------------------
for command in compare gateway export plot certificate definitions; do
	run "$report" $command --help
	status_is 0 "$command --help ends with 0"
	matches "$(head -1 "$OUT")" "^usage: ipf-report $command \[OPTION…\]" "$command --help begins with the usage"
	is "$(awk '{ gsub(/[^ -~]/, "") } length > 80' "$OUT")" "" "$command --help fits into 80 columns"
	case $command in
	plot | certificate) page="export" ;;
	*) page=$command ;;
	esac
	contains "$(tail -1 "$OUT")" "man ipf-report-$page" "$command --help names the page"
	contains "$("$report" --help)" "  $command " "ipf-report --help lists $command"
	run "$report" $command --no-such-option
	status_is 2 "$command --no-such-option ends with 2"
	complains "ipf-report $command" "unknown option --no-such-option" "$command says that the option is unknown"
done
is "$("$report" compare --help | grep -cE '^ +--(by|price|plots|push|upload|as|trace)( |$)')" 0 "compare has no option that it cannot use"

# ---- wrong usage -----------------------------------------------------------------------------------------------------
misused() { # COMMAND PART ARGUMENTS…
	local name=$1 part=$2
	shift 2
	run "$report" "$@"
	status_is 2 "$*: is wrong usage"
	complains "$name" "$part" "$name says: $part"
	is "$(wc -c <"$OUT" | tr -d ' ')" 0 "$name reports nothing: $part"
}
misused "ipf-report export" 'expected FORMAT [RESULTS…], got nothing' export
misused "ipf-report export" 'unknown FORMAT "request-csv" (did you mean requests-csv?)' export request-csv mixed.results
misused "ipf-report export" 'unknown FORMAT "xyz"; --help lists the formats' export xyz mixed.results
misused "ipf-report export" 'html is a format for people: ipf-report -f html' export html mixed.results
misused "ipf-report export" 'the FORMAT comes before the results: ipf-report export FORMAT mixed.results' export mixed.results
misused "ipf-report export" '--by: junit has no groups; use json, csv or sql' export junit --by model mixed.results
misused "ipf-report export" '--curve requires csv' export json --curve mixed.results
misused "ipf-report plot" 'expected FOLDER [RESULTS…], got nothing' plot
misused "ipf-report plot" 'expected the FOLDER before the results, got the file "mixed.results"' plot mixed.results
misused "ipf-report plot" '--plot-format: expected svg, png or pdf, got "gif"' plot --plot-format gif plots mixed.results
misused "ipf-report compare" 'expected BASE… -- NEW…, results before and after --' compare mixed.results
misused "ipf-report compare" 'expected BASE… -- NEW…, results before and after --' compare mixed.results --
misused "ipf-report compare" '--fail-if "speed > 1": expected a figure' compare --fail-if 'speed > 1' one.results -- one.results
misused "ipf-report compare" '-f: expected text, json, md, html or junit, got "csv"' compare -f csv one.results -- one.results
misused "ipf-report definitions" 'unexpected operand "x"' definitions x
misused "ipf-report certificate" '-f: expected text or json, got "csv"' certificate -f csv mixed.results
misused ipf-report '"comapre": no such file or command (did you mean compare?)' comapre one.results -- mixed.results
misused ipf-report '"exports": no such file or command (did you mean export?)' exports csv mixed.results
misused ipf-report 'the command comes before the options: ipf-report compare …' -q compare one.results -- mixed.results

# ---- a file called like a command ------------------------------------------------------------------------------------
cp mixed.results compare
cp mixed.results exports
same <("$report" ./compare) <("$report" mixed.results) "a file called compare is reached as ./compare"
run "$report" -q mixed.results compare
status_is 0 "a file called compare is reached behind another file"
same <("$report" exports) <("$report" mixed.results) "a file whose name is almost that of a command is a file"
run "$report" no-such-file
status_is 1 "a file that is not there and resembles no command is a file"
