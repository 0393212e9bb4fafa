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

# Tokens when they arrive: evenly from the first event to the last, without edge_ns.
def span: ((.events // .output_tokens // 2) as $n | if .ttft_ns != null and .e2e_ns != null and .ttft_ns < .e2e_ns
	then [.start_ns + .ttft_ns, .start_ns + .e2e_ns, (if $n > 1 then $n else 2 end)]
	else ((if .e2e_ns == null then .end_ns else .start_ns + .e2e_ns end) | [., ., 0]) end);
def before($t): (.output_tokens // 0) as $tokens | span as $s | if $t <= $s[0] then 0 elif $t > $s[1] then $tokens
	else $tokens * ([[(($t - $s[0]) * ($s[2] - 1) / ($s[1] - $s[0]) | ceil), 1] | max, $s[2] - 1] | min) / $s[2] end;
def share($w): span as $s | if $s[0] < $s[1] and (.output_tokens // 0) > 0 then (before($w.end) - before($w.begin)) / .output_tokens
	elif .start_ns == null or .end_ns <= .start_ns then (if .end_ns >= $w.begin and .end_ns < $w.end then 1 else 0 end)
	else ([([.end_ns, $w.end] | min) - ([.start_ns, $w.begin] | max), 0] | max) / (.end_ns - .start_ns) end;
def slope: length as $n | (map(.start_ns) | add / $n) as $x | (map(.end_ns - .start_ns) | add / $n) as $y
	| (map((.start_ns - $x) * (.start_ns - $x)) | add) as $xx
	| (map((.start_ns - $x) * (.end_ns - .start_ns - $y)) | add) as $xy
	| (map((.end_ns - .start_ns - $y) * (.end_ns - .start_ns - $y)) | add) as $yy
	| if $n < 20 or $xx == 0 or ((($yy - $xy * $xy / $xx) / ($n - 2) / $xx) | sqrt) > 0.1 then null else $xy / $xx end;
# The weight of each request of a window: { row, own, weight }.
def weighed($all; $s; $w; $closed):
	($all | map(select(.end_ns >= $w.begin and .end_ns < $w.end and ((.stage | tostring) == $s or .end_ns > $w.begin)))) as $ended
	| ($all | map(select(.start_ns != null))) as $sent
	| ($sent | map(select(.start_ns < $w.begin and .end_ns > $w.begin)) | length) as $first
	| ($sent | map(select(.start_ns < $w.end and .end_ns >= $w.end)) | length) as $last
	| ($ended | map(select(.ok)) | length) as $count
	| (($last - $first) | if . < 0 then -. else . end) as $apart
	| ($first + $last > 0 and $apart >= (if $closed then 1 else 2 end) * ($first + $last | sqrt) and $apart > 0.02 * $count) as $biased
	| ($sent | map(select(.start_ns >= $w.begin and .start_ns < $w.end))) as $started
	| ($biased and $count > 0) as $biased | ($closed or $last < $first) as $closed
	| (if $biased and ($closed | not) then ($started | map(select(.ok)) | slope) else null end) as $slope
	| ($started | map(select(.ok)) | length) as $n
	| (if $slope == null then null else [1 + $slope, $n / ($n + $first)] | max end) as $stretch
	| (if $biased and $closed then ($sent | map(select(.ok) | share($w)) | add // 0) elif $stretch == null then $count else $n / $stretch end) as $sum
	| ((($sum - $count) | if . < 0 then -. else . end) > 0.02 * $count and $sum > 0) as $other
	| if $other and $closed then [$all[] | { row: ., weight: share($w) }] elif $other then [$started[] | { row: ., weight: (1 / $stretch) }]
	  else [$ended[] | { row: ., weight: 1 }] end
	| map(.own = ((.row.stage | tostring) == $s));
def sum(f): map(f) | add // 0;

def block($rows; $all; $windows; $stages; $slo):
	($rows | map(select(.ok))) as $ok | ($rows | map(select(.ok | not))) as $failed
	| ([$windows[] | .length] | add / 1000000000) as $window
	| [$windows | to_entries | to_entries[] | .value.key as $s | .value.value as $w
		| weighed($all; $s; $w; $stages[.key].closed // false)[]] as $in
	| ($in | map(select(.row.ok)) | sum(.weight)) as $done
	| ($in | map(select(.own and .row.ok)) | sum(.weight)) as $own
	| [$windows[] | . as $w | $all[] | select(.ok) | { output: (before($w.end) - before($w.begin)),
		input: (span[0] as $first | if $first >= $w.begin and $first < $w.end then .input_tokens // 0 else 0 end) }] as $tokens
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
		completed: ($done / $window), completed_own: ($own / $window) } | present),
	lag_ms: one($rows | known("lag_ns") | map(ms) | dist), slot_wait_ms: one($rows | known("slot_wait_ns") | map(ms) | dist),
	throughput: { requests_per_s: ($done / $window), input_tokens_per_s: (($tokens | sum(.input)) / $window),
		output_tokens_per_s: (($tokens | sum(.output)) / $window) },
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
	goodput: { requests_per_s: (($in | map(select(.row | good)) | sum(.weight)) / $window), share: (($rows | map(select(good)) | length) / ($rows | length)) }
	} | present;

.[0].stages as $stages | map(select(.n != null)) as $rows | windows($stages; $rows) as $w
| ([range(0; $stages | length)] | map(select($stages[.].measured))) as $measured
| {
	stages: [range(0; $stages | length) as $s | ($rows | map(select(.stage == $s))) as $of
		| block($of; $rows; { ($s | tostring): $w[$s] }; [$stages[$s]]; $slo_ms)],
	total: block($rows | map(select(.stage as $s | $stages[$s].measured)); $rows; [$measured[] | { key: tostring, value: $w[.] }] | from_entries;
		[$measured[] | $stages[.]]; $slo_ms)
}
