"""Writes the table of scripts/package-matrix: docs/project/results/packages.md."""

import re
import shutil
import subprocess
from pathlib import Path

TITLES = {
    "options": "Options, each the other way round than CI has it",
    "compilers": "Compilers",
    "headers": "Vulkan headers",
    "consumers": "Consumers",
    "i386": "i386",
    "windows": "Windows, by MinGW-w64",
}


def vulkan_version(folder):
    text = (folder / "vulkan/vulkan_core.h").read_text(encoding="utf-8")
    patch = re.search(r"#define VK_HEADER_VERSION (\d+)", text)[1]
    complete = re.search(r"VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION\(0, (\d+), (\d+)", text)
    return f"{complete[1]}.{complete[2]}.{patch}"


def said_by(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[0]
    except FileNotFoundError:
        return f"no {Path(command[0]).name}"


def write_table(rows_by_key, missed, root, folder, out):
    """Writes the table. Returns 1 if a row failed."""
    version = re.findall(r"#define MAAR_VERSION_\w+ (\d+)", (root / "include/maar/base.h").read_text())
    lines = ["# Packages", "",
             f"Maar {'.'.join(version)} as other projects get it: what was built, with how many",
             "warnings, and how many tests passed. Made by", "",
             "    scripts/package-matrix FOLDER", "", "with", ""]
    for command in (["gcc", "--version"], ["clang", "--version"],
                    ["x86_64-w64-mingw32-gcc", "--version"], ["wine", "--version"],
                    ["cmake", "--version"], ["nvcc", "--version"]):
        path = shutil.which(command[0]) or command[0]
        if command[0] == "nvcc" and not Path(path).exists():
            path = "/usr/local/cuda/bin/nvcc"
        said = said_by([path, *command[1:]])
        if command[0] == "nvcc" and Path(path).exists():
            text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            said = "nvcc " + re.search(r"release \S+ (V\S+)", text)[1]
        lines.append(f"- {said}")
    lines += ["", "Each row is configured separately and built, with warnings as errors unless it says otherwise.",
              "The tests are the unit, promise, plan, header and symbol tests unless a row names others;",
              "a row without tests shows that it is configured and built. The log of a skipped row has the",
              "reason.", ""]
    for part, title in TITLES.items():
        rows = [(key.split(": ", 1)[1], cells) for key, cells in rows_by_key.items()
                if key.startswith(f"{part}: ")]
        if not rows:
            continue
        lines += [f"## {title}", "", "| | warnings | tests passed | result |",
                  "| --- | --- | --- | --- |"]
        for name, cells in rows:
            what = f"{name}: {cells['what']}" if cells["what"] else name
            lines.append(f"| {what} | {cells['warnings'] or '-'} | {cells['tests'] or '-'} | "
                         f"{cells['result'].replace(str(folder), 'FOLDER')} |")
        lines.append("")
    failed = sum(cells["result"].startswith("FAILED") for cells in rows_by_key.values())
    skipped = sum(cells["result"].startswith("skipped") for cells in rows_by_key.values())
    lines.append(f"{len(rows_by_key)} rows, {failed} failed, {skipped} skipped.")
    print(lines[-1])
    if missed:
        lines += ["", f"Not run for this table: {'; '.join(missed)}."]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0
