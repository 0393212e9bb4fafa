# Exchanges with every kind of server, as files: tests/data/apis/NAME/CASE.json has a request of a trace, the bytes to send for it,
# the bytes coming back, read by read, and the expected row of results. A file more is a test more; see tests/README.md. Source it
# after tap.sh; bash. `exchanges ERE` tries those whose API's name matches.
# shellcheck shell=bash
PATH=$BIN:$PATH

# the exchanges that sign
export AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret AWS_REGION=here

# The request: --probe's report of it, as {path, headers, body}.
sent() {
	sed -n 's/^> //p' probe.err |
		jq -Rsc --arg url "$URL" 'split("\n")[:-1] | {path: (.[0] / " " | .[1][($url | length):]),
		headers: (.[1:-1] | map(capture("^(?<key>[^:]*): (?<value>.*)$")) | from_entries), body: (.[-1] | fromjson)}'
}

# The response as records: read i comes at (i + 1) × 10 ms, the request began at 0.
records() { # CASE
	head -1 probe.records
	local prompt
	prompt=$(jq -c 'select(.n != null) | {prompt_bytes, inputs, asked_outputs} | with_entries(select(.value != null))' probe.records)
	# bytes that are no text stand there in hexadecimal
	local base64
	base64=$(printf '%b' "$(jq -r '.answer.hex // [] | add // ""' "$1" | sed 's/../\\x&/g')" | base64 -w0)
	jq -c --argjson prompt "$prompt" --arg base64 "$base64" --argjson streamed "$(head -1 probe.records |
		jq .streamed)" '.answer as $a
		| ([$a.reads[]? | utf8bytelength] + [$a.hex[]? | length / 2]) as $sizes
		| {n: 0, req: 0, stage: 0, start_ns: 0, first_byte_ns: 10000000, end_ns: (10000000 * ($sizes | length)), status: $a.status,
		   headers: $a.headers, streamed: $streamed, reads: [$sizes | to_entries[] | ((.key + 1) * 10000000) as $t | [$t, .value, $t]]}
		  + (if $a.hex then {body_base64: $base64} else {body: ($a.reads | add)} end) + $prompt
		| if .streamed then . else del(.streamed) end' "$1" >row
	cat row
	trailer row
}

exchanges() { # ERE
	while read -r case; do
		name=${case#"$TESTS"/data/apis/} name=${name%.json} api=${case%/*} api=${api##*/}
		jq -c .trace "$case" >line
		trace_of line >one.trace
		mapfile -t arguments < <(jq -r '.arguments[]' "$case")
		if ! ipf-fire -u "$URL" --api "$api" -t one.trace --probe "${arguments[@]}" -o probe.records 2>probe.err; then
			not_ok "$name: a request" "$(cat probe.err)"
			continue
		fi
		is "$(sent |
			jq -cS --slurpfile c "$case" '$c[0].sends as $s | . as $got | {path, body} + {headers: (($s.headers // {}) | with_entries(.value = $got.headers[.key]))}')" \
			"$(jq -cS '.sends | {path, body, headers: (.headers // {})}' "$case")" "$name: $(jq -r .what "$case"): sent"
		records "$case" >case.records
		is "$(ipf-collect -q --text case.records |
			jq -cS --slurpfile c "$case" 'select(.n != null) | . as $row | {unread_events: null} + $c[0].row | with_entries(.value = $row[.key])')" \
			"$(jq -cS '{unread_events: null} + .row' "$case")" "$name: understood"
	done < <(find "$TESTS/data/apis" -name '*.json' | grep -E "/data/apis/($1)/" | sort)
}
