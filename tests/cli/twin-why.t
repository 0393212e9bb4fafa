#!/bin/bash
# ipf-twin why, and ipf-report --why: where the time of requests went. (unit/test_twin_why.c holds the parts of each request against servers whose
# steps follow by arithmetic.) The runs are those of a twin, in virtual time, so every machine has the same.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
unset IPF_REPORT_FULL
report=$BIN/ipf-report

server="step_per_sequence_ns=300000 prefill_tokens_per_s=15000 step_tokens=400 overhead_ns=400000"
twin server.json $server step_base_ns=9000000 most_sequences=16 step_jitter=0
"$BIN/ipf-prep" synthetic -q -n 300 --input-tokens uniform:20-900 --output-tokens uniform:10-60 --seed 5 -o trace
at() { # NAME TWIN STAGE…
	local name=$1 by=$2
	shift 2
	"$BIN/ipf-sched" -q "$@" -t trace --seed 3 -o "$name.schedule"
	"$BIN/ipf-twin" predict -q --reproducible "$by" -t trace "$name.schedule" 2>"$ERR" | "$BIN/ipf-collect" -q -o "$name.results" 2>"$ERR"
}
why() { # NAME TWIN
	"$BIN/ipf-twin" why -q "$2" "$1.results" -o "$1.why.json" 2>"$ERR"
	"$report" -q -f json --why "$1.why.json" "$1.results" 2>"$ERR" | jq -c .why >"$1.why"
}
# Figures of all groups of a report
groups='(., .stages[]?) | (.ttft, .e2e) | (.p50, .p99)'

# ---- the twin's time is explained in full --------------------------------------------------------------------------
at low server.json constant:rate=1,for=20s
why low server.json
is "$(jq -c '[.twin, .describes, .ttft_error, .e2e_error, .requests, .left_out]' low.why)" '["server.json",true,0,0,20,0]' "the twin is exact for one request at a time"
is "$(jq -c '[.ttft, .e2e | .p50, .p99 | [.requests, .parts.overhead.ms, .parts.queue.ms, .parts.other_prompts.ms, .parts.unexplained.ms, .others]]' low.why)" \
	'[[2,0.4,0,0,0,0],[1,0.4,0,0,0,0],[2,0.4,0,0,0,0],[1,0.4,0,0,0,0]]' "nobody waits, and nothing is left unexplained"
is "$(jq -r '[.ttft.p99.greatest, .e2e.p99.greatest] | join(" ")' low.why)" "own_prompt decoding" "an idle server spends the time on the prompt and on decoding"
at ramp server.json constant:rate=2,for=10s rest:for=5s poisson:rate=14,for=15s
why ramp server.json
is "$(jq -c "[$groups | .parts.unexplained.ms] | unique" ramp.why)" '[0]' "nothing is unexplained under load"
is "$(jq -c "[$groups | ((.parts | map(.ms) | add) - .measured_ms | fabs) | select(. > 1e-5)]" ramp.why)" '[]' "parts add up to what was measured"
is "$(jq -c "[$groups | (.parts | map(.share) | add) | (. - 1 | fabs) | select(. > 1e-5)]" ramp.why)" '[]' "shares of parts add up to 1"
is "$(jq -c '[.ttft.p99.greatest, .ttft.p99.parts.queue.share > 0.5, .e2e.p99.parts.later_prompts.ms > 100, .e2e.p99.others_later > 8, .e2e.p50.others_later < .e2e.p99.others_later]' ramp.why)" \
	'["queue",true,true,true,true]' "a full batch is a queue, with prompts of others between the tokens"
is "$(jq -c '[.stages[] | .name, .requests]' ramp.why)" "$("$report" -q -f json ramp.results | jq -c '[.stages[] | select(.measured) | .name, .requests.ok]')" \
	"measured stages have their parts"

# Its requests, by the rows.
plain ramp.results | jq -s -c '[.[] | select(.n != null)] | map(.ttft_ns / 1e6) | sort | length as $n | [(.[($n * 0.45 | floor):($n * 0.55 | ceil)], .[($n * 0.98 | floor):]) |
	[length, (add / length * 1000 | round)]]' >expected
is "$(jq -c '[.ttft.p50, .ttft.p99 | [.requests, (.measured_ms * 1000 | round)]]' ramp.why)" "$(cat expected)" "p50: from p45 to p55; p99: above p98"
is "$(jq -c '[.ttft.p99.worst[].n]' ramp.why)" "$(plain ramp.results | jq -s -c '[.[] | select(.n != null)] | sort_by(-.ttft_ns) | [.[:5][].n]')" "the slowest requests are named"

# A slot of the client comes before the start, and is in no part.
at slots server.json constant:rate=14,n=60,slots=4
why slots server.json
is "$(jq -c '[.e2e.p99.slot_wait_ms > 100, .e2e.p99.parts.unexplained.ms, .e2e.p99.parts.queue.ms < 60]' slots.why)" '[true,0,true]' "waiting for a slot stands apart"
contains "$("$report" -q --section why --why slots.why.json slots.results)" "before: slot" "the section has a row for the slot"

# A connection opened for a request delayed the server's view of it: rows as if each had waited 2 ms for one.
plain low.results | head -1 >header
body low.results | jq -c 'if .n == null then . else .start_ns -= 2000000 | .connect_ns = 1500000 | .setup_ns = 2000000 | .send_waits = 1 |
	reduce ("ttfb_ns", "ttft_ns", "ttfa_ns", "e2e_ns") as $m (.; .[$m] += 2000000) end' >lines
seal header lines >connect.results
why connect server.json
is "$(jq -c '[.ttft.p99, .e2e.p99 | .parts | [.connect.ms, .queue.ms, .unexplained.ms]]' connect.why)" '[[2,0,0],[2,0,0]]' "a connection is a part"

# ---- prefix caches, replicas, shards ----------------------------------------------------------------------------------
jq '.parameters.prefix_cache.value = 1 | .parameters.kv_blocks.value = 4000' server.json >cache.json
"$BIN/ipf-prep" prefix -q -n 200 --hit-rate 0.5 --groups 4 --input-tokens uniform:200-900 --output-tokens 20 -o trace
at whole cache.json poisson:rate=16,for=10s
why whole cache.json
is "$(jq -c '[.e2e_error, .e2e.p99.parts.unexplained.ms]' whole.why)" '[0,0]' "cached tokens take no time"
"$BIN/ipf-twin" why -q -t trace cache.json whole.results | jq -c .why >traced.why
same whole.why traced.why "the cache of the twin finds the same by the trace"
why whole server.json
jq '.parameters.prefix_cache.value = 0' cache.json >uncached.json
"$BIN/ipf-twin" why -q -t trace uncached.json whole.results | jq -c '.why.ttft.p50.parts.own_prompt' >uncached.own
is "$(cat uncached.own)" "$(jq -c .ttft.p50.parts.own_prompt whole.why)" "a twin without a cache leaves out what the server reported"
"$BIN/ipf-twin" predict -q --reproducible cache.json --replicas 2 -t trace whole.schedule 2>"$ERR" | "$BIN/ipf-collect" -q -o replicas.results 2>"$ERR"
why replicas cache.json
is "$(jq -c '[.e2e_error, .e2e.p99.parts.unexplained.ms]' replicas.why)" '[0,0]' "replicas have a queue each"
at whole server.json poisson:rate=16,for=10s
for k in 1 2; do at shard-$k server.json poisson:rate=16,for=10s --shard $k/2; done
median() { # RESULTS…: of E2E, ms
	for file in "$@"; do plain "$file"; done | jq -s '[.[] | select(.n != null) | .e2e_ns / 1e6] | sort | length as $n | (.[($n - 1) / 2 | floor] + .[$n / 2 | floor]) / 2'
}
"$BIN/ipf-twin" why -q server.json shard-1.results shard-2.results | jq -c .why >shards.why
is "$(jq -c --argjson shards "$(median shard-?.results)" --argjson whole "$(median whole.results)" \
	'[.requests, (.e2e_error > 0.1), ((1 + .e2e_error) * $shards / $whole - 1 | fabs < 0.001)]' shards.why)" \
	"[$(jq .requests whole.why),true,true]" "shards load one server: together they take as long as the whole"

# ---- as people read it ------------------------------------------------------------------------------------------------
text() { # REPORT-ARGUMENTS…: on one line
	"$report" -q "$@" 2>"$ERR" | tr -s ' \n' ' '
}
why ramp server.json
first=$(text --why ramp.why.json ramp.results)
contains "$first" "Where the time went by the twin server.json, whose medians differ from the measured ones by 0.0 % (TTFT) and by 0.0 % (E2E)" "text has the section"
contains "$first" "TTFT at p99 the greatest part is waiting in the server's queue: " "text says which part is greatest"
contains "$first" "E2E from start, by part" "text has the parts of E2E"
is "$(text ramp.results | grep -c "Where the time went")" 0 "text without --why has no section"
is "$(grep -c "Slowest by TTFT\|TTFT of poisson" <<<"$first")" 0 "the first screen is short"
"$report" -q --full --why ramp.why.json ramp.results >full
"$report" -q -f md --why ramp.why.json ramp.results >page.md
PATH=/nowhere "$report" -q -f html --why ramp.why.json ramp.results >page.html
contains "$(tr -s ' \n' ' ' <full)" "Slowest by TTFT" "--full has the slowest"
contains "$(cat full)" "E2E of poisson, by part" "--full has the stages"
is "$(python3 "$TESTS/helpers/report_read_back.py" full page.md page.html | grep -v ' tables, ')" "" "text and Markdown have the cells of the page"

# The page has pictures, whose bars are as long as the parts of the JSON report.
"$report" -q -f json --why ramp.why.json ramp.results -o saved.json
is "$(python3 "$TESTS/helpers/html_page.py" page.html 2>&1; grep -o '<svg [^>]*"why-[a-z0-9-]*-title' page.html | sed 's/.*"//; s/-title//' | tr '\n' ' ')" \
	"why-legend why-picture-ttft why-picture-e2e why-time-ttft why-time-e2e " "the page is whole, with pictures by stage and over time"
python3 - page.html saved.json <<'END' >drawn
import json, re, sys
page, why = open(sys.argv[1], encoding="utf-8").read(), json.load(open(sys.argv[2]))["why"]
names = ["connect", "overhead", "queue", "thrown_out", "own_prompt", "other_prompts", "steps", "later_prompts", "decoding", "unexplained"]
def svg_of(name): return re.search(rf'<svg [^>]*"{name}-title.*?</svg>', page, re.S).group()
def compare(name, bars, groups):
    longest, most = max(sum(bar.values()) for bar in bars), max(sum(p["ms"] for p in g["parts"].values()) for g in groups)
    for bar, group in zip(bars, groups):
        for k, part in enumerate(names):
            ms = group["parts"].get(part, {"ms": 0})["ms"]
            if abs(bar.get(k, 0) / longest - ms / most) > 0.001: print(name, part, bar.get(k), ms)
    print(name, len(bars), len(groups))
def bars_of(texts, size): return [{int(k): float(v) for k, v in re.findall(rf'<rect class="part-(\d)" [^>]*{size}="([\d.]+)"', text)} for text in texts]
for name in "ttft", "e2e":
    svg = svg_of("why-picture-" + name)
    groups = [of[name][p] for of in [why] + why["stages"] for p in ("p50", "p99")]
    compare(name, bars_of(re.split(r'<text [^>]*>p\d\d</text>', svg)[1:], " width"), groups)
    print([html for html in re.findall(r'>([^<>]*)</text>', svg) if "ms" not in html and not re.match(r"p\d\d", html)])
    compare(name + " over time", bars_of(re.findall(r'<g>.*?</g>', svg_of("why-time-" + name), re.S), " height"), [i[name] for i in why["over_time"]["intervals"]])
END
count=$(jq '.why.over_time.intervals | length' saved.json)
is "$(cat drawn)" "$(printf '%s\n' "ttft 6 6" "['TTFT from start, by part and stage', 'all stages', 'constant', 'poisson']" "ttft over time $count $count" \
	"e2e 6 6" "['E2E from start, by part and stage', 'all stages', 'constant', 'poisson']" "e2e over time $count $count")" "bars for p50 and p99 of the run and each stage, and one for each interval"
is "$("$report" -q -f html --why low.why.json low.results | grep -c '>all stages<')" 0 "a run of one stage has two bars"

# Over time: the means of the requests starting in each interval, by the rows.
plain ramp.results | jq -s -c --argjson every "$(jq .why.over_time.every_s saved.json)" '[.[] | select(.n != null)] | group_by(.start_ns / 1e9 / $every | floor) |
	map([(.[0].start_ns / 1e9 / $every | floor) * $every, length, (map(.ttft_ns) | add / length / 1e4 | round), (map(.e2e_ns) | add / length / 1e4 | round)])' >expected
is "$(jq -c '[.why.over_time.intervals[] | [.t_s, .requests, (.ttft.measured_ms * 100 | round), (.e2e.measured_ms * 100 | round)]]' saved.json)" "$(cat expected)" "intervals have the requests that started in them"
is "$(jq -c '.why | [.over_time.every_s, (.over_time.intervals | length > 20 and length <= 40), ([.over_time.intervals[].requests] | add) == .requests,
	([.over_time.intervals[] | .ttft, .e2e | ((.parts | map(.ms) | add) - .measured_ms | fabs) | select(. > 1e-5)] | length)]' saved.json)" "[1,true,true,0]" "at most 40 intervals of equal length have parts that add up"
contains "$(tr -s ' \n' ' ' <full)" "Means by when requests started, ms" "--full has them"
is "$(grep -c "Means by when" <<<"$first")" 0 "the first screen has no intervals"

# Thrown out of the cache: a cache holding two or three requests.
jq '.parameters.kv_blocks.value = 60' server.json >tight.json
"$BIN/ipf-prep" synthetic -q -n 60 --input-tokens uniform:200-400 --output-tokens uniform:50-200 --seed 5 -o trace
at tight tight.json poisson:rate=2,for=20s
why tight tight.json
is "$(jq -c '[.e2e_error, .e2e.p99.parts.unexplained.ms, (.e2e.p99.parts.thrown_out.ms > 100), ([.over_time.intervals[] | .e2e.parts.thrown_out.ms - .ttft.parts.thrown_out.ms | select(. > 0)] | length > 2)]' tight.why)" \
	'[0,0,true,true]' "being thrown out of the KV cache is a part"

if command -v chromium >/dev/null; then
	is "$(python3 "$TESTS/helpers/html_browser.py" page.html 2>&1)" "" "Chromium shows the page without message, with room and contrast in light and dark"
else
	skip "Chromium shows the page without message, with room and contrast in light and dark" "chromium is not installed"
fi
for how in "" --full "-f md" "-f html"; do
	# shellcheck disable=SC2086
	is "$(PATH=/nowhere "$report" -q $how saved.json | cksum)" "$(PATH=/nowhere "$report" -q $how --why ramp.why.json ramp.results | cksum)" "${how:-text}: the same from its JSON"
done

# ---- another server ---------------------------------------------------------------------------------------------------
twin slow.json $server step_base_ns=18000000 most_sequences=16 step_jitter=0
why ramp slow.json
is "$(jq -c "[.describes, .e2e_error > 0.25, ([$groups | .parts.unexplained.ms < 0] | all),
	([$groups | ((.parts | map(.ms) | add) - .measured_ms | fabs) | select(. > 1e-5)] | length)]" ramp.why)" '[false,true,true,0]' "a slower twin does not describe the run"
contains "$(text --why ramp.why.json ramp.results)" "Where the time went the twin slow.json does not describe this run: its medians are off, TTFT by " "the section begins with the errors of the twin"
twin noisy.json $server step_base_ns=9000000 most_sequences=16 step_jitter=0.3
at noisy noisy.json poisson:rate=6,for=20s
why noisy noisy.json
is "$(jq -c '[.describes, .e2e.p99.parts.unexplained.ms != 0]' noisy.why)" '[true,true]' "noise is what is not explained"

# ---- runs without parts
# ------------------------------------------------------------------------------------------------
data=$TESTS/data/report
unknown() { # RESULTS
	"$BIN/ipf-twin" why -q server.json "$1" -o unknown.json
	text --why unknown.json "$1"
}
contains "$(unknown "$data/errors.results")" "Where the time went unknown: no twin of a run in which" "a run that failed has no parts, and the report says why"
contains "$(unknown "$data/empty.results")" "Where the time went unknown: a twin requires requests" "an empty run has no parts"
plain low.results | head -1 >header
body low.results | jq -c 'del(.output_tokens)' >lines
seal header lines >lengths.results
contains "$(unknown lengths.results)" "the lengths of prompts and answers, which 20 of 20 requests do not have" "a run without token counts has no parts"

# ---- wrong files ------------------------------------------------------------------------------------------------------
run "$BIN/ipf-twin" why -q trace ramp.results
status_is 3 "ipf-twin why refuses a file that is no twin"
complains ipf-twin "trace:2: not JSON" "ipf-twin names the line"
refused() { # FILE STATUS TEXT NAME
	run "$report" -q --section verdict --why "$1" ramp.results
	status_is "$2" "ipf-report --why refuses $4"
	complains ipf-report "$3" "ipf-report says why it refuses $4"
}
refused nothing.json 1 "nothing.json" "a file that does not exist"
refused server.json 3 "server.json: expected the output of ipf-twin why" "a twin"
refused low.why.json 3 "low.why.json: explains other results than these" "the explanation of another run"
jq '.version = 2' ramp.why.json >version.json
refused version.json 3 "version.json: version: expected 1" "a version that it does not know"
head -c 80000000 /dev/zero | zstd -q >endless.zst
refused endless.zst 3 "endless.zst: expected the output of ipf-twin why: it has more than 64 MiB" "a file without an end"
head -c 100 ramp.why.json >cut.json
refused cut.json 3 "cut.json:7: not JSON: " "half a file"
run "$report" --why ramp.why.json saved.json
status_is 2 "a saved report"
complains ipf-report "--why requires results" "ipf-report says that --why requires results"
for format in csv junit prometheus; do
	run "$report" -f $format --why ramp.why.json ramp.results
	is "$status $(cat "$ERR")" "2 ipf-report: --why: -f $format does not have it; use text, json, html or md" "-f $format is refused"
done
run "$report" export json -q --why ramp.why.json ramp.results
is "$(jq -c .why.twin "$OUT")" '"slow.json"' "ipf-report export json has the parts"
run "$report" certificate --why ramp.why.json ramp.results
status_is 2 "a certificate has none"
run "$report" compare --why ramp.why.json ramp.results -- ramp.results
status_is 2 "compare --why ends with 2"
contains "$(cat "$ERR")" "unknown option --why" "compare does not know --why"
