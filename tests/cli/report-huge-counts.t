#!/bin/bash
# Integers of headers and trailers written by hand: the sums of two parts of a run stay sums, or the part is refused.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
server_start
ipf-prep sharegpt "$ROOT/examples/chat.json" -q -o chat.trace
for shard in 1 2; do
	ipf-sched -q constant:rate=20,n=8 --shard $shard/2 -t chat.trace -o part.sched
	ipf-fire -q -u "$URL" -m sim -t chat.trace part.sched -o part.records
	ipf-collect -q part.records -o part.results
	plain part.results >part-$shard.results
done
# Each integer in turn becomes the largest or the smallest one in both parts; all at once, too.
python3 - >reports <<'END'
import json
import re
import subprocess

parts = [open(f"part-{i}.results", encoding="utf-8").read().splitlines() for i in (1, 2)]


def places(node, path=()):
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, (dict, list)):
            yield from places(value, path + (key,))
        elif type(value) is int and key != "version":
            yield path + (key,)


def put(node, path, value):
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value


tried = 0
for which in 0, -1:
    all_places = [p for p in places(json.loads(parts[0][which])) if p[-1] not in ("lines", "requests")]
    for chosen in [[p] for p in all_places] + [all_places]:
        for value in 2**63 - 1, -(2**63):
            for i, lines in enumerate(parts):
                whole = json.loads(lines[which])
                for path in chosen:
                    try:
                        put(whole, path, value)
                    except (KeyError, IndexError):
                        pass
                out = list(lines)
                out[which] = json.dumps(whole)
                with open(f"huge-{i}.results", "w", encoding="utf-8") as f:
                    f.write("\n".join(out) + "\n")
            done = subprocess.run(["ipf-report", "-q", "-f", "json", "huge-0.results", "huge-1.results"], capture_output=True, text=True, check=False)
            tried += 1
            place = "/".join(map(str, chosen[0])) if len(chosen) == 1 else "all"
            if done.returncode not in (0, 2, 3, 4) or (value > 0 and re.search(r'"(?:count|cut_sessions|restarted)": -\d', done.stdout)):
                print(f"wrong: {place} = {value}: status {done.returncode}: {done.stderr[:300]}")
print(f"{tried} tried")
END
is "$(grep wrong reports)" "" "no integer of a header or trailer overflows a sum"
at_least "$(sed -n 's/ tried//p' reports)" 100 "the integers of header and trailer are tried"
exit $tap_failed
