"""The man page of maar has the commands and options that the command has, and no other; likewise the
variables of Maar's that the command and the capture layer read.

test_man_page.py --maar=PROGRAM --page=maar.1 --root=ROOT
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

OPTION = re.compile(r"--[a-z][a-z-]*")


def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def listed_in_help(text):
    """The options that stand at the beginning of a line."""
    return set(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE))


def listed_in_page(text):
    """The options of a part of the page: those that have an item of their own."""
    return {f"--{name}" for name in re.findall(r"^\.It Fl Fl ([a-z-]+)", text, re.MULTILINE)}


def mentioned_in_page(text):
    return {f"--{name}" for name in re.findall(r"\bFl Fl ([a-z-]+)", text)}


def compare(program, page):
    usage = help_of(program)
    commands = re.findall(r"^  maar ([a-z]+) ", usage, re.MULTILINE)
    parts = dict(re.findall(r"^\.Ss maar (\w+)\n(.*?)(?=^\.S[sh])", page, re.DOTALL | re.MULTILINE))
    wrong = []
    if set(commands) != set(parts) or not commands:
        wrong.append(f"the command has {sorted(commands)}, the page {sorted(parts)}")
    every = {"--help", "--version"}
    for command in sorted(set(commands) & set(parts)):
        shown = listed_in_help(help_of(program, command))
        written = listed_in_page(parts[command])
        every |= shown
        if not shown:
            wrong.append(f"maar {command} --help lists no options")
        for option in sorted(shown - written):
            wrong.append(f"maar {command} {option} is not in the page")
        for option in sorted(written - shown):
            wrong.append(f"maar {command} has no {option}, which the page describes")
    for option in sorted(mentioned_in_page(page) - every):
        wrong.append(f"the page mentions {option}, which no command has")
    return wrong


def variables_read(root):
    """The variables of Maar's that the command, the layer and its manifest read."""
    found = set()
    for pattern in ("layer/*", "support/*.c", "tools/*.c"):
        for path in root.glob(pattern):
            if path.is_file():
                text = path.read_text(encoding="utf-8")
                found |= set(re.findall(r'getenv\("(MAAR_\w+)"\)', text))
                if ".json" in path.name:
                    found |= set(re.findall(r'"(MAAR_CAPTURE\w*)": *"', text))
    return found


def compare_variables(root, page):
    items = set(re.findall(r"^\.It Ev (MAAR_\w+)", page, re.MULTILINE))
    read = variables_read(root)
    return ([f"nothing says what {name} does" for name in sorted(read - items)] +
            [f"nothing reads {name}, which the page describes" for name in sorted(items - read)] +
            ([] if len(read) > 5 else [f"too few variables were found: {sorted(read)}"]))


def lint(path):
    """What mandoc and groff have to say, where they are installed."""
    said = []
    checkers = [("mandoc", ["-T", "lint", "-W", "warning"]), ("groff", ["-mdoc", "-ww", "-z"])]
    for name, arguments in checkers:
        if not shutil.which(name):
            print(f"{name} is not installed: the page was not shown to it")
            continue
        done = subprocess.run([name, *arguments, str(path)], capture_output=True, text=True,
                              check=False)
        text = done.stdout + done.stderr
        if "can't find macro file" in text:
            print(f"{name} is installed without the macros: the page was not shown to it")
        elif done.returncode != 0 or text:
            said.append(f"{name}: {text}")
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--maar", required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    options = parser.parse_args()
    page = options.page.read_text(encoding="utf-8")
    wrong = compare(options.maar, page) + compare_variables(options.root, page) + lint(options.page)
    # The comparison notices what is left out and what is made up.
    if not compare(options.maar, page.replace(".It Fl Fl verbose\n", "")):
        wrong.append("an option that the page lacks is not noticed")
    if not compare(options.maar, page.replace("Fl Fl greedy", "Fl Fl greedier")):
        wrong.append("an option that the command lacks is not noticed")
    if not compare_variables(options.root, page.replace("Ev MAAR_CAPTURE_FILE", "Ev MAAR_FILE")):
        wrong.append("a variable that the page lacks is not noticed")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
