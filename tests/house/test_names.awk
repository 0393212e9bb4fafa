# Finds names of tests that do not explain a failed line without its neighbours: awk -f test_names.awk FILE.t… FILE.c…
# A name is the text at the end of a call in a shell test, the text after yes_if, or the function of a unit test. Prints FILE:LINE: NAME
# of those that begin with a word such as "and", "so" or "which", and ends with 1 if they are more than 2 % of all.
BEGIN {
	words = "and|nor|so|which|but|as|or|whose|is|are|has|have|its|also|with|without|in|on|by|for|of|to|too|not|the same|each|all|then|what|where|when"
}
function name(text) {
	names++
	sub(/^… ?/, "", text)
	if (text ~ "^(" words ")( |$)") {
		found = found FILENAME ":" FNR ": " text "\n"
		fragments++
	}
}
FILENAME ~ /\.c$/ {
	if (match($0, /^(static )?void [a-z0-9_]+\(void \*\*/)) {
		text = substr($0, 1, RLENGTH - length("(void **"))
		sub(/.* (test_)?/, "", text)
		gsub(/_/, " ", text)
		name(text)
	}
	next
}
match($0, /(^|[ \t])yes_if "[^"]+"/) {
	text = substr($0, RSTART, RLENGTH - 1)
	sub(/.*yes_if "/, "", text)
	name(text)
	next
}
match($0, /(^|[ \t])"[^"]* [^"]*"( # exact: .*)?$/) {
	text = substr($0, RSTART, RLENGTH)
	sub(/^[ \t]*"/, "", text)
	sub(/".*/, "", text)
	name(text)
}
END {
	if (fragments > names * 0.02) {
		printf "%s%d of %d names of tests begin with such a word\n", found, fragments, names
		exit 1
	}
}
