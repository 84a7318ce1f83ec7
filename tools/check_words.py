#!/usr/bin/env python3
"""Check that retired words stay out of the project: check_words.py ROOT [OPTION...]

  --count         print how many retired words each room contains; exit with 0
  --rooms A,B     check these rooms alone: path prefixes, such as core/memory or README.md
  --avoid         report, or count, the words to avoid as well

The check reads comments, message strings, documents, scripts and file names. In core, interop and
backends it reads identifiers too: maar_tell and tellNow contain "tell". Elsewhere, identifiers of C
code are the program's own. Three things are left out: generated results, the parts of CHANGELOG.md
below "Unreleased", and what stands between the comments "<!-- words -->" and "<!-- words end -->",
where a document lists the words themselves. tools/words_allowed.txt lists the other exceptions.
Prints one line for each finding; exits with 1 if there is any.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

# Words: each form, and what to write instead. Each form stands in lower case; "_" is any white space.
RETIRED = {
    "tell tells telling told untold retell": "report, log, inform, show, distinguish, know",
    "quietly": "without a report",
    "lane lanes": "arena",
    "wish wishes wished wishing": "request, preference, requirement",
    "liked_best likes_best like_best order_of_liking": "preferred type, order of preference",
    "companion companions": "attachment",
    "bury buries buried burying": "release, retire",
    "doom doomed dooms": "retire, pending release",
    "hoard hoards hoarded hoarding": "keep",
    "graver gravest": "more important, more severe",
    "detour detours": "slow path, fallback",
    "refusal refusals": "allocation failure, rejection",
    "sees_to_it see_to_it saw_to_it seen_to_it": "ensures",
    "comes_to_its_end come_to_its_end came_to_its_end come_to_an_end comes_to_an_end "
    "come_to_their_end": "is released, ends",
    "comes_to_nothing come_to_nothing came_to_nothing": "fails",
}
# Words that an editor should look at, but that no test rejects.
AVOID = {
    "so_many": "this many, that number of",
    "the_same_of": "the same ... for",
    "anew": "again",
    "thereby wherein whatever_else be_it": "(a plainer sentence)",
    "goes_along go_along": "moves with",
    "aside": "beside",
    "settle settles settled settling": "resolve, fill in",
    "lesser": "less important",
    "unasked": "without a request",
}

LIBRARY = ("core/", "interop/", "backends/")
C_SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cu", ".comp", ".vert", ".frag", ".glsl"}
TEXT_SUFFIXES = {".md", ".py", ".sh", ".cmake", ".toml", ".yml", ".yaml", ".in", ".1", ""}
# Data, generated pages and the tools that name the words.
SKIPPED = ("tests/fuzz/corpus/", "docs/project/results/figures/", "docs/pictures/", "data/",
           "tests/data/", "LICENSE", "tools/check_words.py", "tools/words_allowed.txt",
           "tests/style/test_check_words.py")
GENERATED = re.compile(r"docs/project/results/(?:evidence|code|coverage|mutants|drivers|packages|"
                       r"from-vma-types)\.md|.*\.(?:json|jsonl|svg|csv)")
ALLOWED = "tools/words_allowed.txt"
MAX_ALLOWED = 20

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'", re.DOTALL)
UNMARKED = re.compile(r"<!-- words -->.*?<!-- words end -->", re.DOTALL)
# White space inside a phrase: the margins of comments and the quotes between two strings belong to it.
GAP = r"(?:\s|\*|/|#|\"|\\n)+"


def form_pattern(form):
    """A form as a word, as a part of an identifier, or in capitals."""
    lower = GAP.join(re.escape(word) for word in form.split("_"))
    title = lower[0].upper() + lower[1:]
    return (rf"(?<![A-Za-z])(?:{lower}|{title})(?![a-z])|(?<=[a-z0-9]){title}(?![a-z])|"
            rf"(?<![A-Za-z]){GAP.join(word.upper() for word in form.split('_'))}(?![A-Za-z])")


class Words:
    """Finds the forms of a table: first words by a cheap search, then each hit exactly."""

    def __init__(self, table):
        forms = sorted((form for line in table for form in line.split()), key=len, reverse=True)
        starts = {form.split("_")[0] for form in forms}
        # A start that begins with a shorter one adds nothing to the cheap search.
        self.start = re.compile("|".join(sorted(start for start in starts if not any(
            start != other and start.startswith(other) for other in starts))))
        self.exact = re.compile("|".join(form_pattern(form) for form in forms))

    def find(self, text):
        for hit in self.start.finditer(text.lower()):
            match = self.exact.match(text, hit.start())
            if match:
                yield match


def advice_for(table, found):
    form = "_".join(re.sub(GAP, " ", found).lower().split())
    return next(advice for line, advice in table.items() if form in line.split())


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def comments_alone(text):
    """The text with everything blanked but comments and strings."""
    parts, place = [], 0
    for match in COMMENT.finditer(text):
        parts += [blank(text[place:match.start()]), match.group(0)]
        place = match.end()
    return "".join(parts + [blank(text[place:])])


def readable_text(path, text):
    """What a person reads of a file, its lines kept, or None if it is no text of the project's."""
    suffix = Path(path).suffix
    if suffix in C_SUFFIXES:
        return text if path.startswith(LIBRARY) else comments_alone(text)
    if suffix not in TEXT_SUFFIXES and Path(path).name != "CMakeLists.txt" and suffix != ".txt":
        return None
    if path == "CHANGELOG.md":
        sections = list(re.finditer(r"^## ", text, re.MULTILINE))
        return text[:sections[1].start()] if len(sections) > 1 else text
    return UNMARKED.sub(lambda match: blank(match.group(0)), text)


def room_of(path):
    """Two folders of the library or of the tests, one folder of all else, or a file of the top."""
    parts = path.split("/")
    if parts[0] in ("core", "interop", "backends", "tests"):
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]
    return parts[0]


def list_files(root):
    """The files under version control, or all files where there is no version control."""
    if (root / ".git").exists():
        names = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                               capture_output=True, text=True, check=False)
        if names.returncode == 0:
            return sorted(set(names.stdout.splitlines()))
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*")
                  if path.is_file() and not re.match(r"build|\.git/", path.relative_to(root).as_posix()))


class Allowed:
    def __init__(self, root):
        path = root / ALLOWED
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        self.entries = [line.split("\t") for line in lines if line and not line.startswith("#")]
        self.used = set()

    def allows(self, path, line):
        hits = [i for i, (prefix, text) in enumerate(self.entries)
                if path.startswith(prefix) and text in line]
        self.used.update(hits)
        return bool(hits)

    def unused(self):
        return [f"{ALLOWED}: allows nothing: {' '.join(entry)}"
                for i, entry in enumerate(self.entries) if i not in self.used]


def search_file(path, text, words, allowed):
    """The findings in one file: line, word; line 0 stands for the file's name."""
    yield from ((0, match.group(0)) for match in words.find(path))
    lines = text.split("\n")
    for match in words.find(text):
        number = text.count("\n", 0, match.start())
        if not allowed.allows(path, lines[number]):
            yield number + 1, match.group(0)


def search_tree(root, table, rooms, allowed):
    words = Words(table)
    for path in list_files(root):
        if path.startswith(SKIPPED) or GENERATED.fullmatch(path) or not (root / path).is_file():
            continue
        if rooms and not any(path == room or path.startswith(room + "/") for room in rooms):
            continue
        try:
            text = readable_text(path, (root / path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
        if text is not None:
            for line, word in search_file(path, text, words, allowed):
                yield path, line, re.sub(GAP, " ", word)


def print_counts(found):
    rooms, words = Counter(), {}
    for path, _, word in found:
        rooms[room_of(path)] += 1
        words.setdefault(room_of(path), Counter())[word.lower()] += 1
    for room, count in sorted(rooms.items()):
        common = ", ".join(f"{word} {number}" for word, number in words[room].most_common(6))
        print(f"{count:6} {room:24} {common}")
    print(f"{sum(rooms.values()):6} all")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--rooms", default="")
    parser.add_argument("--avoid", action="store_true")
    options = parser.parse_args()
    rooms = [room.rstrip("/") for room in options.rooms.split(",") if room]
    table = {**RETIRED, **AVOID} if options.avoid else RETIRED
    missing = [room for room in rooms if not (options.root / room).exists()]
    allowed = Allowed(options.root)
    found = list(search_tree(options.root, table, rooms, allowed))
    if options.count:
        print_counts(found)
        return 0
    findings = [f"{room}: no such room" for room in missing]
    findings += [f"{path}:{line}: \"{word}\"; use: {advice_for(table, word)}"
                 for path, line, word in found]
    findings += [] if rooms else allowed.unused()
    if len(allowed.entries) > MAX_ALLOWED:
        findings.append(f"{ALLOWED}: {len(allowed.entries)} entries; at most {MAX_ALLOWED}")
    print("\n".join(findings + [f"{len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
