# Attacks by a helper with random choices: source it after tap.sh, in bash.
# shellcheck shell=bash

command -v python3 >/dev/null || skip_all "python3 is not installed"

# The helper's last line has the counts, and matches PATTERN if nothing was wrong. Where something was, the file ends.
attacked() { # NAME PATTERN SCRIPT ARGUMENT…
	run python3 "$TESTS/helpers/$3" "${@:4}"
	matches "$(tail -1 "$OUT")" "$2" "$1: $(tail -1 "$OUT")"
	[ "$status" = 0 ] || {
		head -5 "$OUT" "$ERR" | cut -c 1-2000 | sed 's/^/# /'
		exit 1
	}
}
