# The figures of a report once more, straight from the rows: jq -s -f block.jq FILE.results --argjson slo_ms N
# (an objective on TTFT; of the rows' own ones it knows e2e_ms). Only for stages of one results stream; percentiles of itl are left to the histogram's own test.
def ms: . / 1000000;
def percentile($p): sort as $s | ((($s | length) - 1) * $p / 100) as $h | ($h | floor) as $i
	| if $i + 1 < ($s | length) then $s[$i] + ($h - $i) * ($s[$i + 1] - $s[$i]) else $s[$i] end;
def mean: add / length;
def dist: if length == 0 then empty else . as $v | ($v | mean) as $mean | {
	n: length, mean: $mean, std: (map((. - $mean) * (. - $mean)) | mean | sqrt), min: min, max: max,
	p1: percentile(1), p5: percentile(5), p10: percentile(10), p25: percentile(25), p50: percentile(50), p75: percentile(75),
	p90: percentile(90), p95: percentile(95), p99: percentile(99), "p99.9": percentile(99.9) } end;
def some($rows; $k): $rows | map(.[$k] // 0) | add | if . > 0 then . else null end;
def known($k): map(.[$k] | select(. != null));
def from_due($k): map(select(.[$k] != null and .lag_ns != null) | .[$k] + .lag_ns);
def both($k): { from_start: (known($k) | map(ms) | dist) } + (from_due($k) | map(ms) | if length > 0 then { from_due: dist } else {} end);
def residual($a; $b): map(select(.[$a] != null and .[$b] != null) | [.[$a] - .[$b], .[$b]])
	| if length == 0 then empty else { n: length, mean: (map(.[0]) | mean), min: (map(.[0]) | min), max: (map(.[0]) | max),
		share: ((map(.[0]) | add) / (map(.[1]) | add)) } end;
def present: with_entries(select(.value != null));
def one(f): [f] | if length == 0 then null else .[0] end;

# How long the schedule stood still before each stage, and each stage's window.
def windows($stages; $rows): reduce range(0; $stages | length) as $s ([];
	($stages[$s]) as $stage | ((.[-1].shift // 0) + $stage.begin_ns) as $begin
	| ([$rows[] | select(.stage == $s) | .end_ns] | max) as $last
	| . + [if $stage.end_ns == null then { begin: $begin, end: ($last + 1), shift: ((.[-1].shift // 0) + $last - $begin), length: ($last - $begin) }
	       else { begin: $begin, end: ($begin + $stage.end_ns - $stage.begin_ns), shift: (.[-1].shift // 0), length: ($stage.end_ns - $stage.begin_ns) } end]);

# In flight of all requests within a window: mean by overlaps, maximum by looking at every start.
def flight($rows; $w): ($w.begin) as $b | ($w.begin + $w.length) as $e
	| { sum: ([$rows[] | ([.end_ns, $e] | min) - ([.start_ns, $b] | max) | select(. > 0)] | add // 0),
	    max: ([$b, ($rows[] | .start_ns | select(. >= $b and . < $e))] | map(. as $t | [$rows[] | select(.start_ns <= $t and .end_ns > $t)] | length) | max) };

def block($rows; $all; $windows; $stages; $slo):
	($rows | map(select(.ok))) as $ok | ($rows | map(select(.ok | not))) as $failed
	| ([$windows[] | .length] | add / 1000000000) as $window
	| [$windows | to_entries[] | .key as $s | .value as $w | $all[] | select(.end_ns >= $w.begin and .end_ns < $w.end)
		| select((.stage | tostring) == $s or .end_ns > $w.begin) | { row: ., own: ((.stage | tostring) == $s) }] as $in
	| ($in | map(.row)) as $ended
	| ($ended | map(select(.ok))) as $done
	| ($in | map(select(.own and .row.ok))) as $own
	| ($rows | group_by(.stage) | map(sort_by(.start_ns) | select(length > 1) | [length - 1, .[-1].start_ns - .[0].start_ns])) as $paces
	| [$windows[] | flight($all; .)] as $flights
	| [$windows[] | . as $w | $all[] | select(.end_ns > $w.begin and .end_ns <= $w.begin + $w.length) | .end_ns - .start_ns] as $busy
	| def good: .ok and (.ttft_ns + (.lag_ns // 0)) <= $slo * 1000000
		and (.slo.e2e_ms == null or (.e2e_ns + (.lag_ns // 0)) <= .slo.e2e_ms * 1000000);
	{
	window_s: $window,
	requests: ({ scheduled: ([$stages[] | if .cycle then null else .arrivals end] | if any(. == null) then null else add end),
		started: ($rows | map(select(.start_ns != null)) | length), ok: ($ok | length), failed: ($failed | length),
		cut: ($failed | map(select(.error.kind == "cut")) | length),
		errors: ($failed | group_by(.error.kind) | map({ key: .[0].error.kind, value: length }) | from_entries) } | present),
	rate: ({ offered: (if ($stages | any(.closed)) then null else ([$stages[] | .arrivals] | add) / ([$stages[] | .end_ns - .begin_ns] | add / 1000000000) end),
		achieved: (if $paces == [] then null else ($paces | map(.[0]) | add) / ($paces | map(.[1]) | add / 1000000000) end),
		completed: (($done | length) / $window), completed_own: (($own | length) / $window) } | present),
	lag_ms: one($rows | known("lag_ns") | map(ms) | dist), slot_wait_ms: one($rows | known("slot_wait_ns") | map(ms) | dist),
	throughput: { requests_per_s: (($done | length) / $window), input_tokens_per_s: (($done | known("input_tokens") | add // 0) / $window),
		output_tokens_per_s: (($done | known("output_tokens") | add // 0) / $window) },
	tokens: ({ input: one($ok | known("input_tokens") | dist), output: one($ok | known("output_tokens") | dist),
		asked_output: one($ok | known("asked_output_tokens") | dist),
		residual: { output_usage_minus_tokenizer: one($ok | residual("output_tokens_usage"; "output_tokens_tokenizer")),
			output_minus_asked: one($ok | residual("output_tokens"; "asked_output_tokens")) },
		finish_reasons: ($ok | map(select(.finish != null)) | group_by(.finish) | map({ key: .[0].finish, value: length }) | from_entries),
		cached_share: (($ok | map(select(.cached_tokens != null))) as $c | ($c | known("cached_tokens") | add) / ($c | known("input_tokens") | add)),
		image: some($ok; "image_tokens"), audio: some($ok; "audio_tokens"), output_audio: some($ok; "output_audio_tokens") } | present),
	latency: ({ ttfb_ms: ($ok | both("ttfb_ns")), ttft_ms: ($ok | both("ttft_ns")), ttfa_ms: ($ok | both("ttfa_ns")), e2e_ms: ($ok | both("e2e_ns")),
		stream_ms: ($ok | both("stream_ns")), ttst_ms: one($ok | known("ttst_ns") | map(ms) | dist), tpot_ms: one($ok | known("tpot_ns") | map(ms) | dist),
		ntpot_ms: one($ok | known("ntpot_ns") | map(ms) | dist), itl_max_ms: one($ok | known("itl_max_ns") | map(ms) | dist) } | present),
	in_flight: { mean: (($flights | map(.sum) | add) / 1000000000 / $window), max: ($flights | map(.max) | max),
		little: (if $busy == [] then null else ($busy | add) / 1000000000 / $window end) },
	goodput: { requests_per_s: (($ended | map(select(good)) | length) / $window), share: (($rows | map(select(good)) | length) / ($rows | length)) }
	} | present;

.[0].stages as $stages | map(select(.n != null)) as $rows | windows($stages; $rows) as $w
| ([range(0; $stages | length)] | map(select($stages[.].measured))) as $measured
| {
	stages: [range(0; $stages | length) as $s | ($rows | map(select(.stage == $s))) as $of
		| block($of; $rows; { ($s | tostring): $w[$s] }; [$stages[$s]]; $slo_ms)],
	total: block($rows | map(select(.stage as $s | $stages[$s].measured)); $rows; [$measured[] | { key: tostring, value: $w[.] }] | from_entries;
		[$measured[] | $stages[.]]; $slo_ms)
}
