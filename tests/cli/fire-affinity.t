#!/bin/bash
# --session-header: a router's token goes back with the later requests of its session, so they reach the same replica. The router is a proxy before
# two simulated servers that otherwise gives the turns of a session to them in turn.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"

# Nine sessions of five turns, three at a time.
jq -n -c 'range(9) as $s | range(5) as $t | {id: "\($s)/\($t)", session: "s\($s)", turn: $t, context: "session", output_tokens: 2, answer: "fine",
	messages: [{role: "user", content: ([range(60) | "word\(. * ($s + 2) + $t * 7)"] | join(" "))}]}' >lines
trace_of lines >talks.trace
ipf-sched closed:users=3 -t talks.trace -q -o talks.sched

router() { # header|cookie|body: $URL
	server_start --step-base 3ms --step-per-seq 0
	local first=$URL
	server_start --step-base 3ms --step-per-seq 0
	peer_start "$TESTS/helpers/affinity_proxy.py" routed.log "$1" "$first" "$URL"
	URL=$PEER_URL
}
fire() { # ARGUMENTS OF ipf-fire…: $kept, sessions on one replica; $hits, percent of the prompts' cached tokens
	run ipf-fire -m sim -t talks.trace talks.sched -u "$URL" -H 'X-Request-Id: $session' --record-header x-replica "$@"
	status_is 0 "ipf-fire $* ends with 0"
	is "$(body "$OUT" | jq -s -c 'map(select(.n != null) | .status) | unique')" "[200]" "every request through the router succeeds"
	kept=$(sort -u routed.log | cut -d ' ' -f 1 | uniq -u | wc -l)
	ipf-collect -q "$OUT" --replica-header x-replica -o run.results
	hits=$(body run.results | jq -s 'map(select(.n != null)) | 100 * (map(.cached_tokens) | add) / (map(.input_tokens) | add) | round')
	tokens=$(tail -1 "$OUT" | jq -c .end.session_tokens)
}

router header
fire
is "$kept" 0 "sessions change the replica without --session-header"
is "$tokens" null "no session tokens are counted without --session-header"
lost=$hits
cp run.results lost.results
kill $PEER
router header
fire --session-header x-replica
is "$kept" 9 "sessions stay on their replica with --session-header"
is "$tokens" '{"given":45,"returned":36,"sessions":9}' "every turn but the first takes back what it was given"
yes_if "caches find $lost % of the prompts' tokens without --session-header, $hits % with it" [ "$hits" -gt $((lost + 5)) ]

# A comparison of the two shows the router's choices, before its figures. By the rows alone: of later turns, tokens in the cache and
# servers.
later() { body "$1" | jq -s -c '[.[] | select(.n != null)] as $all | (reduce $all[] as $row ({}; .["\($row.n)"] = $row.replica)) as $servers | [$all[] | select(.after)]
	| [(map(.cached_tokens) | add) / (map(.input_tokens) | add), (map(select($servers["\(.after[0])"] == .replica)) | length) / length] | map(. * 1e5 | round)'; }
ipf-report compare -q -f json run.results lost.results 2>compare.err >compare.json
is "$(jq -c '[.base, .new | [.later_turns_cached_share, .later_turns_same_server] | map(. * 1e5 | round)]' compare.json)" "[$(later run.results),$(later lost.results)]" \
	"the shares of later turns are those of the rows"
is "$(jq .base.later_turns_same_server compare.json)" 1 "later turns all went to their server"
ipf-report compare -q run.results lost.results 2>compare.err >compare.txt
matches "$(tr -s ' \n' ' ' <compare.txt)" "of the input tokens of later turns, base had [0-9.]+ % in the prefix cache, new [0-9.]+ %; later turns went to the server of the turn before: base 100.0 %, new [0-9.]+ %" \
	"compare says what the prefix cache and the router did"
is "$(grep -nE '^(  sessions|What changed|Settings)' compare.txt | head -1 | cut -d: -f2 | cut -c1-10)" "  sessions" "compare describes sessions before the figures"
for side in run lost; do
	body $side.results | jq -c 'del(.replica)' >lines
	seal $side.results lines >$side.plain
done
ipf-report compare -q run.plain lost.plain 2>compare.err >compare.txt
contains "$(tr -s ' \n' ' ' <compare.txt)" ": a router may not have kept sessions on their servers" "compare without server ids says what the router may have done"
ipf-report compare -q run.results run.results 2>compare.err >compare.txt
yes_if "compare is silent on later turns if nothing changed" test "$(grep -c 'later turns' compare.txt)" = 0
kill $PEER
router header
fire --session-header X-Replica --threads 3 --connections fresh
is "$kept" 9 "sessions stay on their replica with several threads"
kill $PEER
router cookie
fire --session-header Set-Cookie
is "$kept" 9 "a cookie goes back without its attributes, beside another one"
is "$(jq -c '.given' <<<"$tokens")" 90 "the last value of a cookie counts"
kill $PEER
router body
fire --param 'user="$session"'
is "$kept" 9 "a router that goes by a member of the body gets the session there"

# The agents of a session, for routers placing one beside its parent: by the tags of its requests.
agent_is() { # TAGS HEADERS PARENT-IN-BODY TEXT
	jq -n -c --argjson tags "$1" '{id: "1", session: "s/1", prompt: "x", output_tokens: 1} + if $tags then {tags: $tags} else {} end' >lines
	trace_of lines >one.trace
	run ipf-fire --probe -m sim -t one.trace -u "$URL" -H 'X-Request-Id: $agent' -H 'X-Correlation-Id: $parent_agent' \
		--param 'nvext="$agent"' --param 'assistant="$parent_agent"' # names whose values are shown
	is "$(grep '^> X-' "$ERR" | tr -d '\r' | tr '\n' ' ')" "$2" "ipf-fire sends the headers: $4"
	contains "$(cat "$ERR")" "$3" "ipf-fire sends the body: $4"
}
agent_is null "> X-Request-Id: s/1 " '"nvext":"s/1"}' "the agent that began a session has its name, and no parent"
agent_is '{"agent":"find"}' "> X-Request-Id: s/1/find > X-Correlation-Id: s/1 " '"nvext":"s/1/find","assistant":"s/1"}' "a subagent has its own, and the session as parent"
agent_is '{"agent":3,"parent_agent":"find"}' "> X-Request-Id: s/1/3 > X-Correlation-Id: s/1/find " '"nvext":"s/1/3","assistant":"s/1/find"}' "a request of a subagent has the subagent as parent"
agent_is '{"agent":null,"class":"a"}' "> X-Request-Id: s/1 " '"nvext":"s/1"}' "other tags name none"

for bad in 'a b' content-length Authorization; do
	run ipf-fire -m sim -t talks.trace talks.sched -u "$URL" --session-header "$bad"
	status_is 2 "ipf-fire refuses --session-header $bad"
	complains ipf-fire "--session-header:" "ipf-fire names --session-header for $bad"
done
