#!/bin/bash
# Nothing of the data is left out without a word: records, members and unused columns, on standard error, in the trailer and by ipf-prep
# stat; -q, --strict, --field ignore. And hints that keep sessions, folders of agents' sessions.
. "$TESTS/tap.sh"

export XDG_CACHE_HOME=$PWD/cache
prep=$BIN/ipf-prep
qa='{"context":"The tower is old.","question":"How old?","answer":"very"}'
absent() { ! grep -qF -e "$1" "$ERR"; } # PART: standard error does not have it
end() { tail -n 1 "$1" | jq -cS ".end.$2"; } # TRACE MEMBER

# ---- members ----
printf '%s\n%s\n' '{"question":"Which?","choices":["a","b"],"answer":1}' '{"question":"Who?","answer":"Eve","top_p":0.5,"other":1}' >qa.jsonl
run "$prep" jsonl qa.jsonl -o qa.trace
status_is 0 "members that are not used: status 0"
stderr_is 'ipf-prep: qa.jsonl: "choices" in 1 of 2 records was not used; --field prompt=question,choices --field output=answer joins it
ipf-prep: qa.jsonl: "top_p" in 1 of 2 records was not used' "ipf-prep names the members that were not used, with a hint"
is "$(end qa.trace unread)" '[{"file":"qa.jsonl","line":1,"member":"choices","of":2,"records":1},{"file":"qa.jsonl","line":2,"member":"top_p","of":2,"records":1}]' \
	"the trailer has them"
run "$prep" stat qa.trace
contains "$(cat "$OUT")" 'not used       choices: 1 of 2 records of qa.jsonl, first at line 1' "stat has them"
run "$prep" stat qa.trace -f json
is "$(jq -c '.unread | length' "$OUT")" 2 "JSON has the members that were not used"
run "$prep" jsonl qa.jsonl -q
stderr_is "" "-q suppresses them"
run "$prep" jsonl qa.jsonl --strict -o strict.trace
status_is 3 "--strict: status 3"
contains "$(cat "$ERR")" 'not all data is in the trace (--strict)' "ipf-prep says that --strict failed"
is "$(body strict.trace | wc -l)" 2 "the trace is complete"
run "$prep" jsonl qa.jsonl --strict -q
status_is 3 "-q does not change the status"
run "$prep" jsonl qa.jsonl --field prompt=/question,/choices --field output=/answer --field ignore=/top_p --strict
status_is 0 "members that are joined or ignored are no loss"
stderr_is "" "joined members give no message"
is "$(body "$OUT" | head -1 | jq -r '.messages[0].content')" 'Which?

a
b' "joined texts have an empty line between them"
run "$prep" jsonl --strict <<<"$qa"
status_is 0 "a context before a question is used"
run "$prep" jsonl --strict <<<'{"question":"Who?","answer":"Eve","choices":[],"context":null,"system":"","tools":{}}'
status_is 0 "empty members are no loss"
run "$prep" openai-log --strict <<<'{"timestamp":1,"request":"{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"thinking\":{\"x\":1}}"}'
contains "$(cat "$ERR")" 'standard input: "/request/thinking" in 1 of 1 records was not used' "members of a body that is a string count"

# ---- columns ----
printf 'TIMESTAMP,ContextTokens,GeneratedTokens,Temperature,note\n2023-11-16 18:15:46,4,44,0.5,x\n' >azure.csv
run "$prep" azure azure.csv
stderr_is 'ipf-prep: azure.csv: "Temperature" in 1 of 1 records was not used' "a column that is not used, in either case of letters"
run "$prep" csv --field prompt=ask <<<'ask,Context
Who?,Here.
Why?,'
contains "$(cat "$ERR")" '"Context" in 1 of 2 records was not used; --field prompt=ask,Context joins it' "a column of a table"

# ---- records ----
printf '%s\n' '{"question":"Who?","answer":"Eve"}' '{"question":"","answer":"Eve"}' '{"question":"","answer":"Eve"}' >empty.jsonl
run "$prep" jsonl empty.jsonl -o empty.trace
status_is 0 "records that are left out: status 0"
stderr_is 'ipf-prep: empty.jsonl: 2 of 3 records left out, first at line 2: empty prompt' "ipf-prep counts the records that are left out, with line and reason"
is "$(end empty.trace left_out_of)" '[{"file":"empty.jsonl","line":2,"of":3,"records":2,"why":"empty prompt"}]' "the trailer has them"
run "$prep" stat empty.trace
contains "$(cat "$OUT")" 'left out       empty prompt: 2 of 3 records of empty.jsonl, first at line 2' "stat has them"
run "$prep" jsonl empty.jsonl --strict
status_is 3 "--strict: status 3"
run "$prep" jsonl empty.jsonl qa.jsonl
is "$(grep -c -e empty.jsonl: -e qa.jsonl: "$ERR")" 3 "ipf-prep reports lines of every file"
for i in $(seq 12); do cp empty.jsonl "e$i.jsonl"; done
run "$prep" jsonl e[0-9]*.jsonl
is "$(grep -c 'records left out' "$ERR")" 10 "many files have ten lines"
contains "$(cat "$ERR")" 'ipf-prep: 2 more such notes: ipf-prep stat shows them' "ipf-prep says how many notes it did not print"
run "$prep" jsonl qa.jsonl --max-input 1 --field prompt=/question --field output=/answer --field ignore=/choices --field ignore=/top_p --strict
yes_if "options leave out data without failing --strict" absent '--strict'

# ---- hints keep sessions ----
run "$prep" auto - <<<'{"id":"s","dialog":[{"u":"Hello"},{"u":"And?"}]}'
status_is 3 "a conversation of no known format: status 3"
contains "$(cat "$ERR")" 'its list "dialog" seems to be one conversation' "ipf-prep names the list of a conversation"
yes_if "ipf-prep suggests no command for a conversation" absent 'jq'
run "$prep" auto - <<<'{"meta":1,"rows_of":[{"ask":"Hello"}]}'
contains "$(cat "$ERR")" "jq -c '.[\"rows_of\"][]'" "a list of records may be"

# ---- folders ----
mkdir -p home/projects/p/s/subagents
cp "$TESTS/data/prep/claude-code/11111111-1111-4111-8111-111111111111.jsonl" home/projects/p
cp "$TESTS"/data/prep/claude-code/agent-*.jsonl home/projects/p/s/subagents
echo 'not a session' >home/projects/p/notes.md
echo '{"version":1}' >home/projects/sessions-index.json
run "$prep" claude-code home/projects -o folder.trace
yes_if "a folder of sessions is read, other files in it are not" test "$(end folder.trace 'from | length')" = 3
run "$prep" claude-code home/projects/p/notes.md
status_is 3 "a file that is named is read whatever its name is"
