"""Generates tables of the documents from results. The text between the marks

    <!-- figures: NAME -->
    <!-- figures end -->

comes from the function of that name, which reads the values of all sections. Nobody edits this text
by hand. A document may have such marks anywhere; people write the prose around them.
"""

import pathlib
import re

MARK = re.compile(r"(<!-- figures: ([\w-]+) -->\n)(.*?)(<!-- figures end -->)", re.DOTALL)
TABLES = {}

CAPTURED = ("chromium", "compute-particles", "ggml-vulkan-softmax", "mpv-hq", "pbr-basic",
            "supertuxkart", "vkcube")
OTHERS = ("real-azure-code-contig", "real-azure-conv-paged", "real-mooncake-prefix-lru",
          "real-somas-pangu2.6B", "real-somas-resnet50", "synthetic-cnn-naive",
          "synthetic-game-streaming", "synthetic-llm-serving-paged", "synthetic-stencil",
          "synthetic-transformer-ckpt")
TRACES = tuple(f"captured-{name}" for name in CAPTURED) + OTHERS
GRAPHS = ("deferred_1080p", "deferred_4k", "forwardplus_msaa4_1440p", "frostbite_like_4k",
          "taau_1440p_to_4k", "pathtracer_1080p_to_4k", "llm_8b_prefill512", "unet_sd15_512",
          "deferred_4k_async", "taau_1440p_to_4k_async")


def table(name):
    def register(function):
        TABLES[name] = function
        return function
    return register


def number(value, digits=0):
    """Formats a number for the documents. A value that does not apply becomes a blank."""
    return "" if value is None else f"{value:,.{digits}f}"


def rows(header, body):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(cells) + " |" for cells in body]
    return "".join(line.replace("|  |", "| |").replace("|  |", "| |") + "\n" for line in lines)


@table("placement")
def placement(v):
    body = []
    for live in (10000, 100000, 1000000):
        key = f"placement.{live}.rounded"
        body.append((
            number(live), number(v[f"{key}.maar-tlsf.ns_timed"]), number(v[f"{key}.vma.ns_timed"]),
            number(v[f"{key}.maar-tlsf.of_vma_timed"], 2),
            number(v.get(f"instructions.placement.{live}.maar")),
            number(v.get(f"instructions.placement.{live}.vma")),
            number(v[f"{key}.maar-tlsf.occupancy"], 4), number(v[f"{key}.vma.occupancy"], 4),
            number(v[f"{key}.maar-tlsf.host_bytes"], 1), number(v[f"{key}.vma.host_bytes"], 1)))
    return rows(("live", "Maar TLSF, ns a free + allocate", "VMA", "ratio", "instructions, Maar",
                 "VMA", "occupancy at the first failure, Maar", "VMA",
                 "host bytes a live range, Maar", "VMA"), body)


@table("placement-strategies")
def placement_strategies(v):
    body = []
    for peer, name in (("maar-tlsf", "Maar, TLSF"), ("vma", "VMA, its default"),
                       ("vma-min-time", "VMA, least time"),
                       ("vma-min-memory", "VMA, least memory")):
        key = f"placement.100000.rounded.{peer}"
        raw = f"placement.100000.raw.{peer}"
        body.append((name, number(v[f"{key}.ns_timed"]), number(v[f"{raw}.ns_timed"]),
                     number(v[f"{key}.occupancy"], 4), number(v[f"{raw}.occupancy"], 4),
                     number(v[f"{key}.host_bytes"], 1)))
    return rows(("100,000 live", "ns, rounded sizes", "ns, raw sizes", "occupancy, rounded", "raw",
                 "host bytes a live range"), body)


@table("placement-tlsf")
def placement_tlsf(v):
    body = []
    for live in (10000, 100000, 1000000):
        cells = [number(live)]
        for sizes in ("rounded", "raw"):
            key = f"placement.{live}.{sizes}.maar-tlsf"
            cells.append(f"{v[f'{key}.ns_timed']:.0f} ({v[f'{key}.min_ns_timed']:.1f})")
        count = v.get(f"instructions.placement.{live}.maar")
        cells.append(number(count) if count else "not counted")
        cells += [number(v[f"placement.{live}.{sizes}.maar-tlsf.occupancy"], 4)
                  for sizes in ("rounded", "raw")]
        cells.append(number(v[f"placement.{live}.rounded.maar-tlsf.host_bytes"], 1))
        body.append(cells)
    return rows(("live", "ns rounded, median (min)", "ns raw", "instructions",
                 "occupancy at first failure, rounded", "raw", "host B per live"), body)


@table("placement-ordered")
def placement_ordered(v):
    return rows(("", "FIFO pair", "LIFO pair", "bump, per allocation", "host B per live"), [
        (name, *(number(v[f"placement.{order}.{peer}.ns_timed"], 1)
                 for order in ("fifo", "lifo", "bump")),
         number(v[f"placement.ordered.{peer}.host_bytes"], 1))
        for peer, name in (("maar-linear", "linear"), ("maar-tlsf", "TLSF"),
                           ("vma-linear", "VMA, linear"), ("vma", "VMA, TLSF"))])


def speedup(v, key):
    value = v.get(f"{key}.speedup_timed")
    return f"{value:.1f}" if value else "no quiet run"


@table("allocator-memory")
def allocator_memory(v):
    key = "allocator.10000.memory"
    peers = ("maar", "vma")
    body = [
        ["time, one thread, ns", *(number(v[f"{key}.{p}.ns_timed"]) for p in peers),
         f"{v[f'{key}.maar.of_vma_timed']:.3f} of VMA's"],
        ["instructions, internally synchronized",
         *(number(v[f"instructions.memory.internal.{p}"]) for p in peers), ""],
        ["instructions, externally synchronized",
         *(number(v[f"instructions.memory.external.{p}"]) for p in peers), ""],
        ["throughput of two threads, of one's", *(speedup(v, f"{key}.{p}") for p in peers), ""],
        ["host bytes a live allocation", *(number(v[f"{key}.{p}.host_bytes"]) for p in peers), ""],
        ["`vkAllocateMemory` calls, for the fill and in all",
         *(f"{v[f'{key}.{p}.calls_fill']}, {v[f'{key}.{p}.calls']}" for p in peers), ""],
        ["bytes of blocks", *(number(v[f"{key}.{p}.block_mib"]) + " MiB" for p in peers), ""]]
    return rows(("", "Maar", "VMA", ""), body)


@table("allocator-buffer")
def allocator_buffer(v):
    key = "allocator.10000.buffer"
    peers = ("maar", "vma")
    return rows(("", "Maar", "VMA", "the driver alone"), [
        ["time, one thread, ns", *(number(v[f"{key}.{p}.ns_timed"]) for p in peers),
         number(v[f"{key}.driver-bind.ns_timed"])],
        ["of the driver alone", *(number(v[f"{key}.{p}.of_driver_timed"], 1) for p in peers), ""],
        ["instructions", *(number(v[f"instructions.buffer.{p}"]) for p in peers + ("driver",))],
        ["throughput of two threads, of one's",
         *(speedup(v, f"{key}.{p}") for p in peers + ("driver-bind",))]])


@table("drop-in")
def drop_in(v):
    peers = ("maar", "maar-vma", "vma")
    body = []
    for workload, pair in (("memory", "allocate and free"), ("buffer", "create and destroy a buffer")):
        key = f"drop-in.{workload}"
        body += [
            [f"{pair}, ns", *(number(v[f"{key}.{p}.ns_timed"]) for p in peers)],
            ["of VMA's time", *(f"{v[f'{key}.{p}.of_vma_timed']:.3f}" for p in peers)],
            ["CPU time of two threads, of one's",
             *(f"{v[f'{key}.{p}.of_one_timed']:.2f}" for p in peers)],
            ["instructions", *(number(v[f"{key}.{p}.instructions"]) for p in peers)],
            ["of the layer alone, a call", "", number(v[f"{key}.layer"]), ""],
            ["host bytes a live allocation", *(number(v[f"{key}.{p}.host_b"]) for p in peers)],
            *([["without those of the driver's buffers",
                *(number(v[f"{key}.{p}.host_b"] - v[f"{key}.driver.host_b"]) for p in peers)]]
              if f"{key}.driver.host_b" in v else []),
            ["bytes of blocks", *(number(v[f"{key}.{p}.block_mib"]) + " MiB" for p in peers)]]
    return rows(("", "Maar", "VMA's interface on Maar", "VMA"), body)


@table("defragmentation")
def defragmentation(v):
    body = []
    keys = [key.removesuffix(".vma_left") for key in v
            if key.startswith("defragmentation.") and key.endswith(".vma_left")]
    for key in keys:
        trace, state = key.removeprefix("defragmentation.").rsplit(".", 1)
        body.append((
            trace, state.replace("_", " "), number(v[f"{key}.live"]), number(v[f"{key}.blocks"]),
            number(v[f"{key}.left"]), number(v[f"{key}.vma_left"]), number(v[f"{key}.worst"], 3),
            number(v[f"{key}.last"], 3), number(v[f"{key}.missed"]), number(v[f"{key}.moves"]),
            number(v[f"{key}.extra_mib"], 1)))
    return rows(("trace", "state", "live", "blocks", "left, Maar", "left, VMA",
                 "bytes of VMA's, worst number", "bytes of VMA's, last number",
                 "numbers that only VMA reaches", "moves", "extra, MiB"), body)


@table("defragmentation-slices")
def defragmentation_slices(v):
    return rows(("goal", "parts", "longest, us", "above 50 us", "another thread's pair, of alone",
                 "pair of the thread that owns all blocks, of alone"), [
        (goal, number(v[f"{key}.parts"]), number(v[f"{key}.longest_us"], 1),
         number(v[f"{key}.over_50us"]), f"{v[f'{key}.beside_thread.of_alone_timed']:.2f}",
         f"{v[f'{key}.beside_owner.of_alone_timed']:.2f}")
        for goal, key in (("give blocks back", "slices.blocks"), ("make room", "slices.room"))])


@table("reserved")
def reserved(v):
    return rows(("trace", "Maar", "VMA", "Maar of VMA"), [
        (name, number(v[f"reserved.default.{name}.maar.of_live"], 3),
         number(v[f"reserved.default.{name}.vma.of_live"], 3),
         number(v[f"reserved.default.{name}.maar.of_vma"], 4)) for name in TRACES])


@table("sparse")
def sparse(v):
    body = []
    for name in TRACES:
        key = f"sparse.{name}"
        body.append((name, number(v[f"{key}.live_mib"], 1), number(v[f"{key}.of_live"], 4),
                     number(v[f"{key}.over_mib"]), number(v[f"{key}.tlsf_of_live"], 3),
                     number(v[f"{key}.auto_of_live"], 3),
                     number(v[f"reserved_pages.default.{name}.vma.of_live"], 3),
                     number(v[f"{key}.blocks"]), number(v[f"{key}.stitched"]),
                     number(v[f"{key}.pages"]), number(v[f"{key}.pages_a_bind"])))
    return rows(("trace", "live, MiB", "sparse, of live", "over, MiB", "tlsf, of live",
                 "auto, of live", "VMA, of live", "blocks", "stitched", "pages bound",
                 "pages for each bind"), body)


@table("scarce")
def scarce(v):
    body = [(name, *(number(v[f"sparse.scarce.{name}.{strategy}_failures"])
                     for strategy in ("sparse", "tlsf", "auto")))
            for name in OTHERS if f"sparse.scarce.{name}.tlsf_failures" in v]
    if not body:
        raise KeyError("sparse.scarce")
    return rows(("failed allocations", "sparse", "tlsf", "auto"), body)


@table("paging")
def paging(v):
    body = []
    for workload in ("adjacent", "scattered"):
        for peer, name in (("maar", "Maar"), ("driver", "a bind for each page"),
                           ("driver-calls", "a call for each page")):
            key = f"paging.lavapipe.{workload}.{peer}"
            body.append((f"{v[f'{key}.pages']:,} {workload}", name, number(v[f"{key}.binds"]),
                         number(v[f"{key}.calls"]), number(v[f"{key}.min_us"]),
                         number(v[f"{key}.done_us"]), number(round(v[f"{key}.pages_s"], -3))))
    return rows(("pages", "way", "elements", "calls", "least, us", "median, us", "pages a second"),
                body)


@table("sharing")
def sharing(v):
    body = []
    for live in (1000, 10000):
        for peer, name in (("maar", "Maar"), ("maar-each", "Maar, each imported"),
                           ("vma", "VMA, blocks tracked by hand"),
                           ("vma-each", "VMA, each imported"), ("single", "a memory each")):
            key = f"sharing.{live}.{peer}"
            times = ", ".join(number(v[f"{key}.{what}_us_timed"], 2)
                              for what in ("create", "over", "destroy"))
            body.append((number(live), name,
                         *(number(v[f"{key}.{what}"])
                           for what in ("memories", "exports", "imports", "fds")),
                         number(v[f"{key}.of_live"], 3), number(v[f"{key}.imported_mib"]), times,
                         number(v[f"{key}.of_single_timed"], 3)))
    return rows(("buffers", "way", "device memories", "exports", "imports", "descriptors open",
                 "reserved, of live", "imported, MiB", "us a buffer: made, handed over, destroyed",
                 "of one memory each"), body)


@table("handoffs")
def handoffs(v):
    def ns(workload, peer):
        return number(v[f"handoffs.{workload}.{peer}.ns"])

    def ratio(workload):
        key = f"handoffs.{workload}.maar.of_bare"
        return f"{v[f'{key}_min']:.1f} to {v[f'{key}_max']:.1f}"
    return rows(("", "Maar", "bare", "ratio, of nine"), [
        ("a handoff, waited for: bare is a command buffer recorded once", ns("handoff", "maar"),
         ns("handoff", "driver"), ratio("handoff")),
        ("bare records the barrier each time", ns("handoff", "maar"),
         ns("handoff", "driver-record"), ""),
        ("eight handoffs at a time: recorded once", ns("handoff-burst", "maar"),
         ns("handoff-burst", "driver"), ratio("handoff-burst")),
        ("recorded each time", ns("handoff-burst", "maar"), ns("handoff-burst", "driver-record"),
         ""),
        ("a descriptor written", ns("write", "maar"), "", ""),
        ("a descriptor read and examined", ns("read", "maar"), "", ""),
        ("a message with a handle, sent, received and closed; bare is sendmsg and recvmsg",
         ns("message", "maar"), ns("message", "system"), ratio("message"))])


@table("plans")
def plans(v):
    body = []
    for name in GRAPHS:
        key = f"plans.{name}"
        body.append((
            name, number(v[f"{key}.resources"]), number(v[f"{key}.peak_mib"], 1),
            number(v[f"{key}.place_us_timed"], 1), number(v[f"{key}.cached_us_timed"], 1),
            number(v[f"{key}.nodes"]), f"{v[f'{key}.edges_1']:,}, {v[f'{key}.edges']:,}",
            number(v[f"{key}.size-best.of_bound"], 3), number(v[f"{key}.size-best.edges"]),
            *(number(v[f"{key}.{peer}.of_bound"], 3)
              for peer in ("time-first", "lifetime", "breadth", "slots", "objects"))))
    return rows(("frame graph", "resources", "peak MiB", "first stage, us", "from the cache, us",
                 "nodes", "edges after the first stage, in the end",
                 "decreasing size, best fit (RPS)", "its edges", "time order, first fit (Unreal)",
                 "decreasing lifetime (Daxa)", "breadth (TFLite GPU)", "slot pool",
                 "object cache"), body)


@table("hard")
def hard(v):
    body = []
    solved = "hard.all.minimalloc.plain.cpu_ms_timed" in v
    for name in (*"ABCDEFGHIJK", "all"):
        key = f"hard.{name}"

        def ms(peer, variant, digits, key=key):
            return number(v[f"{key}.{peer}.{variant}.cpu_ms_timed"], digits)
        solver = ()
        if solved:
            solver = tuple(ms("minimalloc", variant, 0)
                           for variant in ("plain", "shuffled", "mirrored"))
        body.append((name, number(v[f"{key}.maar.plain.resources"]), ms("maar", "plain", 1),
                     number(v[f"{key}.maar.plain.nodes"]), ms("maar", "shuffled", 1),
                     ms("maar", "mirrored", 1), *solver))
    solver = ("MiniMalloc", "rows shuffled", "time mirrored") if solved else ()
    return rows(("", "resources", "Maar", "nodes", "rows shuffled", "time mirrored", *solver), body)


def fault_rows(v, prefix, columns):
    """Returns the functions in the order of the table that the test wrote."""
    names = []
    for key in v:
        match = re.fullmatch(rf"{prefix}\.(maar\w+)\.injections", key)
        if match:
            names.append(match.group(1))
    if not names:
        raise KeyError(prefix)
    return [(f"`{name}`", *(number(v[f"{prefix}.{name}.{column}"]) for column in columns))
            for name in names]


@table("faults")
def faults(v):
    return rows(("function", "driver calls", "host allocations", "injections"),
                fault_rows(v, "faults", ("driver_points", "host_points", "injections")))


@table("sharing-faults")
def sharing_faults(v):
    return rows(("function", "driver calls", "host allocations", "descriptors", "CUDA, HIP",
                 "injections"),
                fault_rows(v, "sharing_faults", ("driver_points", "host_points", "fd_points",
                                                 "peer_points", "injections")))


@table("types")
def types(v):
    return v["types.table"]


@table("growing")
def growing(v):
    def both(what, digits=0, unit=""):
        return [number(v[f"growing.{way}.{what}"], digits) + unit for way in ("pages", "copies")]
    return rows(("lavapipe, pages of 4 KiB", "by pages", "by copies"), [
        ("bytes copied", "0" if v["growing.pages.copied"] == 0 else "SOME",
         number(v["growing.copies.copied_gib"], 2) + " GiB"),
        ("most device memory", *both("most_memory_gib", 2, " GiB")),
        ("buffers and addresses", *both("buffers")),
        ("submissions of binds", number(v["growing.pages.submissions"]), "–"),
        (f"binds, for {v['growing.pages.pages']:,} pages", number(v["growing.pages.binds"]), "–")])


def documents(root):
    yield root / "README.md"
    for folder in ("docs", "bench", "samples"):
        yield from sorted((root / folder).rglob("*.md"))


class Reader(dict):
    """Values that record which of them were read. Only get() may read a value that was not measured
    (null)."""

    def __init__(self, values):
        super().__init__(values)
        self.read = set()

    def __getitem__(self, key):
        self.read.add(key)
        value = super().__getitem__(key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key, default=None):
        self.read.update({key} & self.keys())
        return super().get(key, default)


def rendered(text, values, disturbed, findings, name):
    def replace(match):
        if match.group(2) not in TABLES:
            findings.append(f"{name}: unknown table: {match.group(2)}")
            return match.group(0)
        reader = Reader(values)
        try:
            made = TABLES[match.group(2)](reader)
        except KeyError as missing:
            findings.append(f"{name}: the table {match.group(2)} needs the missing result {missing}")
            return match.group(0)
        if reader.read & disturbed and match.group(3):
            return match.group(0)  # the old table stays until a quiet machine measures new times
        return f"{match.group(1)}{made}{match.group(4)}"
    return MARK.sub(replace, text)


def render_all(root, values, disturbed):
    """Rewrites every table without disturbed times."""
    for path in documents(root):
        text = path.read_text(encoding="utf-8")
        made = rendered(text, values, disturbed, [], path.name)
        if made != text:
            path.write_text(made, encoding="utf-8")
            print(f"figures: {pathlib.Path(path).relative_to(root)} has new tables")


def check_all(root, values, disturbed):
    """Returns the tables that differ from the results."""
    findings, seen = [], set()
    for path in documents(root):
        text = path.read_text(encoding="utf-8")
        name = pathlib.Path(path).relative_to(root).as_posix()
        seen.update(match.group(2) for match in MARK.finditer(text))
        if rendered(text, values, disturbed, findings, name) != text:
            findings.append(f"{name}: a table differs from docs/project/results/figures; run "
                            "scripts/figures --render")
    findings += [f"no document contains the table {name}" for name in sorted(set(TABLES) - seen)]
    return findings


def inventory(root):
    """Returns (document, table, number of cells with a number) of each table."""
    for path in documents(root):
        name = pathlib.Path(path).relative_to(root).as_posix()
        for match in MARK.finditer(path.read_text(encoding="utf-8")):
            cells = [cell for line in match.group(3).splitlines()[2:] for cell in line.split("|")]
            yield name, match.group(2), sum(1 for cell in cells if re.search(r"[0-9]", cell))
