"""Tokenizers like those of T5, XLM-R, BERT and CLIP, and byte-level ones with the pre-tokenizers of many models, trained on the
sentences of tokenizer_reference.py, for comparisons without the files of models.

The normalizer of T5 and XLM-R comes from sentencepiece (PyPI); without it these two are left out.
"""
import base64
import json
import os
import random

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
MARKS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
HAN = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
       r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
       r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
RIGHT_DIGITS = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|[^\r\n\p{L}\p{N}]?\p{L}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"

def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level_chains():
    """The pre-tokenizers of models whose files are not fetched for tests, by name."""
    p = pre_tokenizers
    last = p.ByteLevel(False, use_regex=False)
    yield "falcon", None, [p.Punctuation("contiguous"), p.ByteLevel(False), p.Digits(False), split("[0-9][0-9][0-9]")]
    yield "bloom", None, [split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), last]
    yield "neox", normalizers.NFC(), [p.ByteLevel(False)]
    yield "starcoder", None, [p.Digits(True), p.ByteLevel(False)]
    yield "phi4", None, [split(CL100K, "removed", True), last]
    yield "marks", normalizers.NFC(), [split(MARKS), last]
    yield "kimi", None, [split(HAN), last]
    yield "digits-from-the-right", None, [split(RIGHT_DIGITS), last]
    yield "deepseek-coder", normalizers.Sequence([]), [split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split("[一-龥ࠀ-一가-퟿]+"),
                                                    p.Digits(True), last]
    yield "roberta", None, [p.ByteLevel(True)]
    yield "viking", None, [split(r"\p{N}"), split(CL100K), last]
    yield "tekken", None, [split(r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
                                 r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"), last]


def byte_level(normalizer, steps, sentences):
    made = Tokenizer(models.BPE())
    if normalizer:
        made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(sentences, trainers.BpeTrainer(vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                                            special_tokens=["<|endoftext|>"], show_progress=False))
    return made


def clip(sentences):
    n = normalizers
    made = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    made.normalizer = n.Sequence([n.NFC(), n.Replace(Regex(r"\s+"), " "), n.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Sequence([
        split(r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", "removed", True), pre_tokenizers.ByteLevel(False)])
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), False, False)
    made.train_from_iterator(sentences, trainers.BpeTrainer(vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), end_of_word_suffix="</w>",
                                                            special_tokens=["<|startoftext|>", "<|endoftext|>"], show_progress=False))
    return made


def bert(lowercase, sentences):
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(sentences, trainers.WordPieceTrainer(vocab_size=4000, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return made


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def members(data):
    """The fields of a protocol buffer's message: number and value, bytes for those with a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            size, at = varint(data, at)
            yield key >> 3, data[at:at + size]
            at += size
        elif key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value
        else:
            size = 4 if key & 7 == 5 else 8
            yield key >> 3, data[at:at + size]
            at += size


def sentencepiece_model(rule, sentences, folder):
    """The pieces with their scores, and the normalizer's map, of a model that sentencepiece has trained."""
    import struct

    import sentencepiece

    prefix = os.path.join(folder, rule)
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_prefix=prefix, vocab_size=3000, hard_vocab_limit=False,
                                             normalization_rule_name=rule, minloglevel=2, character_coverage=0.999)
    pieces, charsmap = [], b""
    with open(prefix + ".model", "rb") as f:
        for number, value in members(f.read()):
            if number == 1:
                piece = dict(members(value))
                pieces.append([piece[1].decode(), struct.unpack("<f", piece[2])[0]])
            elif number == 3:
                charsmap = dict(members(value)).get(2, b"")
    return pieces, charsmap


def unigram(rule, pre, sentences, folder):
    pieces, charsmap = sentencepiece_model(rule, sentences, folder)
    made = Tokenizer(models.Unigram([(text, score) for text, score in pieces], 0, False))
    made.pre_tokenizer = pre
    made.decoder = decoders.Metaspace()
    data = json.loads(made.to_str())
    data["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}
    if "Sequence" not in str(type(pre)):
        data["normalizer"] = {"type": "Sequence", "normalizers": [data["normalizer"], {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}
    made = Tokenizer.from_str(json.dumps(data))
    made.add_special_tokens(["<s>", "</s>", "<mask>"] + [f"<extra_id_{i}>" for i in range(100)])
    made.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", made.token_to_id("</s>"))])
    return made


def all_trained(sentences, folder):
    rng = random.Random("trained")
    words = " ".join(sentences).split(" ")
    texts = [s for s in sentences for _ in range(4)] + [" ".join(rng.sample(words, 30)) for _ in range(300)]
    for name, normalizer, steps in byte_level_chains():
        yield name, byte_level(normalizer, steps, texts)
    yield "clip", clip(texts)
    yield "bert-uncased", bert(True, texts)
    yield "bert-cased", bert(False, texts)
    try:
        import sentencepiece  # noqa: F401
    except ImportError:
        print("t5, xlm-r: left out, sentencepiece is not installed")
        return
    p = pre_tokenizers
    yield "t5", unigram("nmt_nfkc", p.Sequence([p.WhitespaceSplit(), p.Metaspace()]), texts, folder)
    yield "xlm-r", unigram("nmt_nfkc", p.Metaspace(), texts, folder)
    yield "albert", unigram("nmt_nfkc_cf", p.Sequence([p.WhitespaceSplit(), p.Metaspace()]), texts, folder)


def save_all(sentences, folder):
    """FOLDER/NAME/tokenizer.json for each; returns the names."""
    names = []
    for name, made in all_trained(sentences, folder):
        os.mkdir(os.path.join(folder, name))
        made.save(os.path.join(folder, name, "tokenizer.json"))
        names.append(name)
    return names
