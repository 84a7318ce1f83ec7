"""Every block, link and name in the documents: check_docs.py OPTION...

  --root=ROOT             the sources
  --compiled=PAGE         a page whose C a test compiles (maar_take_blocks); may be repeated
  --cpp=PAGE              a page whose C++ a test compiles
  --python=PAGE           a page whose Python a test runs
  --cmake=PAGE            a page whose CMake a test configures
  --program=PATH          a program that commands may name
  --env=NAME=VALUE        of the commands that are executed
  --missing=REASON        there is no driver: what needs one is not executed

C, C++, Python and CMake are compiled and run by the tests of their kind, and this program ensures that
no page is left out. It compiles the GLSL, executes what commands of Maar there are, and holds every other
command against what it names: program, options, presets, targets, files. A block that none of this fits
stands in OTHERWISE, with a way to check it or with the reason why there is none; any other block fails.
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from markdown_blocks import anchors_of, blocks_of, links_of
from shell_lines import Shell, commands_of

# ---- blocks of no language, and commands of others ----


def labels_are_printed(*files):
    """An output with a label at the beginning of each line: the sources print each of them."""
    def check(checker, block):
        source = "".join(path.read_text(encoding="utf-8") for name in files
                         for path in checker.root.glob(name))
        labels = [re.split(r"  +|: ", line.strip())[0] for line in block.lines if line.strip()]
        return [f"{block}: nothing prints \"{label}\"" for label in labels if label not in source]
    return check


def test_expects(file):
    """Lines that a test in C expects as they stand."""
    def check(checker, block):
        source = (checker.root / file).read_text(encoding="utf-8")
        source = re.sub(r'"\s*\n\s*"', "", source).replace('\\"', '"')
        return [f"{block}: {file} does not expect \"{line}\"" for line in block.lines
                if line not in source]
    return check


def trace_is_read(checker, block):
    """An excerpt of a trace: what it frees is in it."""
    path = checker.work / "excerpt.csv"
    path.write_text(block.text, encoding="utf-8")
    return checker.execute(block, ["maar", "replay", str(path), "--device",
                                   "simulated:cpu-lavapipe25.0"])


def headers_are_planned(checker, block):
    """Headers of tables, each with a remark: with a row behind it, each is planned."""
    wrong = []
    cells = {"id": "7", "name": "x", "uses": "0 3 4"}
    for line in block.lines:
        columns = re.split(r"  +", line)[0].split(",")
        values = [cells.get(column, str(number)) for number, column in enumerate(columns, 1)]
        table = checker.work / "header.csv"
        table.write_text(",".join(columns) + "\n" + ",".join(values) + "\n", encoding="utf-8")
        command = ["maar", "plan", str(table)]
        if "uses" in columns:
            for name, text in (("passes", "pass,queue,name\n" + "".join(f"{i},0,p{i}\n" for i in range(5))),
                               ("edges", "from,to\n0,3\n")):
                (checker.work / f"{name}.csv").write_text(text, encoding="utf-8")
                command += [f"--{name}", str(checker.work / f"{name}.csv")]
        wrong += checker.execute(block, command)
    return wrong


def members_of_statistics(checker, block):
    header = (checker.root / "include/maar/allocator.h").read_text(encoding="utf-8")
    return [f"{block}: no structure has {word}" for word in re.findall(r"[a-z]\w{3,}", block.text)
            if not re.search(rf"^    \w+ {word};", header, re.MULTILINE)]


def recipe_is_there(checker, block):
    """A command for a recipe, which scripts/package-recipes runs: its folder, features and options are there."""
    text = "\n".join(block.lines)
    port = (checker.root / "packaging/vcpkg/ports/maar/vcpkg.json").read_text(encoding="utf-8")
    conan = (checker.root / "packaging/conan/conanfile.py").read_text(encoding="utf-8")
    wrong = [folder for folder in re.findall(r"\bpackaging/[\w/]+", text)
             if not (checker.root / folder).is_dir()]
    wrong += [feature for feature in re.findall(r"maar\[(\w+)\]", text) if f'"{feature}": {{' not in port]
    wrong += [option for option in re.findall(r"maar/\*:(\w+)=", text) if f'"{option}": [' not in conan]
    return [f"{block}: no {name}" for name in wrong]


# (page, beginning of the block): a function, or the reason why nothing can be checked.
OTHERWISE = {
    ("docs/debugging.md", "leak: allocation"): test_expects("tests/docs/test_docs_pages.c"),
    ("docs/dumps.md", "allocationBytes +"): members_of_statistics,
    ("docs/dumps.md", "GpuMemDumpVis.py"): "a program of VulkanMemoryAllocator's",
    ("docs/first-hour.md", "export PKG_CONFIG_PATH"): "docs.first_hour executes it",
    ("docs/first-hour.md", "2 allocations"): "docs.first_hour compares it",
    ("docs/planning.md", "id,first,last"): headers_are_planned,
    ("docs/replay.md", "op,id,kind"): trace_is_read,
    ("docs/building.md", "[wrap-file]"): "package.meson writes such a file",
    ("docs/building.md", "executable('program'"): "package.meson builds the consumers so",
    ("docs/building.md", "cp -R packaging/debian"): recipe_is_there,
    ("docs/building.md", "vcpkg install"): recipe_is_there,
    ("docs/building.md", "conan create"): recipe_is_there,
    ("docs/watching.md", "scrape_configs:"): "tool.export lets a Prometheus server scrape",
    ("samples/from_vma/README.md", "solids: "): labels_are_printed("samples/from_vma/*.c"),
    ("samples/shared_particles/README.md", "route "):
        labels_are_printed("samples/shared_particles/*.c"),
    ("samples/defragment/README.md", "the heap "):
        labels_are_printed("samples/defragment/*.c"),
    ("samples/larger_than_memory/README.md", "textures "):
        labels_are_printed("samples/larger_than_memory/*.c"),
    ("samples/language_model/README.md", "model "):
        labels_are_printed("samples/language_model/*.c"),
    ("samples/port/README.md", "small buffers "):
        labels_are_printed("samples/port/*.c"),
    ("samples/virtual_texture/README.md", "texture "):
        labels_are_printed("samples/virtual_texture/*.c"),
}

# First words of commands that are not Maar's: why they are left alone.
FOREIGN = {
    "awk": "every system has it",
    "grep": "every system has it",
    "objdump": "comes with the compiler",
    "ulimit": "the shell's",
    ".": "the shell's",
    "draw_with_vma": "is built where vk_mem_alloc.h was found; takes what draw_with_maar takes",
    "pkg-config": "package.pkgconfig asks it",
    "cc": "package.pkgconfig compiles a consumer so, and docs.first_hour a whole program",
    "git": "signing and pushing are for whoever has the key",
    "gpg": "the same",
    "gcovr": "a tool that is not needed to build or test",
    "fuzz_trace": "libFuzzer's options; the replay driver has none",
    "program": "stands for the reader's own",
    "test_residency_schedules": "a test's own program, which takes minutes with more preemptions",
    "test_cache_schedules": "the same",
}

# Commands of Maar's that are not executed here, by a part of them: why.
NOT_EXECUTED = {
    "maar capture": "layer.* and findings.* capture programs; these are the reader's",
    ".maarcap": "tool.pages, tool.export and findings.* read captures; these are the reader's",
    "maar top": "tool.top runs it in a terminal",
    "--serve": "tool.export asks the server",
    "--heap 1=SIZE": "the heap of each trace is another",
    "--strategy all": "tool.* replays every captured trace with every strategy",
    "--strategy sparse": "sample.growing_array and tool.* replay sparsely; the trace is the reader's",
}

# Commands of the samples that are cheap: the document, and what they print beside what it shows.
SHOWN = {
    "deferred_frame --memory-only --size 1920x1080 --device simulated:amd-rx7900xtx-radv25.0":
        ("docs/gallery.md", {"190.86 MiB": "190.9", "178.51 MiB": "178.5", "96.32 MiB": "96.3"}),
}


class Checker:
    def __init__(self, options, work):
        self.options = options
        self.root = options.root
        self.work = work
        programs = {pathlib.Path(path).name: path for path in options.program}
        self.programs = programs
        self.shell = Shell(self.root, programs)
        self.used = set()
        self.counts = {}
        self.executed = {}
        self.test_entries = "".join(path.read_text(encoding="utf-8")
                                    for path in self.root.glob("tests/**/CMakeLists.txt"))
        os.symlink(self.root / "data", work / "data")
        self.prepare()

    def prepare(self):
        """The files that the documents' commands name as the reader's own."""
        frames = self.root / "data/frames"
        shutil.copy(frames / "deferred_4k.csv", self.work / "frame.csv")
        trace = (self.root / "data/traces/captured-vkcube.csv").read_bytes()
        (self.work / "big.csv.gz").write_bytes(gzip.compress(trace))
        sys.path.insert(0, str(self.root / "tests/tool"))
        import gguf_files  # pylint: disable=import-outside-toplevel
        (self.work / "model.gguf").write_bytes(
            gguf_files.LLAMA_3_8B.header("Q4_K_M")[0].data())
        queues = sorted((frames / "dag").glob("*.resources.csv"))[0]
        (self.work / "queues").mkdir()
        stem = str(queues)[:-len(".resources.csv")]
        shutil.copy(queues, self.work / "queues/frame.csv")
        for name in ("passes", "edges"):
            shutil.copy(f"{stem}.{name}.csv", self.work / "queues" / f"{name}.csv")

    def count(self, way):
        self.counts[way] = self.counts.get(way, 0) + 1

    # ---- commands ----

    def execute(self, block, words, codes=(0,)):
        """Runs a program of Maar's; what it ended with and said, if that was wrong."""
        simulated = any(word.startswith("simulated:") for word in words) or words[1:2] == ["plan"]
        if self.options.missing and not simulated:
            self.count("not executed, since there is no driver")
            return []
        environment = dict(os.environ)
        environment.update(item.split("=", 1) for item in self.options.env)
        environment["MAAR_DATA_DIR"] = str(self.root / "data")
        folder = self.work / "queues" if "passes.csv" in words else self.work
        # Without a shell, which would be preloaded with what a rig preloads.
        line = [self.programs[words[0]]]
        for word in words[1:]:
            found = sorted(map(str, folder.glob(word))) if "*" in word else []
            line += found or [word]
        begun = time.monotonic()
        done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True,
                              check=False, timeout=120)
        self.executed[" ".join(words)] = time.monotonic() - begun
        if done.returncode not in codes:
            return [f"{block}: {' '.join(words)}\nended with {done.returncode}\n"
                    f"{done.stdout}{done.stderr}"]
        shown = SHOWN.get(" ".join(words))
        if shown and shown[0] == block.page:
            page = (self.root / block.page).read_text(encoding="utf-8")
            return [f"{block}: {printed} is not printed, or {figure} not shown\n{done.stdout}"
                    for printed, figure in shown[1].items()
                    if printed not in done.stdout or figure not in page]
        return []

    def check_command(self, block, words):
        while words and re.match(r"^(export$|[A-Za-z_]\w*=)", words[0]):
            words = words[1:]
        if not words:
            return []
        name = words[0].rsplit("/", 1)[-1]
        if name in FOREIGN:
            self.used.add(name)
            self.count("of other programs")
            return []
        try:
            wrong = self.shell.check(words)
        except (KeyError, ValueError):
            return [f"{block}: nothing is known of the command {words[0]}"]
        if wrong:
            return [f"{block}: {wrong}"]
        line = " ".join([name, *words[1:]])
        reasons = [part for part in NOT_EXECUTED if part in line]
        self.used.update(reasons)
        if reasons or (name != "maar" and line not in SHOWN):
            self.count("commands held against what they name")
            return []
        self.count("commands executed")
        self.used.add(line)
        return self.execute(block, [name, *words[1:]], (0, 1) if "--capacity" in words else (0,))

    def check_shell(self, block):
        try:
            commands = commands_of(block.lines)
        except ValueError as error:
            return [f"{block}: {error}"]
        return [one for words in commands for one in self.check_command(block, words)]

    # ---- blocks ----

    def check_glsl(self, block):
        compiler = shutil.which("glslangValidator")
        if not compiler:
            self.count("not compiled, since there is no glslangValidator")
            return []
        shader = self.work / "block.comp"
        shader.write_text("#version 450\n" + block.text + "void main() {}\n", encoding="utf-8")
        done = subprocess.run([compiler, "-V", "-o", self.work / "block.spv", shader],
                              capture_output=True, text=True, check=False)
        return [] if done.returncode == 0 else [f"{block}: {done.stdout}{done.stderr}"]

    def check_cmake(self, block):
        if block.page in self.options.cmake:
            return []
        # An excerpt: it stands so in the sources.
        def plain(text):
            return re.sub(r"\s+", " ", text).strip()
        sources = [self.root / "CMakeLists.txt", *self.root.glob("*/**/CMakeLists.txt")]
        if any(plain(block.text) in plain(path.read_text(encoding="utf-8")) for path in sources):
            return []
        return [f"{block}: CMake that is neither configured by a test nor taken from the sources"]

    def check_block(self, block):
        for (page, beginning), way in OTHERWISE.items():
            if block.page == page and block.lines[0].startswith(beginning):
                self.used.add((page, beginning))
                if isinstance(way, str):
                    self.count("left alone, with a reason")
                    return []
                self.count("held against the sources or the command")
                return way(self, block)
        lists = {"c": self.options.compiled, "cpp": self.options.cpp, "python": self.options.python}
        if block.language in lists:
            self.count(f"{block.language}: by tests")
            if block.page in lists[block.language]:
                return []
            return [f"{block}: no test takes the {block.language} of this page"]
        ways = {"glsl": self.check_glsl, "cmake": self.check_cmake, "sh": self.check_shell,
                "indented": self.check_shell}
        if block.language not in ways:
            return [f"{block}: a block of \"{block.language}\", for which there is no check"]
        if ways[block.language] != self.check_shell:
            self.count(block.language)
        return ways[block.language](block)

    def unused(self):
        """Entries of the tables above that nothing needs any more."""
        entries = [*OTHERWISE, *NOT_EXECUTED, *SHOWN]
        return [f"nothing in the documents is {entry} any more" for entry in entries
                if entry not in self.used]

    # ---- links and names ----

    def check_links(self, page, text):
        wrong = []
        for line, target in links_of(text):
            if re.match(r"^[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (self.root / page).parent / path if path else self.root / page
            if not file.exists():
                wrong.append(f"{page}:{line}: there is no {target}")
            elif anchor and file.suffix == ".md" and \
                    anchor not in anchors_of(file.read_text(encoding="utf-8")):
                wrong.append(f"{page}:{line}: {target}: no such heading")
        return wrong

    def names_known(self):
        """Every word of the sources that looks like a name of Maar's."""
        known = set()
        for pattern in ("include/maar/*.h", "vma/include/maar/*.h", "core/**/*.c", "CMakeLists.txt", "cmake/*", "*/CMakeLists.txt",
                        "tests/**/*.[ch]", "tests/**/CMakeLists.txt", "tests/**/*.py", "scripts/*",
                        "tools/*.c", "interop/**/*.py", "support/*.h"):
            for path in self.root.glob(pattern):
                if path.is_file() and path.parent != self.root / "tests/docs":
                    known.update(re.findall(r"\b(?:maar[A-Z]|Maar[A-Z]|MAAR_)\w+",
                                            path.read_text(encoding="utf-8", errors="replace")))
        return known

    def check_names(self, page, text, known):
        wrong = []
        for number, line in enumerate(text.splitlines(), 1):
            for word in re.findall(r"\b(?:maar[A-Z]|Maar[A-Z]|MAAR_)\w+\b(?!…|\*)", line):
                if word not in known and not word.endswith("_"):
                    wrong.append(f"{page}:{number}: nothing is called {word}")
            for word in re.findall(r"`(test_[a-z0-9_]+)`", line):
                if not any(self.root.glob(f"tests/**/{word}.*")) and \
                        f"NAME {word}" not in self.test_entries:
                    wrong.append(f"{page}:{number}: there is no test {word}")
        return wrong

    def check_index(self):
        """Every page is linked from the index of its readers."""
        wrong = []
        for index, pages in (("docs/README.md", "docs/*.md"), ("docs/design.md", "docs/design/*.md"),
                             ("docs/project/README.md", "docs/project/**/*.md")):
            text = (self.root / index).read_text(encoding="utf-8")
            folder = (self.root / index).parent
            linked = {(folder / target.partition("#")[0]).resolve() for _, target in links_of(text)}
            wrong += [f"{index} does not name {path.relative_to(self.root)}"
                      for path in sorted(self.root.glob(pages))
                      if path.resolve() not in linked and path.name != "README.md"]
        reference = (self.root / "docs/reference.md").read_text(encoding="utf-8")
        wrong += [f"docs/reference.md does not name maar/{path.name}"
                  for path in sorted(self.root.glob("include/maar/*.h"))
                  if f"`maar/{path.name}`" not in reference]
        return wrong

    def run(self):
        pages = [path.relative_to(self.root).as_posix() for pattern in (
            "*.md", "docs/**/*.md", "samples/**/*.md", "bench/*.md", "interop/**/*.md",
            "data/**/*.md", "tests/**/*.md") for path in sorted(self.root.glob(pattern))]
        known = self.names_known()
        wrong = []
        for page in pages:
            text = (self.root / page).read_text(encoding="utf-8")
            wrong += self.check_links(page, text)
            wrong += self.check_names(page, text, known)
            for block in blocks_of(page, text):
                self.count("blocks")
                wrong += self.check_block(block)
        self.counts["pages"] = len(pages)
        return wrong + self.check_index() + self.unused()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    for name in ("compiled", "cpp", "python", "cmake", "program", "env"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--missing", default="")
    options = parser.parse_args()
    unbuilt = [path for path in options.program if not pathlib.Path(path).exists()]
    if unbuilt:
        print("build these first, since their --help says what a command may have:", *unbuilt, sep="\n  ")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options, pathlib.Path(folder))
        wrong = checker.run()
    print("\n".join(wrong))
    for way, count in sorted(checker.counts.items()):
        print(f"{count:5} {way}")
    slow = sorted(checker.executed.items(), key=lambda item: -item[1])[:3]
    print("slowest:", *(f"{seconds:.1f} s {line}" for line, seconds in slow), sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
