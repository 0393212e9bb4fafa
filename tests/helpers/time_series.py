"""A second opinion on statistics of series: Geyer's initial monotone sequence estimator, MSER-5, the least-squares trend and
Student's t, written from the definitions and not from our sources; with NumPy and SciPy where they exist, in plain Python otherwise.

time_series.py rows SEED R COUNT       body lines of results: COUNT requests whose TTFT is an autoregressive series
time_series.py check SERIES REPORT     compares n_eff and ci95 of a report with those of the same series
"""
import json, math, random, sys

try:
    import numpy
except ImportError:
    numpy = None


def autocovariances(values):
    n, mean = len(values), math.fsum(values) / len(values)
    x = [v - mean for v in values]
    if numpy is not None:
        full = numpy.correlate(x, x, "full")
        return list(full[n - 1:] / n)
    return [math.fsum(x[i] * x[i + lag] for i in range(n - lag)) / n for lag in range(min(n, 400))]


def effective_size(values):
    gamma = autocovariances(values)
    pairs = [gamma[2 * k] + gamma[2 * k + 1] for k in range(len(gamma) // 2)]
    positive = []
    for pair in pairs:
        if pair <= 0:
            break
        positive.append(min(pair, positive[-1]) if positive else pair)
    time = (-gamma[0] + 2 * sum(positive)) / gamma[0]
    return min(len(values) / time, len(values)) if time > 0 else len(values)


def by_blocks(values):
    """The standard error of the mean by successive blocks, and its degrees of freedom: batch means, joined in pairs while neighbours visibly
    resemble each other, and as of an autoregressive process if they still do."""
    def joined(parts, count):
        return [math.fsum(parts[i * len(parts) // count:(i + 1) * len(parts) // count]) for i in range(count)]

    def alike(blocks):
        mean = math.fsum(blocks) / len(blocks)
        x = [block - mean for block in blocks]
        r = math.fsum(a * b for a, b in zip(x, x[1:])) / math.fsum(a * a for a in x)
        return r + (1 + 3 * r) / len(blocks), math.fsum(a * a for a in x), math.fsum(a ** 4 for a in x)

    mean = math.fsum(values) / len(values)
    parts = joined([(value - mean) / len(values) for value in values], min(512, len(values)))
    count = min(max(len(parts) // 10, 8), 48)
    r, squares, fourth = alike(joined(parts, count))
    while count >= 16 and r > 1 / math.sqrt(count):
        count //= 2
        r, squares, fourth = alike(joined(parts, count))
    r = max(0, min(r, 0.8))
    kurtosis = count * fourth / squares ** 2
    degrees = min(count - 1, 2 * count / (kurtosis - 1)) if kurtosis > 3 else count - 1
    return math.sqrt(count * squares / (count - 1) * (1 + r) / (1 - r)), degrees


def student(quantile, degrees):
    """By bisection on the distribution function, integrated by Simpson's rule."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    density = lambda t: scale * (1 + t * t / degrees) ** (-(degrees + 1) / 2)

    def below(t, steps=2000):
        h = t / steps
        return 0.5 + h / 3 * math.fsum((1 if i in (0, steps) else 4 if i % 2 else 2) * density(i * h) for i in range(steps + 1))

    low, high = 0.0, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < quantile else (low, middle)
    return low


def series(seed, r, count, skewed):
    rng = random.Random(seed)
    x, values = rng.gauss(0, 1) / math.sqrt(1 - r * r), []
    for _ in range(count):
        values.append(int(100e6 * math.exp(x * math.sqrt(1 - r * r)) if skewed else 100e6 + 5e6 * x))
        x = r * x + rng.gauss(0, 1)
    return values


if sys.argv[1] == "rows":
    for n, ttft in enumerate(series(int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), "skewed" in sys.argv)):
        start = n * 10_000_000
        print(json.dumps({"n": n, "stage": 0, "ok": True, "start_ns": start, "end_ns": start + 300_000_000, "ttft_ns": ttft,
                          "e2e_ns": 300_000_000}))
else:
    ttft = [json.loads(line)["ttft_ns"] / 1e6 for line in open(sys.argv[2])]
    got = json.load(open(sys.argv[3]))["total"]["latency"]["ttft_ms"]["from_start"]
    n_eff, mean = effective_size(ttft), math.fsum(ttft) / len(ttft)
    if n_eff < (50 if 3 * n_eff < len(ttft) else 20):  # too few to know
        print("# n_eff %.3f and %.3f" % (got["n_eff"], n_eff))
        sys.exit(abs(got["n_eff"] / n_eff - 1) > 1e-6 or "ci95" in got)
    error = math.sqrt(math.fsum((v - mean) ** 2 for v in ttft) / len(ttft) / (n_eff - 1))
    blocks, degrees = by_blocks(ttft)
    half = student(0.975, min(n_eff - 1, degrees if blocks > error else math.inf)) * max(blocks, error)
    low, high = mean * math.exp(-half / mean), mean * math.exp(half / mean)
    print("# n_eff %.3f and %.3f, ci95 %s and [%.5f, %.5f]" % (got["n_eff"], n_eff, got["ci95"], low, high))
    close = abs(got["n_eff"] / n_eff - 1) < 1e-6 and abs(got["ci95"][0] - low) < 1e-3 * half and abs(got["ci95"][1] - high) < 1e-3 * half
    sys.exit(not close)
