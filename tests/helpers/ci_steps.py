"""The shell of examples/ci, for tests: ci_steps.py github|action|gitlab FILE FOLDER

Writes each step with `run:` to FOLDER/NAME.sh (spaces become hyphens), its variables before it, or `script:` and `after_script:` to FOLDER/script.sh and
FOLDER/after_script.sh, and the variables to FOLDER/env as shell assignments. Prints the steps, one a line: NAME, or `uses: ACTION`, with
the condition. A step a CI system would refuse, or that would let a pull request run its own text, ends with a message.
"""
import json, os, re, shlex, sys

import yaml


class Strict(yaml.SafeLoader):
    """Refuses a key given twice."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(k, deep=deep) for k, _ in node.value]
        if len(keys) != len(set(map(str, keys))):
            sys.exit(f"a key is given twice: {keys}")
        return super().construct_mapping(node, deep)


def write(folder, name, text):
    if "${{" in text:
        sys.exit(f"{name}: an expression within a script, which a pull request could fill with commands")
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def assignments(variables):
    return "".join(f"export {k}={shlex.quote(str(v))}\n" for k, v in variables.items() if not str(v).startswith("$"))


def step_variables(step):
    """The variables of a step: an input is the variable input_NAME, a value of the event is one that the test sets."""
    lines = []
    for name, value in step.get("env", {}).items():
        of_input = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
        if of_input:
            lines.append(f"export {name}=\"$input_{of_input[1].replace('-', '_')}\"\n")
    return "".join(lines)


def write_steps(steps, folder, more):
    for step in steps:
        unknown = set(step) - {"name", "if", "uses", "with", "run", "env", "continue-on-error"} - more
        if unknown or ("run" in step) == ("uses" in step):
            sys.exit(f"step {step}: {unknown}")
        if "run" in step:
            name = step["name"].replace(" ", "-") + ".sh"
            write(folder, name, step["run"])
            with open(os.path.join(folder, name + ".env"), "w") as file:
                file.write(step_variables(step))
            print(step["name"], "if " + step["if"] if "if" in step else "", sep="\t")
        else:
            if not re.fullmatch(r"actions/[a-z/-]+@v[0-9]+|\./ci/ipf", step["uses"]):
                sys.exit(f"action {step['uses']}")
            print("uses: " + step["uses"], json.dumps(step.get("with", {})), sep="\t")


def github(document, folder):
    allowed = {"name", True, "permissions", "env", "jobs"}  # YAML reads `on` as true
    if set(document) != allowed:
        sys.exit(f"members: {sorted(map(str, document))}")
    job, = document["jobs"].values()
    given = {}
    for step in job["steps"]:
        if step.get("uses", "").startswith("./"):
            given = {"input_" + name.replace("-", "_"): value for name, value in step["with"].items()}
    write(folder, "env", assignments({**document["env"], **given}))
    write_steps(job["steps"], folder, set())


def action(document, folder):
    if set(document) != {"name", "description", "inputs", "runs"} or document["runs"]["using"] != "composite":
        sys.exit(f"members: {sorted(document)}")
    for step in document["runs"]["steps"]:
        if ("shell" in step) != ("run" in step):
            sys.exit(f"step {step['name']}: a composite action needs the shell of each script")
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(document["runs"])))
    if used != set(document["inputs"]):
        sys.exit(f"inputs: {sorted(used ^ set(document['inputs']))}")
    defaults = {"input_" + name.replace("-", "_"): value["default"] for name, value in document["inputs"].items() if "default" in value}
    defaults["input_keep"] = ""
    write(folder, "env", "".join(f"export {name}={shlex.quote(value)}\n" for name, value in defaults.items()))
    write_steps(document["runs"]["steps"], folder, {"shell"})


def gitlab(document, folder):
    (name, job), = document.items()
    unknown = set(job) - {"stage", "tags", "resource_group", "timeout", "rules", "variables", "script", "after_script", "artifacts"}
    if unknown:
        sys.exit(f"{name}: {unknown}")
    write(folder, "env", assignments(job["variables"]))
    for part in ("script", "after_script"):
        if not all(isinstance(line, str) for line in job[part]):
            sys.exit(f"{part}: a line that is not text: {job[part]}")
        write(folder, part + ".sh", "\n".join(job[part]) + "\n")
        print(part)
    print(json.dumps(job["artifacts"]))


with open(sys.argv[2]) as text:
    {"github": github, "action": action, "gitlab": gitlab}[sys.argv[1]](yaml.load(text, Strict), sys.argv[3])
