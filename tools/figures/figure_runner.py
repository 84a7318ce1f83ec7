"""The sections of scripts/figures: running their commands and storing their results.

A section is a function that runs commands and sets values, each under a flat key. Its results are
docs/project/results/figures/SECTION.json (values, commands, commit, duration) and SECTION.jsonl (the
lines that the programs printed). Tables and claims depend only on these files (figure_tables,
figure_claims).
"""

import datetime
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import time

SECTIONS = {}
MIB = 1 << 20
# Times are disturbed if other programs use more than this share of one processor.
QUIET = 0.2


class Absent(Exception):
    """This machine lacks something that a section needs."""


class Failed(Exception):
    """A program reported an error."""


def section(name, timed, says, slow=False):
    """Registers a section. timed: some of its values are times, which need a quiet machine."""
    def register(function):
        SECTIONS[name] = {"run": function, "timed": timed, "says": says, "slow": slow}
        return function
    return register


class Machine:
    """The environment of sections: programs, drivers, data, peers."""

    def __init__(self, root, options):
        self.root = root
        self.build = pathlib.Path(options.build or root / "build" / "figures").resolve()
        self.quick = options.quick
        self.vma = options.vma
        self.minimalloc = options.minimalloc
        shared = os.environ.get("MAAR_SHARED_DATA", "")
        self.shared = pathlib.Path(shared).resolve() if shared else None
        self.built = set()

    def need_targets(self, *targets):
        """Builds programs, unless the user gave a finished build folder."""
        missing = [target for target in targets if target not in self.built]
        if missing:
            done = subprocess.run(["cmake", "--build", str(self.build), "--target", *missing],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Failed(f"building {' '.join(missing)}:\n{done.stdout[-3000:]}{done.stderr}")
            self.built.update(missing)

    def configure(self):
        arguments = ["cmake", "-S", str(self.root), "-B", str(self.build),
                     "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
        if not (self.build / "CMakeCache.txt").is_file():
            arguments += ["-G", "Ninja"]
        if self.vma:
            arguments.append(f"-DMAAR_VMA_INCLUDE_DIR={self.vma}")
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"cmake: {done.stderr}")

    def has_vma(self):
        cache = (self.build / "CMakeCache.txt").read_text(encoding="utf-8")
        return "MAAR_VMA_INCLUDE_DIR:PATH=/" in cache

    def need_vma(self):
        if not self.has_vma():
            raise Absent("VulkanMemoryAllocator was not found; give its folder by --vma")

    def need_shared(self, name):
        folder = self.shared / name if self.shared else None
        if not folder or not folder.is_dir():
            raise Absent("MAAR_SHARED_DATA names the folder of data that is not part of the project, "
                         f"and has no {name}")
        return folder

    def lavapipe(self):
        """Returns the environment of a rig. It names a driver's file in the form that the loader expects."""
        return self._driver("lvp_icd*.json", "lavapipe (Debian: mesa-vulkan-drivers)")

    def radv(self, gpu):
        environment = self._driver("radeon_icd*.json", "RADV (Debian: mesa-vulkan-drivers)")
        shims = list(pathlib.Path("/usr/lib").glob("*/libamdgpu_noop_drm_shim.so"))
        if not shims:
            raise Absent("the no-op kernel of RADV was not found (Debian: mesa-drm-shim)")
        self.need_targets("maar_ioctl_faults")
        preload = self.build / "tests" / "radv" / "libmaar_ioctl_faults.so"
        environment.update(AMDGPU_GPU_ID=gpu, LD_PRELOAD=f"{preload}:{shims[0]}")
        return environment

    @staticmethod
    def _driver(pattern, name):
        found = sorted(pathlib.Path("/usr/share/vulkan/icd.d").glob(pattern))
        if not found:
            raise Absent(f"the driver {name} was not found")
        return {"VK_ICD_FILENAMES": str(found[0])}

    def need_layer(self):
        if not list(pathlib.Path("/usr/share/vulkan").glob("*/VkLayer_khronos_validation.json")):
            raise Absent("the validation layer was not found (Debian: vulkan-validationlayers)")

    def need_program(self, name):
        folders = os.environ.get("PATH", "").split(":")
        if not any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders):
            raise Absent(f"{name} is not installed")


class Others:
    """The use of processors by other programs while a section runs, as a share of one processor."""

    def __init__(self):
        self.wall, self.busy, self.own = time.monotonic(), self.busy_s(), self.own_s()

    @staticmethod
    def busy_s():
        try:
            words = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()
        except OSError:
            return 0.0  # the system does not report it
        user, nice, system, _, _, irq, softirq = map(int, words[1:8])
        return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def own_s():
        usages = (resource.getrusage(resource.RUSAGE_CHILDREN),
                  resource.getrusage(resource.RUSAGE_SELF))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    def share(self):
        took = (self.busy_s() - self.busy) - (self.own_s() - self.own)
        return max(0.0, took / max(time.monotonic() - self.wall, 0.01))


def shorten(paths):
    """Returns many files of one folder in the form that a reader would type."""
    if len(paths) < 4:
        return paths
    start = os.path.commonprefix([pathlib.Path(path).name for path in paths])
    return [f"{pathlib.Path(paths[0]).parent}/{start}*"]


class Run:
    """One running section."""

    def __init__(self, machine, name, scratch):
        self.machine = machine
        self.name = name
        self.quick = machine.quick
        self.scratch = scratch  # a folder for files; pictures are copied to docs/pictures afterwards
        self.values = {}
        self.lines = []
        self.commands = []
        self.notes = []
        self.others = Others()

    def is_quiet(self):
        return self.others.share() <= QUIET

    def set(self, key, value):
        if key in self.values:
            raise Failed(f"{key} was set twice")
        self.values[key] = value

    def readable(self, arguments, environment):
        """Returns a command in the form that a reader would type in the root of the sources."""
        words = [f"{key}={value}" for key, value in environment.items()
                 if key != "MAAR_SHARED_DATA"]
        paths = []
        for argument in map(str, arguments):
            if paths and pathlib.Path(argument).parent == pathlib.Path(paths[0]).parent and (
                    ".csv" in argument):
                paths.append(argument)
                continue
            words += shorten(paths)
            paths = [argument] if ".csv" in argument else []
            words += [] if paths else [argument]
        words += shorten(paths)
        text = " ".join(word if "*" in word else shlex.quote(word) for word in words)
        for path, name in ((self.machine.build, "build/release"), (self.scratch, "build/figures"),
                           (self.machine.shared, "$MAAR_SHARED_DATA"), (self.machine.root, ".")):
            if path:
                text = re.sub(rf"{re.escape(str(path))}(?=[/\s'\":]|$)", name, text)
        return text.replace(" ./", " ").removeprefix("./")

    def text(self, *arguments, environment=None, codes=(0,), targets=(), timeout=1800):
        """Runs a command and returns its output. Records both."""
        self.machine.need_targets(*targets)
        environment = environment or {}
        command = self.readable(arguments, environment)
        self.commands.append(command)
        print(f"    {command}", flush=True)
        done = subprocess.run([str(argument) for argument in arguments], capture_output=True,
                              text=True, timeout=timeout, check=False, cwd=self.machine.root,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
        if done.returncode == 77:
            raise Absent(done.stderr.strip() or done.stdout.strip())
        if done.returncode not in codes:
            raise Failed(f"{command}: exit code {done.returncode}\n{done.stdout[-2000:]}"
                         f"{done.stderr[-3000:]}")
        return done.stdout

    def objects(self, *arguments, **options):
        """Returns the lines of JSON that a command printed."""
        found = [json.loads(line) for line in self.text(*arguments, **options).splitlines()
                 if line.startswith("{")]
        if not found:
            raise Failed(f"{self.commands[-1]} did not print a line of JSON")
        self.lines += found
        return found

    def maar(self, *arguments, **options):
        return self.objects(self.machine.build / "tools" / "maar", *arguments,
                            targets=("maar_tool",), **options)

    def bench(self, name, *arguments, **options):
        return self.objects(self.machine.build / "bench" / f"bench_{name}", *arguments,
                            targets=(f"maar_bench_{name}",), **options)

    def sample(self, name, *arguments, **options):
        return self.text(self.machine.build / "samples" / name, *arguments,
                         targets=(f"maar_sample_{name}",), **options)


def commit_of(root):
    done = subprocess.run(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"],
                          capture_output=True, text=True, check=False)
    dirty = subprocess.run(["git", "-C", str(root), "status", "--porcelain", "-uno", "--", ".",
                            ":!docs", ":!*.md"], capture_output=True, text=True, check=False)
    return done.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def is_timed(record, key):
    return record["timed"] is True or (bool(record["timed"]) and "_timed" in key)


def round_values(value):
    """Rounds a value: it keeps enough digits for every table, and no noise."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


def run_section(machine, name, results, scratch):
    """Runs a section and writes its file. Returns "done", "skipped: ..." or "FAILED: ...", and the
    seconds."""
    entry = SECTIONS[name]
    run = Run(machine, name, scratch)
    began = time.monotonic()
    try:
        entry["run"](run)
    except Absent as absent:
        return f"skipped: {absent}", time.monotonic() - began
    except (Failed, subprocess.TimeoutExpired, OSError, KeyError, ValueError) as failure:
        return f"FAILED: {type(failure).__name__}: {failure}", time.monotonic() - began
    seconds = time.monotonic() - began
    record = {
        "section": name,
        "says": entry["says"],
        "timed": entry["timed"],
        "commit": commit_of(machine.root),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "seconds": round(seconds, 1),
        "others": round(run.others.share(), 2),
        "commands": run.commands,
        "values": {key: round_values(run.values[key]) for key in sorted(run.values)},
        "notes": run.notes,
    }
    results.mkdir(parents=True, exist_ok=True)
    with open(results / f"{name}.json", "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(results / f"{name}.jsonl", "w", encoding="utf-8") as file:
        for line in run.lines:
            file.write(json.dumps(line) + "\n")
    return "done", seconds


def load_results(results):
    """Returns all values of all sections, the section of each, and the keys of times that other programs
    disturbed. Disturbed times neither support nor contradict a claim."""
    values, origins, disturbed = {}, {}, set()
    for path in sorted(results.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for key, value in record["values"].items():
            if key in values:
                sys.exit(f"{path}: {origins[key]} contains {key} too")
            values[key], origins[key] = value, record["section"]
            if record.get("others", 2) > QUIET and is_timed(record, key):
                disturbed.add(key)
    return values, origins, disturbed
