"""Checks a Grafana dashboard, by itself and against a Prometheus that has a run.

    grafana_dashboard.py layout DASHBOARD               # ids, places, what each panel must have
    grafana_dashboard.py queries DASHBOARD              # the number of panels' queries
    grafana_dashboard.py data DASHBOARD URL [QUERY…]    # queries give data of each job, but these: "TITLE, REFID"

Prints a line for each thing that is wrong, and nothing else; ends with 1 if there is any.
"""
import json, math, re, sys, time, urllib.error, urllib.parse, urllib.request

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
        for t in p["targets"]:
            if p["datasource"].get("uid") != "${DS_PROMETHEUS}" or t["datasource"].get("uid") != "${DS_PROMETHEUS}":
                yield f"{title}: not the data source that was chosen"
            used = set(re.findall(r"\$(?!__)(\w+)", t["expr"]))
            yield from (f"{title}: ${name} is no variable" for name in sorted(used - names))
            if not {"job", "run"} <= used:
                yield f"{title}: does not choose job and run"
            yield from legend(p, t)


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
        with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as r:
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


def main():
    with open(sys.argv[2]) as f:
        dashboard = json.load(f)
    if sys.argv[1] == "queries":
        print(sum(len(p["targets"]) for p in panels_of(dashboard)))
        return
    wrong = list(layout(dashboard) if sys.argv[1] == "layout" else data(dashboard, sys.argv[3], sys.argv[4:]))
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
