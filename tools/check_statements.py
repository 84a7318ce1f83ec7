#!/usr/bin/env python3
"""Each statement of the public headers names a test that would fail if the statement were broken.

A statement is a result that a `@return` names, or a sentence with the word "never". The tables
tests/statements/*.toml have a row for each, under the function, field or type in question:

    [maarCollect]
    "VK_ERROR_DEVICE_LOST (everything was freed then)" = ["test_retire.c:lost_device_frees_everything"]

The key holds the words of the header: a part of the `@return` between semicolons, or the sentence.
Where a part names several codes, or other functions ("as maarMapMemory"), there is a row for each
code, and " | CODE" ends its key. VK_SUCCESS alone needs no row. Instead of a list, a row may be
{ tests = [...], by = "maarFunction" }, where the statement is about no function and the test sees it
by that one, or { reason = "..." }, where no test can be written.

A test is a cmocka case, or a function of a Python test. It must hold the name of the function (or
field, or `by`) and the code; its own body, the functions, tables and macros that the body names, and so on
count, in its file, in the headers of tests/ that the file includes, and in the sources that share
those headers. Where the name stands in a table as a text, the code must stand in the same row.

check_statements.py ROOT [--write]
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

HEADERS = "include/maar"
TABLES = "tests/statements"
PAGE = "docs/project/results/statements.md"
CODE = re.compile(r"\bVK_(?:ERROR_[A-Z_]+|SUCCESS|TIMEOUT|NOT_READY|INCOMPLETE)\b")
WORD = re.compile(r"[A-Za-z_]\w*")


# ---- the headers ----


class Statement:
    """One row that the tables must have."""

    def __init__(self, header, owner, words, code=None, shared=False, sentence=False):
        self.header, self.owner, self.words, self.code = header, owner, words, code
        self.sentence = sentence
        self.key = f"{words} | {code}" if shared else words

    @property
    def name(self):
        return self.owner.rpartition(".")[2]


def plain(comment):
    lines = [re.sub(r"^\s*\* ?", "", line).strip() for line in comment.split("\n")]
    return " ".join(line for line in lines if line)


def declared(code, outer):
    """What the declaration behind a comment is called; fields belong to their structure."""
    code = re.sub(r"^\s*#.*$|\bMAAR_API\b|\bextern \"C\" \{", "", code, flags=re.M)
    code = code.strip()
    found = (re.match(r"typedef (?:struct|enum|union) (\w+)", code)
             or re.match(r"typedef [^;]*?\(VKAPI_PTR\s*\*\s*(\w+)\)", code)
             or re.match(r"VK_DEFINE_\w+\((\w+)\)", code)
             or re.match(r"[^;={]*?\b(maar\w+)\(", code))
    if found:
        return found.group(1)
    found = re.match(r"(MAAR_\w+)\s*(?:=|,)", code)
    if found:
        return found.group(1)
    found = re.match(r"[^;]*?(\w+)(?:\[\w+\])*;", code)
    return f"{outer}.{found.group(1)}" if found and outer else ""


def comments(source):
    """(owner, words) of each documentation comment."""
    parts = re.split(r"/\*\*(.*?)\*/", source, flags=re.S)
    outer = ""
    for comment, code in zip(parts[1::2], parts[2::2]):
        code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
        words = plain(comment)
        owner = words.split()[1] if words.startswith("@file") else declared(code, outer)
        if words.startswith("@file"):
            owner = words.split(":")[0].removeprefix("@file ").strip()
        found = re.search(r"typedef (?:struct|union) (\w+) \{", code)
        outer = found.group(1) if found else "" if re.search(r"^\}", code, re.M) else outer
        yield owner, words


def parts_of(returned):
    """The parts between semicolons; a semicolon in parentheses does not count."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(returned):
        depth += (letter == "(") - (letter == ")")
        if letter == ";" and depth == 0:
            parts.append(returned[start:at])
            start = at + 1
    parts.append(returned[start:])
    return [part.strip().rstrip(".") for part in parts if part.strip()]


def named(part):
    """The functions whose results a part stands for: Maar's, and the driver's."""
    if not re.match(r"(?:as|what) (?:maar|vk)|.*\bwhat vk", part):
        return [], []
    return re.findall(r"\bmaar[A-Z]\w+", part), re.findall(r"\bvk[A-Z]\w+", part)


def codes_of(function, returns, seen=()):
    """The codes but VK_SUCCESS that a function's `@return` names, by itself or by others."""
    codes = []
    for part in returns.get(function, []):
        ours, _ = named(part)
        codes += CODE.findall(part)
        for other in ours:
            if other not in seen:
                codes += codes_of(other, returns, (*seen, function))
    return list(dict.fromkeys(code for code in codes if code != "VK_SUCCESS"))


def of_return(header, owner, parts, returns):
    for part in parts:
        ours, drivers = named(part)
        codes = list(dict.fromkeys(CODE.findall(part)))
        if part == "VK_SUCCESS":
            continue
        if ours or drivers:
            codes += [code for other in ours for code in codes_of(other, returns)] + drivers
            codes = list(dict.fromkeys(codes))
            for code in codes:
                yield Statement(header, owner, part, code, shared=True)
        elif not codes:
            yield Statement(header, owner, part)
        else:
            for code in codes:
                yield Statement(header, owner, part, code, shared=len(codes) > 1)


def statements_of(root):
    found, returns, blocks = [], {}, []
    for path in sorted((root / HEADERS).glob("*.h")):
        for owner, words in comments(path.read_text(encoding="utf-8")):
            result = re.search(r"@return (.*?)(?= @[a-z]|$)", words)
            prose = re.sub(r"@return .*?(?= @[a-z]|$)", "", words)
            prose = re.sub(r" ?@(?:param|threadsafety|lifetime|since|file)\b", "\n", prose)
            blocks.append((path.name, owner, result, prose))
            if result:
                returns[owner] = parts_of(result.group(1))
    for header, owner, result, prose in blocks:
        for sentence in re.split(r"(?<=[.!?]) +(?=[A-Z])|\n", prose):
            if re.search(r"\bnever\b", sentence, re.I):
                found.append(Statement(header, owner, sentence.strip(), sentence=True))
        if result:
            found += of_return(header, owner, returns[owner], returns)
    return found


# ---- the tests ----


def chunks_of(source):
    """The functions, tables, types and macros of a C source: name to text."""
    source = re.sub(r"/\*.*?\*/", " ", source, flags=re.S)
    chunks = {}
    for match in re.finditer(r"^#\s*define (\w+)(?:\\\n|.)*", source, re.M):
        chunks[match.group(1)] = match.group(0)
    source = re.sub(r"^#(?:\\\n|.)*|__attribute__\(\(.*?\)\)", "", source, flags=re.M)
    depth, start = 0, 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[{};]', source):
        sign = match.group(0)
        depth += (sign == "{") - (sign == "}")
        # Behind the brace of a type, a name or a semicolon ends the declaration.
        goes_on = re.match(r"\s*(?:[;=,]|(?!(?:static|enum|struct|void|const)\b)\w+\s*[;\[=])",
                           source[match.end():match.end() + 60])
        if depth == 0 and (sign == ";" or (sign == "}" and not goes_on)):
            text = source[start:match.end()].strip()
            head = re.split(r"[={]", text, maxsplit=1)[0]
            name = re.search(r"(\w+)\s*\(", head) or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*;?$", head.strip())
            if name and "{" in text:
                chunks[name.group(1)] = chunks.get(name.group(1), "") + text + "\n"
            start = match.end()
    return chunks


class Tests:
    """The sources of tests/, and what each case of them reaches."""

    def __init__(self, root):
        self.paths = {path.name: path for path in sorted((root / "tests").rglob("*"))
                      if path.suffix in (".c", ".h", ".py")}
        self.texts = {name: path.read_text(encoding="utf-8") for name, path in self.paths.items()}
        self.chunks = {name: chunks_of(text) for name, text in self.texts.items() if not name.endswith(".py")}
        self.includes = {name: {Path(file).name for file in re.findall(r'#include "([^"]+)"', text)}
                         for name, text in self.texts.items()}
        self.reached, self.neighbours, self.listed = {}, {}, {}
        for name, chunks in self.chunks.items():
            self.listed.setdefault(self.paths[name].parent, set()).update(
                word for body in chunks.values() if "CMUnitTest" in body for word in WORD.findall(body))

    def files_around(self, name):
        """The file, the headers that it includes, and the sources beside them that include one too; what
        sources of the file's own folder include counts as well."""
        if name in self.neighbours:
            return self.neighbours[name]
        headers, sources, waiting = [], [], [name]
        while waiting:
            for file in sorted(self.includes[waiting.pop()]):
                if file in self.chunks and file not in headers:
                    headers.append(file)
                    waiting.append(file)
            folders = {self.paths[file].parent for file in headers}
            for file in self.chunks:
                if file.endswith(".c") and not file.startswith("test_") and file not in sources \
                        and self.paths[file].parent in folders and self.includes[file] & set(headers):
                    sources.append(file)
                    if self.paths[file].parent == self.paths[name].parent:
                        waiting.append(file)
        self.neighbours[name] = [name, *headers, *sources]
        return self.neighbours[name]

    def reach(self, file, function):
        """The texts of a case and of all that it names."""
        key = (file, function)
        if key in self.reached:
            return self.reached[key]
        if file.endswith(".py"):
            text = self.texts[file]
            self.reached[key] = [text]
            return self.reached[key]
        texts, seen, waiting = [], set(), [function]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            text = next((self.chunks[near][name] for near in self.files_around(file)
                         if name in self.chunks[near]), None)
            if text is not None:
                texts.append(text)
                waiting += WORD.findall(text)
        self.reached[key] = texts
        return texts

    def cases(self):
        """(file, name) of each case that some group of its folder lists."""
        for file, text in self.texts.items():
            if file.endswith(".py"):
                for name in re.findall(r"def (test_\w+)\(", text):
                    yield file, name
                continue
            for name, chunk in self.chunks[file].items():
                if re.search(rf"\b{name}\(\s*void\s*\*\*", chunk) \
                        and name in self.listed[self.paths[file].parent]:
                    yield file, name


def holds(texts, name, code):
    """Whether a case's texts hold both; in a table that holds the name as a text, one row must."""
    quoted = f'"{name}"'
    bare = any(re.search(rf'(?<!")\b{name}\b(?!")', text) for text in texts)
    if bare:
        return code is None or any(re.search(rf"\b{code}\b", text) for text in texts)
    for text in texts:
        for match in re.finditer(re.escape(quoted), text):
            row = text[text.rfind("{", 0, match.start()):text.find("}", match.end())]
            if code is None or re.search(rf"\b{code}\b", row):
                return True
    return False


# ---- the tables ----


class Row:
    def __init__(self, table, owner, key, value):
        self.table, self.owner, self.key = table, owner, key
        value = value if isinstance(value, dict) else {"tests": value}
        self.tests, self.by = value.get("tests", []), value.get("by")
        self.reason = value.get("reason", "")
        self.odd = sorted(set(value) - {"tests", "by", "reason"})


def rows_of(root):
    rows = {}
    for path in sorted((root / TABLES).glob("*.toml")):
        for owner, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for key, value in entries.items():
                rows[path.stem + ".h", owner, key] = Row(path.name, owner, key, value)
    return rows


def faults_of_row(statement, row, tests, cases, functions):
    """What is wrong with a row that has a statement."""
    where = f"{row.table}: {row.owner}: \"{row.key}\""
    if row.odd:
        yield f"{where}: unknown words: {', '.join(row.odd)}"
    if bool(row.reason) == bool(row.tests):
        yield f"{where}: a row has tests, or else a reason"
    if row.by is not None and (statement.owner in functions or row.by not in functions):
        yield f"{where}: `by` names a public function, where the statement is about no function"
    name = row.by or statement.name
    for test in row.tests:
        file, _, case = test.partition(":")
        if (file, case) not in cases:
            yield f"{where}: no such test: {test}"
        elif not holds(tests.reach(file, case), name, statement.code):
            beside = f" with {statement.code}" if statement.code else ""
            yield f"{where}: {test} does not hold {name}{beside}"


def judge(root, statements, rows):
    """Every fault, in words."""
    tests = Tests(root)
    cases = set(tests.cases())
    functions = {found for path in (root / HEADERS).glob("*.h")
                 for found in re.findall(r"\bmaar[A-Z]\w+(?=\()", path.read_text(encoding="utf-8"))}
    wanted = {}
    for statement in statements:
        wanted[statement.header, statement.owner, statement.key] = statement
    for place, statement in wanted.items():
        if place not in rows:
            yield f"{statement.header}: {statement.owner}: no row for \"{statement.key}\""
        else:
            yield from faults_of_row(statement, rows[place], tests, cases, functions)
    for (header, owner, key), row in rows.items():
        if (header, owner, key) not in wanted:
            yield f"{row.table}: {owner}: the header does not state \"{key}\""


# ---- the page ----

HEAD = """# Statements: the tests of each

Which test fails if a statement of the public headers is broken? A statement is a result that a `@return` names,
or a sentence with the word "never". Rewritten by

    tools/check_statements.py . --write

from [tests/statements](../../../tests/statements); `style.statements` checks the page and the rows. A row with
"as" stands for a code of another function that the `@return` refers to.
"""


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*")


def page_of(statements, rows):
    headers = {}
    for statement in statements:
        headers.setdefault(statement.header, []).append(statement)
    lines = [HEAD, "| header | results | never | tests named | only a reason |", "| --- | --- | --- | --- | --- |"]
    total = [0, 0, set(), 0]
    for header, own in headers.items():
        found = [rows.get((header, statement.owner, statement.key)) for statement in own]
        never = sum(1 for statement in own if statement.sentence)
        tests = {test for row in found if row for test in row.tests}
        reasons = sum(1 for row in found if row and row.reason)
        lines.append(f"| {header} | {len(own) - never} | {never} | {len(tests)} | {reasons} |")
        total = [total[0] + len(own) - never, total[1] + never, total[2] | tests, total[3] + reasons]
    lines.append(f"| all | {total[0]} | {total[1]} | {len(total[2])} | {total[3]} |")
    for header, own in headers.items():
        lines += ["", f"## {header}", "", "| of | statement | tests |", "| --- | --- | --- |"]
        for statement in own:
            row = rows.get((header, statement.owner, statement.key))
            shown = "" if row is None else row.reason or ", ".join(row.tests)
            lines.append(f"| `{statement.owner}` | {cell(statement.key)} | {shown} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", type=Path, help="the folder of the sources")
    parser.add_argument("--write", action="store_true", help=f"rewrite {PAGE} and check nothing")
    arguments = parser.parse_args()
    root = arguments.root
    statements, rows = statements_of(root), rows_of(root)
    page = root / PAGE
    if arguments.write:
        page.write_text(page_of(statements, rows), encoding="utf-8")
        return 0
    found = list(judge(root, statements, rows))
    if not page.is_file() or page.read_text(encoding="utf-8") != page_of(statements, rows):
        found.append(f"{PAGE} is out of date: run check_statements.py with --write")
    for fault in found:
        print(fault)
    print(f"{len(statements)} statements, {len(rows)} rows, {len(found)} faults")
    return 1 if found or not statements else 0


if __name__ == "__main__":
    sys.exit(main())
