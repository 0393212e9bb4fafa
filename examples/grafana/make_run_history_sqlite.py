#!/usr/bin/env python3
"""Print run-history-sqlite.json: run-history.json for SQLite, read by the plugin frser-sqlite-datasource (3.5 or later).

    python3 examples/grafana/make_run_history_sqlite.py >examples/grafana/run-history-sqlite.json

SQLite executes the queries of run-history.json, except those in REWRITES. The plugin takes times as texts of RFC 3339, where it is
told which columns are times. It lacks Grafana's macros for a range of time: $__from and $__to are in ms.
"""
import json
import pathlib
import re

TIME = r"((?:\w\.)?(?:started|at))"  # a column with points in time
REWRITES = [
    (rf"\$__timeFilter\({TIME}\)", r"CAST(strftime('%s', \1) AS INTEGER) BETWEEN $__from / 1000 AND $__to / 1000"),
    (rf"\b{TIME} AS (time|started)\b", r"strftime('%Y-%m-%dT%H:%M:%fZ', \1) AS \2"),
    (rf"extract\(epoch FROM {TIME}\)", r"((julianday(\1) - 2440587.5) * 86400)"),
    (rf"to_char\({TIME}, 'YYYY-MM-DD HH24:MI:SS'\)", r"strftime('%Y-%m-%d %H:%M:%S', \1)"),
]


def query_of(sql):
    for pattern, replacement in REWRITES:
        sql = re.sub(pattern, replacement, sql)
    return sql


def target_of(target, datasource):
    sql = query_of(target["rawSql"])
    kind = "time series" if target["format"] == "time_series" else "table"
    times = re.findall(r"%fZ', [\w.]+\) AS (\w+)", sql)
    return {"refId": target["refId"], "datasource": datasource, "queryType": kind, "timeColumns": times, "rawQueryText": sql, "queryText": sql}


def main():
    # The plugin, and the uid of a source of it, in place of those of PostgreSQL.
    text = (pathlib.Path(__file__).parent / "run-history.json").read_text(encoding="utf-8")
    for postgres, sqlite in (("grafana-postgresql-datasource", "frser-sqlite-datasource"), ("DS_POSTGRES", "DS_SQLITE"), ("ipf-run-history", "ipf-run-history-sqlite")):
        text = text.replace(postgres, sqlite)
    dashboard = json.loads(text)
    dashboard["title"] += " (SQLite)"
    dashboard["description"] = dashboard["description"].replace("a PostgreSQL", "an SQLite") + " Made of run-history.json by make_run_history_sqlite.py."
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            variable["query"] = variable["definition"] = query_of(variable["query"])
    for panel in dashboard["panels"]:
        panel["targets"] = [target_of(target, panel["datasource"]) for target in panel.get("targets", [])]
        # The plugin calls each line "value", with the column metric as its label.
        if any(re.search(r"\bAS metric\b", target["rawQueryText"]) for target in panel["targets"]):
            panel["fieldConfig"]["defaults"]["displayName"] = "${__field.labels.metric}"
        if panel["type"] == "row":
            del panel["targets"]
    print(json.dumps(dashboard, indent=2, ensure_ascii=False))


main()
