#!/usr/bin/env python3
"""Prints a C program printing the layout of the public structs and the values of the enums: library_layout.py HEADER…"""
import re
import sys


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def main():
    text = "".join(without_comments(open(path).read()) for path in sys.argv[1:])
    print("#include <ipf/ipf.h>\n#include <stdio.h>\nint main(void)\n{")
    for name, body in sorted(re.findall(r"^struct (\w+) \{(.*?)^\};", text, flags=re.S | re.M)):
        print(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
        for member in re.findall(r"(\w+)(?:\[\d+\]|\)\([^;]*\))?;", body):
            print(f'printf("\\t{member} %zu %zu\\n", offsetof(struct {name}, {member}), sizeof ((struct {name} *)0)->{member});')
    for name, body in sorted(re.findall(r"^enum (\w+) \{(.*?)^\};", text, flags=re.S | re.M)):
        print(f'printf("enum {name}\\n");')
        for value in re.findall(r"\b([A-Z][A-Z_0-9]+)\b", body):
            print(f'printf("\\t{value} %d\\n", (int){value});')
    print("return 0;\n}")


main()
