#!/usr/bin/env python3
"""Makes the tokenizers and cases of this folder with the reference implementation (PyPI `tokenizers`), from text of our own:
NAME.json is a tokenizer, NAME.cases has lines of {"text", "ids", "special", "decoded", "kept"}: the ids without and with what the
post-processor adds, and the text of the latter without and with special tokens. The tests read what is committed; this runs by hand."""
import json
import os
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
import tokenizer_reference as mixed  # noqa: E402

CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_level():
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CL100K), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(mixed.SENTENCES * 2, trainers.BpeTrainer(
        vocab_size=1200, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|end|>"], show_progress=False))
    t.add_special_tokens([AddedToken("<|begin|>"), AddedToken("<|left|>", lstrip=True), AddedToken("<|right|>", rstrip=True)])
    t.add_tokens([AddedToken("word", single_word=True), AddedToken("\n\n\n", normalized=False), AddedToken("<|b", normalized=False),
                  AddedToken("Ame\u0301lie", normalized=True), AddedToken("[x]", lstrip=True, rstrip=True)])
    t.post_processor = processors.TemplateProcessing(single="<|begin|> $A <|end|>", special_tokens=[
        ("<|begin|>", t.token_to_id("<|begin|>")), ("<|end|>", t.token_to_id("<|end|>"))])
    return t


def gpt2():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.train_from_iterator(mixed.SENTENCES, trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"], show_progress=False))
    return t


def byte_fallback(prepend, splits):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    spaces = normalizers.Replace(" ", "▁")
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), spaces]) if prepend else spaces
    words = [" ".join(s.split(" ")) for s in mixed.SENTENCES]
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    alphabet = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;!?-▁éüß人自\n"]
    t.train_from_iterator(words, trainers.BpeTrainer(
        vocab_size=1000, limit_alphabet=400, initial_alphabet=alphabet, show_progress=False,
        special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]))
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous") if splits else None
    strip = [decoders.Strip(" ", 1, 0)] if prepend else []
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()] + strip)
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    document = json.loads(t.to_str())
    document["added_tokens"] = [a for a in document["added_tokens"] if not a["content"].startswith("<0x")]
    if splits:
        document["added_tokens"].append({"id": 5000, "content": "\n\n", "single_word": False, "lstrip": False, "rstrip": False,
                                         "normalized": False, "special": False})
    return Tokenizer.from_str(json.dumps(document))


TOKENIZERS = {"bytelevel": byte_level, "gpt2": gpt2, "llama": lambda: byte_fallback(True, False), "gemma": lambda: byte_fallback(False, True)}
EXTRA = ["", " ", "  ", "\n", "a", " a", "word", "words word, sword", "a <|left|>b", "a  <|right|>  b<|end|>c", "x [x] [x]  y", "Amélie Ame\u0301lie",
         "\n\n\n\n\n", "<|b<|begin|>", "<s>a</s> b<unk>", "<0x41>", "a\n\nb", "▁ ▁a", "don't DON'T", "123456 7", "\ufffd", "🫠" * 3]


def main():
    for name in sys.argv[1:] or TOKENIZERS:
        t = TOKENIZERS[name]()
        document = json.loads(t.to_str())
        with open(f"{HERE}/{name}.json", "w", encoding="utf-8") as out:
            json.dump(document, out, ensure_ascii=False, indent=None, separators=(",", ":"))
            out.write("\n")
        rng = random.Random(name)
        specials = [a.content for a in t.get_added_tokens_decoder().values()]
        vocabulary = sorted(t.get_vocab())
        texts = EXTRA + [mixed.make_text(rng, specials, vocabulary)[:100] for _ in range(100)]
        with open(f"{HERE}/{name}.cases", "w", encoding="utf-8") as out:
            for text in texts:
                ids = t.encode(text, add_special_tokens=False).ids
                special = t.encode(text).ids
                case = {"text": text, "ids": ids, "special": special, "decoded": t.decode(special), "kept": t.decode(special, skip_special_tokens=False)}
                out.write(json.dumps(case) + "\n")


if __name__ == "__main__":
    main()
