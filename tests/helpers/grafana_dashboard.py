"""Checks a Grafana dashboard, by itself and against a Prometheus with a run, or a PostgreSQL or SQLite with several.

    grafana_dashboard.py layout DASHBOARD               # ids, places, what each panel must have
    grafana_dashboard.py queries DASHBOARD              # the number of panels' queries
    grafana_dashboard.py data DASHBOARD URL [QUERY…]    # queries give data of each job, but these: "TITLE, REFID"
    grafana_dashboard.py sql DASHBOARD [DATABASE]       # SQLite's DATABASE, or psql's, gives rows, over time of at least two runs
    grafana_dashboard.py same DASHBOARD OTHER DATABASE  # psql's database gives DASHBOARD what SQLite's DATABASE gives OTHER

Prints a line for each thing that is wrong, and nothing else; ends with 1 if there is any.
"""
import csv, datetime, itertools, json, math, re, sqlite3, subprocess, sys, time, urllib.error, urllib.parse, urllib.request

FROM, TO = 1577836800, 2145916800  # 2020 to 2038
TIME_FILTER = re.compile(r"\$__timeFilter\(r\.started\)|strftime\('%s', r\.started\) AS INTEGER\) BETWEEN \$__from / 1000 AND \$__to / 1000")
WINDOW, RANGE, STEP = "10s", "5m", 0.1  # the scraped run may last less than a second


def panels_of(dashboard):
    return [p for p in dashboard["panels"] if p["type"] != "row"]


def overlap(a, b):
    return a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]


def layout(dashboard):
    everything, panels = dashboard["panels"], panels_of(dashboard)
    names = {v["name"] for v in dashboard["templating"]["list"]}
    for v in dashboard["templating"]["list"]:
        for field in ("label", "type", "query"):
            if not v.get(field):
                yield f'variable {v["name"]}: no {field}'
    ids = [p["id"] for p in everything]
    yield from (f"panel id {i} occurs {ids.count(i)} times" for i in sorted(set(ids)) if ids.count(i) > 1)
    titles = [p.get("title") for p in everything]
    yield from (f"title {t} occurs {titles.count(t)} times" for t in sorted(set(titles)) if titles.count(t) > 1)
    for i, p in enumerate(everything):
        g = p["gridPos"]
        if g["x"] < 0 or g["y"] < 0 or g["w"] < 1 or g["h"] < 1 or g["x"] + g["w"] > 24:
            yield f'{p["title"]}: outside of the 24 columns: {g}'
        yield from (f'{p["title"]}: overlaps {q["title"]}' for q in everything[:i] if overlap(g, q["gridPos"]))
    for p in panels:
        title = p["title"]
        if not p.get("description"):
            yield f"{title}: no description"
        if not p["fieldConfig"]["defaults"].get("unit"):
            yield f"{title}: no unit"
        if not p.get("targets"):
            yield f"{title}: no query"
        refs = [t["refId"] for t in p["targets"]]
        if len(set(refs)) < len(refs):
            yield f"{title}: two queries of the same refId"
        chosen = "${%s}" % next(v["name"] for v in dashboard["templating"]["list"] if v["type"] == "datasource")
        for t in p["targets"]:
            if p["datasource"].get("uid") != chosen or t["datasource"].get("uid") != chosen:
                yield f"{title}: not the data source that was chosen"
            if "expr" not in t:
                yield from sql_target(title, t, names)
                continue
            used = set(re.findall(r"\$(?!__)(\w+)", t["expr"]))
            yield from (f"{title}: ${name} is no variable" for name in sorted(used - names))
            if not {"job", "run"} <= used:
                yield f"{title}: does not choose job and run"
            yield from legend(p, t)


def sql_of(target):
    """The query as PostgreSQL's data source has it, or SQLite's."""
    return target["rawSql"] if "rawSql" in target else target["rawQueryText"]


def is_series(target):
    return "time_series" in (target.get("format"), target.get("queryType", "").replace(" ", "_"))


def sql_target(title, target, names):
    """Variables are quoted, and choose either one run or those of a time, models and a tag."""
    sql = sql_of(target)
    used = set(re.findall(r"\$\{(\w+):sqlstring\}", sql))
    yield from (f"{title}: {name} is no variable, or not quoted" for name in re.findall(r"\$\{?(?!__)(\w+)(?!\w*:sqlstring)", sql))
    yield from (f"{title}: {name} is no variable" for name in sorted(used - names))
    if used != {"run"} and not ({"model", "tag", "value"} <= used and TIME_FILTER.search(sql)):
        yield f"{title}: does not choose a run, or time, model and tag"
    if is_series(target) and not re.search(r"\bAS time\b", sql):
        yield f"{title}: no column time"
    if "rawSql" not in target and target["queryText"] != sql:
        yield f"{title}: two queries"
    if "rawSql" not in target and target["timeColumns"] != re.findall(r"\bstrftime\('%Y-%m-%dT%H:%M:%fZ', [\w.]+\) AS (\w+)", sql):
        yield f"{title}: other columns are read as times than those that are"


def legend(panel, target):
    """Do the lines of a panel tell runs, and stages if the query knows them, apart? A heat map's are its buckets."""
    expected = ["le"] if panel["type"] == "heatmap" else ["job", "name"]
    by = re.findall(r"by \(([^)]*)\)", target["expr"])[0].split(", ")
    if panel["type"] != "heatmap" and "stage" in by:
        expected.append("stage")
    for label in expected:
        if label not in by:
            yield f'{panel["title"]}: the query adds up each {label}'
        if "{{%s}}" % label not in target["legendFormat"]:
            yield f'{panel["title"]}: the legend has no {label}'


def get(url, path, parameters):
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=120) as r:
            return json.load(r)["data"]
    except urllib.error.HTTPError as e:
        raise ValueError(json.load(e).get("error")) from e


def substituted(text, dashboard):
    """As Grafana does it, with All chosen of each variable."""
    for v in dashboard["templating"]["list"]:
        if v["type"] != "datasource":
            value = v["allValue"] if v.get("includeAll") else WINDOW
            text = re.sub(r"\$" + v["name"] + r"\b", lambda _: value, text)
    return text.replace("$__range", RANGE)


def jobs_with_data(url, target, expr):
    """The jobs whose lines have a finite value; None for lines without a job."""
    now = time.time()
    if target.get("instant"):
        found = [(s, [s["value"]]) for s in get(url, "query", {"query": expr, "time": now})["result"]]
    else:
        window = {"query": expr, "start": now - 120, "end": now, "step": STEP}
        found = [(s, s["values"]) for s in get(url, "query_range", window)["result"]]
    return {s["metric"].get("job") for s, values in found if any(math.isfinite(float(value)) for _, value in values)}


def data(dashboard, url, may_be_empty):
    known = [f'{p["title"]}, {t["refId"]}' for p in panels_of(dashboard) for t in p["targets"]]
    yield from (f"{query}: may be empty, but there is no such query" for query in may_be_empty if query not in known)
    jobs = set(get(url, "label/job/values", {"match[]": "ipf_run_info"}))
    for v in dashboard["templating"]["list"]:
        if v["type"] != "query":
            continue
        metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", substituted(v["query"]["query"], dashboard)).groups()
        if not get(url, f"label/{label}/values", {"match[]": metric}):
            yield f'variable {v["name"]}: {metric} has no {label}'
    for p in panels_of(dashboard):
        for t in p["targets"]:
            query, expr = f'{p["title"]}, {t["refId"]}', substituted(t["expr"], dashboard)
            try:
                missing = ({None} if p["type"] == "heatmap" else jobs) - jobs_with_data(url, t, expr)
                if missing and query not in may_be_empty:
                    yield f"{query}: no data of {missing}: {expr}"
            except ValueError as e:
                yield f"{query}: {e}: {expr}"


def psql(sql):
    """Rows as dictionaries; an empty cell is NULL."""
    p = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "--csv", "-c", sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if p.returncode:
        raise ValueError(p.stderr.strip())
    return list(csv.DictReader(p.stdout.splitlines()))


def sqlite(database):
    """The same of SQLite. The plugin gives a column the type of its first value: all have to have it."""
    def ask(sql):
        try:
            found = database.execute(sql)
        except sqlite3.Error as e:
            raise ValueError(e) from e
        names, rows = [column[0] for column in found.description], found.fetchall()
        for name, values in zip(names, zip(*rows)):
            if len({type(value) for value in values if value is not None}) > 1:
                raise ValueError(f"values of several types in {name}")
        return [dict(zip(names, ["" if value is None else str(value) for value in row])) for row in rows]
    return ask


def sql_substituted(sql, values):
    """As Grafana does it, with these values of the variables."""
    sql = re.sub(r"\$__timeFilter\(([^)]*)\)", rf"\1 BETWEEN to_timestamp({FROM}) AND to_timestamp({TO})", sql)
    sql = sql.replace("$__from", f"{FROM}000").replace("$__to", f"{TO}000")
    quoted = lambda m: ",".join("'" + v.replace("'", "''") + "'" for v in values[m[1]])
    return re.sub(r"\$\{(\w+):sqlstring\}", quoted, sql)


def sql_answers(dashboard, ask):
    """(name, target or None, rows or an error) of each variable, then of each query, with all values or the last one chosen."""
    values = {}
    for v in dashboard["templating"]["list"]:
        if v["type"] == "query":
            rows = ask(sql_substituted(v["query"], values))
            found = [row.get("__value", next(iter(row.values()))) for row in rows]
            values[v["name"]] = found if v["multi"] else found[-1:]
            yield f'variable {v["name"]}', None, rows
    for p in panels_of(dashboard):
        for t in p["targets"]:
            try:
                yield f'{p["title"]}, {t["refId"]}', t, ask(sql_substituted(sql_of(t), values))
            except ValueError as e:
                yield f'{p["title"]}, {t["refId"]}', t, e


def sql_data(dashboard, ask):
    for what, target, rows in sql_answers(dashboard, ask):
        if isinstance(rows, ValueError):
            yield f"{what}: {rows}"
        elif target:
            yield from (f"{what}: {wrong}" for wrong in sql_rows(rows, target))
        elif not rows:
            yield f"{what}: no value"


def plain(text):
    """A point in time, a number or a text of either database as the same value."""
    try:
        return float(f"{float(text):.12g}")
    except ValueError:
        pass
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return text


def sql_same(dashboard, ask, other, ask_other):
    for one, two in itertools.zip_longest(sql_answers(dashboard, ask), sql_answers(other, ask_other), fillvalue=("nothing", None, [])):
        rows, others = ([[(name, plain(text)) for name, text in row.items()] for row in answer[2]] for answer in (one, two))
        if one[0] != two[0]:
            yield f"{one[0]}: the other has {two[0]}"
        elif rows != others:
            yield f"{one[0]}: {next((pair for pair in itertools.zip_longest(rows, others) if pair[0] != pair[1]))}"


def sql_rows(rows, target):
    if not rows:
        yield "no rows"
        return
    if is_series(target):
        figures = [name for name in rows[0] if name not in ("time", "metric")]
        filled = [row for row in rows if row["time"] and any(row[name] for name in figures)]
        if len({row["time"] for row in filled}) < 2:
            yield "fewer than two points in time"
        if any(math.isnan(float(row[name])) for row in filled for name in figures if row[name]):
            yield "not a number"
    else:
        # NULLs alone would be a name that does not exist.
        yield from (f"no value of {name}" for name in rows[0] if not any(row[name] for row in rows))


def main():
    with open(sys.argv[2]) as f:
        dashboard = json.load(f)
    if sys.argv[1] == "queries":
        print(sum(len(p["targets"]) for p in panels_of(dashboard)))
        return
    ask = sqlite(sqlite3.connect(sys.argv[-1])) if sys.argv[1] == "same" or sys.argv[3:] and sys.argv[1] == "sql" else psql
    check = {"layout": lambda: layout(dashboard), "data": lambda: data(dashboard, sys.argv[3], sys.argv[4:]), "sql": lambda: sql_data(dashboard, ask),
             "same": lambda: sql_same(dashboard, psql, json.load(open(sys.argv[3], encoding="utf-8")), ask)}
    wrong = list(check[sys.argv[1]]())
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
