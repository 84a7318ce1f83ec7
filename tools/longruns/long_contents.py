"""The random programs of tests/device/test_move_contents.c in scripts/long-runs: buffers and images
that are written, moved, defragmented, read and freed, with every byte compared, on lavapipe under
the validation layer and on simulated devices."""

from long_common import build, commit_of, cpu_of_children, keep_log
from long_threads import list_programs, run_once

STEPS = 100000
DEVICES = {"lavapipe": 1, "none": 5}  # programs that an entry plays
NAMES = {"lavapipe": "lavapipe", "none": "simulated"}
TIME_LIMIT = 6000


def run(options, _minutes):
    folder = options.build / "contents"
    commit = commit_of(options.root)
    build(options.root, folder, ["test_move_contents"], "-DCMAKE_BUILD_TYPE=Debug",
          "-DMAAR_BUILD_BENCH=OFF", "-DCMAKE_C_FLAGS_DEBUG=-g -O2")
    rows = []
    for _, words, environment, place in list_programs(folder, "-R", r"^test_move_contents(\.|$)"):
        rig = environment.get("MAAR_RIG", "none")
        before = cpu_of_children()
        seeded = {**environment, "MAAR_TEST_SEED": str(options.seed),
                  "MAAR_TEST_STEPS": str(STEPS)}
        code, output = run_once(words, seeded, place, TIME_LIMIT)
        if code == 77:
            print(f"skipped: test_move_contents on {NAMES[rig]}")
            continue
        if code != 0:
            keep_log(options.build, f"test_move_contents-{NAMES[rig]}-{options.seed}.log", output)
            print(f"test_move_contents on {NAMES[rig]}: exit code {code}", flush=True)
        seed = f" --seed {options.seed}" if options.seed != 1 else ""
        rows.append({"target": f"test_move_contents ({NAMES[rig]}{seed})",
                     "command": f"scripts/long-runs contents{seed}", "commit": commit,
                     "cpu": f"{cpu_of_children() - before:.0f}",
                     "steps": str(STEPS * DEVICES[rig]), "findings": str(0 if code == 0 else 1)})
    return rows
