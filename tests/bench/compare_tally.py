"""Tallies comparisons of compare.sh's runs in the current folder: compare_tally.py PAIRS. Prints rows of the table of benchmarks, and details
on standard error."""
import collections, json, os, random, statistics, subprocess, sys

pairs = int(sys.argv[1])
FIGURES, DRAWS, MOST = ("tpot.p50", "tpot.mean", "e2e.mean"), 20, 16


def report(*arguments):
    return json.loads(subprocess.run(["ipf-report", "-q", "-f", "json", *arguments], capture_output=True, text=True, check=False).stdout)


def compare(base, new, effect):
    return report("compare", "--min-effect", effect, *base, "--", *new)


def row(what, measured, goal, met, against="-"):
    print("\t".join((what, measured, against, "-", goal, "met" if met else "missed")))


def valid(kind):
    """The numbers of the counted runs."""
    names = {k: f"{kind}{k}.results" for k in range(1, pairs + 1)}
    return {k: name for k, name in names.items() if os.path.exists(name) and report(name)["verdict"]["status"] != "INVALID"}


runs = {kind: valid(kind) for kind in ("base", "same", "five", "one")}


def tally(kind, effect):
    """For each pair: the outcomes, and how many runs it asks for, by figure."""
    outcomes, needed = collections.Counter(), collections.defaultdict(list)
    for k in sorted(runs["base"].keys() & runs[kind].keys()):
        c = compare([runs["base"][k]], [runs[kind][k]], effect)
        outcomes[c["outcome"]] += 1
        for f in c["figures"]:
            if "p" in f: needed[f["name"]].append(f.get("runs_needed", 10 ** 6))
    return outcomes, needed


def text(counter):
    return ", ".join(f"{v} {k}" for k, v in counter.most_common() if v)


def takes(kind):
    """How many runs of each side find the difference in 80 of 100 draws, by figure; None: more than MOST."""
    rng, found = random.Random(1), {}
    for count in range(1, min(MOST, len(runs["base"]), len(runs[kind])) + 1):
        hits = collections.Counter()
        for _ in range(DRAWS):
            c = compare(rng.sample(sorted(runs["base"].values()), count), rng.sample(sorted(runs[kind].values()), count), "0.1%")
            for f in c["figures"]: hits[f["name"]] += f.get("p_adjusted", 1) < 0.05 and f["change"] > 0
        for figure in FIGURES:
            if hits[figure] >= 0.8 * DRAWS: found.setdefault(figure, count)
        if len(found) == len(FIGURES): break
    return found


print("runs that are not INVALID: " + ", ".join(f"{len(v)} {k}" for k, v in runs.items()), file=sys.stderr)
spread = {f["name"]: f["std"] / f["mean"] for f in report(*runs["base"].values())["repeats"]["figures"] if f["mean"]}
print("spread between runs of the base: " + ", ".join(f"{name} {100 * spread[name]:.1f} %" for name in FIGURES), file=sys.stderr)
same, _ = tally("same", "2%")
wrong = sum(same[o] for o in ("slower", "faster", "mixed"))
row("A/A", text(same), "19 of 20 without a difference", wrong <= max(1, same.total() / 20))
alike, _ = tally("same", "5%")
row("A/A, least effect 5 %", text(alike), "19 of 20 no difference", alike["no difference"] >= 0.95 * alike.total())
five, _ = tally("five", "2%")
row("slower by 5 %", text(five), "18 of 20 slower", five["slower"] >= 0.9 * five.total())
one, asked = tally("one", "1%")
row("slower by 1 %, least effect 1 %", text(one), "18 of 20 not enough runs or slower", one["not enough runs"] + one["slower"] >= 0.9 * one.total())
for kind, share in (("one", "1%"), ("five", "5%")):
    _, asked = tally(kind, share)
    if min(statistics.median(asked[f]) for f in FIGURES) > 2 * MOST:
        print(f"{share}: some {statistics.median(asked[FIGURES[0]]):g} runs of each side are asked for, more than there are to try it", file=sys.stderr)
        continue
    found = takes(kind)
    for figure in FIGURES:
        median, count = statistics.median(asked[figure]), found.get(figure)
        row(f"runs of each side for {share}, {figure}", f"{median:g} asked for", "within a factor of 2",
            count is not None and count / 2 <= median <= count * 2, f"{count} found it" if count else f"more than {MOST}")
