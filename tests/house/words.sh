#!/bin/sh
# Finds wording of words.txt in texts for users: words.sh [FILE…]; without files, README and the other pages, the manual pages, and
# --help of the programs in $BUILD/bin where they are built. Prints FILE:LINE: words: advice, and exits with 1 if there is any.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # one word a file
	set -- README.md HACKING.md NEWS.md $(find .github examples tests -name '*.md') $(find ipf-* lib libipf -name '*.[1357]')
	for program in prep sched fire collect report twin sim; do
		[ -x "${BUILD:-.build}/bin/ipf-$program" ] || continue
		"${BUILD:-.build}/bin/ipf-$program" --help | tr -s ' \n' ' ' |
			sed -e 's/--[a-z-]*//g' -e 's/\. /.\n/g' >"$work/ipf-$program--help"
		set -- "$@" "$work/ipf-$program--help"
	done
fi
# All patterns as one, since most files have none of them: Perl's alternatives stay apart in groups.
grep -vE '^(#|$)' "$here/words.txt" | cut -f 1 | sed 's/.*/(?:&)/' | paste -sd '|' >"$work/all"
found=0
for file; do
	[ -e "$file" ] || continue
	# Names of options, files and fields are not prose: macros with arguments and code between backquotes are left out.
	sed -e 's/`[^`]*`//g' -e 's/--[a-z][a-z-]*//g' -e '/^\.\(Fl\|Ic\|Cm\|Va\|Pa\|It\|Dl\|Xr\|Op\|Nm\|Sx\|Ql\|Li\|Ar\)/s/.*//' -e 's/\\-/-/g' "$file" >"$work/text"
	grep -qiP -e "$(cat "$work/all")" "$work/text" || continue
	while IFS='	' read -r pattern advice; do
		case $pattern in '' | \#*) continue ;; esac
		if grep -niP -e "$pattern" "$work/text" >"$work/hits"; then
			found=1
			while IFS=: read -r line text; do
				printf '%s:%s: "%s": %s\n' "$file" "$line" \
					"$(printf '%s\n' "$text" | grep -oiP -m 1 -e "$pattern" | head -1)" "$advice"
			done <"$work/hits"
		fi
	done <"$here/words.txt"
done
exit $found
