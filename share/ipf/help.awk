# Prints the help of makefiles from their comments: "#: TEXT" as it is, a heading after an empty line; "NAME ?= DEFAULT#: TEXT" and
# "TARGET: …#: TEXT" as a row. The first file decides on a default; one that make computes is described by TEXT.
function row(name, text,    words, n, i, line) {
	line = sprintf("  %-17s", name)
	if (length(name) > 16) { print line; line = sprintf("%19s", "") }
	n = split(text, words, " ")
	for (i = 1; i <= n; i++) {
		if (length(line) + 1 + length(words[i]) > 80) { print line; line = sprintf("%19s", "") }
		line = line " " words[i]
	}
	print line
}
/^#:/ {
	text = substr($0, 4)
	if (text ~ /:$/ && last != "") print ""
	print last = text
	next
}
/^[A-Z_]+ *\?=.*#:/ || /^[a-z-]+:.*#:/ {
	text = name = $0
	sub(/.*#: */, "", text)
	sub(/#:.*/, "", name)
	gsub(/\$\$/, "$", text)
	if (name ~ /\?=/) {
		sub(/ *\?= */, "=", name)
		sub(/=.*[$].*/, "=", name)
		variable = name
		sub(/=.*/, "", variable)
		if (seen[variable]++) next
	} else sub(/:.*/, "", name)
	row(name, text)
}
