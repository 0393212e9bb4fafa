#!/bin/bash
# Bodies of 13 MB (an image of 10 MB in base64) at a rate (MEDIA_RATE=100), against short requests at the same times: how late requests start, and
# the most memory. 270 MB are written for it.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
rate=${MEDIA_RATE:-100} seconds=${BENCH_SECONDS:-5}
ipf-prep synthetic -n $((rate * seconds)) --input-tokens 50 --output-tokens 1 --images 1x2000x1700,bytes=10MB,pool=20 -q -o media.trace
ipf-prep synthetic -n $((rate * seconds)) --input-tokens 50 --output-tokens 1 -q -o text.trace
raw_start --events 1
for _ in $(seq "$rounds"); do
	for kind in media text; do
		ipf-sched "constant:rate=$rate,for=${seconds}s" -t $kind.trace -q -o $kind.sched
		on_client python3 - "$kind" "$URL" >>$kind.memory <<'END'
import resource, subprocess, sys

kind, url = sys.argv[1:]
subprocess.run(["ipf-fire", f"{kind}.sched", "-t", f"{kind}.trace", "-u", url, "-m", "sim", "-q", "--force", "-o", f"{kind}.records"], check=True)
print('{"mb": %.1f}' % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
END
		ipf-collect -q $kind.records | ipf-report -f json --window drain | jq -c '{p50: .total.client_lag_ms.p50, p99: .total.client_lag_ms.p99, rate: .total.rate.completed}' >>$kind.lag
	done
done
both() { # FIGURE KIND-FILE TEXT UNIT GOAL
	local media text
	media=$(median "$1" "media.$2") text=$(median "$1" "text.$2")
	row "$3" "$(printf '%.2f' "$media") $4" "$(printf '%.2f' "$text") $4 short" "$(awk -v a="$media" -v b="$text" 'BEGIN { printf "%.2f", a / b }')" "$5"
}
both p50 lag "start lag p50, bodies of 13 MB, $rate/s" ms "< 2"
both p99 lag "start lag p99, bodies of 13 MB, $rate/s" ms -
both rate lag "completed" /s "> 0.99"
both mb memory "most memory" MB "< 1.2"
