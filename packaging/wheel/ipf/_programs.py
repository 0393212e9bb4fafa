"""The programs of ipf: where they are, and calls of them."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Lines of a program's standard error that an exception keeps: the last ones say what failed.
KEPT_LINES = 50


class Error(Exception):
    """A program failed: its message, and its exit status as in ipf(7)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


def _places() -> Iterator[Path]:
    """Folders that may have the programs: what pip installed with this package, its folder of scripts, a folder beside it, PATH. This package
    in a clone takes those of PATH, even if another one is installed."""
    here = Path(__file__).resolve()
    if here.parents[1].name != "wheel":
        try:
            for file in importlib.metadata.files("ipf") or []:
                if file.name == "ipf-fire" and file.parent.name == "bin":
                    yield Path(str(file.locate())).resolve().parent
        except importlib.metadata.PackageNotFoundError:
            pass
        yield Path(sysconfig.get_path("scripts"))
        yield here.parents[1] / "bin"
    in_path = shutil.which("ipf-fire")
    if in_path:
        yield Path(in_path).parent


def program(name: str) -> str:
    """The path of ipf-fire, ipf-report, … or ipf."""
    for folder in _places():
        if (folder / "ipf-fire").exists() and (folder / name).exists():
            return str(folder / name)
    raise Error(f"{name} is not installed: neither with this package nor in PATH", 1)


# make: *** [run.mk:53: run/records.zst] Error 5
STEP_FAILED = re.compile(r"make\b.*: \*\*\* \[.*\] \D+(\d+)$")
# common.mk:42: *** URL is missing; "ipf help run" describes it.  Stop.
STOPPED = re.compile(r".*: \*\*\* (.*)\.  \S+$")


def said(lines: Iterable[str], name: str, status: int) -> Error:
    """What the programs said, without the commands of make between them, and the status of the one that failed."""
    everything, messages = list(lines), []
    for line in everything:
        step, stopped = STEP_FAILED.match(line), STOPPED.match(line)
        if step:
            status = int(step[1])
        elif stopped:
            messages.append("ipf: " + stopped[1])
        elif line.startswith("ipf") and ": " in line:
            messages.append(line)
    return Error("\n".join(messages or everything) or f"{name} ended with status {status}", status)


def path_argument(path: str | bytes | os.PathLike[str]) -> str:
    """The path as an argument that is neither an option nor standard input, whatever its name."""
    name = os.fsdecode(path)
    return os.path.join(".", name) if name.startswith("-") else name


def _command(name: str, arguments: tuple[str | os.PathLike[str], ...]) -> list[str]:
    return [program(name), *(os.fspath(argument) for argument in arguments)]


def call(name: str, *arguments: str | os.PathLike[str]) -> bytes:
    """The standard output of a program. Raises Error with its messages, if it fails."""
    done = subprocess.run(_command(name, arguments), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise said(done.stderr.decode(errors="replace").splitlines(), name, done.returncode)
    return done.stdout


def lines_of(name: str, *arguments: str | os.PathLike[str]) -> Iterator[bytes]:
    """The lines that a program writes, while it runs. Raises Error after the last one, if it failed."""
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen(_command(name, arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages) as child:
            try:
                assert child.stdout is not None
                yield from child.stdout
            except GeneratorExit:
                child.terminate()
                raise
        if child.returncode:
            messages.seek(0)
            raise said(messages.read().decode(errors="replace").splitlines(), name, child.returncode)


def follow(name: str, arguments: list[str], progress: Callable[[str], None] | None) -> None:
    """Runs a program to its end, and gives each line of its standard error to `progress`. An interrupt ends it in good order, as Ctrl-C in
    a shell does: what was measured until then is kept."""
    kept: deque[str] = deque(maxlen=KEPT_LINES)
    with subprocess.Popen(
        [program(name), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        with _passing_interrupts(child):
            assert child.stderr is not None
            for line in child.stderr:
                kept.append(line.rstrip("\n"))
                if progress:
                    progress(kept[-1])
    if child.returncode:
        raise said(kept, name, child.returncode)


@contextmanager
def _passing_interrupts(child: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.killpg(child.pid, signal.SIGINT)
        child.communicate()
        raise


@contextmanager
def temporary_file(suffix: str) -> Iterator[str]:
    """The path of a file that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="ipf-") as folder:
        yield os.path.join(folder, "data" + suffix)
