"""maar convert, and what maar replay and maar report make of captures.

test_convert.py --maar=PROGRAM --maker=PROGRAM --source=ROOT

Captures are written by make_capture.
"""

import argparse
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None
EVENTS = 20000
COLUMNS = ("op id kind size alignment types stream time_ns usage note device object offset flags "
           "value name").split()

TWO_CARDS = ",".join(COLUMNS) + """
device,0,integrated,,,,0,0,,granularity=64 memories=100 atom=64,,,,,,probed only
heap,0,,1000000000,,,0,0,,,0,,,0x1,,
type,0,,,,,0,0,,,0,0,,0x7,,
device,1,discrete,,,,0,0,,granularity=1024 memories=100 atom=64,,,,,,the card
heap,0,,1000000000,,,0,0,,,1,,,0x1,,
heap,1,,1000000000,,,0,0,,,1,,,0x0,,
type,0,,,,,0,0,,,1,1,,0x6,,
type,1,,,,,0,0,,,1,0,,0x1,,
memory,0,,65536,,,0,1,,,0,0,,,,
memory,1,,65536,,,0,1,,,1,1,,,,
memory,2,,65536,,,0,1,,,1,1,,0x8,,imported
memory,3,,65536,,,0,1,,,1,0,,,,
alloc,0,buffer,1024,16,0x1,0,2,0x20,needs=0x1,0,0,0,,1024,elsewhere
alloc,1,image_optimal,4096,4096,0x2,0,2,0x6,needs=0x5,1,1,0,,,with memory of its own
alloc,2,buffer,1024,16,0x2,0,2,0x20,needs=0x1,1,2,0,,1024,in imported memory
alloc,3,buffer,2048,16,0x3,0,2,0x1,needs=0x1,1,3,0,,2048,staging
"""


def maar(*arguments):
    return subprocess.run([OPTIONS.maar, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, check=False)


class Converted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.capture = cls.make("plain")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def make(cls, name, *arguments, events=EVENTS):
        capture = cls.folder / f"{name}.maarcap"
        subprocess.run([OPTIONS.maker, capture, str(events), *arguments], check=True,
                       stdout=subprocess.DEVNULL)
        return capture

    def done(self, *arguments, code=0):
        done = maar(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def rows(self, capture, name="trace.csv"):
        path = self.folder / name
        self.done("convert", capture, "--output", path)
        text = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
        lines = text.decode("utf-8", "surrogateescape").split("\n")
        self.assertEqual(lines[0].split(","), COLUMNS)
        self.assertEqual(lines[-1], "")
        return [dict(zip(COLUMNS, line.split(","), strict=True)) for line in lines[1:-1]]

    def replay(self, path, *arguments):
        done = self.done("replay", path, "--device", "capture", "--json", *arguments)
        result = json.loads(done.stdout)
        for key in ("trace", "ns_per_event"):
            del result[key]
        return result

    def test_text_is_the_same_plain_and_compressed(self):
        rows = self.rows(self.capture)
        self.assertEqual(rows, self.rows(self.capture, "trace.csv.gz"))
        self.assertGreater(len(rows), EVENTS // 2)

    def test_sums_of_rows_agree(self):
        live = peak = 0
        sizes = {}
        for row in self.rows(self.capture):
            if row["op"] == "alloc":
                sizes[row["id"]] = int(row["size"])
                live += sizes[row["id"]]
            elif row["op"] == "free":
                live -= sizes.pop(row["id"])
            peak = max(peak, live)
        result = self.replay(self.capture)
        self.assertGreater(peak, 0)
        self.assertEqual(result["trace_peak_live_bytes"], peak)
        self.assertEqual(result["freed_at_end"], len(sizes))

    def test_capture_and_its_trace_replay_the_same(self):
        self.rows(self.capture, "same.csv.gz")
        result = self.replay(self.capture, "--verify")
        self.assertEqual(result, self.replay(self.folder / "same.csv.gz", "--verify"))
        self.assertEqual(result["verified_bytes"], result["allocated_bytes"])
        self.assertGreater(result["allocations"], 0)
        self.assertEqual((result["failures"], result["real_images"]), (0, 0))
        self.assertRegex(result["device"], "made-up card")

    def test_compressed_capture_is_read(self):
        packed = self.folder / "packed.maarcap.gz"
        packed.write_bytes(gzip.compress(self.capture.read_bytes(), 1))
        self.assertEqual(self.replay(packed), self.replay(self.capture))

    def test_hostile_names_stay_in_their_column(self):
        rows = self.rows(self.make("hostile", "hostile", events=5000))
        names = {row["name"] for row in rows if row["op"] == "alloc"}
        self.assertTrue(any("<script>" in name for name in names), names)
        self.assertFalse(any("\r" in name for name in names))

    def test_advice_begins_with_the_peak_and_says_what_was_cut(self):
        text = self.done("advise", self.capture).stdout.splitlines()
        self.assertRegex(text[0], r": \d+ findings? in 64 memories and ")
        self.assertRegex(text[1], r"heap 0: peak 896 MiB at \d+\.\d s: \S+ MiB bound, \S+ MiB idle.*; "
                                  r"Maar's default would hold \S+ MiB$")
        value = json.loads(self.done("advise", self.capture, "--json").stdout)
        self.assertIsNone(value["cut"])
        peak = value["peaks"][0]
        self.assertEqual(peak["heldBytes"], 896 << 20)
        self.assertEqual(peak["boundBytes"] + peak["idleBytes"], peak["heldBytes"])
        self.assertGreater(peak["maarBytes"], 0)
        cut = self.folder / "cut.maarcap"
        killed = bytearray(self.capture.read_bytes())
        killed[28:32] = bytes(4)  # MaarCaptureHeader::state
        killed += bytes(-(len(killed) - 65536) % (1 << 20))
        cut.write_bytes(killed)
        done = self.done("advise", cut)
        self.assertIn("the process was killed or still runs", done.stdout)
        self.assertEqual(done.stderr, "")
        value = json.loads(self.done("advise", cut, "--json").stdout)
        self.assertEqual(value["cut"], "the process was killed or still runs")
        cut.write_bytes(killed[:70000])
        done = self.done("advise", cut)
        self.assertIn("the file is truncated", done.stdout)
        self.assertIn("the file is truncated", done.stderr)
        cut.write_bytes(b"root:x:0:0\n" * 5)
        self.assertIn("is not a capture", self.done("advise", cut, code=2).stderr)

    def test_other_cards_and_imports_are_passed_over(self):
        path = self.folder / "two.csv"
        path.write_text(TWO_CARDS, encoding="utf-8")
        result = self.replay(path, "--verify")
        self.assertEqual(result["device"], "the card")
        self.assertEqual((result["allocations"], result["skipped_rows"]), (2, 2))
        self.assertEqual(result["peak_live_bytes"], 4096 + 2048)
        # The image requires memory of its own; the staging buffer lies in a block of the other heap.
        self.assertEqual(result["device_allocation_calls"], 2)
        result = self.replay(path, "--strategy", "dedicated")
        self.assertEqual(result["peak_reserved_bytes"], 4096 + 2048)

    def test_first_version_has_no_card(self):
        trace = pathlib.Path(OPTIONS.source) / "data/traces/captured-vkcube.csv"
        done = self.done("replay", trace, "--device", "capture", code=2)
        self.assertIn("does not describe the device", done.stderr)

    def test_every_trace_with_submissions_replays(self):
        traces = sorted((pathlib.Path(OPTIONS.source) / "data/traces").glob("submitted-*.csv.gz"))
        self.assertGreaterEqual(len(traces), 5)
        for path in traces:
            result = self.replay(path, "--verify")
            self.assertEqual(result["failures"], 0, path)
            with gzip.open(path, "rt", encoding="utf-8") as file:
                ops = [row["op"] for row in csv.DictReader(file)]
            self.assertEqual(result["events"], sum(op in ("alloc", "free", "frame") for op in ops))
            self.assertIn("submit", ops)
            self.assertIn("reached", ops)

    def budget(self, path):
        done = self.done("replay", path, "--budget", "60%", "--json", "--device",
                         "simulated:nvidia-rtx4090-linux")
        result = json.loads(done.stdout)
        return {key: value for key, value in result.items() if key not in ("trace", "ns_per_use")}

    def trim(self, *arguments):
        script = pathlib.Path(OPTIONS.source) / "scripts/trim-trace"
        return subprocess.run([sys.executable, "-B", script, *map(str, arguments)],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_every_trace_with_uses_plays_under_a_budget(self):
        traces = sorted((pathlib.Path(OPTIONS.source) / "data/traces").glob("used-*.csv.gz"))
        self.assertGreaterEqual(len(traces), 5)
        for path in traces:
            result = self.budget(path)
            self.assertLessEqual(result["peak_device_bytes"], result["budget_bytes"], path)
            # A texture of Warzone 2100 is larger than such a memory.
            self.assertLessEqual(result["too_large"], 1, path)
            self.assertGreater(result["uses"], 25000, path)

    def test_least_budget_leaves_nothing_out_and_less_does(self):
        path = pathlib.Path(OPTIONS.source) / "data/traces/used-warzone2100.csv.gz"
        mib = 1 << 20

        def play(budget):
            result = json.loads(self.done("replay", path, "--budget", budget, "--json", "--device",
                                          "simulated:nvidia-rtx4090-linux").stdout)
            return result["budget_bytes"], result["unmet_submissions"] + result["too_large"]

        least, left_out = play("least")
        self.assertEqual((least % mib, left_out), (0, 0))
        self.assertGreater(least, mib)
        self.assertEqual(play(least), (least, 0))
        self.assertGreater(play(least - mib)[1], 0)

    def test_trimmed_trace_plays_as_the_whole_one(self):
        source = pathlib.Path(OPTIONS.source) / "data/traces/used-warzone2100.csv.gz"
        lines = gzip.decompress(source.read_bytes()).decode().splitlines()
        whole, trimmed = self.folder / "whole.csv", self.folder / "trimmed.csv.gz"
        # With rows that nobody plays: what the host waited for, budgets, marks.
        more = list(lines)
        at = next(i for i, line in enumerate(lines) if line.startswith("submit,"))
        time = lines[at].split(",")[7]
        more[at:at] = [f"budget,0,,1000,,,0,{time},,,0,,,,600,", f"mark,,,,,,0,{time},,,,,,,,level"]
        whole.write_text("\n".join(more) + "\n", encoding="utf-8")
        self.assertEqual(self.trim(whole, trimmed).stderr, "")
        self.assertEqual(self.budget(trimmed), self.budget(whole))
        kept = gzip.decompress(trimmed.read_bytes()).decode().splitlines()
        self.assertEqual(kept, lines)
        done = self.trim(whole, trimmed, "--submissions", "100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(self.budget(trimmed)["submissions"], 101)
        first = pathlib.Path(OPTIONS.source) / "data/traces/captured-vkcube.csv"
        done = self.trim(first, self.folder / "none.csv.gz")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no trace of version 2", done.stderr)
        self.assertFalse((self.folder / "none.csv.gz").exists())

    def test_arguments_wrong_exit_2(self):
        for arguments, words in (([], "name one capture"), ([self.capture, self.capture], "name one"),
                                 ([self.capture, "--output", self.capture], "input"),
                                 ([self.folder / "none"], "none"), (["--wrong"], "--wrong")):
            done = self.done("convert", *arguments, code=2)
            self.assertIn(words, done.stderr)
        broken = self.folder / "broken.maarcap"
        data = bytearray(self.capture.read_bytes())
        data[65536:65538] = b"\x01\x00"
        broken.write_bytes(data)
        self.assertRegex(self.done("convert", broken, code=2).stderr, "byte [0-9]+: ")
        self.assertRegex(self.done("replay", broken, code=2).stderr, "byte [0-9]+: ")

    def peers(self, capture, *arguments):
        page = self.folder / "page.html"
        self.done("report", capture, "--output", page, *arguments)
        meta = re.search(r'id="maar-meta" type="application/json">(.*?)</script>',
                         page.read_text(encoding="utf-8"), re.DOTALL)
        return json.loads(meta.group(1))["peers"]

    def test_report_compares_the_program_with_maar(self):
        held = {}
        peak = {}
        calls = {}
        heaps = {}
        memories = {}
        for row in self.rows(self.capture):
            if row["op"] == "type":
                heaps[row["id"]] = int(row["object"])
            elif row["op"] in ("memory", "memory_end"):
                if row["op"] == "memory":
                    heap, size = heaps[row["object"]], int(row["size"])
                    memories[row["id"]] = heap, size
                    calls[heap] = calls.get(heap, 0) + 1
                else:
                    heap, size = memories[row["id"]]
                    size = -size
                held[heap] = held.get(heap, 0) + size
                peak[heap] = max(peak.get(heap, 0), held[heap])
        peers = self.peers(self.capture)
        program = [peer for peer in peers if peer["name"] == "the program"]
        self.assertEqual({peer["heap"]: peer["peak"] for peer in program}, peak)
        self.assertEqual({peer["heap"]: peer["calls"] for peer in program}, calls)
        ours = [peer for peer in peers if peer["name"] == "Maar, default settings"]
        self.assertEqual(len(ours), len(program))
        live = self.replay(self.capture)["trace_peak_live_bytes"]
        self.assertGreaterEqual(sum(peer["peak"] for peer in ours), live)

    def test_card_that_cannot_be_gives_a_report_without_peers(self):
        """A heap of no bytes: the captured card cannot be simulated."""
        data = bytearray(self.capture.read_bytes())
        at = 65536
        while data[at] != 4: # MAAR_CAPTURE_KIND_HEAP
            at += 64
        data[at + 24:at + 32] = bytes(8)
        path = self.folder / "heapless.maarcap"
        path.write_bytes(data)
        self.assertEqual(self.peers(path), [])

    def test_report_without_replay_has_no_peers(self):
        self.assertEqual(self.peers(self.capture, "--no-replay"), [])

    def test_capture_of_an_allocator_has_no_peers(self):
        """Such a capture does not have all of the program's memory."""
        data = bytearray(self.capture.read_bytes())
        self.assertEqual(data[24], 1)
        data[24] = 2
        path = self.folder / "allocator.maarcap"
        path.write_bytes(data)
        self.assertEqual(self.peers(path), [])


def main():
    parser = argparse.ArgumentParser()
    for name in ("maar", "maker", "source"):
        parser.add_argument(f"--{name}", required=True)
    global OPTIONS
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
