#!/bin/sh
# ipf-collect on a small file of awkward answers: golden results, the same in every way of reading and writing.
# IPF_UPDATE=1 writes the expected ones anew: review the difference.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters

data=$TESTS/data/collect
records=$data/awkward.records

# The verdict's words are not ours: without it.
no_verdict() { # FILE
	sed '$d' "$1"
	tail -1 "$1" | jq -c 'del(.end.verdict)'
}

run "$BIN/ipf-collect" "$records"
status_is 0 "records are understood"
no_verdict "$OUT" >plainly
[ -z "$IPF_UPDATE" ] || cp plainly "$data/awkward.results"
same plainly "$data/awkward.results" "awkward records give the golden results"
stderr_is "ipf-collect: 5 of 9 requests failed (1 connect, 1 cut, 1 http-status, 1 in-band, 1 malformed): most often connect ×1: connection refused (check the host and port of --url; --wait-ready waits for the server)" \
	"the summary says how many requests failed"
is "$(tail -1 "$OUT" |
	jq -r '.end.verdict | [.status, (.checks | length)] | join(" ")')" "INVALID 4" "the trailer has a verdict"
cp "$OUT" first

"$BIN/ipf-collect" "$records" >again
same again first "twice the same bytes"
"$BIN/ipf-collect" <"$records" >piped
same piped first "standard input gives the same results"
"$BIN/ipf-collect" - <"$records" >dash
same dash first "the name - gives the same results"
"$BIN/ipf-collect" "$records" -o file.results
is "$(head -1 file.results | jq -r .name)" file "a run without a name has that of the file"
sed '1s/"name":"file",//' file.results >nameless
same nameless first "-o changes nothing but the name"
jq -c 'if .ipf then .name = "mine" else . end' "$records" >named
"$BIN/ipf-collect" named -o file.results
is "$(head -1 file.results | jq -r .name)" mine "a name of the records stays"
"$BIN/ipf-collect" "$records" -o /dev/stdout | cat >device
same device first "a device gives none"
(while IFS= read -r line; do printf '%s\n' "$line"; done <"$records") | "$BIN/ipf-collect" >slowly
same slowly first "records that come line by line give the same results"
zstd -q "$records" -o records.zst
"$BIN/ipf-collect" records.zst >unpacked
same unpacked first "compressed records give the same results"
"$BIN/ipf-collect" -o packed.zst "$records"
plain packed.zst | sed '1s/"name":"packed",//' >packed.plain
same packed.plain first "compressed results have the same content"
(while IFS= read -r line; do printf '%s\n' "$line"; done <"$records") | { mkdir live && "$BIN/ipf-collect" -o live/packed.zst; }
same live/packed.zst packed.zst "compressed bytes do not tell how fast the input came"
"$BIN/ipf-collect" --reproducible -q "$records" >reproducible
same reproducible first "--reproducible gives the same results as an ordinary call"

run "$BIN/ipf-collect" -t approx --itl token --events --text --stall 15ms "$records"
no_verdict "$OUT" >details
[ -z "$IPF_UPDATE" ] || cp details "$data/awkward-details.results"
same details "$data/awkward-details.results" "tokens, events and text are the golden ones"

is "$(body "$OUT" | jq -rs '[.[] | select(.n) | .error.kind // "ok"] | join(" ")')" \
	"ok ok ok in-band cut http-status connect malformed ok" "every failure has its kind"

# ---- conventions and the header's entries about them
"$BIN/ipf-collect" --itl request "$records" >by-request
is "$(jq -c 'select(.histogram == "itl_ns") | [.stage, .count]' by-request)" "[1,3]" "--itl request: one sample for each that has gaps"
is "$(jq -c 'select(.histogram == "itl_by_position_ns")' by-request)" "" "--itl request has no gaps by position"
is "$(head -1 by-request | jq -c '[.itl, .stall, .api, .tokenizer]')" \
	'["request",{"over_medians":10,"over_ns":100000000},"openai-chat",null]' "the header tells the conventions"
is "$(head -1 "$OUT" |
	jq -c '[.itl, .stall, .tokenizer.name, .tokenizer.exact]')" '["token",{"over_ns":15000000},"approx",false]' \
	"the header tells the tokenizer, and that it is approximate"
is "$(head -1 "$OUT" | jq -c '[.stages[].measured]')" "[false,true]" "the header tells the stages"
run "$BIN/ipf-collect" --itl token "$records"
stderr_contains "--itl token: 2 requests left out" "--itl token without counts says whom it left out"
is "$(jq -c 'select(.histogram == "itl_ns") | [.count, .max]' "$OUT")" "[3,10000137]" "--itl token has the gaps of a response with as many events as tokens"

# ---- another descriptor
cat >mine.json <<'END'
{"ipf": "api", "version": 1, "name": "mine", "method": "POST", "path": "/x", "request": {"body": {}},
 "response": {"framing": "sse", "text": ["/choices/*/delta/reasoning_content"], "end": {"data": "[DONE]"}}}
END
run "$BIN/ipf-collect" --api ./mine.json --text "$records"
is "$(jq -r 'select(.text) | .text' "$OUT")" "Let me see." "--api FILE overrides the records' descriptor"
is "$(head -1 "$OUT" | jq -r .api)" "mine" "the header names the descriptor of --api FILE"

sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$TESTS/../lib/api/ipf-api.5" | sed -n '/^{/,/^}/p' >manual.json
run "$BIN/ipf-collect" --api ./manual.json "$records"
is "$status $(head -1 "$OUT" | jq -r .api)" "0 ollama-generate" "the manual's example is a descriptor"

# ---- several files
"$BIN/ipf-collect" "$records" records.zst >both
is "$(body both | jq -s '[.[] | select(.n != null)] | length')" 18 "two files of records: the rows of both"
is "$(head -1 both | jq '.from | length')" 2 "results of two files have both headers"
is "$(tail -1 both | jq '.end.from | length')" 2 "results of two files have both digests"
is "$(jq -c 'select(.histogram == "itl_ns") | .count' both)" 10 "results of two files have one histogram"

run "$BIN/ipf-collect" -v "$records" -o /dev/null
stderr_contains "ipf-collect: 9 requests, 5 failed: in-band 1, cut 1, http-status 1, connect 1, malformed 1" "-v counts the failures"
