"""The public names of Maar's headers with what a program depends on: public_names.py INCLUDE > LIST

Prints a line for each function (with its types), callback, handle (with its kind), structure, field (with
its type), enumerator (with its value) and macro of include/maar, and the header where it stands. So lists of
two versions can be compared. A _COUNT, _MAX_ENUM or version grows and is left out.
"""

import pathlib
import re
import sys


def without_comments(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    return text.replace("\\\n", " ")


def plain(text):
    return re.sub(r"\s*([(),*])\s*", r"\1", " ".join(text.split()))


def types_of(arguments):
    """A function's parameters without their names."""
    return ",".join(re.sub(r"(?<=[\s*])\w+(?=\[|$)", "", plain(one).strip()).strip() or "void"
                    for one in arguments.split(","))


def members(kind, name, body):
    if kind == "enum":
        for entry in filter(str.strip, body.split(",")):
            entry, _, value = (part.strip() for part in entry.partition("="))
            if not re.search(r"_COUNT$|_MAX_ENUM$", entry):
                yield f"{name}.{entry}", value
        return
    for field in filter(str.strip, body.split(";")):
        field = plain(field)
        match = re.search(r"(\w+)((?:\[\w+\])*)$", field) or re.search(r"\*(\w+)\)", field)
        yield f"{name}.{match[1]}", field[:match.start(1)].strip() + field[match.end(1):]


def names_of(include):
    """Name: (what it is, header)."""
    found = {}
    for path in sorted(include.glob("maar/*.h")):
        text = without_comments(path.read_text(encoding="utf-8"))
        new = {}
        for name, value in re.findall(r"^#define (MAAR_(?!.*_H$)\w+)\s+(\S.*)$", text, re.MULTILINE):
            if not name.startswith(("MAAR_VERSION", "MAAR_API")):
                new[name] = f"macro {plain(value)}"
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
        for match in re.finditer(r"typedef (struct|enum|union) (\w+) \{(.*?)\} \w+;", text, re.DOTALL):
            new[match[2]] = match[1]
            new.update(members(match[1], match[2], match[3]))
        for kind, name in re.findall(r"VK_DEFINE_(NON_DISPATCHABLE_)?HANDLE\((\w+)\)", text):
            new[name] = "handle of 64 bits" if kind else "pointer"
        for result, name, arguments in re.findall(
                r"MAAR_API\s+([\w* ]+?)\s*VKAPI_CALL\s+(maar\w+)\(([^;]*?)\);", text, re.DOTALL):
            new[name] = f"{plain(result)}({types_of(arguments)})"
        for result, name, arguments in re.findall(
                r"typedef ([\w* ]+?)\s*\(VKAPI_PTR\s*\*\s*(PFN_maar\w+)\)\(([^;]*?)\);", text, re.DOTALL):
            new[name] = f"{plain(result)}({types_of(arguments)})"
        found.update({name: (what, path.name) for name, what in new.items()})
    return found


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for name, (what, header) in sorted(names_of(pathlib.Path(sys.argv[1])).items()):
        print(f"{name}\t{what}\t{header}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
