#!/bin/sh
# Manual pages against the programs: every option of a program's table stands in its page and the page names no other.
. "$TESTS/tap.sh"
ROOT=$TESTS/..

documented() { # PAGE: the long options with an entry (.It) of their own
	sed -n '/^\.It Fl/p' "$1" | grep -oE 'Fl -[a-z][a-z0-9-]*' | sed 's/Fl /-/' | sort -u
}

# The pages of programs whose commands share the page: options of any of them. Common ones are in ipf(7).
commands_of() { # PROGRAM
	case $1 in
	ipf-prep) echo stat fit tokenize ;;
	ipf-twin) echo fit predict why ;;
	"ipf-report export") echo export plot certificate ;;
	esac
}
documented "$ROOT/lib/ipf.7" >common

for name in prep sched fire collect report twin sim; do
	program=ipf-$name
	page=$ROOT/$program/$program.1
	{
		options_of "$program"
		for command in $(commands_of "$program"); do options_of "$program" "$command"; done
	} | sort -u >known
	documented "$page" >written
	yes_if "$program has options to compare" test -s known
	is "$(sort -u written common | comm -23 known - | tr '\n' ' ')" "" "every option of $program stands in $program(1) or, if all have it, in ipf(7)"
	is "$(comm -13 known written | tr '\n' ' ')" "" "$program(1) names no option that $program does not know"
	for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES "SEE ALSO"; do
		yes_if "$program(1) has $section" grep -qx "\.Sh \"\{0,1\}$section\"\{0,1\}" "$page"
	done

	run "$BIN/$program" --help
	status_is 0 "$program --help ends with 0"
	stderr_is "" "$program --help writes to standard output"
	is "$(awk '{ gsub(/[^ -~]/, "") } length > 80' "$OUT")" "" "$program --help fits 80 columns"
	contains "$(head -1 "$OUT")" "$program" "$program --help begins with how to call it"
	run "$BIN/$program" --version
	status_is 0 "$program --version ends with 0"
	matches "$(head -1 "$OUT")" "^$program [0-9]+\.[0-9]+\.[0-9]+" "$program --version begins with name and version"
	run "$BIN/$program" --no-such-option
	status_is 2 "$program --no-such-option ends with 2"
	complains "$program" "--no-such-option" "$program names the unknown option in one line"
	is "$(wc -c <"$OUT" | tr -d ' ')" 0 "$program writes nothing to standard output for an unknown option"
done

# Other commands have a separate page.
for command in "ipf-prep anonymize" "ipf-report compare" "ipf-report gateway" "ipf-report export" "ipf-report definitions"; do
	program=${command% *}
	page=$ROOT/$program/$(echo "$command" | tr ' ' -).1
	[ -f "$page" ] || page=$page.in
	others=$(commands_of "$command")
	for other in ${others:-${command#* }}; do options_of "$program" "$other"; done | sort -u >known
	documented "$page" >written
	yes_if "$command has options to compare" test -s known
	is "$(sort -u written common | comm -23 known - | tr '\n' ' ')" "" "every option of $command stands in its page or in ipf(7)"
	is "$(comm -13 known written | tr '\n' ' ')" "" "the page of $command names no other option"
	for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES "SEE ALSO"; do
		yes_if "the page of $command has $section" grep -qx "\.Sh \"\{0,1\}$section\"\{0,1\}" "$page"
	done
done

# Names that tables have: the entry of an option in ipf-report(1) has those the program accepts.
missing_from() { # OPTION, names on standard input
	awk -v option="-$1" '/^\.It / { inside = $3 == option } inside' "$ROOT/ipf-report/ipf-report.1" >entry
	while read -r name; do grep -qw -e "$name" entry || printf '%s ' "$name"; done
}
"$BIN/ipf-report" --section none /dev/null 2>&1 | sed 's/.*sections: //; s/, /\n/g' >known
yes_if "ipf-report has sections to look for" grep -qx latency known
is "$(missing_from section <known)" "" "ipf-report(1) lists every section"
"$BIN/ipf-report" --slo none=1s /dev/null 2>&1 | sed 's/.*expected //; s/ before.*//; s/, / /g; s/ or / /' | tr ' ' '\n' >known
yes_if "ipf-report has metrics to look for" grep -qx slot_wait known
is "$(missing_from slo <known)" "" "ipf-report(1) lists every metric of --slo"

if command -v mandoc >/dev/null; then
	for page in $(manual_pages); do
		run mandoc -T lint -W warning "$page"
		is "$(cat "$OUT" "$ERR")" "" "mandoc has nothing to say about $(basename "$page")"
	done
else
	skip "manual pages are well-formed" "mandoc is not installed"
fi

# As Debian's man shows them, too: nothing that cannot be broken into lines, no quotation inside another.
if command -v groff >/dev/null; then
	for page in $(manual_pages); do
		run groff -mdoc -Tutf8 -rLL=78n "$page"
		is "$(head -3 "$ERR")" "" "groff has nothing to say about $(basename "$page")"
		# shellcheck disable=SC1112 # they are meant
		is "$(grep -cE '’’|‘[^’]*‘' "$OUT")" 0 "$(basename "$page") has no quotation marks inside quotation marks"
	done
else
	skip "manual pages are well-formed for groff" "groff is not installed"
fi

# shellcheck disable=SC2046 # one word a page
# A command that does not fit a line of 80 columns has to say where it goes on, or cannot be copied from the page.
is "$(grep -nE '^\.Dl .{68,}' $(manual_pages))" "" "no command is broken by the page's width"

# Cross references lead to existing pages.
for page in $(manual_pages); do
	sed -n 's/^\.Xr \(ipf[a-z_-]*\) \([0-9]\).*/\1.\2/p' "$page"
done | sort -u >references
while read -r reference; do
	yes_if "the page $reference that others point to exists" test -n "$(manual_pages | grep "/$reference\$")"
done <references
