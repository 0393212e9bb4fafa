"""The shell of examples/ci, for tests: ci_steps.py github|gitlab FILE FOLDER

Writes each step with `run:` to FOLDER/NAME.sh (spaces become hyphens), or `script:` and `after_script:` to FOLDER/script.sh and
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


def github(document, folder):
    allowed = {"name", True, "permissions", "env", "jobs"}  # YAML reads `on` as true
    if set(document) != allowed:
        sys.exit(f"members: {sorted(map(str, document))}")
    write(folder, "env", assignments(document["env"]))
    for job in document["jobs"].values():
        for step in job["steps"]:
            unknown = set(step) - {"name", "if", "uses", "with", "run", "env", "continue-on-error"}
            if unknown or ("run" in step) == ("uses" in step):
                sys.exit(f"step {step}: {unknown}")
            if "run" in step:
                write(folder, step["name"].replace(" ", "-") + ".sh", step["run"])
                print(step["name"], "if " + step["if"] if "if" in step else "", sep="\t")
            else:
                if not re.fullmatch(r"actions/[a-z/-]+@v[0-9]+", step["uses"]):
                    sys.exit(f"action {step['uses']}")
                print("uses: " + step["uses"], json.dumps(step.get("with", {})), sep="\t")


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
    {"github": github, "gitlab": gitlab}[sys.argv[1]](yaml.load(text, Strict), sys.argv[3])
