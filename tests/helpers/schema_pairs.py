"""Pairs of a JSON Schema and an answer: the results of ipf-collect --check-output format, in one run of the program."""
import hashlib
import json
import subprocess


def stream(path, header, lines):
    body = "".join(json.dumps(line) + "\n" for line in lines)
    digest = hashlib.sha256(body.encode()).hexdigest()
    with open(path, "w", encoding="utf-8") as out:
        out.write(json.dumps(header) + "\n" + body)
        out.write(json.dumps({"end": {"lines": len(lines), "sha256": digest}}) + "\n")


def check(pairs, escaped):
    """A list of (output_check, output_invalid) for pairs of a schema and a value, or the error of a refused schema. `escaped(n)`: write answer
    n in ASCII. Writes pairs.trace and pairs.records."""
    requests, records = [], []
    for n, (one, answer) in enumerate(pairs):
        form = {"type": "json_schema", "json_schema": {"name": "x", "schema": one}}
        requests.append({"id": f"r{n}", "prompt": "x", "input_tokens": 1, "output_tokens": 1, "response_format": form})
        message = {"role": "assistant", "content": json.dumps(answer, ensure_ascii=escaped(n))}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        records.append({"n": n, "req": n, "stage": 0, "ready_ns": n, "start_ns": n, "status": 200, "first_byte_ns": n + 1,
                        "end_ns": n + 2, "reads": [[n + 2, len(body.encode()), n + 2]], "body": body})
    stage = {"name": "a", "kind": "burst", "spec": "burst:n=1", "begin_ns": 0, "arrivals": len(pairs), "first_n": 0}
    stream("pairs.trace", {"ipf": "trace", "version": 1}, requests)
    stream("pairs.records", {"ipf": "records", "version": 1, "tool": "test 1", "t0_unix_ns": 1, "stages": [stage]}, records)
    command = ["ipf-collect", "--api", "openai-chat", "--check-output", "format", "--trace", "pairs.trace", "pairs.records"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        return done.stderr.decode()
    rows = (json.loads(line) for line in done.stdout.splitlines())
    return [(row.get("output_check"), row.get("output_invalid")) for row in rows if "n" in row]
