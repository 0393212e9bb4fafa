#!/bin/bash
# The sources without files: synthetic and prefix. Lengths, turns, waits and shared beginnings are the requested ones.
. "$TESTS/tap.sh"

export XDG_CACHE_HOME=$PWD/cache PATH=$BIN:$PATH
prep=ipf-prep
tokenizer=$TESTS/data/tokenizer/llama.json

requests() { # ARGUMENT…: the lines of the trace, without header and trailer
	$prep "$@" | sed '1d;$d'
}
figures() { # FILTER, of ipf-prep stat of the trace on standard input
	$prep stat -f json - | jq -c "$1"
}
wrong() { # PART ARGUMENT…
	rm -f out.trace
	fails_with 2 "$1" $prep "${@:2}" -o out.trace
	yes_if "ipf-prep ${*:2} makes no trace" test ! -e out.trace
}

# ---- synthetic ----
run $prep synthetic </dev/null
status_is 0 "synthetic needs neither a file nor an option"
is "$(figures '[.requests, .input_tokens.min, .input_tokens.max, .output_tokens.min, .output_tokens.max]' <"$OUT")" '[1000,1024,1024,128,128]' \
	"synthetic makes 1000 requests of 1024 and 128 tokens"
is "$(body "$OUT" | jq -r '.messages[0].content' | sort -u | wc -l)" 1000 "prompts of synthetic differ"
is "$(body "$OUT" | jq -c 'keys' | sort -u)" '["id","input_tokens","messages","output_tokens"]' "requests of synthetic have no other members"
is "$(head -1 "$OUT" | jq -r .source)" synthetic "the header names the source"
is "$(tail -1 "$OUT" | jq -c .end.from)" '[]' "the trailer names no file"
exec 3<&0 0<&-
run $prep synthetic -n 3
exec 0<&3 3>&-
status_is 0 "standard input may be closed"

for seed in 1 2 3; do
	$prep synthetic -n 3000 --seed $seed --input-tokens lognormal:550,400,min=10,max=4096 --output-tokens uniform:64-256 --prompt none >d.trace
	between "$(figures .input_tokens.mean <d.trace)" 530 570 "seed $seed: the mean of a log-normal length"
	between "$(figures .input_tokens.min <d.trace)" 10 100 "seed $seed: its bounds"
	between "$(figures .output_tokens.mean <d.trace)" 156 164 "seed $seed: the mean of a uniform length"
	is "$(figures '[.output_tokens.min, .output_tokens.max]' <d.trace)" '[64,256]' "seed $seed: the ends of a uniform length"
done
printf '100 1\n200-300 1\n' >lengths
is "$(requests synthetic -n 2000 --input-tokens histogram:lengths | jq '.input_tokens | select(. != 100 and (. < 200 or . > 300))' |
	wc -l)" 0 "lengths of a histogram"
$prep synthetic -n 20 --seed 7 --input-tokens normal:50,20 --reproducible >a.trace
$prep synthetic -n 20 --seed 7 --input-tokens normal:50,20 --reproducible >b.trace
same a.trace b.trace "the same seed gives the same bytes"
$prep synthetic -n 20 --seed 8 --input-tokens normal:50,20 --reproducible >b.trace
is "$(comm -12 <(body a.trace | jq -r '.messages[0].content' | sort) <(body b.trace | jq -r '.messages[0].content' | sort) | wc -l)" 0 \
	"another seed gives other prompts"
$prep synthetic -n 10 --seed 7 --input-tokens normal:50,20 --reproducible >b.trace
is "$(body a.trace | head -10)" "$(body b.trace)" "fewer requests are the first ones"
is "$(requests synthetic -n 4 --profile fixed-length | jq -c '[.input_tokens, .output_tokens]' | sort -u)" '[200,800]' "a profile sets the lengths"

$prep synthetic -n 400 --turns uniform:1-5 --wait uniform:1s-3s --input-tokens 20 --output-tokens uniform:5-9 >s.trace
is "$(body s.trace | wc -l)" 400 "sessions: exactly -n requests"
between "$(figures .sessions.count <s.trace)" 115 155 "sessions have three turns on average"
is "$(body s.trace | jq -s -c 'group_by(.session)[] | [.[].turn] == [range(length)]' | sort -u)" true "turns of sessions are numbered and complete"
is "$(body s.trace | jq -c 'if .turn == 0 then has("wait_ns") else .wait_ns >= 1e9 and .wait_ns <= 3e9 end' | sort | uniq -c | awk '{ print $2 }')" \
	"$(printf 'false\ntrue')" "later turns have a wait within its bounds, the first has none"
between "$(body s.trace | jq -s '[.[].wait_ns | values] | add / length / 1e9')" 1.85 2.15 "waits have two seconds on average"
is "$(body s.trace | jq -c .context | sort -u)" '"session"' "a turn has only what is new"
is "$(body s.trace | jq -s -c '[group_by(.session)[] | . as $t | range(1; length) |
	select($t[.].input_tokens != $t[. - 1].input_tokens + $t[. - 1].output_tokens + 20)] | length')" 0 "the length of a turn includes its context"
is "$(body s.trace | jq -s -c '[group_by(.session)[] | .[:-1][] | select((.answer | length) != .output_tokens * 4)] | length')" 0 \
	"answers in the context have the length that is asked for"
is "$($prep synthetic --sessions 30 --turns 4 | figures '[.sessions.count, .requests]')" '[30,120]' "--sessions counts sessions"
is "$(requests synthetic -n 10 --turns 4 --prompt none | jq -c .input_tokens | head -4 | paste -sd ' ')" "1024 2176 3328 4480" "lengths without text are the same"

$prep synthetic -n 60 -q -t "$tokenizer" --turns 2 --input-tokens uniform:5-60 --output-tokens 30 >t.trace
is "$(body t.trace | jq -r 'select(.turn == 0) | .input_tokens' | paste -sd ' ')" \
	"$(body t.trace | jq -c 'select(.turn == 0) | .messages[0].content' | ipf-prep tokenize -t "$tokenizer" --json --count |
		paste -sd ' ')" "lengths are exact with a model's tokenizer"
is "$(body t.trace | jq -c 'select(.turn == 0) | .answer' | ipf-prep tokenize -t "$tokenizer" --json --count | sort -u)" 30 "lengths of answers are exact with a model's tokenizer"

$prep synthetic -n 400 --prefixes 4x512=0.75,none=0.25 --input-tokens 100 >p.trace
between "$(body p.trace | jq 'select(.input_tokens == 100) | .id' | wc -l)" 70 130 "none=0.25 leaves a quarter of the prompts without prefix"
is "$(body p.trace | jq .input_tokens | sort -nu | paste -sd ' ')" "100 612" "prompts with a prefix have 512 tokens more"
is "$(body p.trace | jq -r 'select(.input_tokens == 612) | .messages[0].content[:2048]' | sort -u | wc -l)" 4 "prefixes have four texts"
yes_if "the trace can be sent in order" ipf-sched -q constant:rate=100,n=400 -t p.trace -o p.sched

# ---- prefix ----
for arguments in "" "--hit-rate 0.8" "--hit-rate 25% --groups 3 -n 50" "--hit-rate 0.9 -n 500 --groups 20 --input-tokens 4096" \
	"--hit-rate 0.6 --input-tokens lognormal:550,400,min=64,max=4096" "--hit-rate 0.7 --input-tokens uniform:100-2000 --groups 1 --seed 9" "--hit-rate 0" \
	"--hit-rate 0.5 --sessions 200" "--hit-rate 0.75 -n 300 -q -t $tokenizer --input-tokens 300" "-n 20" "--hit-rate 0.6 -n 100 --template-tokens 12"; do
	case $arguments in *hit-rate*) rate=$(sed 's/.*--hit-rate \([0-9.%]*\).*/\1/; s/25%/0.25/' <<<"$arguments") ;; *) rate=0.5 ;; esac
	# shellcheck disable=SC2086 # arguments are words
	$prep prefix $arguments --prompt "$(case $arguments in *template* | *-t*) echo messages ;; *) echo none ;; esac)" >p.trace
	between "$(figures .sharing.hit_rate <p.trace)" "$(awk -v r="$rate" 'BEGIN { print r - 0.003 }')" "$(awk -v r="$rate" 'BEGIN { print r + 0.003 }')" \
		"prefix $arguments: the hit rate of the whole trace"
done
$prep prefix -n 1000 --hit-rate 0.6 --input-tokens 2048 >p.trace
is "$(body p.trace | tail -n +11 | jq '.blocks.ids | length' | sort -nu | paste -sd ' ')" "77 78" "every prompt after the first of its group shares as much"
is "$(body p.trace | jq -c '(.blocks.ids[0] // 0)' | sort | uniq -c | awk '{ print $1 }' | sort -u)" 100 "groups are used equally often"
is "$(body p.trace | head -10 | jq -c '.blocks.ids[0]' | sort -u | wc -l)" 10 "every group is used before one is used again"
is "$(body p.trace | jq -r '.messages[0].content[:4900]' | sort -u | wc -l)" 10 "the text is shared too"
is "$(body p.trace | jq -r '.messages[0].content' | sort -u | wc -l)" 1000 "no prompt is repeated"
$prep prefix -n 1000 --hit-rate 0.6 --input-tokens 2048 >q.trace
is "$(body p.trace | sha256sum)" "$(body q.trace | sha256sum)" "prefix gives the same bytes on each run"
for other in "--seed 2" "--salt x"; do
	# shellcheck disable=SC2086 # arguments are words
	$prep prefix -n 1000 --hit-rate 0.6 --input-tokens 2048 $other >q.trace
	is "$({ body p.trace; body q.trace; } | jq -r '.messages[0].content[:200]' | sort -u | wc -l)" 20 "$other gives other beginnings"
done

$prep prefix --prefixes 10x256 --input-tokens 256 >p.trace
is "$(figures '[.sharing.hit_rate, .input_tokens.min, .input_tokens.max, .sharing.distinct]' <p.trace)" '[0.495,512,512,10]' \
	"--prefixes 10x256 and 256 tokens: all but the first ten find half of theirs"
$prep prefix -n 500 --prefixes 2x512=0.7,8x1024=0.2,none=0.1 --input-tokens 64 --prompt none >p.trace
is "$(body p.trace | jq -c '.input_tokens' | sort -n | uniq -c | awk '{ print $1, $2 }' | paste -sd ,)" "50 64,350 576,100 1088" "groups have exactly their shares"
is "$(figures .sharing.hit_rate <p.trace)" "$(jq -n '(348 * 512 + 92 * 1024) / (50 * 64 + 350 * 576 + 100 * 1088)')" "the hit rate follows from the shares of groups"
$prep prefix -n 40 -q --prefixes 4x100 --input-tokens 50 -t "$tokenizer" >p.trace
is "$(body p.trace | jq -c '.messages[0].content' | ipf-prep tokenize -t "$tokenizer" --json --count | sort -u)" 150 "lengths are exact"
is "$(requests prefix -n 40 -q --prefixes 4x100 --input-tokens 50 -t "$tokenizer" --prompt ids | jq -c '.prompt_token_ids[:100]' | sort -u |
	wc -l)" 4 "prompts share exact numbers of tokens"
is "$(requests prefix -n 40 -q --prefixes 4x100 --input-tokens 50 -t "$tokenizer" --prompt ids | jq -c '.prompt_token_ids[0]' | sort -u |
	wc -l)" 4 "prefixes differ from their first token on"

# ---- inapplicable options ----
wrong 'synthetic: reads no file, got "a.jsonl"' synthetic a.jsonl
wrong 'prefix: reads no file, got "-"' prefix -
wrong '--input-tokens: format synthetic has no data to take them from' synthetic --input-tokens dataset
wrong '--output-tokens: format prefix has no data' prefix --output-tokens dataset
wrong '--turns: format synthetic has no data' synthetic --turns all
wrong '--turns: format synthetic has no data' synthetic --profile chat
wrong '--turns: format prefix has no conversations' prefix --turns 2
wrong '--wait: format synthetic has sessions only with --turns above 1' synthetic --wait 2s
wrong '--shuffle: format synthetic draws its requests anyway' synthetic --shuffle -n 2
wrong '--sample: format prefix draws its requests anyway' prefix --sample with -n 2
wrong '--scale: format synthetic has arrivals only with --like' synthetic --scale 2
wrong '--min-input: format synthetic draws its lengths' synthetic --min-input 5
wrong '--max-total: format prefix draws its lengths' prefix --max-total 5
wrong '--field: format synthetic has fixed fields' synthetic --field prompt=/a
wrong '--preset: format synthetic has no presets' synthetic --preset vllm-sharegpt
wrong '--from: format synthetic has no arrivals' synthetic --from 2s
wrong '--hit-rate: format synthetic has no options for common prefixes' synthetic --hit-rate 0.5
wrong '--groups: format synthetic has no groups' synthetic --groups 5
wrong '--hit-rate: expected a share such as 5% or 0.05' prefix --hit-rate 1.5
wrong '--groups: expected 1 or more, got 0' prefix --groups 0
wrong '--prefixes: cannot be combined with --hit-rate' prefix --prefixes 2x5 --hit-rate 0.5
wrong '--prefixes: cannot be combined with --groups' prefix --prefixes 2x5 --groups 5
wrong '--system: format prefix begins each prompt with its shared part' prefix --system Hi.
wrong '--hit-rate: cannot be 0.99 with 1000 requests, 10 groups and prompts of this length, but at most 0.9' prefix --hit-rate 0.99
wrong '--hit-rate: cannot be 0.5 with 20 requests, 20 groups and prompts of this length, but at most 0;' prefix -n 20 --groups 50

run $prep synthetic --sessions 1 --turns 20000
status_is 2 "a session that is too long: status 2"
complains $prep '--turns: expected at most 10000 turns, drew 20000' "ipf-prep says how many turns it drew"
run $prep prefix -n 1 --prefixes 1x100M --input-tokens 100M --prompt none
status_is 2 "a prompt that is too long: status 2"
complains $prep 'expected a prompt of at most 100000000 tokens, got 200000000' "ipf-prep says how long the prompt is"

run $prep --list
matches "$(cat "$OUT")" "^synthetic +generated" "--list shows them"
