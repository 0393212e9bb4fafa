#!/bin/bash
# Tags of the trace and the replica that answered, from the trace to --by replica and --by tag.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report

# ---- the pipeline: six requests with a map of tags, six with a list ----
"$BIN/ipf-prep" synthetic -q -n 12 --input-tokens 20 --output-tokens 4 -o plain.trace
head -1 plain.trace >header
sed -e 1d -e '$d' plain.trace | jq -c --slurp 'to_entries[] | .value + {tags: (if .key % 2 == 0
	then {task: (if .key < 6 then "code" else "chat, \"é\"" end), tier: 1} else ["batch", "x"] end)}' >body
seal header body >run.trace
server_start
"$BIN/ipf-sched" -q -t run.trace burst:n=12 | "$BIN/ipf-fire" -q -u "$URL" -m sim -t run.trace --record-header content-type -o run.records
"$BIN/ipf-collect" -q --replica-header Content-Type -o run.results run.records
server_stop
tags() { # STREAM: the tags of each request
	sed -e 1d -e '$d' "$1" | jq -c 'select(.req != null and .n != null) | [.req, .tags]' | sort
}
sed -e 1d -e '$d' run.trace | jq -c --slurp 'to_entries[] | [.key, .value.tags]' | sort >expected
tags run.records >got && same got expected "records have the tags of the trace"
tags run.results >got && same got expected "results have the tags of the trace"
is "$(sed -e 1d -e '$d' run.results | jq -c 'select(.n != null) | .replica' | sort | uniq -c | tr -s ' ')" ' 12 "text/event-stream; charset=utf-8"' \
	"the replica is the header's value, whatever its case"
"$BIN/ipf-collect" -q -o without.results run.records
is "$(sed -e 1d -e '$d' without.results | grep -c '"replica"')" 0 "results without --replica-header have no replica"
"$BIN/ipf-collect" -q --replica-header x-none run.records | grep -c '"replica"' >count
is "$(cat count)" 0 "answers without the header have no replica"

# ---- groups ----
by() { # GROUP MEMBER FILE: each name and its requests
	"$report" -f json --by "$1" "$3" | jq -c ".total.$2 | map_values(.requests.ok)"
}
is "$(by tag=task by_tag run.results | jq -cS .)" '{"chat, \"é\"":3,"code":3,"no":6}' "the values of a tag"
is "$(by tag=tier by_tag run.results | jq -cS .)" '{"1":6,"no":6}' "a value of a tag may be a number"
is "$(by tag=batch by_tag run.results)" '{"yes":6}' "a tag of a list"
is "$(by tag by_tag run.results | jq -cS 'map_values(.)')" '{"[\"batch\",\"x\"]":6,"{\"task\":\"chat, \\\"é\\\"\",\"tier\":1}":3,"{\"task\":\"code\",\"tier\":1}":3}' "--by tag groups by all tags together"
is "$("$report" -f csv --by tag=task run.results | tr -d '\r' | head -1 | cut -d , -f 1-3)" "stage,tag,kind" "a column of CSV"
head -1 run.results >header
sed -e 1d -e '$d' run.results | jq -c 'if .n == null then . else .replica = (if .n < 4 then "pod-a" else "pod-b" end) end' >body
seal header body >pods.results
is "$(by replica by_replica pods.results | jq -cS .)" '{"pod-a":4,"pod-b":8}' "--by replica counts requests of each replica"
run "$report" --by replica pods.results
status_is 0 "--by replica ends with 0"
matches "$(cat "$OUT")" '^Replicas' "text has a table of replicas"
matches "$(cat "$OUT")" '^  pod-a ' "the table of replicas has their names"
is "$(awk '{ gsub(/[^ -~]/, "?") } length > 80' "$OUT")" "" "the table of replicas fits into 80 columns"
jq -c 'if .from then .from[0].from[0].targets = ["http://a/v1", "http://b/v1"] else . end' header >two
[ "$(jq -r '.from[0].ipf' header)" = records ] && jq -c '.from[0].targets = ["http://a/v1", "http://b/v1"]' header >two
sed -e 1d -e '$d' run.results | jq -c 'if .n == null then . else del(.replica) | .target = .n % 2 end' >body
seal two body >targets.results
is "$(by replica by_replica targets.results | jq -cS .)" '{"http://a/v1":6,"http://b/v1":6}' "--by replica without a header groups by URL"
run "$report" --by tag=none without.results
matches "$(cat "$OUT")" '^  no ' "a tag that no list has"
sed -e 1d -e '$d' without.results | jq -c 'del(.tags)' >body
head -1 without.results >header
seal header body >bare.results
matches "$("$report" --by tag bare.results)" '^  --by: no request has a tag$' "--by tag without tags has a note"

# ---- refusals ----
run "$report" --by tag= run.results
status_is 2 "--by tag= without a name"
contains "$(cat "$ERR")" 'got "tag="' "ipf-report says what it got for --by"
run "$BIN/ipf-collect" --replica-header "a b" run.records
status_is 2 "--replica-header with a space ends with 2"
complains ipf-collect '--replica-header: expected the name of a header, got "a b"' "ipf-collect says what --replica-header may be"
