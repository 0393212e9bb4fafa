"""Checks the examples of clusters without a cluster: manifests.py ROOT BIN. Prints a line for each fault.

YAML parses. Files and folders a kustomization names exist, and so do the makefiles and scripts that containers run. A variable is one that a
makefile documents, or an option a program has. Scripts give no option a program does not have. The operator's objects for a Benchmark, and its
rights, name existing ones."""

import json, os, re, subprocess, sys
import yaml

ROOT, BIN = sys.argv[1:]
PROGRAMS = ["prep", "sched", "fire", "collect", "report"]
HERE = os.path.join(ROOT, "examples/kubernetes")
OWN = {"SHARDS", "START_IN", "READY", "SILENCE", "RUN", "POD_NAME", "NODE_NAME", "AWS_REGION", "HOME", "USER", "HF_HOME", "BASELINE", "FAIL_IF",
       "UPLOAD_TO", "PUSH_AS"}


def fail(where, text):
    print(f"{os.path.relpath(where, ROOT)}: {text}")


def options():
    found = {}
    for program in PROGRAMS:
        text = subprocess.run([f"{BIN}/ipf-{program}", "--help"], capture_output=True, text=True, check=True).stdout
        found[program] = set(re.findall(r"--([a-z][a-z0-9-]*)", text))
    for command in ("compare", "export", "plot", "certificate"):
        text = subprocess.run([f"{BIN}/ipf-report", command, "--help"], capture_output=True, text=True, check=True).stdout
        found["report"] |= set(re.findall(r"--([a-z][a-z0-9-]*)", text))
    found["operator"] = set(re.findall(r"--([a-z-]+)", subprocess.run([f"{BIN}/ipf-operator", "--help"], capture_output=True, text=True).stdout))
    found["sim"] = set(re.findall(r"--([a-z0-9-]+)", subprocess.run([f"{BIN}/ipf-sim", "--help"], capture_output=True, text=True).stdout))
    return found


def variables():
    names = set()
    for file in os.listdir(os.path.join(ROOT, "share/ipf")):
        if file.endswith(".mk"):
            for line in open(os.path.join(ROOT, "share/ipf", file), encoding="utf-8"):
                names.update(re.findall(r"^([A-Z_]+) *\?=.*#:", line))
    return names


OPTIONS, VARIABLES = options(), variables()


def check_variable(where, name):
    if name in OWN or name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "HF_TOKEN"):
        return
    program = re.match(r"IPF_(PREP|SCHED|FIRE|COLLECT|REPORT|OPERATOR)_(.+)", name)
    if program and program[2].lower().replace("_", "-") in OPTIONS[program[1].lower()]:
        return
    if name not in VARIABLES:
        fail(where, f"{name}: no makefile has this variable, no program this option")


def check_command(where, command):
    for word in command:
        path = re.fullmatch(r"/usr/local/share/ipf/(.+)", str(word))
        if path and not os.path.exists(f"{ROOT}/share/ipf/{path[1]}") and not os.path.exists(f"{HERE}/{path[1]}"):
            fail(where, f"{word}: the image does not have it")
    if command and command[0] == "ipf-sim":
        check_options(where, "sim", command)


def check_options(where, program, words):
    for word in words:
        if re.match(r"--[a-z]", str(word)) and str(word)[2:].split("=")[0] not in OPTIONS[program]:
            fail(where, f"{word}: ipf-{program} does not have this option")


def check_pods(where, value):
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            for container in value["containers"]:
                check_command(where, container.get("command", []))
                if container.get("command") == ["ipf-sim"]:
                    check_options(where, "sim", container.get("args", []))
                for variable in container.get("env", []):
                    check_variable(where, variable["name"])
        for inner in value.values():
            check_pods(where, inner)
    elif isinstance(value, list):
        for inner in value:
            check_pods(where, inner)


def check_kustomization(where, value):
    folder = os.path.dirname(where)
    for path in value.get("resources", []) + [p["path"] for p in value.get("patches", []) if "path" in p]:
        if not os.path.exists(os.path.join(folder, path)):
            fail(where, f"{path}: does not exist")
    for generator in value.get("configMapGenerator", []) + value.get("secretGenerator", []):
        lines = list(generator.get("literals", []))
        for path in generator.get("envs", []):
            lines += open(os.path.join(folder, path), encoding="utf-8").read().splitlines()
        for line in lines:
            if line and not line.startswith("#"):
                check_variable(where, line.split("=")[0])
    for patch in value.get("patches", []):
        text = yaml.safe_load(patch.get("patch", "null"))
        for step in text if isinstance(text, list) else []:
            if str(step.get("path", "")).endswith("/command"):
                check_command(where, step["value"])


def check_yaml(where):
    try:
        for value in yaml.safe_load_all(open(where, encoding="utf-8")):
            if os.path.basename(where) == "kustomization.yaml":
                check_kustomization(where, value)
            elif os.path.basename(where) == "values.yaml":
                for name in value["run"]:
                    check_variable(where, name)
            elif not isinstance(value, dict):
                fail(where, "not an object")
            else:
                check_pods(where, value)
    except yaml.YAMLError as error:
        fail(where, str(error).replace("\n", " "))


def check_chart(where):
    text = open(where, encoding="utf-8").read()
    values = yaml.safe_load(open(f"{HERE}/chart/values.yaml", encoding="utf-8"))
    for path in re.findall(r"\.Values((?:\.[a-zA-Z]+)+)", text):
        at = values
        for name in path[1:].split("."):
            if not isinstance(at, dict) or name not in at:
                fail(where, f".Values{path}: not in values.yaml")
                break
            at = at[name]
    for name in re.findall(r'include "([^"]+)"', text):
        if f'define "{name}"' not in open(f"{HERE}/chart/templates/_names.tpl", encoding="utf-8").read():
            fail(where, f"{name}: not in _names.tpl")


def check_schema(folder):
    """The chart's schema has the members of its values, and names the makefiles and existing variables: Helm refuses
    others."""
    where, values = f"{folder}/values.schema.json", yaml.safe_load(open(f"{folder}/values.yaml", encoding="utf-8"))
    schema = json.load(open(where, encoding="utf-8"))
    check_members(where, values, schema, "values")
    properties = schema["properties"]
    names = next(way["enum"] for way in properties["run"]["propertyNames"]["anyOf"] if "enum" in way)
    makefiles = [file for file in os.listdir(os.path.join(ROOT, "share/ipf")) if file.endswith(".mk") and file != "common.mk"]
    for what, said, wanted in (("run", names, VARIABLES), ("makefile", properties["makefile"]["enum"], makefiles)):
        for name in sorted(set(said) ^ set(wanted)):
            fail(where, f"{what}: {name}: {'no such one' if name in said else 'is missing'}")


def check_script(where):
    text = re.sub(r"\\\n", " ", open(where, encoding="utf-8").read())
    for line in text.splitlines():
        if not line.lstrip().startswith("#"):
            for program, words in re.findall(r"(?<![\w-])ipf-(prep|sched|fire|collect|report|sim)(?=\s)([^|;&`]*)", line):
                check_options(where, program, re.findall(r"(?<=\s)--[a-z][a-z0-9-]*", words))


def check_operator(folder):
    for at, _, files in os.walk(os.path.join(folder, "source")):
        for file in files:
            text = open(os.path.join(at, file), encoding="utf-8").read()
            for path in re.findall(r'"(/usr/local/share/ipf/[^"]+)"', text):
                if not os.path.exists(os.path.join(folder, os.path.basename(path))):
                    fail(os.path.join(at, file), f"{path}: the image does not have it")
            if file == "benchmark_config.c":
                for name in re.findall(r'\{"([A-Z_]+)", ', text):
                    check_variable(os.path.join(at, file), name)
    kinds = list(yaml.safe_load_all(open(f"{folder}/deploy/crds.yaml", encoding="utf-8")))
    check_values(f"{folder}/deploy/crds.yaml", kinds)
    known = {kind["spec"]["names"]["plural"] for kind in kinds}
    for rights in yaml.safe_load_all(open(f"{folder}/deploy/rights.yaml", encoding="utf-8")):
        for rule in rights.get("rules", []):
            for resource in rule["resources"]:
                if "*" in resource + "".join(rule["verbs"]) or resource == "secrets":
                    fail(f"{folder}/deploy/rights.yaml", f"{resource}: too much")
                if rule["apiGroups"] == ["operator.ipf"] and resource.split("/")[0] not in known:
                    fail(f"{folder}/deploy/rights.yaml", f"{resource}: no such kind")
    for file in os.listdir(f"{folder}/samples"):
        for value in yaml.safe_load_all(open(f"{folder}/samples/{file}", encoding="utf-8")):
            schemas = [kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for kind in kinds if kind["spec"]["names"]["kind"] == value["kind"]]
            for schema in schemas or [{"properties": {}}]:
                check_members(f"{folder}/samples/{file}", value["spec"], schema["properties"].get("spec", {}), "spec")


def check_values(where, value):
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if inner is None:
            fail(where, f"{name}: has no value")
        check_values(where, inner)


def check_members(where, value, schema, path):
    if isinstance(value, dict):
        for name, inner in value.items() if "properties" in schema else (): # else whatever Kubernetes takes
            if name not in schema["properties"]:
                fail(where, f"{path}.{name}: not in the schema")
            else:
                check_members(where, inner, schema["properties"][name], f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            check_members(where, inner, schema.get("items", {}), path)
    elif isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        fail(where, f"{path}: {value}: not of the form that the schema wants")


if os.path.exists(f"{HERE}/chart"):
    check_schema(f"{HERE}/chart")
if os.path.exists(f"{HERE}/operator"):
    check_operator(f"{HERE}/operator")
for folder in ("container", "kubernetes", "slurm", "ci"):
    for at, _, files in os.walk(os.path.join(ROOT, "examples", folder)):
        for file in files:
            path = os.path.join(at, file)
            if "chart/templates" in at:
                check_chart(path)
            elif file.endswith((".yaml", ".yml")):
                check_yaml(path)
            if file.endswith((".sh", ".sbatch", ".md", ".yml")):
                check_script(path)
