#!/bin/bash
# How far apart the clocks of two shards are, from the Date headers that both see: nginx sends them.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
report=$BIN/ipf-report
preload=$BUILD/tests/wall_clock.so

# ---- two shards for real, one with a clock that is 2.3 s fast ----

nginx_conf() { # PORT OF THE SERVER BEHIND IT
	cat <<-END
		daemon off; master_process off; pid nginx.pid; error_log nginx.err;
		events { worker_connections 1024; }
		http {
			client_body_temp_path tmp1; proxy_temp_path tmp2; fastcgi_temp_path tmp3; uwsgi_temp_path tmp4; scgi_temp_path tmp5;
			access_log off; keepalive_requests 10000;
			server {
				listen 127.0.0.1:$PLAIN;
				location / { proxy_pass http://127.0.0.1:$1; proxy_buffering off; }
			}
		}
	END
}

if [ -n "${SANITIZE:-}" ] || [ ! -e "$preload" ]; then
	skip "two shards with clocks of their own" "$preload cannot be preloaded"
else
	server_start --step-base 2ms --step-per-seq 0
	if nginx_start "${URL##*:}"; then
		ipf-prep synthetic -n 200 --input-tokens 20 --output-tokens 4 -t approx -q -o t.trace
		ipf-sched poisson:rate=20,for=8s -t t.trace -q -o t.sched
		fire() { ipf-fire -q -u "http://127.0.0.1:$PLAIN" -m sim -t t.trace t.sched "$@"; }
		fire -o a.records &
		first=$!
		run env WALL_CLOCK_OFFSET_MS=2300 LD_PRELOAD="$preload" "$BIN/ipf-fire" -q -u "http://127.0.0.1:$PLAIN" -m sim -t t.trace t.sched -o b.records
		status_is 0 "a run under another clock"
		wait $first
		is "$?" 0 "the shard under this clock ends with 0"
		at_least "$(body a.records | jq -c 'select(.client.dates) | .client.dates[]' | jq -s 'map(.[1]) | unique | length')" 2 "the records have the Dates of several seconds"
		is "$(head -1 a.records | jq -c '.system_clock.synchronised | type')" '"boolean"' "records have the state of the system's clock at the start"
		is "$(tail -1 a.records | jq -c '.end.client.system_clock.synchronised | type')" '"boolean"' "records have the state of the system's clock at the end"
		for name in a b; do ipf-collect -q $name.records -o $name.results; done
		run "$report" -q -f json a.results b.results
		cp "$OUT" "$OUT.two"
		offset=$(jq -c '.clocks.offsets[0]' "$OUT")
		is "$(jq -c '[.client, .by, .contradiction]' <<<"$offset")" '[1,["date"],null]' "the offset is known from the Date"
		between 2300000000 "$(jq .low_ns <<<"$offset")" "$(jq .high_ns <<<"$offset")" "the offset lies within its bound" # exact: how wide that is depends on the machine
		run "$report" -q b.results a.results
		matches "$(cat "$OUT")" '^  clocks      shard 2 of 2 is [0-9.]+ s behind the first, to within ' "the text says which clock is behind"
		about=$(jq '(.low_ns + .high_ns) / 2e9' <<<"$offset")
		between "$(sed -n 's/^  clocks      shard 2 of 2 is \([0-9.]*\) s behind .*/\1/p' "$OUT")" "$(jq -n "$about - 0.06")" "$(jq -n "$about + 0.06")" "the text has the middle of the bound"
		offsets=$(jq -c .clocks "$OUT.two")
		ipf-collect -q a.records b.records -o merged.results
		is "$(tail -1 merged.results | jq -c .end.clocks)" "$offsets" "ipf-collect says the same of records that it merges"
		run "$report" -q -f json merged.results
		is "$(jq -c .clocks "$OUT")" "$offsets" "a report of merged results has the same offsets"
		contains "$(tail -1 merged.results | jq -r '.end.verdict.checks[0].detail')" "the clocks of two shards are " "the verdict of merged records says that clocks are apart"
		between "$(tail -1 merged.results | jq -r '.end.verdict.checks[0].detail' | sed 's/.*the clocks of two shards are \([0-9.]*\) s apart.*/\1/')" \
			"$(jq -n "$about - 0.06")" "$(jq -n "$about + 0.06")" "the verdict of merged records has the middle of the bound"
		run "$report" -q -f json a.results
		is "$(jq -c .clocks "$OUT")" null "one client has no offsets"
		is "$(tail -1 a.results | jq -c .end.clocks)" null "results of one client have no offsets"
	else
		skip "two shards with clocks of their own" "there is no nginx"
	fi
fi

# ---- made by hand: a sees the Date change 100 to 120 ms after its second began, b at AFTER to AFTER + 20 ms ----

jq -c '.series = { every_ns: 1000000000 } | .from[0].target = "http://server/v1"' \
	<(head -1 "$TESTS/data/report/one.results") | sed 's/"tool":"ipf-fire 0.1.0"/&,"t0_unix_ns":1000000000000000000/' >header
shard() { # NAME N AFTER-MS
	{
		sed -e 1d -e '$d' "$TESTS/data/report/one.results" | jq -c "if .n then .n = $2 else . end"
		jq -nc --argjson after "$3" 'range(5) | { sample: "client", t_ns: (. * 1000000000),
			dates: [[0, (1000000000 + .), (. * 1000000000 + ($after + 20) * 1000000), ((. + 1) * 1000000000 + $after * 1000000)]] }'
	} >body
	seal header body >"$1.results"
}
shard a 0 100
shard b 1 300
shard far 1 1900
"$report" -f json a.results b.results >near.json
is "$(jq -c '.clocks' near.json)" '{"clients":2,"offsets":[{"client":1,"low_ns":180000000,"high_ns":220000000,"by":["date"]}],"unsynchronised":[0,1],"starts":{"apart_ns":0,"last":0,"at_most_ns":220000000}}' \
	"an offset of 200 ms, and the starts no further apart than that"
run "$report" a.results b.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "starts all shards at one time by their clocks; at most 220 ms apart, given the known clock offsets" "the text bounds the distance of starts"
synchronised() { # NAME MAX-ERROR-NS: b.results of a client whose system says this of its clock
	plain b.results | head -1 | jq -c --argjson most "$2" '.from[0].system_clock = {synchronised: ($most > 0), max_error_ns: $most}
		| .from[0].t0_unix_ns += 2000000' >b.header
	plain b.results | sed -e 1d -e '$d' -e '/"dates"/d' >b.body
	seal b.header b.body >"$1.results"
}
synchronised good 3000000
synchronised other 4000000
synchronised bad 0
"$report" -f json other.results good.results >ntp.json
is "$(jq -c '.clocks | [.offsets[0].by, .offsets[0].high_ns, .starts.at_most_ns, .unsynchronised]' ntp.json)" '[["ntp"],7000000,7000000,null]' \
	"two synchronised clocks differ by no more than both can be wrong"
run "$report" a.results bad.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "starts 2 ms apart by the shards' clocks, shard 2 last; the true distance is unknown: no clock of them is known to be synchronised" \
	"clocks that are not synchronised are named"
run "$report" good.results bad.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "the true distance is unknown: the clock of shard 2 is not known to be synchronised" "the text names the clock that is not synchronised"
"$report" -f json a.results far.results >far.json
is "$(jq -c '[.clocks.offsets[0].low_ns, .verdict.checks[0].status]' far.json)" '[1780000000,"DOUBTFUL"]' "an offset that is longer than a window is DOUBTFUL" # exact: times that are written
matches "$(jq -r '.verdict.checks[0].detail' far.json)" 'the clocks of two shards are 1\.8 s apart \(to within 20 ms\)' "the verdict has the offset and its bound"
is "$(jq -r '.verdict.checks[0].detail' near.json | grep -c clocks)" 0 "a shorter one is not"
sed -i 's/"dates":\[\[0,/"dates":[["zero",/' body
seal header body >bad.results
run "$report" bad.results
status_is 3 "ipf-report refuses wrong Dates"
stderr_contains "dates: expected lists of four integers" "ipf-report says what Dates are"
