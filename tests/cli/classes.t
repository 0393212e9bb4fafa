#!/bin/bash
# Classes of requests: ipf-prep --classes with their parts, a server with a queue of priorities, and goodput by class and fairness in the report, computed a
# second time.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"


# ---- the trace -------------------------------------------------------------------------------------------------------

classes() { # OUTPUT ARGUMENTS…
	run ipf-prep synthetic -n 400 --input-tokens 20 --output-tokens 4 --reproducible -q --classes interactive=0.3,batch=0.7 -o "$@"
}
classes mixed.trace --class-body interactive:priority=0 --class-body batch:priority=10 --class-body 'batch:note="a: b=c"' --class-header 'batch:X-Tenant: nightly: 1' \
	--slo class=interactive:e2e=900ms --slo class=batch:e2e=2s
status_is 0 "ipf-prep --classes ends with 0"
between "$(body mixed.trace | jq -s 'map(select(.tags.class == "interactive")) | length')" 81 159 "classes have their shares (5 standard deviations)"
is "$(body mixed.trace | jq -cS '[.tags, .body, .headers, .slo]' | sort -u)" '[{"class":"batch"},{"note":"a: b=c","priority":10},{"X-Tenant":"nightly: 1"},{"e2e":"2s"}]
[{"class":"interactive"},{"priority":0},null,{"e2e":"900ms"}]' "requests carry the members and objectives of their class"
classes again.trace --class-body interactive:priority=0 --class-body batch:priority=10 --class-body 'batch:note="a: b=c"' --class-header 'batch:X-Tenant: nightly: 1' \
	--slo class=interactive:e2e=900ms --slo class=batch:e2e=2s
same <(body mixed.trace) <(body again.trace) "the same seed gives the same classes"
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --classes a=1,b=1 -q -o talk.trace
is "$(body talk.trace | jq -sc 'map(select(.session)) | group_by(.session) | map([.[].tags.class] | unique | length) | unique')" "[1]" "a session is of one class"
refused() { # MESSAGE ARGUMENTS…
	run ipf-prep synthetic -n 1 "${@:2}" -o no.trace
	complains ipf-prep "$1" "refused: ${*:2}"
	status_is 2 "a wrong class ends with 2"
}
refused 'class "c" is not among --classes' --classes a=1,b=1 --class-body c:x=1
refused 'expected CLASS:' --class-body priority=0
refused 'expected CLASS:KEY=JSON' --class-body a:priority
refused 'expected JSON after' --class-body a:priority=high
refused 'headers: Host: a request of the trace cannot set this header' --class-header a:Host:evil
refused 'a trace has no credentials' --class-header 'a:Authorization: Bearer x'
refused 'body: stream: a request of the trace cannot set it' --class-body a:stream=true

# ---- a queue of priorities -------------------------------------------------------------------------------------------

# One request at a time, 8 ms each. The server stands still until all of them are there, so its queue decides the order and not the speed of a client.
ipf-sched burst:n=400 -t mixed.trace -q -o mixed.sched
interactive=$(body mixed.trace | jq -s 'map(select(.tags.class == "interactive")) | length')
all_sent() { # established connections with bytes the server has not read
	[ "$(awk -v port=":$(printf %04X "${URL##*:}")\$" '$2 ~ port && $4 == "01" && substr($5, 10) != "00000000"' /proc/net/tcp | wc -l)" = 400 ]
}
all_logged() { [ "$(wc -l <sim.log)" = 400 ]; }
for order in priority fcfs; do
	rm -f sim.log
	[ $order = priority ] && queue=(--priority) || queue=()
	server_start --max-batch 1 --step-base 2ms --step-per-seq 0 --prefill-rate 1000M --no-prefix-cache --log sim.log "${queue[@]}"
	kill -STOP "$SERVER"
	ipf-fire -u "$URL" -m sim -t mixed.trace mixed.sched -q -H 'X-Request-Id: $id' -o $order.records 2>"$ERR" &
	fire=$!
	stop_at_exit $fire
	yes_if "$order: all requests wait in the server's queue" wait_for all_sent
	kill -CONT "$SERVER"
	status=0
	wait $fire || status=$?
	status_is 0 "$order: a run beyond what the server carries"
	wait_for all_logged
	server_stop
	run python3 "$TESTS/helpers/priority_truth.py" sim.log $order
	matches "$(cat "$OUT")" "^400 requests, [0-9]+ overtook others, 0 out of order$" "$order: the server's order is that of its queue: $(cat "$OUT")"
	overtook=$(sed 's/.* \([0-9]*\) overtook.*/\1/' "$OUT")
	if [ $order = priority ]; then
		between "$overtook" 50 "$interactive" "priority: interactive requests overtake, and no others" # exact: the queue was filled before the server went on
	else
		is "$overtook" 0 "fcfs: no request overtakes another"
	fi
	ipf-collect -q $order.records -o measured.results
	# The report gets exact times, so no figure depends on the machine: the k-th in the server's order ends k times 8 ms after the start.
	jq -s -c 'sort_by(.first_token_ns) | to_entries | map({(.value.id): (8e6 * (.key + 1))}) | add' sim.log >order.json
	requests measured.results | jq -c --slurpfile order order.json '.due_ns = 0 | .ready_ns = 0 | .start_ns = 0 | .lag_ns = 0 | .end_ns = $order[0][.id] | .e2e_ns = .end_ns' >rows
	seal measured.results rows >$order.results
	run ipf-report -f json --by tag=class $order.results
	cp "$OUT" $order.json
	# goodput and fairness from the rows and the objectives alone
	python3 - $order.results >expected <<'END'
import json, sys
rows = [row for row in map(json.loads, open(sys.argv[1])) if "n" in row and "ok" in row]
groups = {}
for row in rows:
    # a latency from the start counts from the due time, as a user waits
    good = row["ok"] and row["e2e_ns"] + row["start_ns"] - row["due_ns"] <= {"900ms": 900, "2s": 2000}[row["slo"]["e2e"]] * 10 ** 6
    g = groups.setdefault(row["tags"]["class"], [0, 0, 0])
    g[0] += good
    g[1] += 1
    g[2] += row.get("output_tokens", 0) if row["ok"] else 0
jain = lambda x: sum(x) ** 2 / (len(x) * sum(v * v for v in x))
print(json.dumps({"goodput": {k: [g[0], g[1]] for k, g in sorted(groups.items())},
                  "fairness": [round(jain([g[0] / g[1] for g in groups.values()]), 6), round(jain([g[2] / g[1] for g in groups.values()]), 6)]}))
END
	is "$(jq -cS '{goodput: (.total.by_tag | map_values([.goodput.good, .goodput.of])), fairness: [.total.fairness | .goodput, .output_tokens | . * 1000000 | round / 1000000]}' \
		$order.json)" "$(jq -cS . expected)" "$order: goodput by class and fairness are as computed a second time: $(jq -c .fairness expected)"
done
# shellcheck disable=SC2016 # jq's variables
yes_if "interactive requests meet more of their objectives with priorities" jq -en --slurpfile p priority.json --slurpfile f fcfs.json \
	'$p[0].total.by_tag.interactive.goodput.share > $f[0].total.by_tag.interactive.goodput.share + 0.2'
run ipf-report --section goodput --by tag=class priority.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "(Jain's index, 1 is equal)" "the text has the fairness"
run ipf-report -f json priority.results
is "$(jq -c .total.fairness "$OUT")" null "a report without --by has no fairness"
