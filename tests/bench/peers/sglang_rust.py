#!/usr/bin/env python3
"""sglang's Rust client without sglang: the extension module of its wheel, which SGLANG_BENCH names, runs by itself."""
import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location("sglang.srt.rust_extensions._bench", os.environ["SGLANG_BENCH"])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.run_argv(["sglang-bench"] + sys.argv[1:])
