#!/bin/bash
# Speculative decoding told from the outside: how many tokens came in a read, compared with the rule of the simulated server and with the
# events; drafts from tokens held back; the effect of synthetic prompts on drafts.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"

ipf-prep synthetic -n 30 --input-tokens 30 --output-tokens 120 -q -o s.trace
ipf-sched closed:users=5,n=30 -t s.trace -q -o s.sched
USAGE='stream_options={"include_usage":true,"continuous_usage_stats":true}'
fire() { # NAME ARGUMENTS OF ipf-fire…
	run ipf-fire -m sim -t s.trace s.sched -u "$URL" -q -o "$1.records" --force "${@:2}"
	status_is 0 "$1: ipf-fire ends with 0"
	is "$(body "$1.records" | jq -c 'select(.n != null) | .error' | sort | uniq -c | tr -s ' ')" " 30 null" "$1: no request fails"
	mv "$1.records" "$1.live"
	python3 "$TESTS/helpers/calm.py" "$1.live" >"$1.records" # a read for each event, which is a step of the server
	ipf-collect --events -q "$1.records" >"$1.results"
	ipf-report -f json "$1.results" >"$1.json"
}

# Each of three draft tokens is accepted with probability 0.6 if those before it were: steps of 1 to 4 tokens.
server_start --spec tokens=3,accept=0.6 --step-base 5ms
fire drafts --param "$USAGE"
jq -c '.total.token_reads' drafts.json >told
between "$(jq '.tokens_per_read * 1000 | round' told)" 2000 2700 "tokens a read: 1 + 0.6 + 0.36 + 0.216 = 2.18"
between "$(jq '[.by_tokens[]] as $n | .by_tokens["1"] / ($n | add) * 1000 | round' told)" 350 450 "steps of one token: 0.4"
between "$(jq '[.by_tokens[]] as $n | .by_tokens["4"] / ($n | add) * 1000 | round' told)" 170 260 "steps of four: 0.216"
is "$(jq -c '.by_tokens | keys' told)" '["1","2","3","4"]' "steps have one to four tokens"
is "$(jq '.gap_ratio * 100 | round' told)" 100 "steps last equally long"

# The same from the events of each row.
body drafts.results | jq -s -c '[.[] | select(.n != null and .ok) | [.event_ns, .event_tokens] | transpose | group_by(.[0])[1:][] |
	map(.[1]) | add] | map([., 8] | min) | group_by(.) | map({key: (.[0] | if . == 8 then "8+" else tostring end), value: length}) | from_entries' >counted
is "$(jq -S -c .by_tokens told)" "$(jq -S -c . counted)" "equal to a count of the events"
# The reads as they came, of which a busy machine makes fewer.
ipf-collect --events -q drafts.live >live.results
body live.results | jq -s -c '[.[] | select(.n != null and .ok) | [.event_ns, .event_tokens] | transpose | group_by(.[0])[1:][] |
	map(.[1]) | add] | map([., 8] | min) | group_by(.) | map({key: (.[0] | if . == 8 then "8+" else tostring end), value: length}) | from_entries' >counted
is "$(ipf-report -f json live.results | jq -S -c .total.token_reads.by_tokens)" "$(jq -S -c . counted)" "equal to a count of the events in the reads as they came"
ipf-report --section speculation drafts.results | tr -s ' \n' ' ' >text
contains "$(cat text)" "steps of one length, as with drafts" "the text says that steps have one length"
contains "$(cat text)" "doubtful the prompts are synthetic text" "the text doubts drafts of synthetic prompts"

# The server's counts, by position in the draft: compared with its counters, and with the steps in the reads.
ipf-fire -q -m sim -t s.trace s.sched -u "$URL" --param "$USAGE" | tee counted.live | ipf-collect -q --scrape "$URL/metrics" --events >scraped.results
python3 "$TESTS/helpers/calm.py" counted.live >counted.records
ipf-collect -q --samples scraped.results --events counted.records >counted.results
ipf-report -f json counted.results >counted.json
is "$(jq -c '.server | [(.accepted_at | keys_unsorted), (.drafts_by_accepted | keys_unsorted)]' counted.json)" '[["1","2","3"],["0","1","2","3"]]' \
	"three positions, and none to three accepted"
is "$(jq -c '.server | [.drafts_by_accepted[]] | add * 1e4 | round' counted.json)" 10000 "drafts by accepted tokens add up to all of them"
for k in 1 2 3; do
	is "$(body counted.results | jq -s -c --arg name spec_accepted_$k 'map(select(.sample == "server") | .counters // {}) | (map(.[$name] // 0) | add) / (map(.spec_drafts // 0) | add) * 1e5 | round')" \
		"$(jq --arg k $k '.server.accepted_at[$k] * 1e5 | round' counted.json)" "position $k: the share is that of the samples"
done
is "$(jq -c '[.server.accepted_at["1"] > 0.55, .server.accepted_at["1"] < 0.65]' counted.json)" "[true,true]" "six of ten first tokens are accepted"
is "$(jq -c '([.total.token_reads.by_tokens[]] | add) as $reads | .total.token_reads.by_tokens as $by | .server.drafts_by_accepted as $said |
	[range(4) | ($by["\(. + 1)"] / $reads - $said["\(.)"]) | fabs < 0.08] | all' counted.json)" true "reads have one token more than were accepted"
ipf-report --section speculation counted.results | tr -s ' \n' ' ' >text
matches "$(cat text)" 'up to token 1: [0-9.]+ %, 2: [0-9.]+ %, 3: [0-9.]+ % of the drafts accepted' "the text has them"
matches "$(cat text)" 'accepted 0: [0-9.]+ %, 1: [0-9.]+ %, 2: [0-9.]+ %, 3: [0-9.]+ % of the drafts' "the text has the shares of drafts by accepted tokens"

# Without the tokens of each event, only their mean is known.
fire mean
between "$(jq '.total.token_reads.tokens_per_read * 1000 | round' mean.json)" 2000 2700 "usage at the end gives the mean of tokens per read"
is "$(jq -c '.total.token_reads | keys' mean.json)" '["tokens_per_read"]' "usage at the end gives nothing but the mean"
server_stop

# No drafts, no word of them.
server_start --step-base 5ms
fire plain --param "$USAGE"
is "$(jq -c '[.total.token_reads.by_tokens["2"] // 0] | .[0]' plain.json)" 0 "a server without drafts has no step of two tokens"
yes_if "a server without drafts is not said to have any" test "$(ipf-report --full plain.results | grep -c 'as with drafts')" = 0

# A read held back comes the later the more it has: two tokens after twice the time.
body plain.results | jq -c 'if .n == null then . else del(.reads_3, .reads_4, .reads_5, .reads_6, .reads_7, .reads_8) | .reads = 80 | .reads_2 = 40 | .gap_one_ns = 40 * 2000000 | .gap_several_ns = 40 * 4000000 |
	.output_tokens = 121 end' >lines
seal plain.results lines >held.results
ipf-report --section speculation held.results | tr -s ' \n' ' ' >text
contains "$(cat text)" "2.00 times the gap of one: tokens held back, rather than drafts" "a buffer is told from drafts"
yes_if "the text does not blame the prompts for a buffer" test "$(grep -c doubtful text)" = 0

# The server's own figures: in the usage of each answer.
body drafts.results | jq -c 'if .n == null then . else .spec_drafts = 10 | .spec_draft_tokens = 30 | .spec_accepted_tokens = 12 end' >lines
seal drafts.results lines >said.results
is "$(ipf-report -f json said.results | jq -c ".total | .requests.ok as \$n | .speculation | [.drafts / \$n, .draft_tokens / \$n, .accepted_tokens / \$n, .acceptance, .tokens_per_step]")" \
	"[10,30,12,0.4,2.2]" "sums of what the usage says"

# A comparison of sides whose drafts were accepted differently says so before its figures.
sed 's/"spec_accepted_tokens":12/"spec_accepted_tokens":18/' lines >accepted
seal drafts.results accepted >more.results
compare_both() { # BASE NEW: all on a line
	ipf-report compare -q "$1" -- "$2" 2>compare.err | tr -s ' \n' ' ' >text
	ipf-report compare -q -f json "$1" -- "$2" 2>>compare.err | jq -c '[.base, .new | (.draft_acceptance // 0) * 100 | round]' >shares
}
compare_both said.results more.results
contains "$(cat text)" "accepted draft tokens: base 40.0 %, new 60.0 %" "compare says that the shares of accepted tokens differ"
is "$(cat shares)" "[40,60]" "JSON of compare has the shares of accepted tokens"
compare_both plain.results more.results
contains "$(cat text)" "accepted draft tokens: base no drafts reported, new 60.0 %" "compare says that the base reports no drafts"
compare_both said.results said.results
yes_if "compare says nothing of equal shares" test "$(grep -c 'draft tokens' text)" = 0
