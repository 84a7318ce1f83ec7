"""The report of scripts/long-runs: a section and a table for each run. Rows that are not measured
again are kept."""

COLUMNS = ("target", "command", "commit", "CPU seconds", "steps", "findings")
KEYS = ("target", "command", "commit", "cpu", "steps", "findings")
TITLES = {
    "fuzz": ("Fuzzing", "Steps are executions of an input."),
    "threads": ("Threads", "Steps are runs of a program, each with another seed."),
    "contents": ("Contents of what moves",
                 "Steps are those of random programs that allocate, write, move, defragment, read "
                 "and free, or use residents in turn."),
    "faults": ("Faults in whole programs",
               "Steps are runs of a program in which a call failed."),
}
HEAD = """# Long runs

What ran long, and what it found. [testing.md](../testing.md#long-runs) says what each run does. Rewritten by

    scripts/long-runs fuzz threads contents faults

which keeps the rows of what it does not run. A commit with + had changes. CPU seconds are those that were used,
however long was asked for.
"""


def read(text):
    """Returns the rows of each run of a report, by target."""
    runs = {name: {} for name in TITLES}
    titles = {title: name for name, (title, _) in TITLES.items()}
    current = None
    for line in text.splitlines():
        if line.startswith("## "):
            current = titles.get(line[3:])
        elif current and line.startswith("| ") and not line.startswith(("| target |", "| --- |")):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if len(cells) == len(KEYS):
                row = dict(zip(KEYS, (cell.strip(" `") for cell in cells)))
                runs[current][row["target"]] = row
    return runs


def line_of(row):
    cells = [f"`{row['target']}`", f"`{row['command']}`", row["commit"], row["cpu"],
             row["steps"], row["findings"]]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(name, rows):
    """Returns the section of a run."""
    title, remark = TITLES[name]
    lines = [f"## {title}", "", remark, "", "| " + " | ".join(COLUMNS) + " |",
             "| " + " | ".join("---" for _ in COLUMNS) + " |", *map(line_of, rows)]
    return "\n".join(lines) + "\n"


def update(path, name, rows):
    """Writes the report with new rows of one run in the places of the old ones."""
    runs = read(path.read_text(encoding="utf-8") if path.is_file() else "")
    runs[name].update({row["target"]: row for row in rows})
    sections = [table(each, list(old.values())) for each, old in runs.items() if old]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([HEAD, *sections]), encoding="utf-8")
