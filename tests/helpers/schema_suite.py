"""The official JSON-Schema-Test-Suite, by ipf-collect --check-output format.

    python3 schema_suite.py FOLDER      # with draft6, draft7, draft2019-09, draft2020-12 in it, or some of these

Prints a line for each test that differs and for each schema refused for another reason than those of ipf-results(5), then the counts. The
folders "optional" are left out: they test behaviour that implementations may choose.
"""
import json
import os
import re
import sys

import schema_pairs

DRAFTS = {"draft6": "http://json-schema.org/draft-06/schema#", "draft7": "http://json-schema.org/draft-07/schema#",
          "draft2019-09": "https://json-schema.org/draft/2019-09/schema", "draft2020-12": "https://json-schema.org/draft/2020-12/schema"}
# Other documents, dynamic references, vocabularies, and names of Unicode properties that PCRE2 does not have.
REFUSED = "nothing is fetched|this keyword is not supported|a draft of json-schema.org|unknown property after"


def main():
    right = refused = differ = 0
    for draft, uri in DRAFTS.items():
        folder = os.path.join(sys.argv[1], draft)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if not name.endswith(".json"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                groups = json.load(file)
            for group in groups:
                schema, tests = group["schema"], group["tests"]
                schema = {"$schema": uri} | schema if isinstance(schema, dict) else schema
                found = schema_pairs.check([(schema, test["data"]) for test in tests], lambda n: n % 2)
                if isinstance(found, str):
                    refused += len(tests)
                    if not re.search(REFUSED, found):
                        print(f"{draft}/{name}: {group['description']}: {found}")
                    continue
                for test, (got, why) in zip(tests, found, strict=True):
                    good = got == ("valid" if test["valid"] else "schema")
                    right += good
                    differ += not good
                    if not good:
                        print(f"{draft}/{name}: {group['description']}: {test['description']}: {got} ({why})")
    print(f"{right} right, {refused} refused, {differ} differ")


main()
