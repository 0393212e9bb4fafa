# Prints functions that have more than 60 lines or more than six parameters. Relies on the house's layout: a function's head begins in
# the first column, its braces stand there alone.
FNR == 1 { head = ""; start = 0 }
/^\{/ {
	start = FNR
	parameters = head
	# The innermost parentheses are types of callbacks: they count as one.
	sub(/^[^(]*\(/, "", parameters)
	while (gsub(/\([^()]*\)/, "", parameters))
		;
	count = gsub(/,/, ",", parameters) + 1
	# the types of libmicrohttpd's request handler and of nghttp2's sources of bodies are the libraries' choice
	if (head ~ /\(/ && head !~ /=/ && head !~ /struct MHD_Connection|nghttp2_data_source/ && count > 6)
		print FILENAME ":" start ": " count " parameters"
}
/^\}/ && start {
	if (FNR - start + 1 > 60)
		print FILENAME ":" start ": " FNR - start + 1 " lines"
	start = 0
}
/^[a-z_]/ { head = $0; next }
/^[ \t]/ && !start { head = head " " $0; next }
/^$/ { head = "" }
