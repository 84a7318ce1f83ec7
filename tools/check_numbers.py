#!/usr/bin/env python3
"""Check the constants that documents and comments repeat: check_numbers.py ROOT [OPTION...]

  --map          print each constant with its file, its value and the pages that repeat it
  --of FILE      the same for the constants of one source file: what to read again when it changes
  --moving       report constants and texts that are not found, but do not fail for them

docs/project/numbers.txt lists the texts. Each section begins with a page in brackets: a document, a
header, or "source of NAME" for the file that defines the constant NAME. Each line below is text that
the page must contain, where line breaks, comment margins and runs of blanks do not matter. Braces hold
an expression over constants of core and of include/maar: enumerators, macros and static constants.

    {NAME}           the number itself; {NAME / 4} and the like
    {words(NAME)}    two, three ... twenty
    {share(NAME)}    half, a third, an eighth, a 64th
    {ordinal(NAME)}  second, third, sixteenth, 64th
    {kib(NAME)}      bytes as KiB; mib(NAME) as MiB, gib(NAME) as GiB, with one decimal if they need it
    {growth(PREFERRED, SHARE, COUNT)}  what a pool holds after each of its first blocks, MiB
    {number(NAME)}   with commas between thousands
    {blocks(PREFERRED, SHARE, BYTES)}  how many blocks it then takes for that many bytes

In a page marked "every number", each number of the prose outside code and links must occur in such a
line, in a line that begins with "!", or in docs/project/results/claims.txt. Prints one line for each
finding; exits with 1 if there is any.
"""

import argparse
import ast
import operator
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import call_graph

sys.path.insert(0, str(Path(__file__).resolve().parent / "figures"))
import figure_claims  # noqa: E402

LIST = "docs/project/numbers.txt"
CLAIMS = "docs/project/results/claims.txt"
ROOMS = ("core", "include/maar")
SECTION = re.compile(r"\[(?P<page>[^\]]+?)(?P<every> every number)?\]")
ENUMERATION = re.compile(r"\benum\s*\w*\s*\{([^{}]*)\}")
ENUMERATOR = re.compile(r"(?:^|,)\s*(\w+)\s*=\s*([^,]+)")
VARIABLE = re.compile(r"^static const \w+ (\w+) = ([^;{]+);", re.MULTILINE)
CAST = re.compile(r"\(\s*(?:VkDeviceSize|VkFlags|u?int\d+_t|unsigned|size_t)\s*\)")
SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU])\b")
PLACE = re.compile(r"\{([^{}]+)\}")
MARGIN = re.compile(r"\n[ \t]*(?:\*|//)?[ \t]*")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitOr: operator.or_}
WORDS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
         "sixteen seventeen eighteen nineteen twenty").split()
ORDINALS = ("zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth").split()


class Unknown(Exception):
    """An expression that cannot be worked out, with the reason."""


def number(value):
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.2f}".rstrip("0") if value < 10 and round(value, 2) == value else f"{value:.1f}"
    return f"{int(value):,}" if abs(value) >= 10000 else str(int(value))


def ordinal(value):
    if value < len(ORDINALS):
        return ORDINALS[value]
    last = {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th") if value % 100 not in (11, 12, 13) else "th"
    return f"{value}{last}"


def share(value):
    named = {2: "half", 4: "quarter"}.get(value, ordinal(value))
    if named == "half":
        return named
    return ("an " if named[0] in "aeiou" or value in (11, 18) else "a ") + named


def totals(preferred, first_share):
    """What a pool holds after each block, as long as blocks double up to the preferred size."""
    step = held = preferred // first_share
    while True:
        yield held
        step = min(2 * step, preferred)
        held += step


def growth(preferred, first_share, count):
    held = [total for _, total in zip(range(count), totals(preferred, first_share))]
    return ", ".join(number(total / (1 << 20)) for total in held)


def blocks(preferred, first_share, size):
    return WORDS[next(i for i, held in enumerate(totals(preferred, first_share), 1) if held >= size)]


FUNCTIONS = {"words": lambda value: WORDS[value], "share": share, "ordinal": ordinal,
             "kib": lambda value: number(value / (1 << 10)), "mib": lambda value: number(value / (1 << 20)),
             "gib": lambda value: number(value / (1 << 30)), "number": lambda value: f"{value:,}", "growth": growth, "blocks": blocks}


@dataclass
class Constants:
    """The enumerators and macros of the sources, each with the files that define it."""
    texts: dict = field(default_factory=lambda: defaultdict(dict))  # name: {file: expression}

    def add_file(self, path, text):
        text = call_graph.without_noise(text)
        for body in ENUMERATION.findall(text):
            for name, value in ENUMERATOR.findall(body):
                self.texts[name][path] = value
        for name, value in VARIABLE.findall(text):
            self.texts[name][path] = value
        for match in call_graph.MACRO.finditer(text):
            if match[2] is None and match[3].strip():
                self.texts[match[1]][path] = match[3]

    def home(self, name):
        files = self.texts.get(name, {})
        if len(files) != 1:
            raise Unknown(f"{name} is defined in {len(files)} files")
        return next(iter(files))

    def value(self, name):
        text = SUFFIX.sub(r"\1", CAST.sub("", self.texts[name][self.home(name)])).strip()
        return self.evaluate(text)

    def evaluate(self, text):
        """The value of an expression of C, or of one between braces."""
        try:
            return self.walk(ast.parse(text, mode="eval").body)
        except (SyntaxError, TypeError, IndexError, ZeroDivisionError) as fault:
            raise Unknown(f"{text}: {fault}") from fault

    def walk(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name):
            return self.value(node.id)
        if isinstance(node, ast.BinOp):
            left, right = self.walk(node.left), self.walk(node.right)
            if isinstance(node.op, ast.Div):
                return left / right if left % right else left // right
            if type(node.op) in OPERATORS:
                return OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in FUNCTIONS:
            return FUNCTIONS[node.func.id](*(self.walk(argument) for argument in node.args))
        raise Unknown(f"{ast.unparse(node)} is no expression over constants")


def read_constants(root):
    constants = Constants()
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.[ch]")):
            constants.add_file(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    return constants


@dataclass
class Line:
    number: int
    page: str
    text: str
    exempt: bool = False

    def names(self):
        """The constants that the line repeats."""
        found = [set(re.findall(r"[A-Za-z_]\w*", place)) for place in PLACE.findall(self.text)]
        return sorted(set().union(*found) - set(FUNCTIONS))

    def rendered(self, constants):
        def fill(match):
            value = constants.evaluate(match[1])
            return value if isinstance(value, str) else number(value)
        return PLACE.sub(fill, self.text)


def read_list(text):
    """The lines of the list, and the pages of which every number counts."""
    lines, every, page = [], set(), None
    for count, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        header = SECTION.fullmatch(line)
        if header:
            page = header["page"]
            every.update({page} if header["every"] else ())
        elif line and not line.startswith("#"):
            lines.append(Line(count, page, line.lstrip("! "), line.startswith("!")))
    return lines, every


def flat(text):
    """The text in one line, without the margins of comments."""
    return re.sub(r"\s+", " ", MARGIN.sub("\n", "\n" + text))


class Check:
    def __init__(self, root):
        self.root = root
        self.constants = read_constants(root)
        self.lines, self.every = read_list((root / LIST).read_text(encoding="utf-8"))
        self.pages = {}

    def page_of(self, line):
        name = line.page
        if name.startswith("source of "):
            name = self.constants.home(name[len("source of "):])
        return name

    def read(self, name):
        if name not in self.pages:
            path = self.root / name
            self.pages[name] = path.read_text(encoding="utf-8") if path.is_file() else ""
        return self.pages[name]

    def findings(self):
        for line in self.lines:
            try:
                page, text = self.page_of(line), line.rendered(self.constants)
            except Unknown as fault:
                yield f"{LIST}:{line.number}: {fault}"
                continue
            if flat(text).strip() not in flat(self.read(page)):
                homes = ", ".join(f"{name} of {self.constants.home(name)}" for name in line.names())
                yield f"{page}: does not say \"{text}\"" + (f" ({homes})" if homes else "")
        for page in sorted(self.every):
            yield from self.uncovered(page)

    def uncovered(self, page):
        """Numbers of a page that nothing checks."""
        text = self.read(page)
        document, places = figure_claims.flat_with_map(text)
        covered = []
        for line in (line for line in self.lines if line.page == page):
            try:
                words = re.escape(flat(line.rendered(self.constants)).strip())
            except Unknown:
                continue
            covered += [match.span() for match in re.finditer(words, document)]
        covered += self.claimed(page, document)
        spans = [(places[start], places[end - 1]) for start, end in covered]
        for match in figure_claims.FOUND_NUMBER.finditer(figure_claims.blanked(text)):
            if not any(start <= match.start() <= end for start, end in spans):
                row = text.count("\n", 0, match.start()) + 1
                yield f"{page}:{row}: {match[0]} is neither in {LIST} nor in {CLAIMS}"

    def claimed(self, page, document):
        path = self.root / CLAIMS
        claims = figure_claims.parse(path.read_text(encoding="utf-8")) if path.is_file() else {}
        _, entries, exempt = claims.get(page, ("", [], []))
        patterns = [claim.pattern for claim in entries]
        patterns += [re.compile(re.escape(words)) for _, words in exempt]
        return [match.span() for pattern in patterns for match in pattern.finditer(document)]

    def print_map(self, file):
        pages = defaultdict(set)
        for line in self.lines:
            for name in line.names():
                try:
                    pages[name].add(self.page_of(line))
                except Unknown:
                    continue
        for name in sorted(pages, key=lambda name: (sorted(self.constants.texts[name]), name)):
            home = ", ".join(self.constants.texts[name]) or "nowhere"
            if file is None or file == home:
                print(f"{name} ({home}): {', '.join(sorted(pages[name]))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--map", action="store_true")
    parser.add_argument("--of")
    parser.add_argument("--moving", action="store_true")
    options = parser.parse_args()
    check = Check(options.root)
    if options.map or options.of:
        check.print_map(options.of)
        return 0
    findings = list(check.findings())
    print("\n".join(findings + [f"{len(check.lines)} texts, {len(findings)} findings"]))
    return 1 if findings and not options.moving or not check.lines else 0


if __name__ == "__main__":
    sys.exit(main())
