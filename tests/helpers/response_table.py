#!/usr/bin/env python3
"""The responses of data/http1_responses.txt, for a client to compare.

    response_table.py serve TABLE READY     answers GET /N with the Nth response of the table (from 0), and closes the connection, on a free
                                            port of 127.0.0.1, which READY gets
    response_table.py config TABLE PORT N   a config file for curl that requests them all from N on, and prints of each: N, exit code, status, bytes
    response_table.py compare TABLE         reads what curl printed; prints the rows for which it is not what the table says

The third column of the table is "=" if curl agrees: it completes the same responses, with the same status and body, and fails else. Else it is
curl's result ("complete STATUS BYTES" or "error CODE") and why we differ.
"""
import re
import socket
import sys


def unescape(text, i=0, nested=False):
    """The bytes; if nested, until a brace closes, and where that was."""
    out = b""
    while i < len(text) and not (nested and text[i] == "}"):
        if text[i] == "|":
            out += b"\r\n"
            i += 1
        elif text[i] != "\\":
            out += text[i].encode()
            i += 1
        elif text[i + 1] == "x":
            out += bytes.fromhex(text[i + 2:i + 4])
            i += 4
        elif text[i + 1] == "{":
            count = re.match(r"\d+", text[i + 2:])[0]
            part, end = unescape(text, i + 3 + len(count), True)
            out += int(count) * part
            i = end + 1
        else:
            out += {"r": b"\r", "n": b"\n", "t": b"\t", "0": b"\0", "\\": b"\\"}[text[i + 1]]
            i += 2
    return (out, i) if nested else out


def rows(path):
    with open(path, encoding="ascii") as table:
        return [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]


def serve(table, ready):
    responses = [unescape(row[3]) for row in table]
    listener = socket.create_server(("127.0.0.1", 0))
    with open(ready, "w", encoding="ascii") as f:
        f.write("%d\n" % listener.getsockname()[1])
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(120)
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    more = connection.recv(65536)
                    if not more:
                        break
                    request += more
                else:
                    connection.sendall(responses[int(request.split()[1][1:])])
            except OSError:
                pass  # curl had enough


def config(table, port, begin):
    for n, row in list(enumerate(table))[begin:]:
        print('url = "http://row%d.test:%s/%d"\nconnect-to = "::127.0.0.1:%s"\noutput = "/dev/null"\nsilent\nhttp1.1\nmax-time = 10' % (n, port, n, port))
        print('noproxy = "*"\nwrite-out = "%d %%{exitcode} %%{http_code} %%{size_download}\\n"' % n)
        if row[0].startswith("HEAD"):
            print("head")
        print("next")


def compare(table):
    said = {}
    for line in sys.stdin:
        n, code, status, size = line.split()
        said[int(n)] = "complete %d %s" % (int(status), size) if code == "0" else "error %s" % code
    for n, (name, ours, column, _) in enumerate(table):
        curl = said.get(n, "nothing")
        kind, status, size = ours.split(" at ")[0].split()[:3]
        same = curl == "complete %s %s" % (status, size) if kind == "complete" else curl.startswith("error")
        if same != (column == "=") or not same and column.split(":")[0] != curl:
            print("%s\t%s\t%s\tthe table: %s" % (name, ours, curl, column))


if __name__ == "__main__":
    table = rows(sys.argv[2])
    if sys.argv[1] == "serve":
        serve(table, sys.argv[3])
    elif sys.argv[1] == "config":
        config(table, sys.argv[3], int(sys.argv[4]))
    else:
        compare(table)
