#!/usr/bin/env python3
"""Memory and open files of processes, for a scraper: process_metrics.py NAME=FILE-WITH-PID…

Answers /NAME/metrics on a free port of 127.0.0.1, which it prints, in Prometheus's text format with the names of its clients.
A process that does not run yet, or any more, has no metrics.
"""
import http.server
import os
import sys

PAGE = os.sysconf("SC_PAGE_SIZE")


def metrics_of(pid_file):
    try:
        with open(pid_file) as file:
            pid = int(file.read())
        with open("/proc/%d/statm" % pid) as file:
            resident = int(file.read().split()[1]) * PAGE
        files = len(os.listdir("/proc/%d/fd" % pid))
    except (OSError, ValueError, IndexError):
        return ""
    return ("# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %d\n"
            "# TYPE process_open_fds gauge\nprocess_open_fds %d\n" % (resident, files))


def main():
    pid_files = dict(argument.split("=", 1) for argument in sys.argv[1:])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.strip("/").split("/")[0]
            body = metrics_of(pid_files.get(name, "")).encode()
            self.send_response(200 if name in pid_files else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


main()
