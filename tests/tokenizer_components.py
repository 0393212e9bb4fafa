#!/usr/bin/env python3
"""Compares every component of tokenizers with the reference implementation (PyPI `tokenizers`).

    tests/tokenizer_components.py [--seed N] [--texts N] [--binary PATH] [PART…]

Makes tokenizers with each normalizer, pre-tokenizer, model, post-processor and decoder and each of their options, with
small models trained on the sentences of tokenizer_reference.py, and compares ids and decoded texts on difficult text.
PART selects those whose name contains it. Prints one line for each tokenizer that differs and one at the end. The exit
status is 1 if anything differs.

The vocabulary for normalizers and pre-tokenizers is exactly the words the reference makes of the texts, so any other
word is unknown and shows.
"""
import argparse
import json
import os
import random
import sys
import tempfile

import tokenizer_reference as texts_and_runs
from tokenizers import AddedToken, PreTokenizedString, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizer_components_charsmap import charsmap

SENTENCES = texts_and_runs.SENTENCES
MARKS = ("\u0301\u0323\u0327\u0315\u093c\u0308\u0344\u0f71\u0f72\u1cf2\u200d\u0897\U0001133e\U00011357\U00011930\U00011935"
         "ae\u0928\u1100\u1161\u11a8\u11a7\uac00 \r\n\u0600\u00e9\u034f")
EDGES = ["", " ", "  ", "\n", "a", " a", "a ", "\u0301", "\x00", "<unk>", "<unk>x", "x<unk>y<unk><unk>", "[UNK]", "[CLS] a", "</s>", "▁", "▁▁ a",
         " ▁ a", "\x00a", "é" * 100, "é" * 101, "x" * 300, "abcdacdxx", "<0x41>", "<0xE2>", "a<s>b", "  <s>  ", "中 a", "中", " 中", "\x00中a", "a中 a", "中文", "enal", " al en ", "😀", "İ", "ß"]


def make_texts(seed, count):
    rng = random.Random(seed)
    specials = ["<unk>", "<s>", "</s>", "[UNK]", "[CLS]", "<0x41>"]
    vocabulary = ["▁", "en", "##en", "▁the", "</w>", "a", "á", "中文"]
    made = EDGES + SENTENCES
    for i in range(count):
        if i % 5 == 0:
            made.append("".join(rng.choice(MARKS) for _ in range(rng.randrange(1, 25))))
        else:
            made.append(texts_and_runs.make_text(rng, specials, vocabulary)[:400])
    return made


# ---- parts ---------------------------------------------------------------------------------------------------------------------


def all_normalizers():
    n = normalizers
    yield from (("NFC", n.NFC()), ("NFD", n.NFD()), ("NFKC", n.NFKC()), ("NFKD", n.NFKD()), ("Lowercase", n.Lowercase()),
                ("StripAccents", n.StripAccents()), ("Nmt", n.Nmt()), ("ByteLevel", n.ByteLevel()))
    for left in (False, True):
        for right in (False, True):
            yield f"Strip {left} {right}", n.Strip(left, right)
    for text in ("▁", "xy ", ""):
        yield f"Prepend {text}", n.Prepend(text)
    for pattern in (" ", "", "en", Regex(r"\s+"), Regex(" {2,}"), Regex(r"\p{M}"), Regex("x*"), Regex(r"[^\P{L}a-z]"), Regex(r"[\p{L}&&[^\p{Han}]]"),
                    Regex(r"\w+$"), Regex(r"(?i)k|É"), Regex(r"[[:punct:]]|\p{Punct}{2}")):
        for content in ("▁", "", "<>"):
            yield f"Replace {pattern} {content}", n.Replace(pattern, content)
    for bits in range(24):
        yield f"BertNormalizer {bits}", n.BertNormalizer(bool(bits & 1), bool(bits & 2), (None, True, False)[bits >> 3], bool(bits & 4))
    yield "Sequence of none", n.Sequence([])
    yield "Sequence of accents", n.Sequence([n.NFKD(), n.StripAccents(), n.Lowercase()])
    yield "Sequence of spaces", n.Sequence([n.Strip(), n.Replace(" ", "▁"), n.Prepend("▁"), n.NFC()])


def all_pretokenizers():
    p = pre_tokenizers
    patterns = (" ", "", "en", Regex(""), Regex(r"\s+"), Regex(r"\p{L}+|\d"), Regex(r"(?i:the|en)|x*"), Regex(r"[^\s\p{L}\p{N}]"), Regex(r"(?<=e)n|$"),
                Regex(r"\bA|\w\b"), Regex(r"a(?i)b|c"), Regex(r"(?x) \h{2,3}+ | \R # hex"), Regex(r"(?m:.)\u0301?|[[:^alpha:]a-f]++"))
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        yield f"Punctuation {behavior}", p.Punctuation(behavior)
        for pattern in patterns:
            for invert in (False, True):
                yield f"Split {pattern} {behavior} {invert}", p.Split(pattern, behavior, invert)
    yield from (("Digits each", p.Digits(True)), ("Digits", p.Digits(False)), ("Whitespace", p.Whitespace()), ("WhitespaceSplit", p.WhitespaceSplit()),
                ("BertPreTokenizer", p.BertPreTokenizer()), ("CharDelimiterSplit", p.CharDelimiterSplit("e")),
                ("UnicodeScripts", p.UnicodeScripts()), ("FixedLength", p.FixedLength(3)), ("Sequence of none", p.Sequence([])))
    for bits in range(4):
        yield f"ByteLevel {bits}", p.ByteLevel(bool(bits & 1), use_regex=bool(bits & 2))
        yield f"Digits, ByteLevel {bits}", p.Sequence([p.Digits(True), p.ByteLevel(bool(bits & 1), use_regex=bool(bits & 2))])
    for scheme in ("always", "first", "never"):
        for split in (False, True):
            for character in "▁_":
                yield f"Metaspace {character} {scheme} {split}", p.Metaspace(character, scheme, split)
            meta = p.Metaspace("▁", scheme, split)
            yield f"WhitespaceSplit, Metaspace {scheme} {split}", p.Sequence([p.WhitespaceSplit(), meta])
            yield f"Metaspace {scheme} {split}, Digits, Split", p.Sequence([meta, p.Digits(True), p.Split(Regex("[a-z]"), "contiguous")])
    yield "BertPreTokenizer, Metaspace", p.Sequence([p.BertPreTokenizer(), p.Metaspace("▁", "first")])
    yield "Sequence of four", p.Sequence([p.WhitespaceSplit(), p.Punctuation("merged_with_next"), p.Digits(False), p.UnicodeScripts()])


def all_beginnings():
    """Pieces of which Metaspace asks whether they are the first: all that come of the text's first character."""
    n, p = normalizers, pre_tokenizers
    before = (("nothing", None), ("Prepend xy", n.Prepend("xy")), ("Prepend 'xy '", n.Prepend("xy ")), ("Prepend ▁", n.Prepend("▁")),
              ("Prepend y, x", n.Sequence([n.Prepend("x"), n.Prepend("y")])), ("Prepend and take away", n.Sequence([n.Prepend("x"), n.Replace("x", "")])),
              ("Strip, Prepend", n.Sequence([n.Strip(), n.Prepend("xy")])), ("Prepend, Strip", n.Sequence([n.Prepend("  "), n.Strip()])),
              ("Replace one", n.Replace(Regex("[aeT]"), "b c")), ("Replace two", n.Replace(Regex("en|a[a-z]"), "x y")), ("Replace none", n.Replace("", "x")),
              ("NFKD", n.NFKD()), ("NFD, NFC", n.Sequence([n.NFD(), n.NFC()])), ("BertNormalizer", n.BertNormalizer()), ("ByteLevel", n.ByteLevel()),
              ("NFKD, Prepend", n.Sequence([n.NFKD(), n.StripAccents(), n.Prepend("xy ")])))
    between = (("each", p.Split(Regex("(?m:.)"), "isolated")), ("x", p.Split("x", "removed")), ("y", p.Split("y", "merged_with_previous")),
               ("spaces", p.WhitespaceSplit()), ("Bert", p.BertPreTokenizer()), ("two", p.FixedLength(2)), ("scripts", p.UnicodeScripts()),
               ("words", p.Whitespace()), ("Digits", p.Digits(True)), ("nothing", p.Sequence([])), ("bytes", p.ByteLevel(True, use_regex=False)),
               ("bytes, each", p.Sequence([p.ByteLevel(True), p.Split(Regex("(?m:.)"), "isolated")])),
               ("always, each", p.Sequence([p.Metaspace("_", "always"), p.Sequence([p.Split(Regex("(?m:.)"), "isolated")])])),
               ("first, _", p.Sequence([p.Metaspace("_", "first", False), p.Split("_", "isolated"), p.CharDelimiterSplit("y")])))
    for name, normalizer in before:
        for other, part in between:
            if (name, other[:5]) != ("Replace none", "bytes"):  # it ends the reference
                yield f"{name} / {other}", normalizer, p.Sequence([part, p.Metaspace("▁", "first")])


def all_decoders():
    d = decoders
    yield from (("none", None), ("ByteLevel", d.ByteLevel()), ("ByteFallback", d.ByteFallback()), ("Fuse", d.Fuse()), ("Sequence", d.Sequence([])))
    for scheme in ("always", "first", "never"):
        yield f"Metaspace {scheme}", d.Metaspace("▁", scheme)
    for suffix in ("</w>", "e", ""):
        yield f"BPEDecoder {suffix}", d.BPEDecoder(suffix=suffix)
    for prefix in ("##", "▁", "a", ""):
        for cleanup in (False, True):
            yield f"WordPiece {prefix} {cleanup}", d.WordPiece(prefix=prefix, cleanup=cleanup)
            yield f"CTC {prefix} {cleanup}", d.CTC(pad_token=prefix, word_delimiter_token="a" if prefix else "", cleanup=cleanup)
    for pattern in ("▁", "", Regex("[aeiou]")):
        yield f"Replace {pattern}", d.Replace(pattern, " ")
    yield "llama", d.Sequence([d.Replace("▁", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)])
    yield "bytes, Metaspace", d.Sequence([d.ByteFallback(), d.Metaspace()])
    yield "Fuse, Strip", d.Sequence([d.Fuse(), d.Strip("▁", 3, 0)])


def all_postprocessors():
    p = processors
    template = p.TemplateProcessing(single="<s> $A </s> </s>", pair="$A $B", special_tokens=[("<s>", 1), ("</s>", 2)])
    yield from (("none", None), ("ByteLevel", p.ByteLevel()), ("Template", template), ("Bert", p.BertProcessing(("</s>", 2), ("<s>", 1))),
                ("Roberta", p.RobertaProcessing(("</s>", 2), ("<s>", 1))), ("Sequence", p.Sequence([p.ByteLevel(), template])),
                ("Bert, Template", p.Sequence([p.BertProcessing(("</s>", 2), ("<s>", 1)), template, p.ByteLevel()])))


# ---- models --------------------------------------------------------------------------------------------------------------------

BYTES = [f"<0x{i:02X}>" for i in range(256)]


def changed(tokenizer, **members):
    data = json.loads(tokenizer.to_str())
    data["model"].update(members)
    return Tokenizer.from_str(json.dumps(data))


def unigram(byte_fallback):
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    specials = ["<unk>", "<s>", "</s>", "<pad>"] + BYTES * byte_fallback
    made.train_from_iterator(SENTENCES * 3, trainers.UnigramTrainer(vocab_size=1900, unk_token="<unk>", special_tokens=specials, show_progress=False))
    return changed(made, byte_fallback=byte_fallback)


def wordpiece(prefix):
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(SENTENCES, trainers.WordPieceTrainer(vocab_size=900, special_tokens=["[PAD]", "<s>", "</s>", "[UNK]", "[CLS]"],
                                                                  continuing_subword_prefix=prefix, show_progress=False))
    return changed(made, continuing_subword_prefix=prefix)


def bpe(byte_fallback, fuse, suffix):
    options = {"end_of_word_suffix": suffix} if suffix else {}
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=byte_fallback, **options))
    if byte_fallback:
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.train_from_iterator([s.lower() for s in SENTENCES], trainers.BpeTrainer(
        vocab_size=900, limit_alphabet=120, special_tokens=["<unk>", "<s>", "</s>"] + BYTES * byte_fallback, show_progress=False, **options))
    return made


def all_models():
    for fallback in (False, True):
        yield f"Unigram {fallback}", unigram(fallback)
        for fuse in (False, True):
            yield f"BPE {fallback} {fuse}", bpe(fallback, fuse, None)
    yield "BPE with a suffix", bpe(False, True, "</w>")
    small = [["<unk>", 0.0], ["a", 0.0], ["b", 0.0], ["c", 0.0], ["d", 0.0], ["cd", 1.0], ["ab", 2.0], ["abc", 5.0], ["abcd", 10.0], ["xy", -100.0], ["▁", -3.0]]
    yield "Unigram, small", changed(unigram(False), vocab=small)
    yield "Unigram, twice the same", changed(unigram(False), vocab=small + [["a", -1.0], ["xx", 5.0], ["ab", 3.0]])
    for prefix in ("##", "@@", ""):
        made = wordpiece(prefix)
        yield f"WordPiece {prefix}", made
        yield f"WordPiece {prefix}, short words", changed(made, max_input_chars_per_word=5)
        made = changed(made)
        made.normalizer, made.pre_tokenizer = None, None
        yield f"WordPiece {prefix} of whole texts", made
    words = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.train_from_iterator(SENTENCES, trainers.WordLevelTrainer(vocab_size=300, special_tokens=["[UNK]", "<s>", "</s>"], show_progress=False))
    yield "WordLevel", words


def added(made, normalized):
    made = changed(made)
    made.add_special_tokens([AddedToken("<s>"), AddedToken("[CLS]", lstrip=True)])
    made.add_tokens([AddedToken("al", normalized=normalized, rstrip=True), AddedToken("EN", normalized=normalized, single_word=True)])
    return made


# ---- comparing -----------------------------------------------------------------------------------------------------------------


def of_words(normalizer, pretokenizer, texts):
    words = {"<unk>": 0}
    for text in texts:
        pieces = PreTokenizedString(text)
        if normalizer:
            pieces.normalize(normalizer.normalize)
        if pretokenizer:
            pretokenizer.pre_tokenize(pieces)
        for word, _, _ in pieces.get_splits():
            words.setdefault(word, len(words))
    made = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    if normalizer:
        made.normalizer = normalizer
    if pretokenizer:
        made.pre_tokenizer = pretokenizer
    return made


def with_charsmap(made, mapping):
    data = json.loads(made.to_str())
    data["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": charsmap(mapping)}
    return Tokenizer.from_str(json.dumps(data))


def all_tokenizers(texts):
    for name, part in all_normalizers():
        yield f"normalizer {name}", of_words(part, None, texts)
    for name, part in all_pretokenizers():
        yield f"pre-tokenizer {name}", of_words(None, part, texts)
    for name, normalizer, part in all_beginnings():
        yield f"beginning {name}", of_words(normalizer, part, texts)
    trained = list(all_models())
    for name, made in trained:
        yield f"model {name}", made
        for normalized in (False, True):
            yield f"model {name} with added tokens, normalized {normalized}", added(made, normalized)
    for name, part in (("Strip", normalizers.Strip()), ("Nmt", normalizers.Nmt()), ("Replace", normalizers.Replace(Regex("^ +|^en"), "-"))):
        made = bpe(True, True, None)
        made.normalizer, made.pre_tokenizer = part, pre_tokenizers.Metaspace("▁", "first", False)
        yield f"normalizer {name} before Metaspace first", made
    for part in (normalizers.Lowercase(), normalizers.Prepend("▁")):
        made = bpe(True, True, None)
        made.normalizer = part
        made.add_special_tokens([AddedToken("al", normalized=True), AddedToken("THE", normalized=True)])
        made.add_tokens([AddedToken("EN", normalized=True)])  # if two normalize to one text the reference takes any
        yield f"model BPE with special texts, {type(part).__name__}", made
    unknown = {"unk_token": None, "byte_fallback": False, "vocab": {c: i for i, c in enumerate(["a", "b", "e", "n", "en", "ab", "enen"])},
               "merges": ["e n", "a b", "en en"]}
    yield "model BPE without an unknown token", changed(bpe(True, False, None), **unknown)
    for part in (pre_tokenizers.WhitespaceSplit(), pre_tokenizers.BertPreTokenizer()):
        made = bpe(True, True, None)
        made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.Sequence([part, pre_tokenizers.Metaspace("▁", "first")])
        yield f"normalizer BertNormalizer before {type(part).__name__} and Metaspace first", made
    fallback = dict(trained)["Unigram True"]
    for name, part in all_decoders():
        made = changed(fallback)
        made.decoder = part
        yield f"decoder {name}", made
    for name, part in all_postprocessors():
        made = changed(fallback)
        if part:
            made.post_processor = part
        yield f"post-processor {name}", made
    maps = {"few": {"a": "X", "é": "Y", "一": "Z", "\r": "R", "ﬁ": "fi", "\x00": "", "e\u0301": "é", "\u3000": " "},
            "marks": {chr(c): "Y" for c in range(0x300, 0x370)}}
    for name, mapping in maps.items():
        yield f"normalizer Precompiled {name}", with_charsmap(bpe(True, True, None), mapping)


def compare(name, made, texts, binary, folder):
    path = os.path.join(folder, "tokenizer.json")
    made.save(path)
    lines = [json.dumps(text) for text in texts]
    check, run = texts_and_runs.difference, texts_and_runs.run
    found = []
    for flag in (False, True) if name.startswith(("model", "post")) else (False,):
        encoded = [e.ids for e in made.encode_batch(texts, add_special_tokens=flag)]
        arguments = ["-t", path, "--json"] + ["--special"] * flag
        found.append(check(name, "ids", texts, run(binary, arguments, lines), encoded))
        if flag:
            counts = run(binary, arguments + ["--count"], lines)
            found.append(check(name, "counts", texts, [[n] for n in counts], [[len(ids)] for ids in encoded]))
        decoded = made.decode_batch(encoded, skip_special_tokens=not flag)
        ours = run(binary, arguments + ["--decode"], [json.dumps(ids) for ids in encoded])
        found.append(check(name, "decoded", texts, ours, decoded))
    for line in filter(None, found):
        print(line, flush=True)
    return not any(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--binary", default=os.environ.get("BUILD", ".build") + "/bin/ipf-prep")
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    texts = make_texts(options.seed, options.texts)
    equal = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for name, made in all_tokenizers(texts):
            if not options.parts or any(part in name for part in options.parts):
                equal.append(compare(name, made, texts, options.binary, folder))
    print(f"{len(equal)} tokenizers, {len(texts)} texts each: {equal.count(False)} differ")
    sys.exit(0 if equal and all(equal) else 1)


if __name__ == "__main__":
    main()
