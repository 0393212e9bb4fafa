"""The measuring half of tokenize.sh: rows of name, measured, baseline, ratio, goal, goal's meaning."""
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
BENCH = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(BENCH))
sys.path.insert(0, os.path.dirname(BENCH))
import tokenizer_reference as mixed_text  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

SECONDS = os.environ.get("TOKENIZE_SECONDS", "1")
CORE = min(os.sched_getaffinity(0))
BYTE_LEVEL = ["gpt2", "gpt4", "gpt4o", "llama3", "qwen3", "deepseek_v3", "mistral_nemo", "command_r_plus"]
FALLBACK = ["llama2", "gemma", "gemma3", "yi"]


def read(paths, most):
    out, size = [], 0
    for path in sorted(paths):
        if size < most and os.path.isfile(path):
            text = open(path, encoding="utf-8", errors="replace").read().replace("\0", "")
            out += [text[i:i + 4000] for i in range(0, len(text), 4000)]
            size += len(text)
    return out


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from strings(v)


def prose():
    texts = read(glob.glob("/usr/share/common-licenses/*"), 500000)
    for path in glob.glob(f"{ROOT}/../shared/data/datasets/alpaca/alpaca_en_demo.json"):
        texts += [s.replace("\0", "") for s in strings(json.load(open(path))) if len(s) > 60]
    return texts


def code():
    return read(glob.glob(f"{ROOT}/*/*.[ch]") + glob.glob("/usr/include/*.h"), 2000000)


def mixed():
    rng = random.Random("mixed")
    texts = []
    for _ in range(1500):
        words = " ".join(rng.choice(mixed_text.SENTENCES) for _ in range(12)).split(" ")
        if rng.random() < 0.5:
            rng.shuffle(words)
        texts.append(" ".join(words))
    texts += rng.sample(code(), 100) + rng.sample(prose(), 100)
    rng.shuffle(texts)
    return texts


def worst():
    rng = random.Random("worst")
    n = 10_000_000
    state, ab = 1, bytearray()
    for _ in range(n):  # a shift register of 23 bits: all but one of the words of 23 letters
        bit = ((state >> 22) ^ (state >> 17)) & 1
        state = (state << 1 | bit) & 0x7FFFFF
        ab.append(97 + bit)
    return {"a": "a" * n, "spaces": " " * n, "one Han character": "中" * (n // 3), "a word without a repetition": ab.decode(),
            "random letters": "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=n))}


def store(name, texts):
    with open(name, "wb") as out:
        out.write(b"".join(t.encode() + b"\0" for t in texts))
    return name


def ours(program, path, texts, threads=0, seconds=SECONDS):
    pin = [] if threads else ["taskset", "-c", str(CORE)]
    done = subprocess.run(pin + [program, path, texts, seconds] + ([str(threads)] if threads else []), stdout=subprocess.PIPE, check=True)
    return [float(x) for x in done.stdout.split()]


def best_rate(size, rounds, work):
    """By CPU time, as tokenize.c measures one thread."""
    best = 0
    for _ in range(rounds):
        begun = time.process_time()
        work()
        best = max(best, size / (time.process_time() - begun) / 1e6)
    return best


def reference_rate(path, texts):
    """The better of one text at a time and a batch without offsets."""
    size = sum(len(t.encode()) for t in texts)
    t = Tokenizer.from_file(path)
    rate = best_rate(size, 2, lambda: [t.encode(x, add_special_tokens=False) for x in texts])
    return max(rate, best_rate(size, 2, lambda: t.encode_batch_fast(texts, add_special_tokens=False)))


def tiktoken_rate(path, pattern, texts):
    import tiktoken
    from tokenizers import pre_tokenizers

    alphabet = {c: b for b, c in ((b, pre_tokenizers.ByteLevel(False, use_regex=False).pre_tokenize_str(chr(b))[0][0]) for b in range(128))}
    alphabet.update({c: 128 + i for i, c in enumerate([chr(0x122 + k) for k in range(33)] + [chr(c) for c in range(0xA1, 0xAD)] + [chr(0x143)] +
                                                      [chr(c) for c in range(0xAE, 0x100)])})
    vocabulary = json.load(open(path))["model"]["vocab"]
    ranks = {bytes(alphabet[c] for c in token): rank for token, rank in vocabulary.items() if all(c in alphabet for c in token)}
    encoding = tiktoken.Encoding("bench", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    size = sum(len(t.encode()) for t in texts)
    return best_rate(size, 3, lambda: [encoding.encode_ordinary(x) for x in texts])


def bpe_program():
    """Built with cargo, which loads the crates, where BPE=1 asks for it; None."""
    if os.environ.get("BPE") != "1" or not shutil.which("cargo"):
        return None
    os.makedirs("bpe/src", exist_ok=True)
    shutil.copy(f"{BENCH}/tokenize_bpe.rs", "bpe/src/main.rs")
    with open("bpe/Cargo.toml", "w") as f:
        f.write('[package]\nname = "bpe-rate"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nbpe-openai = "0.3"\n')
    target = os.environ.get("CARGO_TARGET_DIR", "bpe/target")
    subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", "bpe/Cargo.toml", "--target-dir", target], check=True)
    return f"{target}/release/bpe-rate"


def bpe_rate(program, encoding, texts):
    done = subprocess.run(["taskset", "-c", str(CORE), program, encoding, texts, SECONDS], stdout=subprocess.PIPE, check=True)
    return float(done.stdout.split()[0])


def row(what, measured, baseline, goal, wanted=None, unit="MB/s", lower=False):
    ratio = measured / baseline if baseline else None
    met = "-" if wanted is None else "met" if ((measured if lower else ratio) <= wanted if lower else ratio >= wanted) else "missed"
    print("\t".join([what, f"{measured:.1f} {unit}", f"{baseline:.1f} {unit}" if baseline else "-", f"{ratio:.2f}" if ratio else "-", goal, met]), flush=True)


def main():
    program, names = sys.argv[1], sys.argv[2:]
    folder = os.environ["IPF_TOKENIZERS"]
    texts = {"prose": prose(), "code": code(), "mixed": mixed()}
    files = {name: store(name, t) for name, t in texts.items()}
    cores = len(os.sched_getaffinity(0))
    rates = {}
    bpe = bpe_program()
    if not bpe:
        print("gpt4, gpt4o: against the bpe crate\t-\t-\t-\t>= 1\tneeds BPE=1 and cargo", flush=True)
    for name in names or BYTE_LEVEL + FALLBACK:
        path = mixed_text.find(folder, name)
        if not path:
            continue
        ours(program, path, files["prose"], seconds="0")
        for kind, chosen in texts.items():
            goal = 4 if name in FALLBACK else 8 if kind == "prose" else 5
            encoded, counted, many, counted_many, _, _ = ours(program, path, files[kind], cores)
            single = ours(program, path, files[kind])
            rates[name, kind] = single[0]
            row(f"{name}: {kind}", single[0], reference_rate(path, chosen), f">= {goal}", goal)
            row(f"{name}: {kind}, counting against encoding", single[1], single[0], ">= 1 (0.9)", 0.9)
            if kind == "mixed":
                row(f"{name}: {kind}, batches on {cores} cores against one", many, encoded, "-")
            pattern = {"gpt4": "cl100k_base", "gpt4o": "o200k_base"}.get(name)
            if pattern:
                from tokenizers import pre_tokenizers  # noqa: F401
                regex = json.load(open(path))["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
                if bpe:
                    row(f"{name}: {kind}, against the bpe crate", single[0], bpe_rate(bpe, pattern, files[kind]), ">= 1", 1)
                row(f"{name}: {kind}, against tiktoken", single[0], tiktoken_rate(path, regex, chosen), ">= 4", 4)
        opened = ours(program, path, files["prose"], seconds="0")[4]
        row(f"{name}: opening from the cache", opened, None, "<= 10 ms", 10, "ms", True)
    for kind, text in worst().items():
        file = store("worst", [text])
        for name in ["gpt4", "llama2", "gemma"]:
            if (name, "prose") in rates:
                found = ours(program, mixed_text.find(folder, name), file, seconds="0")
                row(f"{name}: 10 MB of {kind}, against prose", found[0], rates[name, "prose"], ">= 1/3", 1 / 3)
                row(f"{name}: 10 MB of {kind}, memory a byte", found[5] * 1024 / len(text.encode()), None, "<= 20 bytes", 20, "bytes", True)


if __name__ == "__main__":
    main()
