#!/bin/bash
# Answers outside any API: redirects, compressed bodies, errors as events with a bad status, lines of JSON. ipf-fire, ipf-collect and the
# report say the same of each, and --probe and --explain show the headers that tell why.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 12 -n 10 -q -o chat.trace
ipf-sched burst:n=4 -t chat.trace -q -o chat.sched

row() { printf -- '-\t%s\traw request ; say %s\n' "$1" "$2"; }
{
	row moved 'HTTP/1.1 308 Permanent Redirect|Location: https://me:pw@models.example:8443/v1/chat/completions?key=abc|Content-Length: 0||'
	row found 'HTTP/1.1 302 Found|Location: /openai/v1?token=abc|Content-Length: 31||<html><title>x</title></html>\r\n'
	row nowhere 'HTTP/1.1 307 Temporary Redirect|Content-Length: 0||'
	row created 'HTTP/1.1 429 Too Many|Location: https://elsewhere.example/|Content-Type: text/event-stream|Connection: close||data: {"error":{"message":"slow down"}}\n\n'
	row gzip 'HTTP/1.1 200 OK|Content-Encoding: gzip|Set-Cookie: s=abc|Content-Length: 20||\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0'
	row refusal 'HTTP/1.1 500 Oh|Content-Encoding: br|Content-Length: 12||\x8b\x05\x80\xff\xfe\x91\x02\x88\xc3\x28\x90\x03'
	row lines 'HTTP/1.1 200 OK|Content-Type: application/x-ndjson|Connection: close||{"choices":[{"index":0,"delta":{"content":"a"}}]}\n{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":1}}\n'
} >scripts
scripts_start

fire() { # NAME ARGUMENTS OF ipf-fire…
	run ipf-fire -u "$(script_url "$1")" -m sim -t chat.trace "${@:2}"
}
# A run against the script NAME: ipf-fire's line (with STATUS) and ipf-collect's; the report has text and hint.
says() { # NAME STATUS TEXT [HINT]
	fire "$1" chat.sched -o r.records
	is "$(cat "$ERR")" "ipf-fire: all 4 requests failed by status (4 http-status): $2 ×4: $3${4:+ ($4)}" "$1: ipf-fire says why"
	run ipf-collect r.records -o r.results
	is "$(cat "$ERR")" "ipf-collect: all 4 requests failed (4 http-status): $2 ×4: $3${4:+ ($4)}" "$1: ipf-collect says the same"
	is "$(ipf-report -f json r.results | jq -c '.errors | map([.status, .text, .hint])')" \
		"$(jq -cn --arg text "$3" --arg hint "${4:-}" "[[$2, \$text, (\$hint | if . == \"\" then null else . end)]]")" "$1: the report says the same"
}
says moved 308 "redirected to https://models.example:8443/v1/chat/completions: use it as --url" "redirects are not followed"
is "$(plain r.records | jq -c '.headers | values' | sort -u)" '{"location":"https://models.example:8443/v1/chat/completions?[redacted]"}' \
	"the record has where it leads, without secrets"
says found 302 "redirected to /openai/v1 on the same server: use it as the path of --url" "redirects are not followed"
is "$(grep -c "token=" r.records)" 0 "the query of a path is a secret, too"
says nowhere 307 "redirected (no Location recorded)" "ipf-fire --probe shows where to"
says created 429 "slow down" "a lower rate, or fewer users"
is "$(grep -c elsewhere r.records)" 0 "Location is recorded of redirects only"
says refusal 500 "the body is compressed (Content-Encoding: br), which was not requested"

fire gzip chat.sched -o r.records
is "$(cat "$ERR")" "" "a 200 is no failure for ipf-fire"
run ipf-collect r.records -o r.results
is "$(cat "$ERR")" "ipf-collect: all 4 requests failed (4 malformed): malformed ×4: the body is compressed (Content-Encoding: gzip), which was not requested" \
	"a compressed body is named"

fire gzip --probe -o p.records
contains "$(cat "$ERR")" "< content-encoding: gzip" "--probe shows the headers of the response"
contains "$(cat "$ERR")" "< set-cookie: [redacted]" "--probe redacts secrets of the response"
run ipf-collect --explain p.records
matches "$(cat "$OUT")" '^request 0 of openai-chat: status 200, 20 bytes' "--explain shows the status"
contains "$(cat "$OUT")" "  header content-encoding: gzip" "--explain shows the headers"
contains "$(cat "$OUT")" 'result: "malformed", "the body is compressed (Content-Encoding: gzip), which was not requested"' "--explain says why nothing was read"
is "$(grep -c -e missing -e 'not JSON' "$OUT")" 0 "--explain reports nothing else as wrong"
fire moved --probe -o p.records
run ipf-collect --explain p.records
contains "$(cat "$OUT")" "  header location: https://models.example:8443/v1/chat/completions?[redacted]" "--explain shows the target of a redirect"

fire lines --probe -o p.records
run ipf-collect --explain p.records
contains "$(cat "$OUT")" 'result: "malformed", "the body is lines of JSON, not server-sent events: response.framing \"ndjson\" would read it"' \
	"--explain names the framing of lines of JSON"
is "$(grep -c 'outside of the events:' "$OUT")" 2 "--explain says that lines of JSON are no events"
is "$(grep -c missing "$OUT")" 0 "--explain reports nothing as missing that it lists"
printf '{"like":"openai-chat","response":{"framing":"ndjson","error_event":null,"end":{"data":null,"final":null,"usage":null,"eof":true}}}' >lines.json
run ipf-collect --explain --api ./lines.json p.records
contains "$(cat "$OUT")" "result: ok, content events 1" "lines of JSON are read with their framing"
