"""The random programs of tests/device/test_move_contents.c and test_resident_contents.c in
scripts/long-runs: buffers and images that are written, moved, defragmented, evicted, restored, read
and freed, with every byte compared, on lavapipe under the validation layer and on simulated
devices."""

from long_common import build, commit_of, cpu_of_children, keep_log
from long_threads import list_programs, run_once

NAMES = {"lavapipe": "lavapipe", "none": "simulated"}
# Of each test and rig: the steps of a program, and how many programs an entry plays.
PROGRAMS = {
    ("test_move_contents", "none"): (100000, 5),
    ("test_move_contents", "lavapipe"): (100000, 1),
    ("test_resident_contents", "none"): (100000, 10),
    ("test_resident_contents", "lavapipe"): (20000, 8),
}
TIME_LIMIT = 6000


def run_entry(options, commit, name, entry):
    """Plays the programs of one test on one rig. Returns a row, or None where it is skipped."""
    _, words, environment, place = entry
    rig = environment.get("MAAR_RIG", "none")
    steps, programs = PROGRAMS[name, rig]
    before = cpu_of_children()
    seeded = {**environment, "MAAR_TEST_SEED": str(options.seed), "MAAR_TEST_STEPS": str(steps)}
    code, output = run_once(words, seeded, place, TIME_LIMIT)
    if code == 77:
        print(f"skipped: {name} on {NAMES[rig]}")
        return None
    if code != 0:
        keep_log(options.build, f"{name}-{NAMES[rig]}-{options.seed}.log", output)
        print(f"{name} on {NAMES[rig]}: exit code {code}", flush=True)
    seed = f" --seed {options.seed}" if options.seed != 1 else ""
    return {"target": f"{name} ({NAMES[rig]}{seed})",
            "command": f"scripts/long-runs contents{seed}", "commit": commit,
            "cpu": f"{cpu_of_children() - before:.0f}", "steps": str(steps * programs),
            "findings": str(0 if code == 0 else 1)}


def run(options, _minutes):
    folder = options.build / "contents"
    commit = commit_of(options.root)
    names = sorted({name for name, _ in PROGRAMS} if options.only is None else {options.only})
    build(options.root, folder, names, "-DCMAKE_BUILD_TYPE=Debug",
          "-DMAAR_BUILD_BENCH=OFF", "-DCMAKE_C_FLAGS_DEBUG=-g -O2")
    rows = [run_entry(options, commit, name, entry) for name in names
            for entry in list_programs(folder, "-R", rf"^{name}(\.|$)")]
    return [row for row in rows if row is not None]
