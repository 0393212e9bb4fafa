#!/bin/bash
# The commands of README and AGENTS, run as written. A block to run has "<!-- test: NAME -->" on the line before it; only the
# server's address, the name of a dataset a reader would bring and the length of a stage are replaced.
. "$TESTS/tap.sh"
ROOT=$TESTS/..
README=$ROOT/README.md

PATH=$BIN:$PATH
ln -s "$ROOT/examples" examples
ln -s "$ROOT/share" share
head -20 examples/arrivals.csv >arrivals-20.csv
server_start

block() { # NAME
	awk -v mark="<!-- test: $1 -->" '$0 == mark { wanted = 1; next } wanted && /^```/ { if (inside) exit; inside = 1; next } inside' "$README"
}

sed -n 's/^<!-- test: \(.*\) -->$/\1/p' "$README" >names
yes_if "the README has commands to run" test -s names
while read -r name <&3; do
	block "$name" | sed -e "s,http://localhost:8000,$URL,g" -e "s,AzureLLMInferenceTrace_conv.csv,arrivals-20.csv,g" \
		-e 's/for=[0-9]*s/for=1s/g' -e 's/FOR=[0-9]*s/FOR=1s WARMUP=0/g' >"$name.sh"
	isnt "$(cat "$name.sh")" "" "README, $name: the block has commands"
	run bash -e -u -o pipefail "$name.sh"
	status_is 0 "README, $name: its commands work"
	isnt "$(tail -1 "$OUT")" null "README, $name: the last command finds a value"
	case $name in strict) ;; *) isnt "$(cat "$OUT")" "" "README, $name: the commands print something" ;; esac
done 3<names
is "$(grep -c '^```sh' "$README")" "$(($(wc -l <names) + 2))" "README: all blocks of commands but those that install are run here"

README=$ROOT/AGENTS.md
block agents | sed -e "s,http://localhost:8000,$URL,g" -e 's/for=[0-9]*s/for=1s/g' >agents.sh
run bash -e -u -o pipefail agents.sh
status_is 0 "AGENTS: its commands work"
is "$(tail -1 "$OUT" | jq -c 'map(type)')" '["string","number","number"]' "AGENTS: the report has the figures that it names"

# Targets and files that they name.
for page in README.md HACKING.md AGENTS.md llms.txt packaging/wheel/README.md; do
	grep -ohE '`make [a-z][a-z-]*|^make [a-z][a-z-]*' "$ROOT/$page" | tr -d '`' | sort -u >makes
	while read -r _ target; do
		yes_if "$page: make $target exists" grep -q "^$target:" "$ROOT/Makefile"
	done <makes
	grep -oE '\b(tests|examples|lib|ipf-[a-z]+)/[A-Za-z0-9._/-]+[a-z0-9]' "$ROOT/$page" | sort -u >files
	while read -r file; do
		yes_if "$page: $file exists" test -e "$ROOT/$file"
	done <files
done
