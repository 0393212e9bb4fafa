#!/bin/sh
# The comparison at the end of compare.mk: difference.sh FILE ROUND…, from a-ROUND.results.zst and b-ROUND.results.zst in the same folder.
# It is written to FILE and shown. With --fail-if in COMPARE_OPTIONS, a failing or undecided comparison, ends with status 4: its text is
# then in FILE-failed, as in difference-failed.txt, so make does not take FILE for done. The page beside FILE, .html instead of .txt, is
# written in any case, and so is .json.
file=$1
shift
folder=$(dirname "$file")
part=$folder/part.$(basename "$file")
page=${file%.txt}.html failed=${file%.txt}-failed.txt
rounds=$*
set --
for round in $rounds; do set -- "$@" "$folder/a-$round.results.zst"; done
set -- "$@" --
for round in $rounds; do set -- "$@" "$folder/b-$round.results.zst"; done
# try-cold leaves the states of the caches to the servers: the comparison shows them.
as_is=
[ "${CACHE_STATE:-}" != try-cold ] || as_is=--as-is
compare() { # OUTPUT ARGUMENT…
	output=$1
	shift
	env -S "ipf-report compare $as_is $COMPARE_OPTIONS" -o "$output" "$@"
}
compare "$part" "$@"
status=$?
if [ $status -ne 0 ] && [ $status -ne 4 ]; then
	rm -f "$part"
	exit $status
fi
cat "$part" || exit 1
compare "$page" -q -f html "$@" || [ $? -eq 4 ] || exit 1
compare "${file%.txt}.json" -q -f json "$@" 2>/dev/null || [ $? -eq 4 ] || exit 1
case $COMPARE_OPTIONS in *--fail-if*) gate=1 ;; *) gate= ;; esac
if [ $status -eq 4 ] && [ -n "$gate" ]; then
	mv -f "$part" "$failed" || exit 1
	echo "ipf-report: the comparison failed: $failed, $page" >&2
	exit 4
fi
rm -f "$failed"
mv -f "$part" "$file"
