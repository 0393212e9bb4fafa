#!/bin/sh
# The manual pages as HTML: each page there, every link between them leads somewhere.
. "$TESTS/tap.sh"

command -v mandoc >/dev/null || skip_all "mandoc is not installed"
[ -z "${SANITIZE:-}" ] || skip_all "the same with every sanitizer"
# shellcheck disable=SC2046 # one word a page
run "$TESTS/house/html.sh" html $(manual_pages)
status_is 0 "the pages are made"
is "$(ls html/*.[1357].html | wc -l)" "$(manual_pages | wc -l)" "every manual page has its HTML"
broken=
for page in html/*.html; do
	for target in $(grep -oE 'href="[^"#]+"' "$page" | cut -d '"' -f 2 | sort -u); do
		[ -e "html/$target" ] || broken="$broken $page:$target"
	done
done
is "$broken" "" "every link leads to a file that exists"
yes_if "pages link to each other" grep -q 'href="ipf-fire.1.html"' html/ipf.7.html
yes_if "the index lists all of them" grep -q 'href="ipf-results.5.html"' html/index.html
