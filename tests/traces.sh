# shellcheck shell=bash
# Common to the tests over published traces: their places, and how one is described. Sourced by tests in bash, in place of tap.sh; all is
# skipped where there is no folder of sample data.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
[ -n "${SHARED:-}" ] && [ -d "$SHARED/data" ] || skip_all "no folder of sample data"
data=$SHARED/data/traces

# Describes a trace: FILE SOURCE [ARGUMENT…] → stat.json
describe() {
	local file=$1 source=$2
	shift 2
	[ -e "$data/$file" ] || { skip "$file" "not in this folder"; return 1; }
	is "$("$prep" auto "$data/$file" -n 1 2>&1 | head -1 | jq -r .source)" "$source" "$file is known as $source"
	"$prep" auto "$data/$file" "$@" | "$prep" stat -f json - >stat.json
	is "${PIPESTATUS[*]}" "0 0" "and read"
}

figures() { # JQ EXPECTED TEXT
	is "$(jq -r "def r(n): if . == null then \"-\" else . * pow(10; n) | round / pow(10; n) end; [$1] | join(\" \")" stat.json)" "$2" "$3"
}
