"""docs/migrating.md names all of 0.1 that has gone or is another one: test_migration.py ROOT

names-0.1.txt is what public_names.py printed for the headers of 0.1.
"""

import pathlib
import re
import sys

from public_names import names_of


def read_list(path):
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {name: (what, header) for name, what, header in rows}


def missing(before, now, page):
    """Names that the page should have and does not."""
    words = set(re.findall(r"\w+", page))
    wrong = []
    for name, (what, header) in sorted(before.items()):
        if now.get(name) == (what, header):
            continue
        parts = name.split(".")
        # Of an enumeration that is as it was, in another header, the name of the type suffices.
        if len(parts) == 2 and name in now and now[name][0] == what and parts[0] in words:
            continue
        if not set(parts) <= words:
            wrong.append(f"docs/migrating.md does not name {name}: {what} in {header}, now "
                         f"{' in '.join(now[name]) if name in now else 'gone'}")
    return wrong


def main():
    root = pathlib.Path(sys.argv[1])
    before = read_list(root / "tests/abi/names-0.1.txt")
    now = names_of(root / "include")
    page = (root / "docs/migrating.md").read_text(encoding="utf-8")
    wrong = missing(before, now, page)
    changed = sum(1 for name, what in before.items() if now.get(name) != what)
    # What is planted is noticed: a field, a function and an argument that have gone, a moved type.
    for planted in ("MaarAllocationInfo.offset", "maarTrim", "MaarAllocation"):
        if not missing(before, {**now, planted: ("other", "")}, page) and planted not in page:
            wrong.append(f"planted: {planted} is another one, and is not noticed")
        gone = {name: what for name, what in now.items() if name != planted}
        if planted != "MaarAllocation" and not missing(before, gone, page):
            wrong.append(f"planted: {planted} has gone, and is not noticed")
    if not missing(before, now, page.replace("maarHipWait", "maarHipWaits")):
        wrong.append("planted: a changed function that the page lacks is not noticed")
    functions = {name for name in now if name.startswith("maar")}
    exported = {line for file in ("symbols.txt", "symbols-simulated.txt")
                for line in (root / "tests/abi" / file).read_text(encoding="utf-8").split()
                if re.fullmatch(r"maar[A-Z]\w+", line)}
    wrong += [f"public_names.py does not see {name}" for name in sorted(exported - functions)]
    print("\n".join(wrong))
    print(f"{len(before)} names of 0.1, {changed} of them are others now")
    return 1 if wrong or len(before) < 1400 else 0


if __name__ == "__main__":
    sys.exit(main())
