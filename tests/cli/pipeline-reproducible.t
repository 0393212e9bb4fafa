#!/bin/bash
# Same inputs, options and seed: the same bytes. ipf-collect's results from records do not depend on the time of the
# call.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
set -o pipefail

twice() { # TEXT COMMAND…: with -o; in two folders, so no path may show
	local text=$1
	shift
	mkdir -p a b
	(cd a && "$@" --reproducible -o out.zst) && sleep 1.1 && (cd b && "$@" --reproducible -o out.zst) ||
		not_ok "a file in each of two folders: $text" "failed"
	plain a/out.zst >a/out
	plain b/out.zst >b/out
	same a/out b/out "the same inputs give the same bytes: $text"
	same a/out.zst b/out.zst "the same inputs give the same compressed bytes: $text"
}
cp "$ROOT/examples/chat.json" "$ROOT/examples/arrivals.csv" .
small_run
for folder in a b; do mkdir -p $folder; cp chat.json arrivals.csv chat.trace $folder; done
ipf-prep azure arrivals.csv -q -o a/arrivals.trace
cp a/arrivals.trace b

twice "a trace made twice" ipf-prep sharegpt chat.json --seed 7 --shuffle -n 30
twice "a trace of lengths made twice" ipf-prep azure arrivals.csv
twice "a Poisson schedule made twice" ipf-sched poisson:rate=50,for=20s gamma:rate=9,cv=2,n=300 -t chat.trace --seed 7
twice "a replay made twice" ipf-sched replay:speed=3 -t arrivals.trace

for program in "ipf-prep sharegpt chat.json --shuffle" "ipf-sched poisson:rate=50,n=100 -t chat.trace"; do
	# shellcheck disable=SC2086
	$program --seed 1 | sed 1d >seed.1
	# shellcheck disable=SC2086
	$program --seed 2 | sed 1d >seed.2
	isnt "$(cksum <seed.1)" "$(cksum <seed.2)" "${program%% *}: another seed gives another stream"
done
ipf-sched poisson:rate=50,n=100 -t chat.trace --reproducible >one
ipf-sched poisson:rate=50,n=100 -t chat.trace --reproducible --seed 1 >two
same <(sed 1d one) <(sed 1d two) "the seed is 1 where none is given"
ipf-sched poisson:rate=50,n=100 constant:rate=3,n=5 -t chat.trace | sed -n 2,101p | jq -c '[.n, .at_ns, .req]' >one
ipf-sched poisson:rate=50,n=100 -t chat.trace | sed -n 2,101p | jq -c '[.n, .at_ns, .req]' >two
same one two "a further stage does not change the ones before it"

# In a pipe while the run lasts, and later from the file: the same results.
ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched | tee live.records | { mkdir later again && ipf-collect -q -o live.results; }
is "$?" 0 "a live run works"
ipf-collect -q live.records -o later/live.results
same live.results later/live.results "results of a pipe and of the file are the same"
sleep 1.1
ipf-collect -q live.records -o again/live.results
same later/live.results again/live.results "results of another time are the same"
zstd -q live.records
cp live.records.zst other-name.zst
ipf-collect -q other-name.zst -o later/live.results.zst
plain later/live.results.zst >later.results.plain
same live.results later.results.plain "results of compressed records under another name are the same"
