#!/bin/bash
# The descriptors against their JSON Schema, by another's validator; the programs refuse the same as the schema.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null ||
	skip_all "no python3 with jsonschema here"

cat >validate.py <<'END'
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    found = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(json.load(open(path)))]
    print(path.split("/")[-1], "; ".join(found) or "valid")
END

# Those built in, and those of the manual.
awk '/^\{$/ { text = ""; n++ } { text = text $0 "\n" } /^\}$/ { file = "manual." n ".json"; printf "%s", text > file; close(file) }' "$ROOT/lib/api/ipf-api.5"
between "$(find . -name 'manual.*' | wc -l)" 3 9 "ipf-api(5) has descriptors"
python3 validate.py "$ROOT/lib/api/api.schema.json" "$ROOT"/lib/api/apis/*.json manual.*.json >said
while read -r name verdict; do is "$verdict" valid "$name"; done <said
is "$(wc -l <said)" "$(($(ipf-fire --list-apis | wc -l) + $(find . -name 'manual.*' | wc -l)))" "every descriptor and every example of the manual was checked"

# Each of these makes a good one bad.
printf '{"id":"a","prompt":"x"}\n' >line
trace_of line >one.trace
n=0
while read -r change; do
	n=$((n + 1))
	jq "$change" "$ROOT/lib/api/apis/tgi.json" >bad.$n.json
	echo "$change" >bad.$n.change
done <<'END'
.version = 2
.colour = 1
del(.request.body)
.path = "generate"
.path = "/generate/$id"
.path.other = "/x"
.ready = "/health"
.request.params = "parameters"
.request.headers.X = "$prompt"
.request.body.inputs = "$promt"
.request.body.inputs = {"$first": "$prompt"}
.request.body.inputs = {"$each": "all", "as": {}}
.request.body.inputs = {"$if": "$id"}
.request.auth.key = "secret"
.response.framing = "lines"
.response.text = "/token/text"
.response.text = ["token/text"]
.response.text = [{"at": "/token/text"}]
.response.finish_words.eos = "end"
.response.server = {"queue": {"at": ["/q"]}}
.response.server = {"wait": {"at": ["/q"], "unit": "s"}}
.response.usage.tokens = ["/n"]
.response.end = {}
.response.end = {"eof": false}
.response_whole.end = {"data": "[DONE]"}
.response_whole.error_event = "error"
del(.response_whole.text)
END
python3 validate.py "$ROOT/lib/api/api.schema.json" bad.*.json >said
for ((i = 1; i <= n; i++)); do
	run ipf-fire -u http://127.0.0.1:1 --api ./bad.$i.json -t one.trace --probe
	is "$status $(grep -c "^bad.$i.json valid" said)" "3 0" "refused by both: $(cat bad.$i.change)"
done
