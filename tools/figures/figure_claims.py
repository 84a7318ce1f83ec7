"""Compares the claims of the documents, in prose and in handwritten tables, with the results.

docs/project/results/claims.txt lists the claims. Each section begins with the name of a document in
brackets. Each line below repeats a sentence or a row of the document, where line breaks and runs of
blanks do not matter. Places in braces stand for measured values:

    {KEY}              the document has the value of KEY, rounded to the digits of the document
    {KEY ~20}          the document has a number that differs by at most 20 % from the value
    {KEY <=}  {KEY >=} the value is at most, or at least, the number of the document
    {WORDS = KEY A..B} the document has the words, and the value is from A to B
    {WORDS = KEY TEXT} the document has the words, and the value is TEXT

A line that begins with "!" is text whose numbers are not results: versions, sizes of workloads. In
a document marked "every number", each number outside code, links and generated tables must occur in
a line of either kind. In a document marked "every time", this holds for each percentage and for each
number with a unit of time.
"""

import re

PLACE = re.compile(r"\{([^{}]*)\}")
NUMBER = r"([0-9][0-9,]*(?:\.[0-9]+)?)"
FOUND_NUMBER = re.compile(r"(?<![\w.])[0-9][0-9,]*(?:\.[0-9]+)?(?![\w]*[A-Za-z_]\w*-)")
FOUND_TIME = re.compile(r"(?<![\w.])[0-9][0-9,]*(?:\.[0-9]+)?(?:\s?(?:ns|us|µs|ms|%))(?!\w)")
SECTION = re.compile(r"\[([^\s\]]+)(?:\s+(every number|every time))?\]")


def flat(text):
    return re.sub(r"\s+", " ", text)


class Place:
    """One place in a claim."""

    def __init__(self, text):
        self.words, self.rule, self.bounds = None, "", None
        words, equals, rest = text.partition(" = ")
        parts = (rest if equals else text).split()
        self.key = parts[0]
        if equals:
            self.words = words
            self.wanted = " ".join(parts[1:])
        elif len(parts) == 2:
            self.rule = parts[1]
        elif len(parts) != 1:
            raise ValueError(f"{{{text}}} is not a place")

    def pattern(self):
        return re.escape(self.words) if self.words is not None else NUMBER

    def fault(self, shown, values):
        """Returns the error of the text at this place, or None."""
        if self.key not in values:
            return f"the results do not contain {self.key}"
        value = values[self.key]
        if self.words is not None:
            return self.fault_of_words(value)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return f"{self.key} is {value}, which is not a number"
        digits = len(shown.partition(".")[2])
        number = float(shown.replace(",", ""))
        if self.rule == "<=":
            good = value <= number
        elif self.rule == ">=":
            good = value >= number
        elif self.rule.startswith("~"):
            good = abs(number - value) <= abs(value) * float(self.rule[1:]) / 100
        elif not self.rule:
            good = abs(number - value) <= 0.5000001 * 10 ** -digits
        else:
            return f"{self.rule} is not a rule"
        return None if good else f"the document says {shown}, but {self.key} is {value}"

    def fault_of_words(self, value):
        bounds = re.fullmatch(r"(-?[0-9.]+?)\.\.(-?[0-9.]+)", self.wanted)
        if bounds:
            good = float(bounds.group(1)) <= value <= float(bounds.group(2))
        else:
            good = str(value) == self.wanted
        return None if good else f"the document says \"{self.words}\", but {self.key} is {value}"


class Claim:
    def __init__(self, line_number, text):
        self.line_number = line_number
        self.text = text
        self.places = [Place(match.group(1)) for match in PLACE.finditer(text)]
        pattern, end = "", 0
        for match, place in zip(PLACE.finditer(text), self.places):
            pattern += re.escape(flat(text[end:match.start()])) + f"(?:{place.pattern()})"
            if place.words is not None:
                pattern = pattern[:-1] + "())"  # a group, so that places and groups go together
            end = match.end()
        self.pattern = re.compile(pattern + re.escape(flat(text[end:])))

    def check(self, document, values, disturbed, covered):
        found = list(self.pattern.finditer(document))
        if len(found) != 1:
            return [f"claims.txt:{self.line_number}: " + (
                "the document contains this more than once: " if found else "the document does not contain this: ") + self.text]
        covered.append(found[0].span())
        faults = (place.fault(shown, values)
                  for place, shown in zip(self.places, found[0].groups())
                  if place.key not in disturbed)
        return [f"claims.txt:{self.line_number}: {fault}" for fault in faults if fault]


def parse(text):
    """Returns {document: (kind of numbers that must be claimed or "", claims, exempt texts)}."""
    documents, here = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        header = SECTION.fullmatch(line)
        if header:
            here = documents[header.group(1)] = (header.group(2) or "", [], [])
        elif line.startswith("!"):
            here[2].append((number, flat(line[1:].strip())))
        else:
            here[1].append(Claim(number, line))
    return documents


def blanked(text):
    """Returns the text with blanks for all parts whose numbers are not claims. The length stays."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    for pattern in (r"<!-- figures: .*?<!-- figures end -->", r"<!--.*?-->", r"^```.*?^```",
                    r"^(?: {4}|\t).*$", r"`[^`\n]*(?:\n[^`\n]+)?`", r"\]\([^)]*\)"):
        text = re.sub(pattern, blank, text, flags=re.DOTALL | re.MULTILINE
                      if "```" in pattern or "<!--" in pattern else re.MULTILINE)
    return text


def flat_with_map(text):
    """Returns the flattened text, and the position in the text of each of its characters."""
    out, places = [], []
    for index, character in enumerate(text):
        if character.isspace():
            if out and out[-1] == " ":
                continue
            character = " "
        out.append(character)
        places.append(index)
    return "".join(out), places


def check_document(name, text, entry, values, disturbed=frozenset()):
    kind, claims, exempt = entry
    document, places = flat_with_map(text)
    findings, covered = [], []
    for claim in claims:
        findings += claim.check(document, values, disturbed, covered)
    for number, words in exempt:
        spans = [match.span() for match in re.finditer(re.escape(words), document)]
        if not spans:
            findings.append(f"claims.txt:{number}: {name} does not contain this: {words}")
        covered += spans
    if kind:
        open_text = blanked(text)
        look = FOUND_NUMBER if kind == "every number" else FOUND_TIME
        taken = [(places[start], places[end - 1]) for start, end in covered]
        for match in look.finditer(open_text):
            if not any(start <= match.start() <= end for start, end in taken):
                line = text.count("\n", 0, match.start()) + 1
                shown = text.splitlines()[line - 1].strip()[:80]
                findings.append(f"{name}:{line}: {match.group(0)} is not in docs/project/results/"
                                f"claims.txt: {shown}")
    return findings


def check_all(root, values, disturbed):
    documents = parse((root / "docs/project/results/claims.txt").read_text(encoding="utf-8"))
    findings = []
    for name, entry in documents.items():
        text = (root / name).read_text(encoding="utf-8")
        findings += [finding if finding.startswith(name) else f"{name}: {finding}"
                     for finding in check_document(name, text, entry, values, disturbed)]
    return findings


def inventory(root, origins):
    """Returns (document, text, key, section) of each figure in prose and in handwritten tables."""
    documents = parse((root / "docs/project/results/claims.txt").read_text(encoding="utf-8"))
    for name, entry in documents.items():
        document = flat((root / name).read_text(encoding="utf-8"))
        for claim in entry[1]:
            found = claim.pattern.search(document)
            for place, shown in zip(claim.places, found.groups() if found else ()):
                yield name, place.words or shown, place.key, origins.get(place.key, "no section")
