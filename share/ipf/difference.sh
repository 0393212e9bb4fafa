#!/bin/sh
# The comparison at the end of compare.mk: difference.sh FILE "ROUND…" OPTION-OF-ipf-report…, from a-ROUND.results.zst and
# b-ROUND.results.zst in the same folder. It is written to FILE and shown. With --fail-if among the options, a comparison that fails,
# or is undecided, ends with status 4: its text is then in FILE-failed, as in difference-failed.txt, so that make does not take FILE for
# done. The page beside FILE, .html instead of .txt, is written in any case.
file=$1 rounds=$2
shift 2
folder=$(dirname "$file")
part=$folder/part.$(basename "$file")
gate=
for argument; do
	case $argument in --fail-if*) gate=1 ;; esac
done
page=${file%.txt}.html failed=${file%.txt}-failed.txt
for round in $rounds; do set -- "$@" "$folder/a-$round.results.zst"; done
set -- "$@" --
for round in $rounds; do set -- "$@" "$folder/b-$round.results.zst"; done
compare() { # OUTPUT OPTION…
	output=$1
	shift
	if [ -n "${V:-}" ]; then echo "+ ipf-report compare -o $output $*" >&2; fi
	ipf-report compare -o "$output" "$@"
}
[ -n "${V:-}" ] || echo "ipf-report: $file" >&2
compare "$part" "$@"
status=$?
if [ $status -ne 0 ] && [ $status -ne 4 ]; then
	rm -f "$part"
	exit $status
fi
cat "$part" || exit 1
compare "$page" -q -f html "$@" || [ $? -eq 4 ] || exit 1
if [ $status -eq 4 ] && [ -n "$gate" ]; then
	mv -f "$part" "$failed" || exit 1
	echo "ipf-report: the comparison failed: $failed, $page" >&2
	exit 4
fi
rm -f "$failed"
mv -f "$part" "$file"
