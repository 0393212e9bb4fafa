#!/bin/sh
# --shard: parts of a schedule for several clients, which together are the whole.
. "$TESTS/tap.sh"
DATA=$TESTS/data/sched
sched=$BIN/ipf-sched

# Every stage but those going round: the union of the bodies is the whole's, byte for byte.
union() { # SHARDS ARGUMENTS…
	shards=$1
	shift
	"$sched" "$@" >whole.sched || return 1
	: >parts
	k=1
	while [ $k -le "$shards" ]; do
		"$sched" "$@" --shard "$k/$shards" >part.sched || return 1
		head -1 part.sched | jq -e --argjson k $k --argjson n "$shards" '.shard == {index: $k, of: $n}' >/dev/null ||
			return 1
		[ "$(head -1 part.sched | jq '.stages | map(.arrivals) | add')" = "$(body part.sched | wc -l | tr -d ' ')" ] \
			|| return 1
		body part.sched >>parts
		head -1 part.sched | jq -c '.stages | map([.name, .begin_ns, .end_ns, .first_n, .all_arrivals // 0])'
		k=$((k + 1))
	done >stages
	sort -t : -k 2n parts >sorted
	body whole.sched >expected
	cmp -s sorted expected && [ "$(sort -u stages)" = "$(head -1 whole.sched |
		jq -c '.stages | map([.name, .begin_ns, .end_ns, .first_n, .arrivals])')" ]
}

for shards in 1 2 3 7 64; do
	yes_if "$shards shards of requests are the whole" union $shards poisson:rate=100,for=5s constant:rate=50,n=99 gamma:rate=20,cv=3,n=50
	yes_if "$shards shards of sessions are the whole" union $shards poisson:rate=20,n=101 burst:n=7 closed:users=64,n=30 closed:users=64,n=30,think=2s,process=poisson \
		replay:speed=2 -t "$DATA/sessions.trace"
done

# A follower stands in the shard of its head.
"$sched" poisson:rate=20,n=101 -t "$DATA/sessions.trace" --shard 2/3 | body /dev/stdin >part
is "$(jq -s 'map(.n) as $n | map(.after // [] | .[]) | unique - $n | length' part)" 0 "sessions stay together"

# Where a stage goes round, each shard has numbers of its own without gaps.
for k in 1 2 3; do
	"$sched" closed:users=8,for=1s constant:rate=1,n=1 -t "$DATA/recorded.trace" --shard $k/3 >"part.$k"
done
is "$(for k in 1 2 3; do head -1 part.$k | jq '.stages[0].slots'; done | tr '\n' ' ')" "3 3 2 " "users are dealt out"
is "$(for k in 1 2 3; do body part.$k | jq -r 'select(.stage == 0).req'; done | sort -n |
	tr '\n' ' ')" "0 1 2 3 4 5 6 7 " "the trace is dealt out"
is "$(for k in 1 2 3; do head -1 part.$k | jq '.stages[0].first_n as $f | .stages[1].first_n - $f > 1400000000'; done \
	| sort -u)" true \
	"shards leave room to go round the trace"
yes_if "shards number their requests without gaps" sh -c 'for k in 1 2 3; do sed 1d part.$k | jq -e -s "map(select(.stage == 0).n) | . == [range(.[0]; .[0] + length)]"; done'

misuse() { # PART ARGUMENTS…
	part=$1
	shift
	fails_with 2 "$part" "$sched" "$@"
}
misuse '--shard: expected K/N such as 2/8, got "2"' constant:rate=1,n=1 --shard 2
for shard in 0/2 3/2 1/0 1/5000 a/2 1/b /2 1/; do
	misuse "--shard: expected K/N with K from 1 to N and N up to 4096, got \"$shard\"" constant:rate=1,n=1 --shard $shard
done
misuse 'stage 1 (constant): slots: cannot divide 2 among 3 shards' constant:rate=1,n=9,slots=2 --shard 1/3
misuse 'stage 1 (closed): users: cannot divide 2 among 3 shards' closed:users=2,n=9 --shard 1/3
misuse 'cannot divide a trace of 5 requests or sessions among 8 shards' closed:users=9,for=1s -t "$DATA/five.trace" --shard 1/8

# Two clients at once: their schedule counts once, however their records come together.
server_start
for k in 1 2; do
	"$sched" constant:rate=40,for=1s burst:n=3 -t "$DATA/five.trace" --shard $k/2 -o shard.$k
	"$BIN/ipf-fire" -q -u "$URL" -m sim -t "$DATA/five.trace" shard.$k -o records.$k &
	eval "client_$k=\$!"
done
# shellcheck disable=SC2154 # set by eval
wait "$client_1" && wait "$client_2" && ok "two clients carry out a schedule" ||
	not_ok "two clients carry out a schedule"
"$BIN/ipf-collect" -q records.1 records.2 -o both.results
"$BIN/ipf-collect" -q records.1 -o first.results
"$BIN/ipf-collect" -q records.2 -o second.results
counts='[.total.requests.scheduled, .total.requests.started, (.verdict.checks[] | select(.name == "load_delivered") | .scheduled)]' # exact: a count
is "$("$BIN/ipf-report" -f json both.results | jq -c "$counts")" "[43,43,43]" "collected together, all was delivered"
is "$("$BIN/ipf-report" -f json first.results second.results | jq -c "$counts")" "[43,43,43]" "two clients are reported together"
is "$("$BIN/ipf-report" -f json first.results | jq -c "$counts")" "[22,22,22]" "one client alone has its part"
