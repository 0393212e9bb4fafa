#!/usr/bin/env python3
"""tiny_model.py FOLDER [--gguf FILE] [--lora FOLDER]…: a Llama of random weights, for servers that others wrote: the files of Transformers and
vLLM, the same model for llama.cpp (needs the package gguf), and adapters for it. Needs numpy.

Its tokens are all bytes, and 254 words of six letters. The weights are such that it says nothing but words: its output is whole text at every
token, and as many tokens when it is read back; without sampling, every server says the same."""
import argparse, json, os, random, struct

import numpy

HIDDEN, LAYERS, HEADS, INNER, LONGEST = 128, 2, 4, 256, 4096
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
WHERE_IT_SPLITS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def vocabulary():
    """The tokens by number: two that control, the bytes as byte-level BPE writes them, words"""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    written = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    draw, words = random.Random(1), set()
    while len(words) < 254: words.add("".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(3)))
    return ["<s>", "</s>"] + [written[byte] for byte in range(256)] + ["Ġ" + word for word in sorted(words)]


def weights(tokens):
    """The tensors by their names in Transformers; whatever is no word has the logit 0, which is never the highest"""
    draw = numpy.random.default_rng(1)
    matrix = lambda rows, columns: draw.normal(0, 0.2, (rows, columns)).astype("float32")
    tensors = {"model.embed_tokens.weight": matrix(tokens, HIDDEN), "model.norm.weight": numpy.ones(HIDDEN, "float32"),
               "lm_head.weight": matrix(tokens, HIDDEN)}
    tensors["lm_head.weight"][:258] = 0
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        for name in "qkvo": tensors[f"{at}self_attn.{name}_proj.weight"] = matrix(HIDDEN, HIDDEN)
        for name in ("gate", "up"): tensors[f"{at}mlp.{name}_proj.weight"] = matrix(INNER, HIDDEN)
        tensors[at + "mlp.down_proj.weight"] = matrix(HIDDEN, INNER)
        for name in ("input", "post_attention"): tensors[f"{at}{name}_layernorm.weight"] = numpy.ones(HIDDEN, "float32")
    return tensors


def save_safetensors(path, tensors):
    header, at = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header | {"__metadata__": {"format": "pt"}}).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values(): out.write(tensor.tobytes())


def save_gguf(path, vocab, tensors):
    import gguf

    out = gguf.GGUFWriter(path, "llama")
    out.add_context_length(LONGEST); out.add_embedding_length(HIDDEN); out.add_block_count(LAYERS); out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS); out.add_head_count_kv(HEADS); out.add_layer_norm_rms_eps(1e-5); out.add_rope_dimension_count(HIDDEN // HEADS)
    out.add_vocab_size(len(vocab)); out.add_tokenizer_model("gpt2"); out.add_tokenizer_pre("llama-bpe"); out.add_token_list(vocab)
    out.add_token_types([3, 3] + [1] * (len(vocab) - 2)); out.add_token_merges(["Ġ Ġ"])
    out.add_bos_token_id(0); out.add_eos_token_id(1); out.add_add_bos_token(False); out.add_chat_template(TEMPLATE)
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
             "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
             "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "model.layers": "blk"}
    for name, tensor in tensors.items():
        if "q_proj" in name or "k_proj" in name:  # pairs turned lie side by side here
            tensor = tensor.reshape(HEADS, 2, HIDDEN // HEADS // 2, HIDDEN).swapaxes(1, 2).reshape(HIDDEN, HIDDEN)
        for theirs, its in names.items(): name = name.replace(theirs, its)
        out.add_tensor(name, numpy.ascontiguousarray(tensor))
    out.write_header_to_file(); out.write_kv_data_to_file(); out.write_tensors_to_file(); out.close()


def save_lora(folder, number):
    draw = numpy.random.default_rng(100 + number)
    tensors = {}
    for layer in range(LAYERS):
        for name in "qv":
            for half, shape in ("A", (8, HIDDEN)), ("B", (HIDDEN, 8)):
                tensors[f"base_model.model.model.layers.{layer}.self_attn.{name}_proj.lora_{half}.weight"] = draw.normal(0, 0.2, shape).astype("float32")
    os.makedirs(folder, exist_ok=True)
    save_safetensors(os.path.join(folder, "adapter_model.safetensors"), tensors)
    with open(os.path.join(folder, "adapter_config.json"), "w") as out:
        json.dump({"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM", "bias": "none"}, out)


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("folder")
options.add_argument("--gguf")
options.add_argument("--lora", action="append", default=[])
options = options.parse_args()
folder, vocab = options.folder, vocabulary()
tensors = weights(len(vocab))
os.makedirs(folder, exist_ok=True)
save = lambda name, what: json.dump(what, open(os.path.join(folder, name), "w"))
special = [{"id": n, "content": vocab[n], "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False} for n in (0, 1)]
save("tokenizer.json", {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None, "pre_tokenizer": {
    "type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": WHERE_IT_SPLITS}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]},
    "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
              "byte_fallback": False, "ignore_merges": True, "vocab": {token: n for n, token in enumerate(vocab)}, "merges": []}})
save("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LONGEST, "bos_token": "<s>", "eos_token": "</s>",
                               "chat_template": TEMPLATE})
save("config.json", {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": INNER,
                     "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "head_dim": HIDDEN // HEADS,
                     "vocab_size": len(vocab), "max_position_embeddings": LONGEST, "rms_norm_eps": 1e-5, "torch_dtype": "float32", "bos_token_id": 0,
                     "eos_token_id": 1, "hidden_act": "silu", "rope_theta": 10000.0, "tie_word_embeddings": False})
save("generation_config.json", {"bos_token_id": 0, "eos_token_id": 1, "do_sample": False})
save_safetensors(os.path.join(folder, "model.safetensors"), tensors)
if options.gguf: save_gguf(options.gguf, vocab, tensors)
for number, adapter in enumerate(options.lora): save_lora(adapter, number)
