"""Runs a tool measuring model servers, as it is in its package, against URL: N requests of TOKENS tokens (64), SLOTS at a time (1), without warm-up.

usage: run_tool.py TOOL PACKAGES URL N OUT [SLOTS [TOKENS]]       TOOL: vllm, sglang, guidellm, inference-perf, lpg With AS_RATE, as many requests per
second in equal steps instead of SLOTS at a time: not of sglang, which has none. PACKAGES is a folder with the packages: vllm-src and sgl-src, the
unpacked wheels; ip-src, inference-perf's; lpg-src with the benchmark_serving.py of the latency profile generator, which sends ten requests per second;
guidellm is installed. Imports without use here, such as engines, are replaced by modules without content; tokenizers by one of four bytes a token. The
tool writes its file: OUT of vLLM and GuideLLM, OUT.tool of SGLang, the folder OUT.files of inference-perf, and OUT.lpg-…-weighted.json of the latency
profile generator.
"""
import argparse
import asyncio
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
import urllib.parse


class Nothing(types.ModuleType):
    """A module with any name, as a class without content."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__init__": lambda self, *a, **k: None, "__class_getitem__": classmethod(lambda cls, item: cls)})
        setattr(self, name, made)
        return made


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, *prefixes):
        self.prefixes = prefixes
        sys.meta_path.append(self)

    def find_spec(self, name, path=None, target=None):
        known = any(name == p or name.startswith(p + ".") for p in self.prefixes)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec):
        return Nothing(spec.name)

    def exec_module(self, module):
        pass


class Tokenizer:
    def __call__(self, text, **_):
        return types.SimpleNamespace(input_ids=self.encode(text))

    def encode(self, text, **_):
        return [0] * ((len(text.encode()) + 3) // 4)


class Fields(types.SimpleNamespace):
    """A missing value is None."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


PROMPT = "tell me a story of sixty-four bytes, no more and no less of it"
# not in GuideLLM's processes
SLOTS, TOKENS = (int(value) if value.isdigit() else 1 for value in (sys.argv[6:] + ["1", "64"][len(sys.argv[6:]):])[:2])

RATE = os.environ.get("AS_RATE")


def vllm(packages, url, n):
    sys.path.insert(0, packages + "/vllm-src")
    root = types.ModuleType("vllm")
    root.__path__ = [packages + "/vllm-src/vllm"]
    sys.modules["vllm"] = root
    for name in ("vllm.benchmarks.datasets", "vllm.tokenizers", "vllm.utils", "vllm.utils.argparse_utils", "vllm.utils.gc_utils",
                 "vllm.utils.network_utils"):
        sys.modules[name] = Nothing(name)
    StandIns("vllm")
    sys.modules["vllm.utils.gc_utils"].freeze_gc_heap = lambda: None
    from vllm.benchmarks import serve
    request = Fields(prompt=PROMPT, prompt_len=16, expected_output_len=TOKENS)
    serve.get_samples = lambda args, tokenizer: [request] * n
    serve.get_tokenizer = lambda *_, **__: Tokenizer()
    parser = argparse.ArgumentParser()
    serve.add_cli_args(parser)
    args = parser.parse_args(["--backend", "openai-chat", "--base-url", url, "--endpoint", "/v1/chat/completions", "--model", "sim",
                              *(["--request-rate", RATE, "--burstiness", "inf"] if RATE else ["--max-concurrency", str(SLOTS)]), "--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,90,99", "--disable-tqdm",
                              "--ready-check-timeout-sec", "0", "--save-result", "--save-detailed", "--result-filename", sys.argv[5]])
    serve.main(Fields(**{"dataset_name": "custom", "num_prompts": n, "seed": 0, **vars(args)}))


def sglang(packages, url, n):
    sys.path.insert(0, packages + "/sgl-src")
    for name in ("sglang.benchmark.datasets", "sglang.benchmark.datasets.mooncake", "sglang.srt", "sglang.srt.disaggregation.utils",
                 "sglang.srt.utils.network"):
        sys.modules[name] = Nothing(name)
    StandIns("sglang")
    from sglang.benchmark import serving
    row = Fields(prompt=PROMPT, prompt_len=16, output_len=TOKENS, text_prompt_len=16, vision_prompt_len=0, extra_request_body={})
    serving.args = Fields(disable_ignore_eos=True, backend="sglang-oai-chat", dataset_name="custom", output_file=sys.argv[5] + ".tool",
                          output_details=True, max_concurrency=SLOTS, num_prompts=n, request_rate=float("inf"), random_input_len=16,
                          random_output_len=TOKENS, random_range_ratio=0)
    return asyncio.run(serving.benchmark("sglang-oai-chat", url + "/v1/chat/completions", url, "sim", Tokenizer(), [row] * n, float("inf"), SLOTS, True, [],
                                         None, None, {}, False, warmup_requests=0))


def stand_in_for_torch():
    """GuideLLM needs of it that it loads its data."""
    os.environ.update(USE_TORCH="0", USE_JAX="0")
    for name in ("torch", "torch.utils", "torch.utils.data", "torch.utils.data.dataloader", "torch.utils.data.dataset", "torch.nn"):
        sys.modules[name] = Nothing(name)
        sys.modules[name].__version__ = "0"
        sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)

    class Loader:
        def __class_getitem__(cls, item):
            return cls

        def __init__(self, dataset, collate_fn=None, **_):
            self.dataset, self.collate_fn = dataset, collate_fn or (lambda batch: batch)

        def __iter__(self):
            for item in self.dataset:
                yield self.collate_fn([item])

    torch = sys.modules["torch"]
    torch.utils, torch.nn = sys.modules["torch.utils"], sys.modules["torch.nn"]
    torch.utils.data = sys.modules["torch.utils.data"]
    torch.utils.data.get_worker_info = lambda: None
    sys.modules["torch.utils.data.dataloader"].DataLoader = Loader
    torch.Generator = type("Generator", (), {"manual_seed": lambda self, *_: self})


def guidellm(packages, url, n):
    out = sys.argv[5]
    json.dump([{"prompt": f"{PROMPT} {i}", "output_tokens_count": TOKENS} for i in range(n)], open(out + ".prompts.json", "w"))
    from guidellm.__main__ import cli
    sys.argv = ["guidellm", "run", "--backend", f"kind=openai_http,target={url},model=sim", "--profile",
                f"kind=constant,rate={RATE}" if RATE else "kind=synchronous" if SLOTS == 1 else f"kind=concurrent,streams={SLOTS}", "--constraint",
                f"kind=max_requests,count={n}", "--data", f"kind=json_file,path={out}.prompts.json", "--output", f"kind=json,path={out}",
                "--disable-console"]
    cli()


def inference_perf(packages, url, n):
    sys.path.insert(0, packages + "/ip-src")
    StandIns("av", "google", "boto3", "botocore", "azure", "prometheus_client", "opentelemetry")
    from inference_perf.utils import custom_tokenizer
    made = custom_tokenizer.CustomTokenizer
    made.__init__ = lambda self, *a, **k: None
    made.count_tokens = lambda self, text, add_special_tokens=True: (len(text.encode()) + 3) // 4
    made.get_tokenizer = lambda self: Tokenizer()
    from inference_perf import main
    load = {"type": "concurrent", "interval": 0, "num_workers": 1, "worker_max_concurrency": SLOTS,
            "stages": [{"num_requests": n, "concurrency_level": SLOTS}]}
    if RATE:
        load = {"type": "constant", "interval": 0, "num_workers": 1, "stages": [{"rate": float(RATE), "duration": round(n / float(RATE))}]}
    config = {"load": load,
              "api": {"type": "chat", "streaming": True}, "server": {"type": "vllm", "model_name": "sim", "base_url": url, "ignore_eos": True},
              "tokenizer": {"pretrained_model_name_or_path": "none"}, "data": {"type": "mock"},
              "storage": {"local_storage": {"path": sys.argv[5] + ".files"}},
              "report": {"request_lifecycle": {"summary": True, "per_stage": False, "per_request": True}}}
    json.dump(config, open(sys.argv[5] + ".yaml", "w"))
    sys.argv = ["inference-perf", "--config_file", sys.argv[5] + ".yaml"]
    main.main_cli()


def lpg(packages, url, n):
    sys.path.insert(0, packages + "/lpg-src")
    StandIns("google", "transformers")
    import benchmark_serving
    address, out = urllib.parse.urlsplit(url), sys.argv[5]
    benchmark_serving.get_filtered_dataset = lambda *_: [(PROMPT, 16, TOKENS)]
    benchmark_serving.AutoTokenizer.from_pretrained = lambda *_, **__: Tokenizer()
    benchmark_serving.start_http_server = lambda _: None
    benchmark_serving.Timestamp = lambda: Fields(FromDatetime=lambda _: None)

    async def get_qps(_):
        return 0.0
    # it counts requests without streaming only, and fails for streaming ones
    benchmark_serving.AsyncRequestCounter.get_qps = get_qps
    args = Fields(backend="vllm", models="sim", host=address.hostname, port=address.port, stream_request=True, request_timeout=600.0, tokenizer="none",
                  best_of=1, num_prompts=n, max_input_length=1024, max_output_length=1024, top_k=1, request_rate=10.0, seed=0,
                  save_json_results=True, file_prefix=out + ".lpg", tcp_conn_limit=100, use_beam_search=False, ignore_eos=False)
    asyncio.run(benchmark_serving.main(args))


def main():
    tool, packages, url, n, out = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
    got = {"vllm": vllm, "sglang": sglang, "guidellm": guidellm, "inference-perf": inference_perf, "lpg": lpg}[tool](packages, url, n)
    if got:
        json.dump(got, open(out, "w"), default=float)


# in GuideLLM's processes as well
if "guidellm" in sys.argv[:2]:
    stand_in_for_torch()
if __name__ == "__main__":
    main()
