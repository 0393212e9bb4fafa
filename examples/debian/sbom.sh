#!/usr/bin/env bash
# Writes a bill of materials, as CycloneDX 1.5 (JSON), for scanners of advisories.
#
#     sbom.sh VERSION ARCHIVE PACKAGE…     the sources, and the libraries that these packages of pkg-config name; `make dist` calls it
#     sbom.sh VERSION FOLDER               what FOLDER.list says was taken from this system; `make bundle` calls it
#
# A library is named as Debian's package, with its version; elsewhere by its name and pkg-config's version. The same input gives the same bytes.
set -euo pipefail
version=$1 of=$2
shift 2

distribution() {
	# shellcheck source=/dev/null
	(. /etc/os-release && echo "$ID-${VERSION_ID:-}")
}

# The line of a library: name, version, Debian's package and version and its source (or empty), file, digest
line() { # NAME VERSION FILE-OF-PACKAGE [FILE]
	local package='' fields=$'\t\t' digest=''
	if command -v dpkg >/dev/null; then
		# /lib is /usr/lib, and dpkg knows one of the two names
		package=$(dpkg -S "$3" 2>/dev/null || dpkg -S "${3#/usr}" 2>/dev/null) || package=''
		package=${package%%: /*}
		[ -z "$package" ] || fields=$(dpkg-query -W -f '${Package}\t${Version}\t${source:Package}' "${package%%,*}")
	fi
	[ -z "${4:-}" ] || digest=$(sha256sum "$4" | cut -d ' ' -f 1)
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$fields" "${4:+${4##*/}}" "$digest"
}

by_pkg_config() { # PACKAGE…
	local name
	for name; do
		line "$name" "$(pkg-config --modversion "$name")" "$(pkg-config --variable=pcfiledir "$name")/$name.pc"
	done
}

by_list() { # FOLDER
	local place file
	while IFS=$'\t' read -r place file; do
		line "${place##*/}" '' "$(realpath "$place")" "$1/$file"
	done <"$1.list"
}

if [ -d "$of" ]; then
	libraries=$(by_list "$of") digest=
else
	libraries=$(by_pkg_config "$@") digest=$(sha256sum "$of" | cut -d ' ' -f 1)
fi

jq -n --arg version "$version" --arg digest "$digest" --arg distro "$(distribution)" --arg libraries "$libraries" '
	def hash: if . == "" then {} else {hashes: [{alg: "SHA-256", content: .}]} end;
	def debian($p): ($distro | split("-")[0]) as $vendor | "pkg:deb/\($vendor)/\($p[2])@\($p[3] | @uri)?distro=\($distro)";
	($libraries | split("\n") | map(select(. != "") | split("\t")) | sort) as $rows
	| {bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
	   metadata: {component: ({type: "application", "bom-ref": "ipf", name: "ipf", version: $version, licenses: [{license: {id: "Apache-2.0"}}]}
	     + ($digest | hash))},
	   components: [$rows[] as $p | ({type: "library", "bom-ref": $p[0], name: $p[0]}
	     + (if $p[2] == "" then {version: $p[1]} else {version: $p[3], purl: debian($p)} end)
	     + (if $p[4] == "" then {} else {properties: [{name: "debian:source", value: $p[4]}]} end) + ($p[6] | hash))],
	   dependencies: ([{ref: "ipf", dependsOn: [$rows[][0]]}] + [$rows[] | {ref: .[0]}])}'
