#!/bin/bash
# infinity (PyPI's infinity-emb), a server of embeddings and rankings on the CPU, with a small model of random weights: embeddings, and its
# usage against our tokenizer.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv infinity 'infinity-emb[server,torch]==0.0.78'
"$servers/infinity/bin/python" - >model.said 2>&1 <<'END' || skip_all "no model can be made: $(tail -1 model.said)"
import json, os
from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [chr(c) for c in range(33, 127)] + ["##" + chr(c) for c in range(33, 127)]
tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", [("[CLS]", 2), ("[SEP]", 3)])
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
                               model_max_length=512)
fast.save_pretrained("model"), fast.save_pretrained("ranker")
config = dict(vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128)
BertModel(BertConfig(**config)).save_pretrained("model")
BertForSequenceClassification(BertConfig(num_labels=1, **config)).save_pretrained("ranker")
END
export HF_HUB_OFFLINE=1 DO_NOT_TRACK=1 OMP_NUM_THREADS=1
# without --lengths-via-tokenize its usage counts characters
infinity() { # MODEL
	serve /health "$servers/infinity/bin/infinity_emb" v2 --model-id "$PWD/$1" --served-model-name tiny --device cpu --engine torch \
		--no-bettertransformer --lengths-via-tokenize --host 127.0.0.1 --port PORT --url-prefix /v1
}
infinity model
URL=$SERVED MODEL=tiny API=openai-embeddings
ipf-prep synthetic -n 20 --input-tokens 40 -t model/tokenizer.json -q -o prompts.trace
fired embeddings constant:rate=4,n=20
is "$(counts embeddings)" "[20,0]" "embeddings: all are answered"
is "$(jq -c .total.tokens.input.mean embeddings.json)" 40 "embeddings: as many tokens as our tokenizer counts, without [CLS] and [SEP]"
fired closed closed:users=4,n=20
is "$(counts closed)" "[20,0]" "closed loop: all are answered"
MODEL=no-such-model fired wrong constant:rate=10,n=5
is "$(counts wrong)" "[5,0]" "a wrong model: this server takes any"

# ---- batches ----------------------------------------------------------------------------------------------------------------------
ipf-prep synthetic -n 20 --batch uniform:1-16 --input-tokens 40 -t model/tokenizer.json -q -o batches.trace
TRACE=batches.trace fired batches constant:rate=4,n=20
is "$(counts batches)" "[20,0]" "batches: all are answered"
is "$(rows batches.results | jq -sc 'map(.outputs == .inputs) | unique')" "[true]" "batches: a vector for each input"
is "$(rows batches.results | jq -sc 'map(.inputs) | add')" "$(prompts batches.trace | jq -sc 'map(.inputs | length) | add')" "batches: all inputs"
is "$(jq -c .total.tokens.input.mean batches.json)" "$(jq -c .total.tokens.asked_input.mean batches.json)" "batches: tokens by its usage are those of the trace"
is "$(python3 "$TESTS/helpers/batches.py" batches.results batches.json)" "" "batches: the report agrees with the rows"
serve_stop

# ---- rankings ---------------------------------------------------------------------------------------------------------------------
infinity ranker
URL=$SERVED API=jina-rerank
ipf-prep synthetic -n 20 --batch uniform:2-16 --input-tokens 30 --query-tokens 8 -t model/tokenizer.json -q -o rank.trace
TRACE=rank.trace fired rank constant:rate=4,n=20
is "$(counts rank)" "[20,0]" "rankings: all are answered"
is "$(rows rank.results | jq -sc 'map([.outputs == .inputs, .input_tokens_usage == .asked_input_tokens]) | unique')" "[[true,true]]" \
	"rankings: a score for each document; usage counts the query with each, as the trace does"
is "$(python3 "$TESTS/helpers/batches.py" rank.results rank.json)" "" "rankings: the report agrees with the rows"
TRACE=rank.trace fired top constant:rate=10,n=20 --param top_n=2
is "$(rows top.results | jq -sc 'map([.ok, .outputs]) | unique')" "[[true,2]]" "top_n: as many as asked for"
curl -s "$URL/v1/rerank" -H 'Content-Type: application/json' -d '{"model":"tiny","query":"a","documents":["b","c","d"]}' >second.json
is "$(jq -c '[.results[].index] | sort' second.json)" "[0,1,2]" "a second client sees the same shape"
