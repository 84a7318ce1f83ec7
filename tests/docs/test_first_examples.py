"""The first example of each guide is short, checks its results, and runs in a test.

test_first_examples.py --root=ROOT --vulkan=FOLDER --compiled=PAGE...

  --vulkan=FOLDER   holds vulkan/vulkan_core.h
  --compiled=PAGE   a page whose C or C++ a test compiles (maar_take_blocks)

A guide is a page of docs/ with C or C++, or the README. Short is below 40 lines. The results: of each call in
the example that returns a VkResult, the result is used, and a variable that holds one is read before it
gets another. It runs: a case of the test that includes the page's blocks calls a function of the example,
directly or through others, or the example itself stands in a function of that test.
"""

import argparse
import pathlib
import re
import sys

from markdown_blocks import blocks_of

MOST_LINES = 39

# Page: what does not hold of it, and why.
EXCEPTIONS = {
    "docs/first-hour.md": ({"short", "runs"}, "a whole program with Vulkan's own setup; "
                           "docs.first_hour compiles and runs it as it stands"),
    "docs/findings.md": ({"maar"}, "a mistake of a program on Vulkan alone, and its cure"),
    "docs/replay.md": ({"maar"}, "a program that writes a trace, whatever allocates its memory"),
}


def without_comments(text):
    """Also without what stands in quotes."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    return re.sub(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", '""', text)


def functions_of(text):
    """Name and body of each function that is defined, also by a macro of cmocka's."""
    found = {}
    for match in re.finditer(r"^(?:[A-Za-z_][\w: *]*?[ *])(\w+)\(([^;{}]*)\)\s*\{$", text, re.MULTILINE):
        end = text.find("\n}", match.end())
        found[match[1]] = text[match.end():end if end >= 0 else len(text)]
    return found


def returning_result(root, vulkan):
    names = set()
    for path in [*root.glob("include/maar/*.h"), *root.glob("vma/include/maar/*.h")]:
        names |= set(re.findall(r"\bVkResult VKAPI_CALL\s+(\w+)\(", path.read_text(encoding="utf-8")))
    core = (vulkan / "vulkan/vulkan_core.h").read_text(encoding="utf-8")
    return names | set(re.findall(r"\bVkResult VKAPI_CALL\s+(vk\w+)\(", core))


def results_ignored(text, names):
    """What an example does with the results of its calls that it should not."""
    wrong = []
    text = without_comments(text)
    for match in re.finditer(r"(?:^|[;{}]|\)\s)\s*(?:\(void\)\s*)?(\w+)\(", text):
        if match[1] in names:
            wrong.append(f"nothing looks at the result of {match[1]}")
    kept = list(re.finditer(r"\b(\w+) = (\w+)\(", text))
    for match in kept:
        if match[2] not in names:
            continue
        rest = text[match.end():]
        again = re.search(rf"\b{match[1]} = ", rest)
        read = re.search(rf"\b{match[1]}\b(?! = )", rest)
        inside = rest.find("\n}") if functions_of(text) else -1
        # At the end of a part of a function, the reader's code goes on.
        if again and (not read or read.start() > again.start()):
            wrong.append(f"the result of {match[2]} is overwritten before anything looks at it")
        elif inside >= 0 and (not read or read.start() > inside):
            wrong.append(f"nothing looks at the result of {match[2]}")
    return wrong


def is_run(page, example, every, sources):
    """Whether a case of a test calls the example."""
    stem = pathlib.Path(page).stem
    for text in sources:
        include = text.find(f'#include "{stem}.inc"')
        if include < 0:
            continue
        own = functions_of(text)
        before = without_comments(text[:include])
        if before.count("{") > before.count("}"):
            return True
        calls = {**functions_of(every), **own}
        outside = without_comments(text)
        for body in functions_of(outside).values():
            outside = outside.replace(body, "")
        # Tables may hold what main calls.
        reached = {"main"} | set(re.findall(r"\b\w+\b(?!\()", outside)) & set(calls)
        fresh = set(reached)
        while fresh:
            named = set()
            for name in fresh:
                named |= set(re.findall(r"\b\w+\b", calls.get(name, ""))) & set(calls)
            fresh = named - reached
            reached |= fresh
        if set(functions_of(example)) & reached:
            return True
    return False


def complaints(page, text, names, compiled, sources):
    blocks = [block for block in blocks_of(page, text) if block.language in ("c", "cpp")]
    if not blocks:
        return []
    example = blocks[0].text
    allowed = EXCEPTIONS.get(page, (set(), ""))[0]
    wrong = []
    if len(blocks[0].lines) > MOST_LINES and "short" not in allowed:
        wrong.append(f"has {len(blocks[0].lines)} lines, and at most {MOST_LINES} are allowed")
    if "maar" not in allowed and not re.search(r"\bmaar[A-Z]\w+\b", without_comments(example)):
        wrong.append("calls nothing of Maar's")
    wrong += results_ignored(example, names)
    if page not in compiled and "runs" not in allowed:
        wrong.append("is compiled by no test")
    elif "runs" not in allowed and not is_run(page, example, "".join(b.text for b in blocks), sources):
        wrong.append("is called by no test")
    return [f"{blocks[0]}: the first example {one}" for one in wrong]


def planted(names):
    """Mistakes that must be found."""
    head = "static VkResult f(MaarAllocator a)\n{\n"
    good = head + "    VkResult result = maarTrim(a);\n    return result;\n}\n"
    mistakes = {
        "has 40 lines": good + "int x;\n" * 35,
        "nothing looks at the result of maarTrim": head + "    maarTrim(a);\n    return VK_SUCCESS;\n}\n",
        "result of maarTrim": head + "    (void)maarTrim(a);\n    return VK_SUCCESS;\n}\n",
        "is overwritten": head + "    VkResult result = maarTrim(a);\n    result = maarCollect(a, NULL);\n"
                                 "    return result;\n}\n",
        "calls nothing of Maar's": "static int f(void)\n{\n    return 1;\n}\n",
        "is called by no test": good.replace("f(MaarAllocator", "g(MaarAllocator"),
    }
    source = ('#include "new.inc"\nstatic void case_a(void** state)\n{\n    f(NULL);\n}\n'
              "int main(void)\n{\n    cmocka_unit_test(case_a);\n}\n")
    names = names | {"maarTrim", "maarCollect"}
    wrong = []
    for expected, code in {"": good, **mistakes}.items():
        found = complaints("docs/new.md", f"```c\n{code}```\n", names, {"docs/new.md"}, [source])
        if (expected and not any(expected in one for one in found)) or (not expected and found):
            wrong.append(f"planted: wanted \"{expected}\", found {found}")
    if not complaints("docs/new.md", f"```c\n{good}```\n", names, set(), [source]):
        wrong.append("planted: a page that no test compiles is not noticed")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--vulkan", type=pathlib.Path, required=True)
    parser.add_argument("--compiled", action="append", default=[])
    options = parser.parse_args()
    names = returning_result(options.root, options.vulkan)
    sources = [path.read_text(encoding="utf-8") for pattern in ("tests/**/*.c", "tests/**/*.cpp")
               for path in sorted(options.root.glob(pattern))
               if '.inc"' in path.read_text(encoding="utf-8")]
    wrong = planted(names)
    guides = 0
    for path in [options.root / "README.md", *sorted(options.root.glob("docs/*.md"))]:
        page = path.relative_to(options.root).as_posix()
        text = path.read_text(encoding="utf-8")
        guides += "\n```c\n" in text or "\n```cpp\n" in text
        wrong += complaints(page, text, names, set(options.compiled), sources)
    wrong += [f"EXCEPTIONS: there is no {page}" for page in EXCEPTIONS
              if not (options.root / page).exists()]
    print("\n".join(wrong))
    print(f"{guides} guides, {len(EXCEPTIONS)} with an exception")
    return 1 if wrong or guides < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
