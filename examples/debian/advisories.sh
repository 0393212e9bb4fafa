#!/usr/bin/env bash
# Says which libraries of a bill of materials have a newer version in this system's archive: Debian mends an advisory by one.
#
#     advisories.sh <ipf.cdx.json     `make advisories` calls it, after `apt-get update`
#
# A line for each library: its package, its version in the bill, and the newest one, or "current". 1: some have a newer one.
set -euo pipefail
command -v apt-cache >/dev/null || { echo "advisories: apt-cache is missing: this needs Debian's archive" >&2; exit 2; }
status=0
while read -r package version; do
	newest=$(apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
	if [ -n "$newest" ] && dpkg --compare-versions "$newest" gt "$version"; then
		status=1
	else
		newest=current
	fi
	printf '%-26s %-22s %s\n' "$package" "$version" "$newest"
done < <(jq -r '.components[] | select(.purl) | "\(.purl | capture("/(?<name>[^/@]+)@").name) \(.version)"' | sort -u)
exit $status
