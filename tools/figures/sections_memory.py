"""Sections of scripts/figures: the cost of traces and of the allocator in memory and time."""

import itertools
import pathlib
import statistics

from figure_runner import MIB, Absent, section

CARD = "simulated:amd-rx7900xtx-radv25.0"
CARD_PAGES = "simulated:amd-rx7900xtx-radv26.2"
ENDLESS = ("--heap", "0=256GiB", "--heap", "1=256GiB")
ENDS = ("--heap", "1=256GiB")


def captured(run):
    traces = sorted((run.machine.root / "data" / "traces").glob("captured-*.csv"))
    return [trace for trace in traces if not run.quick or "vkcube" in trace.name]


def all_traces(run):
    traces = sorted(run.machine.need_shared("traces").iterdir())
    traces = [trace for trace in traces if trace.name.endswith((".csv", ".csv.gz"))]
    return [trace for trace in traces if not run.quick or "vkcube" in trace.name]


def name_of(path):
    return pathlib.Path(path).name.removesuffix(".gz").removesuffix(".csv")


def set_replays(run, prefix, replays, whole):
    """Sums the results of replays. whole: every byte of each replay must have been verified."""
    good = [line for line in replays
            if line["verified_bytes"] == line["allocated_bytes"] and line["mismatches"] == 0]
    run.set(f"{prefix}.runs", len(replays))
    run.set(f"{prefix}.runs_verified", len(good) if whole else 0)
    run.set(f"{prefix}.verification", "+".join(sorted({r["verification"] for r in replays})))
    run.set(f"{prefix}.bytes_allocated", sum(line["allocated_bytes"] for line in replays))
    run.set(f"{prefix}.bytes_verified", sum(line["verified_bytes"] for line in replays))
    run.set(f"{prefix}.bytes_unverified", run.values[f"{prefix}.bytes_allocated"] -
            run.values[f"{prefix}.bytes_verified"])
    run.set(f"{prefix}.messages", sum(line["validation_messages"] for line in replays))
    run.set(f"{prefix}.allocator_errors", sum(line["allocator_errors"] for line in replays))
    run.set(f"{prefix}.failures", sum(line["failures"] for line in replays
                                      if line["strategy"] not in ("linear", "dedicated")))
    run.set(f"{prefix}.failures_linear_dedicated",
            sum(line["failures"] for line in replays
                if line["strategy"] in ("linear", "dedicated")))


@section("captured", timed=False,
         says="seven captured programs replayed with every strategy on lavapipe, every byte "
              "verified by the device under the validation layer")
def replay_captured(run):
    run.machine.need_layer()
    replays = run.maar("replay", *captured(run), "--strategy", "all", "--verify", "--validate",
                       "--json", environment=run.machine.lavapipe())
    set_replays(run, "captured", replays, True)
    for line in replays:
        name = name_of(line["trace"]).removeprefix("captured-")
        key = f"captured.{name}.{line['strategy']}"
        run.set(f"{key}.calls", line["device_allocation_calls"])
        run.set(f"{key}.reserved_mib", line["peak_reserved_bytes"] / MIB)
        run.set(f"{key}.live_mib", line["peak_live_bytes"] / MIB)
        run.set(f"{key}.objects", line["peak_blocks"])
        run.set(f"{key}.failures", line["failures"])


@section("captured-card", timed=False,
         says="the same programs on a simulated GeForce RTX 4090, whose resources need several "
              "memory types: one device allocation for each resource, and pools")
def replay_captured_card(run):
    replays = []
    for strategy in ("dedicated", "auto"):
        replays += run.maar("replay", *captured(run), "--strategy", strategy, "--json",
                            "--device", "simulated:nvidia-rtx4090-linux")
    for line in replays:
        key = f"card.{name_of(line['trace']).removeprefix('captured-')}.{line['strategy']}"
        run.set(f"{key}.calls", line["device_allocation_calls"])
        run.set(f"{key}.reserved_mib", line["peak_reserved_bytes"] / MIB)
        run.set(f"{key}.live_mib", line["peak_live_bytes"] / MIB)
        run.set(f"{key}.objects", line["peak_blocks"])


@section("captured-radv", timed=False,
         says="the same on RADV over a kernel that executes nothing, three GPUs; bookkeeping")
def replay_captured_radv(run):
    replays = []
    for gpu in ("navi31", "navi21", "vangogh"):
        for trace in captured(run):
            replays += run.maar("replay", trace, "--strategy", "all", "--verify", "--json",
                                environment=run.machine.radv(gpu))
    set_replays(run, "captured_radv", replays, True)


@section("large", timed=False,
         says="seventeen traces, up to 71 GiB alive, on a simulated card with heaps of 256 GiB")
def replay_large(run):
    for strategy in ("auto", "tlsf"):
        replays = run.maar("replay", *all_traces(run), "--strategy", strategy, "--json",
                           "--device", "simulated:nvidia-rtx4090-linux", *ENDLESS)
        run.set(f"large.{strategy}.runs", len(replays))
        run.set(f"large.{strategy}.failures", sum(line["failures"] for line in replays))
        run.set(f"large.{strategy}.allocator_errors",
                sum(line["allocator_errors"] for line in replays))
        run.set(f"large.{strategy}.events", sum(line["events"] for line in replays))


@section("sparse", timed="partly",
         says="seventeen traces with resources made of pages, beside TLSF, Maar's default and VMA; and the ten "
              "largest traces in heaps with 5 % to spare")
def replay_sparse(run):
    traces = all_traces(run)
    found = {}
    for strategy in ("sparse", "tlsf", "auto"):
        for line in run.maar("replay", *traces, "--strategy", strategy, "--json", "--device",
                             CARD_PAGES, *ENDLESS):
            found[name_of(line["trace"]), strategy] = line
    names = [name_of(trace) for trace in traces]
    for name in names:
        sparse = found[name, "sparse"]
        live = sparse["peak_page_rounded_live_bytes"]
        key = f"sparse.{name}"
        run.set(f"{key}.live_mib", sparse["peak_live_bytes"] / MIB)
        run.set(f"{key}.live_gib", sparse["peak_live_bytes"] / (1 << 30))
        run.set(f"{key}.of_live", sparse["peak_reserved_bytes"] / live)
        run.set(f"{key}.over_mib", (sparse["peak_reserved_bytes"] - live) / MIB)
        run.set(f"{key}.blocks", sparse["peak_blocks"])
        run.set(f"{key}.stitched", sparse["stitched_allocations"])
        run.set(f"{key}.pages", sparse["pages_bound"])
        run.set(f"{key}.binds", sparse["binds"])
        run.set(f"{key}.pages_a_bind",
                sparse["pages_bound"] / sparse["binds"] if sparse["binds"] else 0)
        run.set(f"{key}.failures", sparse["failures"])
        for strategy in ("tlsf", "auto"):
            line = found[name, strategy]
            run.set(f"{key}.{strategy}_of_live",
                    line["peak_reserved_bytes"] / line["peak_live_bytes"])
        for strategy in ("sparse", "tlsf"):
            run.set(f"{key}.{strategy}_us_timed", found[name, strategy]["ns_per_event"] / 1000)
    large = [name for name in names if found[name, "sparse"]["peak_live_bytes"] > 1 << 30]
    other = run.maar("replay", *traces, "--strategy", "sparse", "--json", "--device",
                     "simulated:nvidia-rtx4090-linux", *ENDLESS)
    figures = ("peak_reserved_bytes", "peak_blocks", "stitched_allocations", "pages_bound", "binds")
    run.set("sparse.large_same_on_nvidia",
            all(line[what] == found[name_of(line["trace"]), "sparse"][what]
                for line in other for what in figures if name_of(line["trace"]) in large))
    set_sparse_totals(run, names, large)
    replay_scarce(run, [trace for trace in traces if name_of(trace) in large], found)


def set_sparse_totals(run, names, large):
    def values(names, what):
        return [run.values[f"sparse.{name}.{what}"] for name in names]
    small = [name for name in names if name not in large]
    run.set("sparse.large", len(large))
    run.set("sparse.pages", sum(values(names, "pages")))
    run.set("sparse.binds", sum(values(names, "binds")))
    run.set("sparse.pages_millions", run.values["sparse.pages"] / 1e6)
    run.set("sparse.binds_millions", run.values["sparse.binds"] / 1e6)
    run.set("sparse.pages_a_bind", run.values["sparse.pages"] / run.values["sparse.binds"])
    if small:
        run.set("sparse.small_over_mib_max", max(values(small, "over_mib")))
    if large:
        run.set("sparse.large_over_percent_max", 100 * (max(values(large, "of_live")) - 1))
        for what in ("live_gib", "of_live", "tlsf_of_live", "pages_a_bind", "sparse_us_timed",
                     "tlsf_us_timed"):
            run.set(f"sparse.large_{what}_min", min(values(large, what)))
            run.set(f"sparse.large_{what}_max", max(values(large, what)))


def replay_scarce(run, traces, found):
    """Heap 1 is the card's memory. The other heap must stay empty."""
    failing = {strategy: 0 for strategy in ("sparse", "tlsf", "auto")}
    for trace in traces:
        name = name_of(trace)
        heap = found[name, "sparse"]["peak_page_rounded_live_bytes"] * 105 // 100
        for strategy in failing:
            line = run.maar("replay", trace, "--strategy", strategy, "--json", "--device",
                            CARD_PAGES, "--heap", f"1={heap}", "--heap", "0=1MiB",
                            codes=(0, 1))[0]
            run.set(f"sparse.scarce.{name}.{strategy}_failures", line["failures"])
            failing[strategy] += 1 if line["failures"] else 0
    for strategy, count in failing.items():
        run.set(f"sparse.scarce.{strategy}_traces_failing", count)


@section("reserved", timed=False,
         says="the memory that Maar and VMA reserve for seventeen traces, with their own block sizes and "
              "with equal ones")
def reserved(run):
    run.machine.need_vma()
    try:
        traces = all_traces(run)
    except Absent:
        traces = captured(run)
        run.notes.append("only the captured traces; MAAR_SHARED_DATA names the folder of the others")
    for device, prefix, policy in ((CARD, "reserved", "default,same"),
                                   (CARD_PAGES, "reserved_pages", "default")):
        ends = ENDS if device == CARD else ENDLESS
        lines = run.bench("trace", "--policy", policy, "--runs", "1", "--device", device, *ends,
                          *traces)
        for line in lines:
            if line["peer"] not in ("maar", "vma"):
                continue
            key = f"{prefix}.{line['policy']}.{name_of(line['trace'])}.{line['peer']}"
            run.set(f"{key}.of_live", line["reserved_per_live"])
            run.set(f"{key}.calls", line["calls"])
            if line["peer"] == "maar":
                run.set(f"{key}.of_vma", line["reserved_of_vma"])
    for policy in ("default", "same"):
        ratios = [value for key, value in run.values.items()
                  if key.startswith(f"reserved.{policy}.") and key.endswith(".of_vma")]
        run.set(f"reserved.{policy}.not_above_vma", sum(1 for value in ratios if value <= 1))
        run.set(f"reserved.{policy}.hardly_above_vma",
                sum(1 for value in ratios if 1 < value <= 1.01))
        run.set(f"reserved.{policy}.traces", len(ratios))
        run.set(f"reserved.{policy}.of_vma_min", min(ratios))
        run.set(f"reserved.{policy}.of_vma_max", max(ratios))


SMALL_BLOCKS = ("supertuxkart", "pbr-basic", "mpv-hq", "ggml-vulkan-softmax")
LARGE_BLOCKS = ("synthetic-game-streaming", "synthetic-llm-serving-paged", "real-azure-conv-paged")


@section("defragmentation", timed=False,
         says="blocks given back and bytes moved for them, from equal layouts of seven traces of which a "
              "part is freed, beside VMA's algorithms")
def defragmentation(run):
    run.machine.need_vma()
    heaps = ("--heap", "0=1TiB", "--heap", "1=1TiB")
    games = [trace for trace in captured(run)
             if run.quick or name_of(trace).removeprefix("captured-") in SMALL_BLOCKS]
    lines = run.bench("defragmentation", *heaps, *games)
    try:
        large = [trace for trace in all_traces(run) if name_of(trace) in LARGE_BLOCKS]
    except Absent:
        large = []
        run.notes.append("only captured traces; MAAR_SHARED_DATA names the folder of the others")
    if large:
        lines += run.bench("defragmentation", *heaps, "--block-size", "256MiB", "--pass", "64MiB",
                           *large)
    states = [line for line in lines if line["workload"] == "state"]
    for line in states:
        key = f"defragmentation.{name_of(line['trace'])}.{line['state'].replace(' ', '_')}"
        for what in ("live", "live_mib", "blocks", "left", "vma_left", "worst", "last",
                     "worst_asked", "of_least", "missed", "missed_asked", "moves", "extra_mib"):
            run.set(f"{key}.{what}", line[what])
    run.set("defragmentation.states", len(states))
    run.set("defragmentation.worst", max(line["worst"] for line in states))
    run.set("defragmentation.worst_asked", max(line["worst_asked"] for line in states))
    run.set("defragmentation.last_min", min(line["last"] for line in states))
    run.set("defragmentation.with_more_left",
            sum(1 for line in states if line["left"] > line["vma_left"]))
    run.set("defragmentation.with_fewer_left",
            sum(1 for line in states if line["left"] < line["vma_left"]))


@section("defragmentation-slices", timed=True,
         says="parts of a run of defragmentation with 100,000 resources alive, and the allocations of "
              "another thread meanwhile, five times")
def defragmentation_slices(run):
    found = {}
    for _ in range(1 if run.quick else 5):
        few = ("--live", "2000") if run.quick else ()
        for line in run.bench("defragmentation_slices", "--heap", "0=64GiB", *few):
            if line["bench"] != "defragmentation_slices" or line["steps_that"] != "plan":
                continue
            key = f"slices.{line['goal']}"
            if line["limit_ns"] == 1:
                found.setdefault(f"{key}.longest_us", []).append(line["longest_us"])
                found.setdefault(f"{key}.over_50us", []).append(line["over_50us"])
                found.setdefault(f"{key}.parts", []).append(line["steps"])
            elif line["of_alone"] is not None:
                beside = line["beside"].split()[-1]
                found.setdefault(f"{key}.beside_{beside}.of_alone_timed", []).append(line["of_alone"])
    for key, values in found.items():
        least = key.endswith(("longest_us", "over_50us", "parts"))
        run.set(key, min(values) if least else statistics.median(values))


@section("game", timed=True, says="a game's traffic, 100,000 resources alive, beside VMA")
def game(run):
    run.machine.need_vma()
    scale = "2000" if run.quick else "100000"
    trace = run.machine.root / "data" / "traces" / "captured-supertuxkart.csv"
    for line in run.bench("trace", "--policy", "default", "--scale", scale, "--device", CARD, *ENDS,
                          trace):
        key = f"game.{line['peer']}"
        if line["peer"] in ("maar", "vma"):
            run.set(f"{key}.ns", line["ns"])
            run.set(f"{key}.reserved_gib", line["reserved_mib"] / 1024)
        if line["peer"] == "maar":
            run.set("game.live", line["live"])
            run.set("game.of_vma", line["of_vma"])
    run.set("game.vma_of_maar", 1 / run.values["game.of_vma"])


STRATEGIES = "maar-tlsf,maar-buddy,vma,vma-min-time,vma-min-memory"


def placements(run, *options):
    """Runs 10,000 to a million live ranges, with rounded and with raw sizes; a million with fewer peers."""
    for live in (1000,) if run.quick else (10000, 100000, 1000000):
        for sizes in ("rounded", "raw"):
            peers = STRATEGIES
            if live > 100000:
                peers = "maar-tlsf,vma" if sizes == "rounded" else "maar-tlsf"
            raw = ("--raw",) if sizes == "raw" else ()
            for line in run.bench("placement", "--live", live, "--peer", peers, *raw, *options):
                yield f"placement.{live}.{sizes}.{line['peer']}", line


@section("placement-space", timed=False,
         says="how full a block gets before the first failure, and host memory for each range, "
              "beside VMA's strategies")
def placement_space(run):
    run.machine.need_vma()
    for key, line in placements(run, "--workload", "churn,growth", "--runs", "1", "--operations",
                                "1000"):
        if line["workload"] == "churn":
            run.set(f"{key}.host_bytes", line["host_b"])
        else:
            run.set(f"{key}.occupancy", line["occupancy"])
    full = [value for key, value in run.values.items() if key.endswith(".maar-tlsf.occupancy")]
    run.set("placement.occupancy_percent_min", 100 * min(full))
    buddies = [key for key in run.values if key.endswith("rounded.maar-buddy.occupancy")]
    run.set(buddies[0].replace("occupancy", "padding_percent"), 100 * (1 - run.values[buddies[0]]))


@section("placement", timed=True,
         says="one free and one allocation among offsets, 10,000 to a million live, beside VMA")
def placement(run):
    run.machine.need_vma()
    for key, line in placements(run, "--workload", "churn"):
        run.set(f"{key}.ns_timed", line["ns"])
        run.set(f"{key}.min_ns_timed", line["min"])
        if line["of_vma"] is not None:
            run.set(f"{key}.of_vma_timed", line["of_vma"])
    live = "1000" if run.quick else "1000000"
    for line in run.bench("placement", "--live", live, "--workload", "ordered", "--peer",
                          "maar-linear,maar-tlsf,vma-linear,vma"):
        run.set(f"placement.{line['workload']}.{line['peer']}.ns_timed", line["ns"])
        if line["workload"] == "fifo":
            run.set(f"placement.ordered.{line['peer']}.host_bytes", line["host_b"])


@section("placement-fill", timed=True,
         says="the first and the second fill of a range allocator, 10,000 to a million ranges of the "
              "churn's sizes and of equal sizes, beside VMA's virtual block")
def placement_fill(run):
    run.machine.need_vma()
    lives = (1000,) if run.quick else (10000, 100000, 1000000)
    for live, sizes in itertools.product(lives, ((), ("--equal",))):
        for line in run.bench("placement", "--live", live, "--workload", "first-fill", "--peer",
                              "maar-tlsf,maar-linear,vma", *sizes):
            order = line["workload"].removesuffix("-fill")
            key = f"placement.fill.{live}.{line['sizes']}.{line['peer']}.{order}"
            run.set(f"{key}.ns_timed", line["ns"])
            for ratio in (name for name in ("of_second", "of_vma") if line[name] is not None):
                run.set(f"{key}.{ratio}_timed", line[ratio])


@section("allocator", timed="partly",
         says="the whole allocator on lavapipe, one and two threads, beside VMA and the driver")
def allocator(run):
    run.machine.need_vma()
    for live in (1000,) if run.quick else (10000, 100000):
        lines = run.bench("allocator", "--live", live, "--threads", "1", "--sync", "internal",
                          environment=run.machine.lavapipe())
        alone = {(line["workload"], line["peer"]): line for line in lines}
        for line in lines:
            peer = line["peer"]
            key = f"allocator.{live}.{line['workload']}.{peer}"
            run.set(f"{key}.ns_timed", line["cpu_ns"])
            if line["of_vma"] is not None:
                run.set(f"{key}.of_vma_timed", line["of_vma"])
            bind = alone.get((line["workload"], "driver-bind"))
            if bind is not None and peer in ("maar", "vma"):
                run.set(f"{key}.of_driver_timed", line["cpu_ns"] / bind["cpu_ns"])
            if peer in ("maar", "vma"):
                run.set(f"{key}.host_bytes", line["host_b"])
                run.set(f"{key}.calls_fill", line["calls_fill"])
                run.set(f"{key}.calls", line["calls"])
                run.set(f"{key}.block_mib", line["block_mib"])
        set_speedups(run, live)


# A speedup from fewer undisturbed runs than this is no result: among runs as long as the default,
# it differed from 1.4 to 2.1 within minutes, and the bare driver's from 1.2 to 2.0.
QUIET_RUNS = 20


def set_speedups(run, live):
    """What two threads do in a given time, of what one does, by many short runs."""
    short = ("--runs", "2") if run.quick else ("--runs", "300")
    for line in run.bench("allocator", "--live", live, "--threads", "2", "--sync", "internal",
                          "--peer", "maar,vma,driver-bind", "--operations", "2000", *short,
                          environment=run.machine.lavapipe()):
        if line["threads"] > 1:
            key = f"allocator.{live}.{line['workload']}.{line['peer']}"
            run.set(f"{key}.quiet_timed", line["quiet"])
            if line["quiet"] >= QUIET_RUNS:
                run.set(f"{key}.speedup_timed", line["speedup"])


@section("drop-in", timed="partly",
         says="one client of VMA's interface on VMA and on maar::vma, five runs on lavapipe")
def drop_in(run):
    run.machine.need_vma()
    run.machine.need_program("valgrind")
    live = "500" if run.quick else "10000"
    for line in run.bench("allocator", "--live", live, "--threads", "2", "--sync", "internal",
                          "--runs", "2" if run.quick else "5", "--peer", "maar,maar-vma,vma",
                          environment=run.machine.lavapipe()):
        key = f"drop-in.{line['workload']}.{line['peer']}"
        if line["threads"] > 1:
            run.set(f"{key}.of_one_timed", line["cpu_ns"] / run.values[f"{key}.ns_timed"])
            continue
        run.set(f"{key}.ns_timed", line["cpu_ns"])
        run.set(f"{key}.of_vma_timed", line["of_vma"] if line["peer"] != "vma" else 1)
        for what in ("host_b", "calls", "block_mib"):
            run.set(f"{key}.{what}", line[what])
    # The heap of the process has the driver's own objects, too: those of buffers without memory.
    for line in run.bench("allocator", "--live", live, "--threads", "1", "--sync", "internal",
                          "--runs", "1", "--workload", "buffer", "--peer", "driver-create",
                          environment=run.machine.lavapipe()):
        run.set("drop-in.buffer.driver.host_b", line["host_b"])
    for workload in ("memory", "buffer"):
        for peer in ("maar", "maar-vma", "vma"):
            printed = run.text(run.machine.root / "bench" / "instructions.sh",
                               run.machine.build / "bench" / "bench_allocator", live, peer,
                               "--workload", workload, environment=run.machine.lavapipe())
            run.set(f"drop-in.{workload}.{peer}.instructions",
                    int(printed.rsplit(":", 1)[1].split()[0]))
        run.set(f"drop-in.{workload}.layer",
                (run.values[f"drop-in.{workload}.maar-vma.instructions"] -
                 run.values[f"drop-in.{workload}.maar.instructions"]) / 2)


@section("threads", timed=True,
         says="two threads on one allocator beside one thread, five times, Maar and VMA")
def threads(run):
    run.machine.need_vma()
    found = {}
    for _ in range(1 if run.quick else 5):
        few = ("--runs", "2") if run.quick else ("--runs", "40")
        for line in run.bench("allocator", "--live", "10000", "--threads", "2", "--sync",
                              "internal", "--workload", "memory", "--peer", "maar,vma",
                              "--operations", "20000", *few, environment=run.machine.lavapipe()):
            for what in ("speedup", "of_vma", "cpu_ns", "quiet"):
                if line[what] is not None:
                    found.setdefault((line["peer"], line["threads"], what), []).append(line[what])
    for peer in ("maar", "vma"):
        for count, what in ((2, "speedup"), (1, "of_vma"), (1, "cpu_ns")):
            values = sorted(found.get((peer, count, what), ()))
            if values:
                run.set(f"threads.{peer}.{what}_min", values[0])
                run.set(f"threads.{peer}.{what}_max", values[-1])
                run.set(f"threads.{peer}.{what}_median", values[len(values) // 2])
        run.set(f"threads.{peer}.quiet_runs", sum(found.get((peer, 2, "quiet"), ())))


COUNTED = (  # key, program, live, peer, options
    ("placement.10000.maar", "placement", 10000, "maar-tlsf", ()),
    ("placement.10000.vma", "placement", 10000, "vma", ()),
    ("placement.10000.buddy", "placement", 10000, "maar-buddy", ()),
    ("placement.100000.maar", "placement", 100000, "maar-tlsf", ()),
    ("placement.100000.vma", "placement", 100000, "vma", ()),
    ("placement.100000.raw.maar", "placement", 100000, "maar-tlsf", ("--raw",)),
    ("placement.100000.raw.vma", "placement", 100000, "vma", ("--raw",)),
    ("memory.internal.maar", "allocator", 10000, "maar", ()),
    ("memory.internal.vma", "allocator", 10000, "vma", ()),
    ("memory.external.maar", "allocator", 10000, "maar", ("--sync", "external")),
    ("memory.external.vma", "allocator", 10000, "vma", ("--sync", "external")),
    ("buffer.maar", "allocator", 10000, "maar", ("--workload", "buffer")),
    ("buffer.vma", "allocator", 10000, "vma", ("--workload", "buffer")),
    ("buffer.driver", "allocator", 10000, "driver-bind", ("--workload", "buffer")),
)


@section("instructions", timed=False, slow=True,
         says="instructions of a free and an allocation, by Callgrind")
def instructions(run):
    run.machine.need_vma()
    run.machine.need_program("valgrind")
    for key, program, live, peer, options in COUNTED:
        run.machine.need_targets(f"maar_bench_{program}")
        live = 500 if run.quick else live
        printed = run.text(run.machine.root / "bench" / "instructions.sh",
                           run.machine.build / "bench" / f"bench_{program}", live, peer, *options,
                           environment=run.machine.lavapipe())
        run.set(f"instructions.{key}", int(printed.rsplit(":", 1)[1].split()[0]))
