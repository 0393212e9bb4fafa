#!/bin/sh
# ipf-collect --check-output: answers in JSON, and other answers, in the shares in which the server sent them; against Python's JSON and
# python3-jsonschema.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

schemas=yes
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null || schemas=
cat >object.schema.json <<'END'
{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["q"],
 "properties": {"q": {"type": "string", "maxLength": 500}}, "additionalProperties": false}
END

# ---- every kind of answer --------------------------------------------------------------------------------------------

server_start --fail json:text=fenced,share=0.2 --fail json:text=cut,share=0.25 --fail json:text=list,share=0.2 \
	--fail empty:share=0.1 --fail 503:share=0.2 --fail tools:share=0.2 --fail json:share=0.7
small_run 120
run ipf-collect --text chat.records -o plain.results
run ipf-collect --text --check-output json chat.records -o json.results
status_is 0 "--check-output json ends with 0"
run python3 "$TESTS/helpers/output_truth.py" json.results
matches "$(cat "$OUT")" "^empty [1-9][0-9]*, fenced [1-9][0-9]*, not-json [1-9][0-9]*, unchecked [1-9][0-9]*, valid [1-9][0-9]*$" \
	"Python's JSON agrees on every text: $(tail -1 "$OUT")"
is "$(wc -l <"$OUT")" 1 "every row is checked against Python's JSON"
is "$(body json.results | jq -r 'select(.output_check == "not-json").output_invalid' | sort -u | head -1)" "not JSON: expected a value" \
	"a reason has no place in it"
body json.results | jq -c 'select(has("n")) | del(.output_check, .output_invalid)' >without
body plain.results | jq -c 'select(has("n"))' >with
same without with "--check-output json changes nothing else in the rows"
run ipf-collect --check-output json chat.records
is "$(jq -c 'select(.text)' "$OUT")" "" "texts are not kept without --text"

# ---- a schema --------------------------------------------------------------------------------------------------------

run ipf-collect --text --check-output object.schema.json chat.records -o schema.results
status_is 0 "--check-output with a schema"
matches "$(body schema.results | jq -r 'select(.output_check == "schema").output_invalid' | sort -u)" '^/: expected the type "object"$' \
	"a list is not the object"
if [ "$schemas" ]; then
	run python3 "$TESTS/helpers/output_truth.py" schema.results object.schema.json
	matches "$(cat "$OUT")" ", schema [1-9][0-9]*, unchecked [1-9][0-9]*, valid [1-9][0-9]*$" \
		"jsonschema agrees on every text: $(tail -1 "$OUT")"
	is "$(wc -l <"$OUT")" 1 "every row is checked against jsonschema"
else
	skip "jsonschema agrees on every text" "no python3 with jsonschema here"
	skip "every row is checked against jsonschema" "no python3 with jsonschema here"
fi

is "$(head -1 schema.results | jq -c .output_check)" \
	"{\"rule\":\"schema\",\"sha256\":\"$(openssl dgst -sha256 -r object.schema.json | cut -d ' ' -f 1)\"}" "the header names the schema"
is "$(head -1 json.results | jq -c .output_check)" '{"rule":"json"}' "the header names the rule"
run ipf-report compare json.results schema.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "output check" "compare says that the checks of the output differ"

# ---- the format of each request --------------------------------------------------------------------------------------

# Every third request has no format, every third asks for an object, every third for a list by a schema.
awk 'NR > 1 && !/^{"end"/ {
	if (NR % 3 == 1) sub(/}$/, ",\"response_format\":{\"type\":\"json_object\"}}")
	if (NR % 3 == 2) sub(/}$/, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"l\",\"schema\":{\"type\":\"array\"}}}}") }
	NR > 1 && !/^{"end"/' chat.trace >lines
seal chat.trace lines >format.trace
run ipf-sched constant:rate=240,n=60 -t format.trace -o format.sched
run ipf-fire -u "$URL" -m sim -t format.trace format.sched -o format.records
run ipf-collect --text --check-output format --trace format.trace format.records -o format.results
status_is 0 "--check-output format ends with 0"
body format.results | jq -c 'select(has("n") and .ok and .finish != "tool_calls") |
	[(.req + 2) % 3, .output_check, ((.text // "") | fromjson? | type)]' >kinds
is "$(jq -c 'select(.[0] == 0 and .[1])' kinds)" "" "requests without a format are not checked"
is "$(jq -c 'select(.[0] == 1 and .[2] and (.[1] == "valid") != (.[2] == "object"))' kinds)" "" "requests with json_object get objects"
is "$(jq -c 'select(.[0] == 2 and .[2] and (.[1] == "valid") != (.[2] == "array"))' kinds)" "" "requests with a schema get the value that it describes"
is "$(jq -sc '[.[] | select(.[1] == "valid") | .[0]] | unique' kinds)" "[1,2]" "both kinds of formats have valid texts"
is "$(jq -sc '[.[] | select(.[1] == "schema") | .[0]] | unique' kinds)" "[1,2]" "both kinds of formats have invalid texts"
run ipf-collect --check-output format --trace chat.trace format.records
complains ipf-collect "chat.trace: no request has a response_format of JSON" "a trace without formats"
sed 's/"json_object"/"json_object" /' lines >other.lines
seal chat.trace other.lines >other.trace
run ipf-collect --check-output format --trace other.trace format.records
complains ipf-collect "other.trace: is not the trace of this run" "--check-output refuses another trace"
status_is 3 "another trace ends with 3"

# ---- schemas beside another validator --------------------------------------------------------------------------------

if [ "$schemas" ]; then
	random_rounds 2
	for seed in $(seq "$seed" $((seed + rounds - 1))); do
		run python3 "$TESTS/helpers/random_schemas.py" "$seed" 1500
		matches "$(tail -1 "$OUT")" "^1500 pairs, [1-9][0-9]{2,} valid, [1-9][0-9]{2,} invalid, 0 differ$" \
			"seed $seed: random schemas as jsonschema says: $(tail -1 "$OUT")"
	done
else
	skip "random schemas as jsonschema says" "no python3 with jsonschema here"
fi

# ---- refusals -------------------------------------------------------------------------------------------------

run ipf-collect --check-output missing.json chat.records
complains ipf-collect "missing.json: cannot open the JSON Schema" "a schema that is not there"
echo '{"properties":{"a":{"$ref":"http://h/other.json"}}}' >remote.json
run ipf-collect --check-output remote.json chat.records
complains ipf-collect 'remote.json: /properties/a/$ref: expected a place in this schema (nothing is fetched), got "http://h/other.json"' \
	"a schema that needs another document"
status_is 3 "a schema that needs another document ends with 3"
run ipf-collect --check-output format chat.records
complains ipf-collect "--check-output format needs --trace FILE" "formats without a trace"
status_is 2 "formats without a trace end with 2"
run ipf-collect --check-output json --trace chat.trace chat.records
complains ipf-collect "--trace needs --check-output format" "a trace without formats"
run ipf-collect --check-output json --explain chat.records
complains ipf-collect "--check-output cannot be combined with --explain" "--explain shows no check"
sed '2s/"type":"array"/"type":"text"/' format.trace >bad.trace
run ipf-collect --check-output format --trace bad.trace format.records
complains ipf-collect 'bad.trace:2: response_format: schema: /type: expected the name of a type, got "text"' "a schema in a trace that is none"

# ---- in a sandbox ----------------------------------------------------------------------------------------------------

# To look for leaks, the sanitizer starts a process tracing the program, which --sandbox refuses.
[ -z "${SANITIZE:-}" ] || export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
run ipf-collect --sandbox -q --text --check-output object.schema.json chat.records -o sandbox.results
status_is 0 "--check-output works in a sandbox"
body sandbox.results >a
body schema.results >b
same a b "a sandbox changes no row"

# ---- in reports ------------------------------------------------------------------------------------------------------

body json.results | jq -s 'map(select(.output_check)) | {valid: (map(select(.output_check == "valid")) | length), of: length,
	faults: (map(select(.output_check != "valid")) | group_by(.output_check) | map({(.[0].output_check): length}) | add)}' >counted
run ipf-report -f json json.results
cp "$OUT" report.json
is "$(jq -S '.total.output_check | {valid, of, faults}' report.json)" "$(jq -S . counted)" "the report counts them"
is "$(jq -c '[.invalid_outputs[] | .count] | [add, (. == (sort | reverse))]' report.json)" \
	"[$(jq '.of - .valid' counted),true]" "the faults are all there, the most frequent first"
run python3 -c '
import json, math
from statistics import NormalDist
o, z = json.load(open("report.json"))["total"]["output_check"], NormalDist().inv_cdf(0.975)
n, p = o["of"], o["valid"] / o["of"]
half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
for name, value in ("share", p), ("low", (p + z * z / (2 * n) - half) / (1 + z * z / n)), ("high", (p + z * z / (2 * n) + half) / (1 + z * z / n)):
    if not math.isclose(o[name], value, abs_tol=1e-6):
        print(name, o[name], value)'
stdout_is "" "the share has its Wilson interval"
run ipf-report --section output json.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "of the answers are valid, $(jq .valid counted) of $(jq .of counted) (95 % interval" "the text says so"
contains "$(cat "$OUT")" "JSON in a Markdown fence" "the text names the faults"
run ipf-report -f json plain.results
is "$(jq -c '[.total.output_check, .invalid_outputs]' "$OUT")" "[null,null]" "JSON without --check-output has no checks"
run ipf-report plain.results
is "$(grep -ci 'structured' "$OUT")" 0 "the text without --check-output has no checks"

# ---- in comparisons --------------------------------------------------------------------------------------------------

server_stop
server_start --fail json:text=cut,share=0.3 --fail json
small_run 100
run ipf-collect --check-output json chat.records -o json.results
run ipf-report compare --fail-if "valid < 99%" json.results json.results
status_is 4 "--fail-if valid fails below its share"
stderr_contains "--fail-if valid < 99%: new is $(ipf-report -f json json.results | jq '.total.output_check.share * 1000 | round / 10')" "--fail-if valid says the share"
run ipf-report compare --fail-if "valid < -5%" json.results json.results
status_is 0 "--fail-if valid takes a change of the share"
run ipf-report compare --fail-if "valid < 99%" chat.results chat.results
stderr_contains "not known: a side does not have the figure" "--fail-if valid says that a side has no checks"
status_is 4 "--fail-if valid does not pass without checks"
