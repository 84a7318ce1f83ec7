"""Sections of scripts/figures: plans, pages, sharing; samples and pictures; counts of tests."""

import csv
import json
import re
import shutil

from figure_runner import MIB, Failed, section
from sections_memory import CARD, CARD_PAGES

CARD_PROFILES = ("amd-rx7900xtx-radv25.0", "amd-steamdeck-vangogh-radv25.0",
                 "apple-m1-honeykrisp26.2", "arm-mali-g610-panvk25.0", "cpu-lavapipe25.0",
                 "intel-arc-a770m-anv25.0",
                 "nvidia-rtx4090-linux", "qualcomm-adreno740-turnip26.2")
TRANSFERABLE = ("size-best", "time-first", "lifetime", "breadth", "slots", "objects")


def keep_picture(run, made, name):
    """Copies a picture to docs/pictures, and adds a note if the picture has changed."""
    kept = run.machine.root / "docs" / "pictures" / name
    if not kept.is_file() or kept.read_bytes() != made.read_bytes():
        run.notes.append(f"docs/pictures/{name} has changed")
        if not run.quick:
            shutil.copyfile(made, kept)


# ---- plans ----

@section("plans", timed="partly",
         says="ten frame graphs: peaks, edges and times of the planner, beside the rules of other planners")
def plans(run):
    runs = "5" if run.quick else "1000"
    frames = {}
    for line in run.bench("plan", "--workload", "frames", "--runs", runs):
        frames.setdefault(line["instance"], {})[line["peer"]] = line
    for name, peers in frames.items():
        maar = peers["maar"]
        key = f"plans.{name}"
        for what in ("resources", "peak_mib", "of_bound", "nodes", "edges_1", "edges"):
            run.set(f"{key}.{what}", maar[what])
        run.set(f"{key}.proved", maar["proved"] == "yes")
        run.set(f"{key}.edges_less_percent", 100 * (1 - maar["edges"] / maar["edges_1"]))
        for what in ("place_us", "edge_us", "cached_us"):
            run.set(f"{key}.{what}_timed", maar[what])
        for peer in TRANSFERABLE:
            run.set(f"{key}.{peer}.of_bound", peers[peer]["of_bound"])
        run.set(f"{key}.size-best.edges", peers["size-best"]["edges"])
        run.set(f"{key}.size-best.place_us_timed", peers["size-best"]["place_us"])
    small = [name for name in frames if frames[name]["maar"]["resources"] < 100
             and not name.endswith("_async")]
    run.set("plans.frames", len(small))
    run.set("plans.proved", sum(1 for name in frames if run.values[f"plans.{name}.proved"]))
    run.set("plans.graphs", len(frames))
    for what in ("resources", "place_us_timed", "edges_less_percent"):
        values = [run.values[f"plans.{name}.{what}"] for name in small]
        run.set(f"plans.frames_{what}_min", min(values))
        run.set(f"plans.frames_{what}_max", max(values))
    edges = [run.values[f"plans.{name}.edge_us_timed"] / 1000 for name in frames]
    run.set("plans.edge_ms_timed_min", min(edges))
    run.set("plans.edge_ms_timed_max", max(edges))
    more = [100 * (run.values[f"plans.{name}.objects.of_bound"] - 1)
            for name in small]
    run.set("plans.objects_more_percent_min", min(more))
    run.set("plans.objects_more_percent_max", max(more))


@section("plans-hard", timed="partly",
         says="google/minimalloc's instances A to K into their customary capacity, rows as they "
              "are, shuffled and mirrored; also google/minimalloc's solver if --minimalloc names it")
def plans_hard(run):
    run.machine.need_shared("minimalloc")
    solver = ("--minimalloc", run.machine.minimalloc) if run.machine.minimalloc else ()
    if not solver:
        run.notes.append("google/minimalloc's own solver was not found; --minimalloc names it")
    shared = {"MAAR_SHARED_DATA": str(run.machine.shared)}
    worst = 0
    for line in run.bench("plan", "--workload", "hard", *solver, environment=shared):
        key = f"hard.{line['instance'].split('.')[0]}.{line['peer']}.{line['variant']}"
        run.set(f"{key}.cpu_ms_timed", line["cpu_ms"])
        run.set(f"{key}.fits", line["fits"])
        if line["peer"] == "maar" and line["nodes"] is not None:
            run.set(f"{key}.nodes", line["nodes"])
            run.set(f"{key}.resources", line["resources"])
            worst = max(worst, line["cpu_ms"] if line["instance"] != "all" else 0)
    run.set("hard.maar_worst_cpu_ms_timed", worst)
    run.set("hard.maar_fits", sum(1 for key, value in run.values.items()
                                  if ".maar." in key and key.endswith(".fits") and value == "yes"
                                  and not key.startswith("hard.all.")))
    run.set("hard.maar_all_cpu_s_timed", run.values["hard.all.maar.plain.cpu_ms_timed"] / 1000)
    if solver:
        theirs = run.values["hard.all.minimalloc.plain.cpu_ms_timed"]
        run.set("hard.minimalloc_all_cpu_s_timed", theirs / 1000)
        run.set("hard.minimalloc_of_maar_timed",
                theirs / run.values["hard.all.maar.plain.cpu_ms_timed"])


@section("plans-least", timed=True, slow=True,
         says="the least peaks of C, D and J that ten seconds find")
def plans_least(run):
    run.machine.need_shared("minimalloc")
    shared = {"MAAR_SHARED_DATA": str(run.machine.shared)}
    seconds = "1" if run.quick else "10"
    for line in run.bench("plan", "--workload", "optimise", "--seconds", seconds,
                          environment=shared):
        key = f"least.{line['instance'].split('.')[0]}"
        for what in ("peak", "lower_bound", "cpu_ms", "proved"):
            if what in line:
                run.set(f"{key}.{what}", line[what])


# ---- pages and sharing ----

@section("paging", timed=True, says="binding pages on lavapipe, by Maar, by elements and by calls")
def paging(run):
    for device, prefix, runs, environment in (
            ("auto", "lavapipe", "50", run.machine.lavapipe()),
            (CARD_PAGES, "simulated", "9", {})):
        for line in run.bench("paging", "--runs", "1" if run.quick else runs, "--device", device,
                              environment=environment):
            key = f"paging.{prefix}.{line['workload']}.{line['peer']}"
            for what in ("pages", "binds", "calls", "min_us", "done_us"):
                run.set(f"{key}.{what}", line[what])
            run.set(f"{key}.pages_s", line["pages"] / line["min_us"] * 1e6)


@section("tiles", timed=True, says="the cost of a cache of texture tiles on the host, for each frame")
def tiles(run):
    few = ("--updates", "20") if run.quick else ()
    line = run.bench("paging", "--tiles", "--device", CARD_PAGES, *few)[0]
    for what in ("requests", "updates", "uploads", "evictions", "hits", "peak_mib"):
        run.set(f"tiles.{what}", line[what])
    for what in ("update", "levels", "binds"):
        run.set(f"tiles.{what}_ms_timed", line[f"{what}_us"] / 1000)


@section("sharing", timed="partly",
         says="buffers that a second device shares: objects, exports, imports, beside VMA and one "
              "device memory for each; and with 1,024 descriptors")
def sharing(run):
    run.machine.need_vma()
    for live in (100,) if run.quick else (1000, 10000):
        for line in run.bench("sharing", "--live", live, "--workload", "buffers", "--runs",
                              "2" if run.quick else "9", environment=run.machine.lavapipe()):
            key = f"sharing.{live}.{line['peer']}"
            for what in ("shared", "memories", "exports", "imports", "fds", "of_live",
                         "imported_mib"):
                run.set(f"{key}.{what}", line[what])
            for what in ("create_us", "over_us", "destroy_us", "us", "of_single"):
                run.set(f"{key}.{what}_timed", line[what])
        run.set(f"sharing.{live}.maar_of_vma_timed", run.values[f"sharing.{live}.maar.us_timed"] /
                run.values[f"sharing.{live}.vma.us_timed"])
    if not run.quick:
        program = run.machine.build / "bench" / "bench_sharing"
        command = (f"ulimit -n 1024; {program} --runs 2 --live 10000 --workload buffers")
        for line in run.objects("sh", "-c", command, environment=run.machine.lavapipe(),
                                codes=(0, 1)):
            run.set(f"sharing.limited.{line['peer']}.shared", line["shared"])
            run.set(f"sharing.limited.{line['peer']}.memories", line["memories"])


@section("handoffs", timed=True, says="handoffs, descriptors and messages, beside the bare calls")
def handoffs(run):
    times = {}
    for _ in range(1 if run.quick else 9):
        for line in run.bench("sharing", "--runs", "3" if run.quick else "31", "--workload",
                              "handoff,message", environment=run.machine.lavapipe()):
            times.setdefault((line["workload"], line["peer"]), []).append(
                (line["ns"], line["of_bare"]))
    for line in run.bench("sharing", "--runs", "3" if run.quick else "31", "--workload", "handoff",
                          "--device", CARD_PAGES):
        run.set(f"handoffs.simulated.{line['workload']}.{line['peer']}.ns", line["ns"])
    for (workload, peer), found in times.items():
        found.sort()
        key = f"handoffs.{workload}.{peer}"
        run.set(f"{key}.ns", found[len(found) // 2][0])
        ratios = [ratio for _, ratio in found if ratio is not None]
        if ratios and peer == "maar":
            run.set(f"{key}.of_bare_min", min(ratios))
            run.set(f"{key}.of_bare_max", max(ratios))


# ---- samples and pictures ----

@section("deferred-frame", timed=False,
         says="a deferred frame: memory on profiles and RADV, the picture, the plan's picture")
def deferred_frame(run):
    size = ("--size", "1920x1080")
    for profile in CARD_PROFILES:
        printed = run.sample("deferred_frame", "--memory-only", "--json", *size, "--device",
                             f"simulated:{profile}")
        keep_frame(run, f"frame.{profile}", json.loads(printed))
    printed = run.sample("deferred_frame", "--memory-only", "--json", *size,
                         environment=run.machine.radv("navi31"))
    keep_frame(run, "frame.radv-navi31", json.loads(printed))
    picture = run.scratch / "deferred_frame_plan.svg"
    run.sample("deferred_frame", "--memory-only", *size, "--device", CARD, "--picture", picture)
    keep_picture(run, picture, picture.name)
    picture = run.scratch / "deferred_frame.png"
    frames, small = ("2", "352x198") if run.quick else ("16", "704x396")
    printed = run.sample("deferred_frame", "--size", small, "--frames", frames, "--output", picture,
                         "--json", environment=run.machine.lavapipe())
    keep_frame(run, "frame.lavapipe", json.loads(printed))
    keep_picture(run, picture, picture.name)


def keep_frame(run, key, line):
    run.set(f"{key}.total_mib", line["total"] / MIB)
    run.set(f"{key}.object_reuse_mib", line["object_reuse"] / MIB)
    run.set(f"{key}.planned_mib", line["planned"] / MIB)
    run.set(f"{key}.of_total", line["planned"] / line["total"])
    run.set(f"{key}.proved", line["proved"])
    run.set(f"{key}.passes", line["passes"])
    run.set(f"{key}.resources", line["resources"])


@section("growing-array", timed=False,
         says="an array that grows to 1 GiB by pages and by copies, every element verified")
def growing_array(run):
    picture = run.scratch / "growing_array.svg"
    size = ("--size", "16M") if run.quick else ()
    printed = run.sample("growing_array", "--compare", "--json", "--picture", picture, *size,
                         environment=run.machine.lavapipe())
    for line in map(json.loads, printed.splitlines()):
        key = f"growing.{line['way']}"
        for what in ("pages", "binds", "submissions", "copied", "moves", "address_unchanged",
                     "elements", "verified", "appended"):
            run.set(f"{key}.{what}", line[what])
        run.set(f"{key}.copied_gib", line["copied"] / (1 << 30))
        run.set(f"{key}.most_memory_gib", line["most_memory"] / (1 << 30))
        run.set(f"{key}.buffers", line["moves"] if line["moves"] else 1)
    keep_picture(run, picture, picture.name)


@section("defragment", timed=False,
         says="frames that go on while the heap under them is defragmented, compared byte for byte")
def defragment(run):
    blocks, frame = run.scratch / "defragment.svg", run.scratch / "defragment.png"
    small = ("--planets", "240", "--size", "320x180") if run.quick else ()
    line = json.loads(run.sample("defragment", "--json", "--picture", blocks, "--out", frame, *small,
                                 environment=run.machine.lavapipe()))
    for what in ("planets", "objects", "blocks_before", "blocks_after", "forecast_blocks",
                 "forecast_moves", "moves", "steps", "most_moves", "frames", "different"):
        run.set(f"defragment.{what}", line[what])
    for what in ("live", "forecast_bytes", "bytes", "most_bytes"):
        run.set(f"defragment.{what}_mib", line[what] / MIB)
    for when in ("before", "after"):
        run.set(f"defragment.{when}_mib", line[f"blocks_{when}"] * line["block_size"] / MIB)
    keep_picture(run, blocks, blocks.name)
    keep_picture(run, frame, frame.name)


@section("virtual-texture", timed="partly",
         says="a flight over a texture fifty times larger than its budget, validated")
def virtual_texture(run):
    run.machine.need_layer()
    folder = run.scratch / "virtual_texture"
    frames = ("--frames", "16") if run.quick else ()
    line = json.loads(run.sample("virtual_texture", "--validate", "--json", "--out", folder,
                                 *frames, environment=run.machine.lavapipe()))
    run.set("texture.mib", line["texture_bytes"] / MIB)
    run.set("texture.budget_mib", line["budget"] / MIB)
    run.set("texture.budget_percent", 100 * line["budget"] / line["texture_bytes"])
    run.set("texture.peak_mib", line["peak_resident"] / MIB)
    run.set("texture.page_blocks_mib", line["page_blocks"] / MIB)
    for what in ("frames", "frames_over_budget", "waits", "late_uploads", "stalls",
                 "compared_pixels", "differing_pixels", "messages"):
        run.set(f"texture.{what}", line[what])
    for what in ("uploads", "evictions", "median_frame_ms", "longest_tile_ms", "longest_upload_ms"):
        run.set(f"texture.{what}_timed", line[what])
    run.set("texture.uploads_a_frame_timed", line["uploads"] / line["frames"])
    run.set("texture.pages_a_frame_timed",
            (line["uploads"] + line["evictions"]) / line["frames"])
    run.set("texture.bind_submissions_a_frame_timed", line["bind_submissions"] / line["frames"])
    run.set("texture.submissions_a_frame_timed", line["submissions"] / line["frames"])
    run.set("texture.hit_percent_timed", 100 * line["hit_rate"])
    run.set("texture.tile_hit_percent_timed", 100 * line["tile_hit_rate"])
    last = sorted(folder.glob("frame_????.png"))[-1]
    keep_picture(run, last, "virtual_texture.png")
    keep_picture(run, folder / "tiles.svg", "virtual_texture_tiles.svg")
    if run.is_quiet():  # its curves depend on the speed of the loading of tiles
        keep_picture(run, folder / "figures.svg", "virtual_texture_figures.svg")


@section("shared-particles", timed=False,
         says="particles that one process moves and another renders, with each particle compared")
def shared_particles(run):
    picture = run.scratch / "shared_particles.png"
    some = ("--particles", "1000", "--frames", "8") if run.quick else ()
    line = json.loads(run.sample("shared_particles", "--route", "process", "--json", "--size",
                                 "960x540", "--out", picture, *some,
                                 environment=run.machine.lavapipe()))
    for what in ("particles", "frames", "steps", "mover_own_memory", "furthest_off",
                 "shortest_step", "lost", "well"):
        run.set(f"particles.{what}", line[what])
    run.set("particles.shared_mib", line["shared_bytes"] / MIB)
    run.set("particles.block_mib", line["block_bytes"] / MIB)
    run.set("particles.furthest_off_micro", line["furthest_off"] * 1e6)
    run.set("particles.words_a_frame", line["words"] * 8 / line["frames"])
    keep_picture(run, picture, picture.name)


@section("pictures", timed=False, says="the other pictures: blocks of a game, a plan, from VMA")
def pictures(run):
    lavapipe = run.machine.lavapipe()
    for strategy in ("auto", "buddy", "dedicated"):
        picture = run.scratch / f"supertuxkart-{strategy}.svg"
        line = run.maar("replay", "captured-supertuxkart", "--strategy", strategy, "--json",
                        "--picture", picture, environment=lavapipe)[0]
        run.set(f"pictures.supertuxkart.{strategy}.objects", line["peak_blocks"])
        run.set(f"pictures.supertuxkart.{strategy}.reserved_mib",
                line["peak_reserved_bytes"] / MIB)
        keep_picture(run, picture, picture.name)
    picture = run.scratch / "plan-deferred-async.svg"
    line = run.maar("plan", "deferred_4k_async", "--json", "--picture", picture)[0]
    run.set("pictures.plan.resources", line["resources"])
    keep_picture(run, picture, picture.name)
    picture = run.scratch / "from_vma.png"
    printed = run.sample("draw_with_maar", "--picture", picture, environment=lavapipe)
    run.set("pictures.from_vma.checksum", printed.rsplit(" ", 1)[1].strip())
    keep_picture(run, picture, picture.name)


# ---- what tests count ----

@section("faults", timed=False,
         says="each call of each function made to fail, alone and in shared parts")
def faults(run):
    for program, prefix in (("test_allocator_faults", "faults"),
                            ("test_sharing_faults", "sharing_faults")):
        table = run.scratch / f"{prefix}.csv"
        few = {"MAAR_FAULT_CODES": "1"} if run.quick else {}
        run.text(run.machine.build / "tests" / "fault" / program,
                 environment={"MAAR_FAULT_TABLE": str(table), **few},
                 targets=(f"maar_test_{program}",))
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        totals = dict.fromkeys(("driver_points", "host_points", "fd_points", "peer_points",
                                "injections", "failures"), 0)
        points = ("driver_points", "host_points", "fd_points", "peer_points")
        failing = 0
        for row in rows:
            for what in totals:
                totals[what] += int(row[what])
            if not any(int(row[what]) for what in points):
                continue
            failing += 1
            for what in points + ("injections",):
                run.set(f"{prefix}.{row['function']}.{what}", int(row[what]))
        for what, total in totals.items():
            run.set(f"{prefix}.{what}", total)
        run.set(f"{prefix}.functions_failing", failing)
        run.set(f"{prefix}.functions_without", len(rows) - failing)


@section("replay-faults", timed=False, says="whole programs with each of their calls failing")
def replay_faults(run):
    printed = run.text(run.machine.build / "tests" / "fault" / "test_replay_faults",
                       targets=("maar_test_test_replay_faults",))
    whole = re.findall(r": [0-9]+ calls work without a failure\none host allocation +([0-9]+) of +"
                       r"([0-9]+) points,.*\n.*\n.*\none driver call +([0-9]+) of +([0-9]+) points",
                       printed)
    in_full = [counts for counts in whole if counts[0] == counts[1]]
    for name, counts in zip(("made_up", "captured"), in_full):
        run.set(f"replay_faults.{name}.host_points", int(counts[1]))
        run.set(f"replay_faults.{name}.driver_points", int(counts[3]))
    run.set("replay_faults.programs_in_full", len(in_full))
    run.set("replay_faults.settings_more", len(whole) - len(in_full))


@section("barriers", timed=False,
         says="barriers of random graphs left out in turn, and the number that no check missed")
def barriers(run):
    printed = run.text(run.machine.build / "tests" / "transient" / "test_transient_barriers",
                       targets=("maar_test_test_transient_barriers",))
    found = re.findall(r"([0-9]+) graphs, ([0-9]+) barriers and waits left out in turn, "
                       r"([0-9]+) in vain", printed)
    for key, counts in zip(("graphs", "left_out", "in_vain"), zip(*found)):
        run.set(f"barriers.{key}", sum(map(int, counts)))


@section("plans-random", timed=False, slow=True,
         says="the planner against exhaustive search, 40,000 small inputs")
def plans_random(run):
    rounds = "400" if run.quick else "40000"
    printed = run.text(run.machine.build / "tests" / "plan" / "test_plan_random",
                       environment={"MAAR_TEST_SEED": "9001", "MAAR_TEST_ROUNDS": rounds},
                       targets=("maar_test_test_plan_random",))
    run.set("plans_random.rounds", int(rounds))
    run.set("plans_random.solved",
            int(re.search(r"([0-9]+) solved by trying everything", printed).group(1)))


@section("types", timed=False, says="the memory types that VMA and Maar choose on every profile")
def types(run):
    run.machine.need_vma()
    table = run.scratch / "types.md"
    run.text(run.machine.build / "tests" / "from_vma" / "from_vma.types",
             environment={"MAAR_WRITE_TABLE": str(table)}, codes=(0, 1),
             targets=("maar_test_from_vma.types",))
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in table.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    counts = [row for row in rows if len(row) == 4 and row[1].isdigit()]
    if not counts:
        raise Failed("from_vma.types wrote no counts")
    run.set("types.ways", len(counts))
    run.set("types.profiles", sum(int(cell) for cell in counts[0][1:]))
    run.set("types.cases", sum(int(cell) for row in counts for cell in row[1:]))
    run.set("types.same", sum(int(row[1]) for row in counts))
    run.set("types.other", run.values["types.cases"] - run.values["types.same"])
    run.set("types.table", table.read_text(encoding="utf-8"))


@section("tree", timed=False,
         says="the contents of the sources: profiles, traces, fuzz targets, functions")
def tree(run):
    root = run.machine.root
    run.set("tree.profiles", len(list((root / "data" / "profiles").glob("*.json"))))
    run.set("tree.captured_traces", len(list((root / "data" / "traces").glob("captured-*.csv"))))
    run.set("tree.fuzz_targets", sum(1 for entry in (root / "tests" / "fuzz" / "corpus").iterdir()
                                     if entry.is_dir()))
    symbols = (root / "tests" / "abi" / "symbols.txt").read_text(encoding="utf-8").split()
    run.set("tree.public_functions", sum(1 for name in symbols if name.startswith("maar")))
