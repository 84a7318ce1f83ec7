"""The page of the growth of operations: docs/project/results/growth.md, and what it must contain."""

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/project/results/growth.md"
REASONS = HERE / "reasons.toml"
SYMBOLS = ("tests/abi/symbols.txt", "tests/abi/symbols-simulated.txt")
# An exponent up to this is that of a constant or a logarithm: log n grows by n^0.15 at n = 256.
FLAT = 0.15
CLAIM = re.compile(r"\bO\([^()]*\)")
CLAIM_PAGES = ("docs/*.md", "docs/design/*.md", "include/maar/*.h")
HEAD = """# The growth of operations

Made by `bench/growth/growth.py`; do not edit. How the cost of each public function grows with what lives
beside it, or with what it is given, on a simulated device without limits that a program meets.

Each case runs at n, 4 n and 16 n. *Nanoseconds* are CPU time with the simulated driver's part; they rise
with n where memory leaves the caches. *Instructions* are counted by Callgrind at a smaller n, without those of
the driver. The *exponent* is fitted to them by least squares: cost ~ n^exponent. Up to {flat} it is that of
a constant or of a logarithm. The figures of "each of n" are for each thing, so an exponent of 0 means a cost
proportional to n. CUDA and HIP are stand-ins: libraries of `tests/fakes`, which are no GPU.

"""


class Book:
    """reasons.toml: why an operation may grow, and what is not measured."""

    def __init__(self, path=REASONS):
        with open(path, "rb") as file:
            book = tomllib.load(file)
        self.reasons = book["reason"]
        self.constant = book["constant"]
        self.unmeasured = book["unmeasured"]
        self.claims = book["claim"]
        self.by_case = {case: reason for reason in self.reasons for case in reason["cases"]}


def symbols(root=ROOT):
    names = []
    for path in SYMBOLS:
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        names += [line for line in lines if line and not line.startswith("#")]
    return sorted(names)


def squeeze(text):
    return re.sub(r"\n\s*(?:\*|//)?\s*|\s+", " ", text)


# ---- checks ----

def check_cases(cases, book):
    """What is wrong with the list of cases, without any figure."""
    known = {case["name"] for case in cases}
    covered = {name for case in cases for name in case["functions"]}
    public = set(symbols())
    for name in sorted(public - covered - set(book.constant) - set(book.unmeasured)):
        yield f"{name}: no case measures it, and {REASONS.name} does not say why"
    for name in sorted((set(book.constant) | set(book.unmeasured)) & covered):
        yield f"{name}: a case measures it, and {REASONS.name} says that none does"
    for name in sorted((covered | set(book.constant) | set(book.unmeasured)) - public):
        yield f"{name}: no such public function"
    for name in sorted(set(book.by_case) - known):
        yield f"{REASONS.name}: no case {name}"
    listed = [case for reason in book.reasons for case in reason["cases"]]
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"{REASONS.name}: two reasons for {name}"
    for case in cases:
        if case["kind"] == "over" and case["name"] not in book.by_case:
            yield f"{case['name']}: proportional to n; {REASONS.name} gives no reason"


def check_claims(cases, book, root=ROOT):
    known = {case["name"] for case in cases}
    texts = {}
    for pattern in CLAIM_PAGES:
        for path in sorted(root.glob(pattern)):
            texts[path.relative_to(root).as_posix()] = squeeze(path.read_text(encoding="utf-8"))
    for claim in book.claims:
        if claim["text"] not in texts.get(claim["file"], ""):
            yield f"{claim['file']}: does not contain the claim \"{claim['text']}\""
        for case in claim["cases"]:
            if case not in known:
                yield f"{REASONS.name}: no case {case}"
    for page, text in texts.items():
        for claim in book.claims:
            if claim["file"] == page:
                text = text.replace(claim["text"], "")
        for found in CLAIM.findall(text):
            yield f"{page}: no case is named for {found}"


def check_exponents(results, book):
    for name, result in results.items():
        exponent = result["exponent"]
        reason = book.by_case.get(name, {})
        limit = reason.get("limit", FLAT)
        if exponent > limit:
            yield (f"{name}: {result['functions']} beside {result['dimension']} grows by n^"
                   f"{exponent:.2f}; {limit} is allowed")


# ---- the page ----

def number(value):
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}"


def row(function, result, book):
    over = result["kind"] == "over"
    native = result["native"]
    counted = result.get("counted")
    what = ("each of n: " if over else "beside n: ") + result["dimension"]
    cells = [f"`{function}`", result["name"], what]
    cells += [f"{native['n'][0]:,}", number(native["figures"][0]), number(native["figures"][-1])]
    if counted is not None:
        cells += [f"{counted['n'][0]:,}", number(counted["figures"][0]),
                  number(counted["figures"][-1])]
    else:
        cells += ["-", "-", "-"]
    cells += [f"{result['exponent']:.2f}".replace("-0.00", "0.00")]
    cells += [book.by_case.get(result["name"], {}).get("why", "")]
    return "| " + " | ".join(cells) + " |"


def write_page(results, book):
    lines = [HEAD.format(flat=FLAT)]
    lines.append("| function | case | n | least n | ns at n | ns at 16 n | least n counted "
                 "| instructions at n | at 16 n | exponent | reason to grow |")
    lines.append("| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --- |")
    for function in symbols():
        mine = [result for result in results.values() if function in result["functions"]]
        lines += [row(function, result, book) for result in mine]
        why = book.constant.get(function) or book.unmeasured.get(function)
        if why is not None:
            kind = "constant" if function in book.constant else "not measured"
            lines.append(f"| `{function}` | {kind} | {why} |" + " - |" * 7 + " |")
    lines += ["", "## Claims", "", "What documents and headers say about growth, and the cases that measure it.",
              "", "| claim | page | cases: exponents |", "| --- | --- | --- |"]
    for claim in book.claims:
        figures = ", ".join(f"{case}: {results[case]['exponent']:.2f}" for case in claim["cases"]
                            if case in results)
        lines.append(f"| {claim['text']} | {claim['file']} | {figures} |")
    return "\n".join(lines) + "\n"


def check_page(page=PAGE):
    """Every public function is in the page."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for name in symbols():
        if f"| `{name}` |" not in text:
            yield f"{page.relative_to(ROOT)}: {name} is missing; run growth.py --write"
