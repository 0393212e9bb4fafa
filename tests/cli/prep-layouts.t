#!/bin/sh
# Formats a file describes: one that no C knows, from its file alone; mistakes in a description, each in one line; the example of the manual.
. "$TESTS/tap.sh"

prep=$BIN/ipf-prep
cp "$TESTS"/data/prep/mine.json "$TESTS"/data/prep/mine.jsonl .

# ---- mistakes ----
wrong() { # JQ-PROGRAM MESSAGE: a change of mine.json, and its message
	jq "$1" mine.json >bad.json
	run "$prep" ./bad.json mine.jsonl
	status_is 3 "$1: status 3"
	complains ipf-prep "./bad.json: $2" "a wrong description is named: $1"
}
wrong '.fields.promt = "x"' 'fields.promt: unknown field, did you mean "prompt"?'
wrong '.field = {}' 'field: unknown member'
wrong '.version = 2' 'version: expected 1, got 2'
wrong 'del(.name)' 'name: expected a string, got nothing'
wrong '.group = "logs"' 'group: expected dataset, trace, agents or log, got "logs"'
wrong '.fields.prompt = 7' 'fields.prompt: expected a string, or a list of strings, got 7'
wrong '.fields.prompt = []' 'fields.prompt: expected a string, or a list of strings, got []'
wrong '.fields.prompt = ["a", 1]' 'fields.prompt: expected a list of strings, got ["a",1]'
wrong '.fields.prompt = "/a~2b"' 'fields.prompt: "~" is written "~0" in a JSON Pointer, got "/a~2b"'
wrong '.fields.system = "@sistem"' 'fields.system: expected @system, @context or @output_tokens, got "@sistem"'
wrong '.fields.output_tokens = {"form": "x"}' 'fields.output_tokens.form: unknown member'
wrong '.fields.output_tokens = {"value": -1}' 'fields.output_tokens.value: expected a number of 0 or more, got -1'
wrong '.fields.output_tokens = {"from": "x", "none": "y"}' 'fields.output_tokens.none: expected a list of strings, got "y"'
wrong '.fields.tags.pool = ["a", "b"]' 'fields.tags.pool: expected a place, got ["a","b"]'
wrong '.required = ["whem"]' 'required: expected the name of a field, got "whem"'
wrong '.ordered = 1' 'ordered: expected true or false, got 1'
wrong '.recognise = {"haz": "x"}' 'recognise.haz: unknown member'
wrong '.recognise = []' 'recognise: expected a condition, or a list of conditions, got []'
wrong '.requests = {"is": {"a": "x", "b": "y"}}' 'requests.is: expected an object with one place and its texts'
wrong '.turns = {}' 'turns.list: expected a place, got nothing'
wrong '.turns = {"list": "x", "roles": {"bot": "y"}}' 'turns.roles.bot: unknown member'
wrong '.turns = {"list": "x", "fields": {"says": "y"}}' 'turns.fields.says: unknown field'
wrong '.fields.context = "/docs/*/text"' 'fields.context: expected one place, got "/docs/*/text": "*" is for records'
wrong '.fields.output_tokens = {"from": "x", "none": [1]}' 'fields.output_tokens.none: expected a list of strings, got [1]'
wrong '.fields = {"at": "when"} | .required = "at"' 'fields: expected one of prompt, messages, input_tokens, audio, request and query, got none'
wrong '.turns = {"list": "x", "fields": {"prompt": "y", "id": "z"}}' 'turns.fields: id and session are of the record, not of its turns'
wrong '.like = "mooncake"' 'like: expected the name of a format described in a file, got "mooncake"'
printf '{"ipf": "prep-format",\n "version": 1,}\n' >bad.json
run "$prep" ./bad.json mine.jsonl
complains ipf-prep "./bad.json:2: not JSON" "a description that is not JSON is named with its line"
{
	echo '{"ipf": "prep-format", "page": "'
	head -c 1100000 /dev/zero | tr '\0' x
	echo '"}'
} >bad.json
run "$prep" ./bad.json mine.jsonl
complains ipf-prep "./bad.json: a description of a format has at most 1048576 bytes" "a long one"

# ---- a file without a description is data in the wrong place, as before ----
run "$prep" mine.jsonl
status_is 2 "a file of data in the place of the source"
complains ipf-prep "is not a source" "ipf-prep says that a file of data is no source"
run "$prep" ./missing.json mine.jsonl
status_is 2 "a missing description ends with 2"

# ---- everything taking a source takes a description ----
run "$prep" ./mine.json --help
status_is 0 "--help of a description"
contains "$(cat "$OUT")" "at_ms                when" "--help of a description has its places"
run "$prep" fit ./mine.json mine.jsonl -q -o mine.model.json
status_is 3 "fit of too few requests ends with 3"
run "$prep" ./mine.json --field prompt=/x mine.jsonl
complains ipf-prep "--field: format mine has fixed fields" "--field is for the formats that guess"
jq '.guessed = true' mine.json >guess.json
run "$prep" ./guess.json --field at_ms=when --field prompt=/ask/text -q mine.jsonl
is "$(sed 1d "$OUT" | jq -c 'select(.id) | .messages[-1].content')" '"Hi"
"Once"' "a description that guesses takes --field"

# ---- places ----
cat >places.json <<'PLACES'
{"ipf": "prep-format", "version": 1, "name": "places", "group": "dataset", "about": "places",
 "fields": {"prompt": ["/a~1b/~0c", "/list/1/x", "/headers/key=ask/value"], "output_tokens": {"value": 5}}}
PLACES
cat >places.jsonl <<'DATA'
{"a/b": {"~c": "escaped"}}
{"list": [{"x": "0"}, {"x": "index"}]}
{"headers": [{"key": "other", "value": "no"}, {"key": "ask", "value": "selected"}]}
{"list": [], "headers": []}
DATA
run "$prep" ./places.json places.jsonl
is "$(sed 1d "$OUT" | jq -c 'select(.id) | [.messages[0].content, .output_tokens]')" '["escaped",5]
["index",5]
["selected",5]' "escapes, indexes, selected elements, a constant"
complains ipf-prep "places.jsonl:4: /a~1b/~0c: missing (also as /list/1/x, /headers/key=ask/value)" "the error of a missing place names all its places"

# ---- the example of the manual ----
awk '/^\{$/ { text = "" } { text = text $0 "\n" } /^\}$/ && text ~ /"prep-format"/ { printf "%s", text; exit }' "$BUILD/man/ipf-prep-formats.5" >manual.json
grep -m 1 '^{"when"' "$BUILD/man/ipf-prep-formats.5" >manual.jsonl
run "$prep" ./manual.json manual.jsonl
status_is 0 "the example of the manual"
is "$(sed 1d "$OUT" | jq -c 'select(.id) | [.messages[].content, .output_tokens, .at_ns, .session]')" '["Be brief.","Hi",7,0,"a"]' "the example of the manual reads its line"
is "$(cat "$ERR")" "" "the line of the manual's example has no message"

# ---- recorded latencies ----
latencies() { # FIELDS EXPECTED TEXT, of the record on standard input
	cat >record.jsonl
	# shellcheck disable=SC2086 # words
	run "$BIN/ipf-prep" jsonl record.jsonl --field prompt=p --field at=at $1 -q
	status_is 0 "recorded latencies: $3: status 0"
	is "$(sed -n 2p "$OUT" | jq -c '[.recorded_ttft_ns, .recorded_e2e_ns]')" "$2" "recorded latencies: $3"
}
echo '{"p":"a","at":5,"t":250,"e":1.5}' | latencies '--field recorded_ttft_ms=t --field recorded_e2e=e' '[250000000,1500000000]' "have units as other times"
echo '{"p":"a","at":5,"d":1.5}' | latencies '--field duration=d' '[null,1500000000]' "the duration is the latency"
echo '{"p":"a","at":5,"d":1.5,"e":1.25}' | latencies '--field duration=d --field recorded_e2e=e' '[null,1250000000]' "a mapped latency precedes the duration"
echo '{"p":"a","at":5,"f":5.5,"e":7}' | latencies '--field first_token=f --field end=e' '[500000000,2000000000]' "times count from the arrival"
echo '{"p":"a","at":5,"d":1.5,"c":true}' | latencies '--field duration=d --field canceled=c' '[null,null]' "a client that left has none"
unrecorded() { # RECORD FIELDS MESSAGE
	echo "$1" >record.jsonl
	# shellcheck disable=SC2086 # words
	run "$BIN/ipf-prep" jsonl record.jsonl --field prompt=p --field at=at $2
	status_is 3 "$3: status 3"
	stderr_contains "$3" "$3: the message"
}
unrecorded '{"p":"a","at":5,"t":-1}' '--field recorded_ttft=t' 't: expected a number of 0 or more, got -1'
unrecorded '{"p":"a","at":5,"t":"soon"}' '--field recorded_ttft=t' 't: expected a number of 0 or more, got "soon"'
unrecorded '{"p":"a","at":5,"t":2,"e":1}' '--field recorded_ttft=t --field recorded_e2e=e' 'recorded time to first token: expected at most the latency, got 2 s'
unrecorded '{"p":"a","at":5,"e":4}' '--field end=e' 'recorded latency: expected 0 to a year, got -1 s'
