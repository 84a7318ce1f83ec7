"""The blocks, links and headings of a Markdown file, as far as Maar's documents use them."""

import re
from dataclasses import dataclass


@dataclass
class Block:
    page: str  # relative to the root
    line: int  # of its first line
    language: str  # after the fence; "indented" for one without
    lines: list

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks_of(page, text):
    """Fenced blocks, and those that are indented by four and more after an empty line."""
    lines = text.splitlines()
    found = []
    at = 0
    after_blank = True
    while at < len(lines):
        fence = re.match(r"^(\s*)```(\S*)\s*$", lines[at])
        if fence:
            end = at + 1
            while end < len(lines) and lines[end].strip() != "```":
                end += 1
            if end == len(lines):
                raise ValueError(f"{page}:{at + 1}: a block that does not end")
            found.append(Block(page, at + 2, fence[2] or "none", lines[at + 1:end]))
            at = end + 1
            after_blank = False
        elif after_blank and lines[at].startswith("    ") and lines[at].strip():
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            part = lines[at:end]
            while not part[-1].strip():
                part.pop()
            depth = min(len(line) - len(line.lstrip()) for line in part if line.strip())
            found.append(Block(page, at + 1, "indented", [line[depth:] for line in part]))
            at += len(part)
            after_blank = True
        else:
            after_blank = not lines[at].strip()
            at += 1
    return found


def prose_of(text):
    """The text without its fenced blocks, lines kept."""
    out = []
    inside = False
    for line in text.splitlines():
        fence = re.match(r"^\s*```", line)
        out.append("" if inside or fence else line)
        inside = inside != bool(fence)
    return "\n".join(out)


def anchors_of(text):
    """What GitHub makes of the headings."""
    anchors = set()
    for heading in re.findall(r"^#{1,6} +(.*?)\s*$", prose_of(text), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 0
        while (f"{anchor}-{number}" if number else anchor) in anchors:
            number += 1
        anchors.add(f"{anchor}-{number}" if number else anchor)
    return anchors


def links_of(text):
    """(line, target) of each link and picture; code spans hold none."""
    found = []
    for number, line in enumerate(prose_of(text).splitlines(), 1):
        for match in re.finditer(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
            found.append((number, match[1]))
    return found
