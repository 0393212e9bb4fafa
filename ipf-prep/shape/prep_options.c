#include "shape/prep.h"

#define O(kind_, letter_, name_, argument_, member_, help_)                                                            \
	OPTION(kind_, letter_, name_, argument_, struct prep_options, member_, help_)

static const struct option_spec specs[] = {
	O(OPTION_FLAG, 0, "list", NULL, list, "list the sources: name, kind and what it reads"),
	O(OPTION_FILE, 't', "tokenizer", "NAME", tokenizer,
      "how tokens are counted: a model's tokenizer.json, or approx (default), four bytes a token"),
	O(OPTION_COUNT, 'n', "requests", "N", n, "at most N requests; a session that does not fit whole is left out"),
	O(OPTION_COUNT, 0, "sessions", "N", sessions, "at most N sessions (a lone request counts as one)"),
	O(OPTION_FLAG, 0, "shuffle", NULL, shuffle, "in random order, by the seed; what is kept is held in memory"),
	O(OPTION_TEXT, 0, "sample", "with|without", sample,
      "draw -n requests at random, with or without putting them back"),
	O(OPTION_TEXT, 0, "preset", "NAME", preset,
      "the filter of another benchmark: vllm-sharegpt, sglang-sharegpt, lpg-sharegpt"),
	O(OPTION_COUNT, 0, "min-input", "N", min_input, "leave out shorter prompts (tokens, as they are in the data)"),
	O(OPTION_COUNT, 0, "max-input", "N", max_input, "leave out longer prompts"),
	O(OPTION_COUNT, 0, "min-output", "N", min_output, "leave out shorter answers"),
	O(OPTION_COUNT, 0, "max-output", "N", max_output, "leave out longer answers"),
	O(OPTION_COUNT, 0, "max-total", "N", max_total, "leave out what is longer with its answer"),
	O(OPTION_TEXT, 0, "profile", "NAME", profile,
      "lengths that benchmarks use: chat (all turns), code-generation, classification, summarization, fixed-length"),
	O(OPTION_TEXT, 0, "input-tokens", "DIST", input_tokens,
      "cut or extend what a request asks to so many tokens: 128, uniform:64-256, "
      "normal:550,150,min=10,max=1024, lognormal:…, histogram:FILE, dataset (default)"),
	O(OPTION_TEXT, 0, "output-tokens", "DIST", output_tokens,
      "ask for answers of so many tokens (default: dataset, and 128 where it does not say)"),
	O(OPTION_TEXT, 0, "turns", "DIST|all", turns,
      "turns of a conversation; more than 1 makes it a session (default: 1)"),
	O(OPTION_TEXT, 0, "wait", "DIST", wait,
      "time from the end of a session's turn to the next one: 2s, uniform:1s-5s, lognormal:8s,6s, dataset (default)"),
	O(OPTION_TEXT, 0, "template-tokens", "N[,M]|URL", template_tokens,
      "tokens that the server's chat template adds to a prompt: counted in, and lengths "
      "leave room for them (default: 0); with M, so many for each further message; with URL, the server is asked"),
	O(OPTION_TEXT, 0, "system", "FILE|TEXT", system,
      "system message of every request or session, in place of the data's own"),
	O(OPTION_TEXT, 0, "prefixes", "COUNTxTOKENS[=SHARE],…", prefixes,
      "put one of COUNT made texts of TOKENS tokens before every prompt; several in shares"),
	O(OPTION_TEXT, 0, "models", "NAME=SHARE,…", models,
      "give each request or session one of these models, at random in these shares"),
	O(OPTION_LIST, 0, "slo", "LIST", slo,
      "objectives that requests get: ttft=500ms,tpot=50ms; for some of them: model=NAME:ttft=2s, TAG=VALUE:… "
      "(may be given several times)"),
	O(OPTION_TEXT, 0, "prompt", "messages|text|ids|none", prompt,
      "what the trace has for a prompt: a chat's messages (default), one text, token ids, or only "
      "its length"),
	O(OPTION_FILE, 0, "content", "FILE", content,
      "take made texts from this one (UTF-8), in place of prose made of nothing"),
	O(OPTION_TEXT, 0, "salt", "TEXT", salt, "make other text of the same lengths, unlike that of an earlier run"),
	O(OPTION_DURATION, 0, "from", "TIME", from_ns,
      "only what arrived this long after the trace's start; arrivals count from there"),
	O(OPTION_DURATION, 0, "to", "TIME", to_ns, "only what arrived before this time"),
	O(OPTION_NUMBER, 0, "scale", "FACTOR", scale,
      "so many times the recorded requests; sessions are left out or copied whole"),
	O(OPTION_FLAG, 0, "dequantise", NULL, dequantise,
      "spread arrivals that were stamped together up to the next stamp"),
	O(OPTION_TEXT, 0, "failed", "keep|drop", failed,
      "requests that failed when they were recorded: keep them, marked (default), or leave them out"),
	O(OPTION_TEXT, 0, "sub-agents", "keep|drop", sub_agents,
      "what sub-agents ask: keep it (default), or only the conversation that started them"),
	O(OPTION_TEXT, 0, "on-error", "skip|stop", on_error,
      "at a bad record: leave it out and go on (default), or end there"),
	O(OPTION_LIST, 0, "field", "NAME=/POINTER", fields,
      "jsonl and csv: where in a record something stands (may be given several times)"),
	SEED_OPTION(struct prep_options, common),
	COMMON_OPTIONS(struct prep_options, common),
};

const struct program prep_program = {
	.name = "ipf-prep",
	.operands = "SOURCE [FILE…]",
	.summary = "decide what is asked: make a request trace of datasets and production traces",
	.details = "SOURCE is one of those of --list, or auto, which looks at the first file.\n"
			   "FILE may be compressed (gzip, zstd, xz, bzip2), a folder, an archive (tar,\n"
			   "zip, 7z) or a file in one (a.tar.gz:dir/b.json), or an address\n"
			   "(https://…, hf://datasets/OWNER/NAME/PATH); \"-\" or none is standard input.\n"
			   "\n"
			   "  ipf-prep sharegpt ShareGPT_V3.json -n 1000 --max-input 1024 -o chat.trace.zst\n"
			   "  ipf-prep azure Azure_conv.csv --from 10m --to 20m -o azure.trace.zst\n"
			   "  ipf-prep jsonl questions.jsonl --field prompt=/question | head",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = -1,
};
