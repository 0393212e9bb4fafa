"""Prints COUNT ports of 127.0.0.1 nothing listens on and no other test of this run was given: free_ports.py COUNT FOLDER

They are below those the system gives to connections and to servers that ask for any. FOLDER keeps those that were given."""
import os
import random
import socket
import sys


def is_free(port):
    try:
        os.mkdir(os.path.join(sys.argv[2], f"port.{port}"))
        with socket.socket() as s:
            s.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True


given = []
while len(given) < int(sys.argv[1]):
    port = random.randrange(10000, 32000)
    if is_free(port):
        given.append(port)
print(*given)
