"""ipf from Python: run a measurement, read its results, get its report.

    import ipf

    run = ipf.run(url="http://localhost:8000", rate=4, duration="30s", progress=print)
    print(run.report().total.latency.ttft_ms.from_start.p50)
    frame = run.to_pandas()                 # a row for each request

    results = ipf.results("load.results.zst")
    slow = [row for row in results if row.get("ttft_ns", 0) > 500_000_000]

Everything is done by the programs, which this package brings: see `man ipf`. A failed one raises ipf.Error with its message. Names, units and
definitions are those of ipf-results(5) and ipf-report-json(5): absent values are absent.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from ._programs import Error, call, follow, lines_of, path_argument, program, temporary_file

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Error", "Object", "Results", "program", "report", "results", "run"]

PathLike = Union[str, "os.PathLike[str]"]


class Object(dict[str, Any]):
    """A JSON object, with its members as attributes too: report.total.rate.completed is report["total"]["rate"]["completed"]."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no member {name!r}; there are {', '.join(self) or 'none'}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *filter(str.isidentifier, self)]


def _options(values: dict[str, Any]) -> list[str]:
    """Keywords as options: slo="ttft=500ms" is --slo ttft=500ms, strict=True is --strict, by=["model", "tag"] is --by twice."""
    options: list[str] = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                options.append(option)
            elif each is not None and each is not False:
                options += [option, str(each)]
    return options


def _variables(values: dict[str, Any]) -> list[str]:
    """Keywords as options of `ipf run`, which are variables: page=False is --page 0, scrape=[A, B] is --scrape 'A B'."""
    options: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, (list, tuple)):
            value = shlex.join(map(str, value))
        options[name] = int(value) if isinstance(value, bool) else value
    return _options(options)


class Results:
    """The results of a run, a file of ipf-results(5): an iterable of its rows, one for each request."""

    def __init__(self, path: PathLike, **report_options: Any) -> None:
        self.path = Path(os.fsdecode(path))
        self._report_options = report_options

    def __repr__(self) -> str:
        return f"ipf.results({str(self.path)!r})"

    def __iter__(self) -> Iterator[Object]:
        for line in lines_of("ipf-report", "export", "requests-jsonl", path_argument(self.path)):
            yield json.loads(line, object_hook=Object)

    def report(self, **options: Any) -> Object:
        """The report as in ipf.report; the options that ipf.run was given for it are the defaults."""
        return report(self.path, **{**self._report_options, **options})

    @contextmanager
    def _parquet(self, table: str) -> Iterator[str]:
        with temporary_file(".parquet") as path:
            call("ipf-report", "export", "parquet", "-q", "--table", table, "-o", path, path_argument(self.path))
            yield path

    def to_arrow(self, table: str = "requests") -> pyarrow.Table:
        """The requests, events or windows as a table of pyarrow."""
        import pyarrow.parquet

        with self._parquet(table) as path:
            return pyarrow.parquet.read_table(path)

    def to_polars(self, table: str = "requests") -> polars.DataFrame:
        """The requests, events or windows as a data frame of polars."""
        import polars

        with self._parquet(table) as path:
            return polars.read_parquet(path, memory_map=False)

    def to_pandas(self, table: str = "requests") -> pandas.DataFrame:
        """The requests, events or windows as a data frame of pandas, absent values as NA. Needs pyarrow, too."""
        import pandas

        with self._parquet(table) as path:
            return pandas.read_parquet(path, dtype_backend="numpy_nullable")


def results(path: PathLike) -> Results:
    """The results that ipf-collect wrote, such as load.results.zst."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"{os.fspath(path)}: no such file")
    return Results(path)


def report(*paths: PathLike, **options: Any) -> Object:
    """The JSON report of one or more results, as in ipf-report-json(5). Options are those of ipf-report: report(path, slo="ttft=500ms")."""
    read: Object = json.loads(call("ipf-report", "-q", "-f", "json", *_options(options), *map(path_argument, paths)), object_hook=Object)
    return read


def run(
    *,
    url: str,
    rate: Optional[float] = None,
    duration: Optional[str] = None,
    slo: Optional[str] = None,
    out: str = "run",
    progress: Optional[Callable[[str], None]] = None,
    **options: Any,
) -> Results:
    """Measures a server: `ipf run measure`, whose other options can be given too, as in model="llama-3.1-8b", concurrency=16.

    `rate` is in requests per second, `duration` as in "60s", `slo` are objectives for the report. Everything is written to the folder `out`;
    with unchanged options, what is there already is not measured again. `progress` is given each line that the programs say, with a line
    of figures each second of the load.
    """
    if isinstance(slo, (list, tuple)):
        slo = ",".join(slo)
    options.update(url=url, rate=rate, duration=duration, slo=slo, out=out)
    given = options.pop("fire_options", None) or ""
    # --progress in any case, since a run with other options is measured again
    options["fire_options"] = "--progress " + (given if isinstance(given, str) else shlex.join(given))
    follow("ipf", ["run", "measure", *_variables(options)], progress)
    return Results(os.path.join(out, "results.zst"), slo=slo)
