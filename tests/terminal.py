"""Runs a command on a terminal of its own, and prints the terminal's output: for tests.

    terminal.py lines ROWS COLUMNS THEN COMMAND     every byte that came
    terminal.py screen ROWS COLUMNS THEN COMMAND    the screen as it is at the end, and on standard error "longest N last N pictures N":
                                                    the longest line that was ever drawn, that of the last screen, and how often it was drawn

If THEN is not 0, the terminal has that many columns from the first picture on. The screen knows the few sequences that are used, and
refuses others. The exit status is the command's.

The file SHOWN of the environment has the output so far, and the file SHOWN.resized exists when the terminal has its other width: a command can wait
for them.
"""
import fcntl
import os
import pty
import re
import struct
import sys
import termios


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def run(rows, columns, then, command, drawn):
    path = os.environ.get("SHOWN", os.devnull)
    so_far = open(path, "wb")
    if path != os.devnull and os.path.exists(path + ".resized"):
        os.remove(path + ".resized")
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.pop("COLUMNS", None)
        resize(0, rows, columns)
        os.execvp("bash", ["bash", "-c", command])
    shown, changed = b"", False
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
        so_far.write(data)
        so_far.flush()
        if then and not changed and drawn in shown:
            changed = True
            resize(fd, rows, then)
            if path != os.devnull:
                open(path + ".resized", "wb").close()
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def draw(shown, resized):
    lines, row, column, longest = [[]], 0, 0, 0
    for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|\x1b.?|\r|\n|[^\x1b\r\n]+", shown.decode()):
        while len(lines) <= row:
            lines.append([])
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
        elif part == "\x1b[K":
            del lines[row][column:]
        elif part == "\x1b[J":
            del lines[row][column:], lines[row + 1:]
        elif re.fullmatch(r"\x1b\[[0-9]+A", part):
            row -= int(part[2:-1])
            assert row >= 0 or resized, "above the screen"
            row = max(row, 0)
        else:
            assert part[0] != "\x1b", "unknown sequence %r" % part
            lines[row][column:column + len(part)] = part
            column += len(part)
            longest = max(longest, column)
    return lines, longest


def main():
    kind, rows, columns, then = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    drawn = b"\x1b[J" if kind == "screen" else b"\r"
    shown, status = run(rows, columns, then, sys.argv[5], drawn)
    if kind == "lines":
        sys.stdout.buffer.write(shown)
        sys.exit(status)
    lines, longest = draw(shown, then)
    for line in lines:
        print("".join(line))
    print("longest %d last %d pictures %d" % (longest, max(map(len, lines)), shown.count(drawn)), file=sys.stderr)
    sys.exit(status)


main()
