"""The labels of latencies, as lib/stream/metric_rows.h has them: LABELS["attempt_ttft"] is ("TTFT", "last attempt")."""
import os, re

ROWS = os.path.join(os.path.dirname(__file__), "../../lib/stream/metric_rows.h")
LABELS = {name: (label, remark[2:]) for name, label, remark in re.findall(r'METRIC\(\w+, (\w+), "([^"]*)", "([^"]*)"', open(ROWS, encoding="utf-8").read())}
