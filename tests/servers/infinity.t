#!/bin/bash
# infinity (PyPI's infinity-emb), a server of embeddings and rankings on the CPU, with a small model of random weights: embeddings, and its
# usage against our tokenizer.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv infinity 'infinity-emb[server,torch]==0.0.78'
"$servers/infinity/bin/python" - >model.said 2>&1 <<'END' || skip_all "no model can be made: $(tail -1 model.said)"
import json, os
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [chr(c) for c in range(33, 127)] + ["##" + chr(c) for c in range(33, 127)]
tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", [("[CLS]", 2), ("[SEP]", 3)])
PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
                        model_max_length=512).save_pretrained("model")
config = dict(vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128)
BertModel(BertConfig(**config)).save_pretrained("model")
END
export HF_HUB_OFFLINE=1 DO_NOT_TRACK=1 OMP_NUM_THREADS=1
# without --lengths-via-tokenize its usage counts characters
SECONDS_UP=240 serve /health "$servers/infinity/bin/infinity_emb" v2 --model-id "$PWD/model" --served-model-name tiny --device cpu --engine torch \
	--no-bettertransformer --lengths-via-tokenize --host 127.0.0.1 --port PORT --url-prefix /v1
URL=$SERVED MODEL=tiny API=openai-embeddings
ipf-prep synthetic -n 20 --input-tokens 40 -t model/tokenizer.json -q -o prompts.trace
fired embeddings constant:rate=4,n=20
is "$(counts embeddings)" "[20,0]" "embeddings: all are answered"
is "$(jq -c .total.tokens.input.mean embeddings.json)" 40 "embeddings: as many tokens as our tokenizer counts, without [CLS] and [SEP]"
fired closed closed:users=4,n=20
is "$(counts closed)" "[20,0]" "closed loop: all are answered"
MODEL=no-such-model fired wrong constant:rate=10,n=5
is "$(counts wrong)" "[5,0]" "a wrong model: with one model, this server takes any"
