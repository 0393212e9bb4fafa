#!/bin/bash
# Logs of servers and gateways: what of them is read, however it was written, and what is said of wrong ones.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep

# ---- JSON over several lines ----
cat >log.json <<'LOG'
[{"timestamp": 1, "request": {"messages": [
  {"role": "user", "content": [
    {"type": "text", "text": "One\ntwo"}]}],
  "tools": [
    {"type": "function",
     "function": {"name": "f"}}],
  "response_format": {
    "type": "json_object"}},
  "response": {"choices": [{"message": {"content": "Yes."}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2}}}]
LOG
jq -c '.[]' log.json >lines.jsonl
jq -c '.[] | .request |= tojson | .response |= tojson' log.json >texts.jsonl
jq --arg request "$(jq '.[].request' log.json)" -c '.[] | .request = $request' log.json >inner.jsonl
"$prep" openai-log lines.jsonl -q -o lines.trace
for file in log.json texts.jsonl inner.jsonl; do
	run "$prep" openai-log $file -q -o out.trace
	status_is 0 "$file is read"
	is "$(wc -l <out.trace)" 3 "$file: a request is one line"
	is "$(body out.trace | jq -cS .)" "$(body lines.trace | jq -cS .)" "$file: it is the same as of JSON Lines"
done
printf '[{"prompt":"one\ntwo","output":"x"}]' >broken.json
run "$prep" jsonl broken.json
status_is 3 "a line feed within a string is not JSON"
