#!/usr/bin/env python3
"""Measure the code and check its limits: measure_code.py ROOT [--write FILE]

Measures each room and the whole project: the lengths of functions and files, nesting, parameters,
the share of comments, functions with identical text, and the includes between rooms. Prints the
measures as Markdown, or writes them to FILE. Then prints one line for each exceeded limit; exits
with 1 if there is any.
"""

import argparse
import ast
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOMS = ("include", "core/placement", "core/memory", "core/time", "core/plan", "core/paging",
         "core/residency",
         "core/objects", "core/transient", "core/reservation", "core/tile_cache",
         "core/watch", "core", "backends", "interop", "layer", "support", "tools", "samples",
         "bench", "tests", "shaders", "scripts")
C_SUFFIXES = (".c", ".h", ".cpp", ".cu")
SHADER_SUFFIXES = (".comp", ".vert", ".frag", ".glsl")
SKIPPED = ("__pycache__", "tests/fuzz/corpus/")

MAX_FUNCTION = 100  # lines, from its first word to its last brace
MAX_NESTING = 4
MAX_FILE = 1000
MAX_PARAMETERS = 8  # except where the function implements a foreign interface
MAX_SCRIPT = 500  # lines of a shell script, which has few functions
# Bounds of the median and of the 90th percentile of the lengths of a room's functions.
MEDIAN_BOUND = 18
P90_BOUND = 40
# A function of at least this length may not occur twice with identical text. Tests are compared only
# with tests: they compute their expectations independently.
MIN_TWIN = 6
MIN_TWIN_OF_TESTS = 8
# Functions of foreign interfaces, whose parameters are given.
FOREIGN = re.compile(r"VKAPI_CALL|VKAPI_PTR|\bcu[A-Z]\w*\(")
# Programs of one file each, which people read alone and side by side.
READ_ALONE = ("samples/first_buffer.c", "samples/from_vma/")

KEYWORDS = {"if", "for", "while", "switch"}
TOKEN = re.compile(r"[A-Za-z_]\w*|[^\s\w]|\d[\w.]*|\n")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SHELL_FUNCTION = re.compile(r"^(\w+)\(\)\s*[{(]", re.MULTILINE)


@dataclass
class Function:
    path: str
    name: str
    line: int
    length: int
    nesting: int
    parameters: int
    foreign: bool = False
    body: str = ""


@dataclass
class File:
    path: str
    lines: int = 0
    code: int = 0
    comments: int = 0
    functions: list = field(default_factory=list)
    includes: list = field(default_factory=list)

    @property
    def room(self):
        return next(room for room in ROOMS if self.path.startswith(room + "/"))


def blank_comments(text):
    """Returns the text without comments, preprocessor lines and strings, and the number of comment lines.
    The lines of the text stay."""
    commented = set()

    def blank(match):
        found = match.group(0)
        if found[0] in "\"'":
            return '""'
        if found.startswith(("/*", "//")):
            first = text.count("\n", 0, match.start())
            commented.update(range(first, first + found.count("\n") + 1))
        return "\n" * found.count("\n")

    pattern = (r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'"
               r"|^[ \t]*#(?:[^\n\\/]|\\.|/(?!\*))*")
    return re.sub(pattern, blank, text, flags=re.DOTALL | re.MULTILINE), commented


class CReader:
    """Finds functions by their braces: with this tree's format, only those stand alone on a line."""

    def __init__(self, path, code):
        self.path = path
        self.lines = code.split("\n")
        self.functions = []

    def read(self):
        start = None
        for number, line in enumerate(self.lines):
            if line.startswith("{") and self.lines[number - 1].rstrip().endswith(")"):
                start = number
            elif line.startswith("}") and start is not None:
                self.add(start, number)
                start = None
        return self.functions

    def add(self, brace, end):
        first = brace - 1
        while first > 0 and self.lines[first - 1].strip() and \
                self.lines[first - 1][-1] not in ";}{":
            first -= 1
        head = " ".join(line.strip() for line in self.lines[first:brace])
        body = "\n".join(self.lines[brace + 1:end])
        name, parameters = self.split_head(head)
        same = re.sub(r"\s+", " ", body)
        self.functions.append(Function(self.path, name, first + 1, end - first + 1,
                                       self.nesting(body), parameters,
                                       bool(FOREIGN.search(head)), same))

    @staticmethod
    def split_head(head):
        """Returns the name and the number of parameters: those of the last parenthesis at the outermost level."""
        depth, opening, commas = 0, 0, 0
        for place in range(len(head) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(head[place], 0)
            commas += head[place] == "," and depth == 1
            if depth == 0 and head[place] == "(":
                opening = place
                break
        inside = head[opening + 1:-1].strip()
        words = re.findall(r"\w+", head[:opening])
        return (words[-1] if words else "?"), 0 if inside in ("", "void") else commas + 1

    @staticmethod
    def nesting(body):
        """Returns the depth of the deepest branch or loop. Braces of initialisers and literals do not count."""
        deepest, blocks, parentheses = 0, [], []
        previous, before = ";", ""  # the previous token, and the token before a closed parenthesis
        for match in TOKEN.finditer(body):
            token = match[0]
            if token == "\n":
                continue
            if token == "(":
                parentheses.append(previous)
            elif token == ")":
                before = parentheses.pop() if parentheses else ""
            elif token == "{":
                loop = previous == ")" and re.match(r"[A-Za-z_]", before) and \
                    before not in ("return", "sizeof")
                blocks.append(bool(loop or previous in ("else", "do", ";", "{", "}", ":")) and
                              not (blocks and blocks[-1] is False))
                deepest = max(deepest, sum(blocks))
            elif token == "}" and blocks:
                blocks.pop()
            previous = token
        return deepest


def python_nesting(node, depth=0):
    branches = (ast.If, ast.For, ast.While, ast.With, ast.Try)
    deepest = depth
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            continue
        # An elif has the depth of its if.
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        inner = depth + (isinstance(child, branches) and not chained)
        deepest = max(deepest, python_nesting(child, inner))
    return deepest


def read_python(file, text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            parameters = node.args
            count = len(parameters.args) + len(parameters.kwonlyargs) + len(parameters.posonlyargs)
            file.functions.append(Function(file.path, node.name, node.lineno,
                                           node.end_lineno - node.lineno + 1, python_nesting(node),
                                           count))
    strings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and \
                isinstance(node.value.value, str):
            strings.update(range(node.lineno - 1, node.end_lineno))
    lines = text.split("\n")
    return strings | {i for i, line in enumerate(lines) if line.strip().startswith("#")}


def read_shell(file, text):
    lines = text.split("\n")
    for match in SHELL_FUNCTION.finditer(text):
        first = text.count("\n", 0, match.start())
        end = next((i for i in range(first, len(lines)) if lines[i][:1] in ("}", ")")), first)
        file.functions.append(Function(file.path, match[1], first + 1, end - first + 1, 0, 0))
    return {i for i, line in enumerate(lines) if line.startswith("#") or line.strip()[:2] == "# "}


def kind_of(path, first_line):
    if path.suffix in C_SUFFIXES:
        return "c"
    if path.suffix in SHADER_SUFFIXES:
        return "shader"
    if path.suffix == ".py" or first_line.startswith("#!") and "python" in first_line:
        return "python"
    if path.suffix == ".sh" or re.match(r"#!.*\b(?:ba|da)?sh\b", first_line):
        return "shell"
    return None


def read_file(root, path):
    """Returns the file's measures, or None if the file is not code."""
    name = path.relative_to(root).as_posix()
    if any(part in name for part in SKIPPED) or not path.is_file():
        return None
    if path.suffix and path.suffix not in C_SUFFIXES + SHADER_SUFFIXES + (".py", ".sh"):
        return None
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return None
    kind = kind_of(path, text.split("\n", 1)[0])
    if kind is None:
        return None
    file = File(name)
    if kind in ("c", "shader"):
        code, commented = blank_comments(text)
        file.functions = CReader(name, code).read()
        file.includes = INCLUDE.findall(text)
    else:
        commented = (read_python if kind == "python" else read_shell)(file, text)
    lines = text.split("\n")
    file.lines = text.count("\n")
    file.comments = sum(1 for i in commented if i < len(lines) and lines[i].strip())
    file.code = sum(1 for line in lines if line.strip())
    return file


def read_tree(root):
    tops = sorted({room.split("/")[0] for room in ROOMS})
    paths = sorted(path for top in tops for path in (root / top).rglob("*"))
    return [file for path in paths if (file := read_file(root, path)) is not None]


def percentile(values, share):
    """Returns the least value that this share of the values does not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)] if ordered else 0


def find_twins(files):
    """Returns groups of functions of different files whose bodies are identical."""
    bodies = defaultdict(list)
    for file in files:
        if file.path.startswith(READ_ALONE):
            continue
        test = file.room == "tests"
        for function in file.functions:
            if function.length >= (MIN_TWIN_OF_TESTS if test else MIN_TWIN) and function.body:
                bodies[test, function.body].append(function)
    return [group for group in bodies.values() if len({f.path for f in group}) > 1]


def resolve(path, name, known):
    here = (Path(path).parent / name).as_posix()
    for candidate in (here, name, f"include/{name}", f"support/{name}", f"bench/{name}",
                      f"samples/{name}", f"samples/common/{name}"):
        if candidate in known:
            return candidate
    return None


def count_includes(files):
    """Returns the number of includes from each room to each other."""
    known = {file.path: file.room for file in files}
    counts = defaultdict(int)
    for file in files:
        for name in file.includes:
            target = resolve(file.path, name, known)
            if target is not None and known[target] != file.room:
                counts[file.room, known[target]] += 1
    return counts


def find_passed_limits(files):
    findings = []
    for file in files:
        script = not file.path.endswith(C_SUFFIXES + SHADER_SUFFIXES + (".py",))
        most = MAX_SCRIPT if script else MAX_FILE
        if file.lines > most and not file.path.startswith("include/"):
            findings.append(f"{file.path}:1: {file.lines} lines; at most {most}")
        for function in file.functions:
            for what, value, most in (("lines", function.length, MAX_FUNCTION),
                                      ("levels of nesting", function.nesting, MAX_NESTING),
                                      ("parameters", function.parameters, MAX_PARAMETERS)):
                if value > most and not (what == "parameters" and function.foreign):
                    findings.append(f"{file.path}:{function.line}: {function.name}: {value} {what}; "
                                    f"at most {most}")
    for room in ROOMS:
        lengths = [f.length for file in files if file.room == room for f in file.functions]
        for what, share, bound in (("median", 50, MEDIAN_BOUND), ("p90", 90, P90_BOUND)):
            value = percentile(lengths, share)
            if value > bound:
                findings.append(f"{room}: {what} of functions is {value} lines; at most {bound}")
    for group in find_twins(files):
        places = ", ".join(f"{f.path}:{f.line}" for f in group)
        findings.append(f"{group[0].name}: the same function occurs {len(group)} times: {places}")
    return findings


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def measure_room(name, files):
    functions = [function for file in files for function in file.functions]
    lengths = [function.length for function in functions]
    sizes = [file.lines for file in files]
    share = 100 * sum(file.comments for file in files) / max(1, sum(file.code for file in files))
    return (name, len(files), sum(sizes), percentile(sizes, 50), max(sizes, default=0),
            f"{share:.0f} %", len(functions), percentile(lengths, 50), percentile(lengths, 90),
            max(lengths, default=0), max((f.nesting for f in functions), default=0),
            max((f.parameters for f in functions), default=0))


def describe(files):
    """Returns the measures as Markdown."""
    rooms = [(room, [file for file in files if file.room == room]) for room in ROOMS]
    rows = [measure_room(name, members) for name, members in rooms if members]
    rows.append(measure_room("all", files))
    functions = sorted((f for file in files for f in file.functions),
                       key=lambda f: (-f.length, f.path, f.line))
    longest = [(f"`{f.name}`", f.path, f.length, f.nesting, f.parameters) for f in functions[:12]]
    counts = count_includes(files)
    directions = [(room, ", ".join(f"{to} {number}" for (of, to), number in sorted(counts.items())
                                   if of == room) or "nothing") for room, members in rooms if members]
    return "\n".join(
        ["# The code in numbers", "",
         "    tools/measure_code.py . --write docs/project/results/code.md", "",
         f"Limits that `style.measures` keeps: a function has at most {MAX_FUNCTION} lines, "
         f"{MAX_NESTING} levels of branches and loops", f"and {MAX_PARAMETERS} parameters; a file "
         f"{MAX_FILE} lines, except public headers; a shell script {MAX_SCRIPT}. In no room is the",
         f"median of functions above {MEDIAN_BOUND} lines, nor the 90th percentile above {P90_BOUND}. "
         "No function of "
         f"{MIN_TWIN} lines", f"occurs in two files, nor one of {MIN_TWIN_OF_TESTS} in two tests.", "",
         "`core` stands for the files directly in that folder: ports, host memory, the device's table. "
         "Comments are counted in", "lines, of those that are not empty; a file's first comment "
         "counts too.", ""] +
        table(("room", "files", "lines", "median file", "longest file", "comments", "functions",
               "median", "p90", "longest", "nesting", "parameters"), rows) +
        ["", "## The longest functions", ""] +
        table(("function", "file", "lines", "nesting", "parameters"), longest) +
        ["", "## Who includes whom", "",
         "The number of includes that lead to other rooms. `style.rooms` checks which includes are allowed.", ""] +
        table(("room", "includes"), directions)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    files = read_tree(options.root)
    text = describe(files)
    if options.write:
        options.write.write_text(text)
    else:
        print(text)
    findings = find_passed_limits(files)
    print("\n".join(findings + [f"{len(files)} files, {len(findings)} limits exceeded"]))
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main())
