"""maar plan from outside: arguments, exit codes, output, placements, pictures.

test_plan.py --maar=PROGRAM --source=ROOT [--shared=FOLDER]

Placements are checked here once more, in a few lines that share nothing with the library.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import make_data  # pylint: disable=wrong-import-position

KEYS = ("instance resources peak_bytes lower_bound_bytes proved_optimal fits cpu_ms nodes "
        "aliasing_edges").split()
FRAMES = {"deferred_1080p": 132.4, "deferred_4k": 401.5, "forwardplus_msaa4_1440p": 656.3,
          "frostbite_like_4k": 560.1, "taau_1440p_to_4k": 231.4, "pathtracer_1080p_to_4k": 236.1,
          "llm_8b_prefill512": 57.0, "unet_sd15_512": 1049.1}
QUEUES = {"deferred_4k_async": 529.5, "taau_1440p_to_4k_async": 231.4}
HEADER = "id,first,last,size\n"
OPTIONS = None


def maar(*arguments, **variables):
    return subprocess.run([OPTIONS.maar, "plan", *map(str, arguments)], capture_output=True,
                          text=True, timeout=100, env=dict(os.environ, **variables), check=False)


def frames():
    return pathlib.Path(OPTIONS.source) / "data/frames"


class Case(unittest.TestCase):
    def plan(self, *arguments, code=0):
        done = maar("--json", *arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def refused(self, pattern, *arguments):
        done = maar(*arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")

    def scratch(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def write(self, text, name="made.csv"):
        path = self.scratch() / name
        path.write_bytes(text.encode())
        return path

    def check_placement(self, rows, capacity):
        """Rows of intervals with offsets: nothing overlaps, all is aligned and within."""
        spans = []
        for row in rows:
            inclusive = "first" in row
            begin = int(row["first"] if inclusive else row["lower"])
            end = int(row["last"]) + 1 if inclusive else int(row["upper"])
            offset, size = int(row["offset"]), int(row["size"])
            self.assertEqual(offset % int(row.get("alignment") or 1), 0, row)
            self.assertLessEqual(offset + size, capacity, row)
            for other in spans:
                self.assertFalse(begin < other[1] and other[0] < end and
                                 offset < other[3] and other[2] < offset + size, row)
            spans.append((begin, end, offset, offset + size))


class Frames(Case):
    def test_frames_are_optimal(self):
        results, _ = self.plan(*FRAMES, *QUEUES)
        self.assertEqual([result["instance"] for result in results], [*FRAMES, *QUEUES])
        for result, mib in zip(results, [*FRAMES.values(), *QUEUES.values()]):
            self.assertEqual(list(result)[:len(KEYS)], KEYS)
            self.assertAlmostEqual(result["peak_bytes"] / 2**20, mib, delta=0.06)
            self.assertEqual(result["peak_bytes"], result["lower_bound_bytes"])
            self.assertIs(result["proved_optimal"], True)
            self.assertIsNone(result["fits"])
            self.assertGreater(result["cpu_ms"], 0)
            self.assertGreater(result["aliasing_edges"], 0)
            self.assertLessEqual(result["peak_bytes"], result["greedy_bytes"])

    def test_placements_are_right(self):
        for name in FRAMES:
            path = frames() / f"{name}.csv"
            out = self.scratch() / "out.csv"
            results, _ = self.plan(path, "--output", out)
            with open(path, encoding="utf-8") as given, open(out, encoding="utf-8") as made:
                before, after = list(csv.DictReader(given)), list(csv.DictReader(made))
            self.assertEqual([*before[0], "offset"], list(after[0]))
            for old, new in zip(before, after, strict=True):
                self.assertEqual(old, {key: new[key] for key in old})
            self.check_placement(after, results[0]["peak_bytes"])
            # Planned again, from its own output: the column offset is only repeated.
            again, _ = self.plan(out)
            self.assertEqual(again[0]["peak_bytes"], results[0]["peak_bytes"])

    def test_queues_as_options_or_beside(self):
        folder = frames() / "dag"
        stem = folder / "deferred_4k_async"
        named, _ = self.plan("deferred_4k_async")
        beside, _ = self.plan(f"{stem}.resources.csv")
        given, _ = self.plan(f"{stem}.resources.csv", "--passes", f"{stem}.passes.csv", "--edges",
                             f"{stem}.edges.csv")
        kept, _ = self.plan("deferred_4k_async", "--keep-edges")
        self.assertGreater(kept[0]["cross_queue_edges"], named[0]["cross_queue_edges"])
        for result in (*beside, *given):
            for key in ("instance", "peak_bytes", "nodes", "aliasing_edges"):
                self.assertEqual(result[key], named[0][key])

    def test_names_are_listed(self):
        done = maar("--list-frames")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(set(done.stdout.split()), {*FRAMES, *QUEUES})

    def test_table_has_a_row_for_each_file(self):
        done = maar("deferred_1080p", "deferred_4k")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall("^deferred_.*optimal", done.stdout, re.M)), 2)

    def test_table_fits_80_columns_and_labels_everything(self):
        folder = self.scratch()
        long_name = folder / ("a" * 60 + ".csv")
        long_name.write_text("id,first,last,size\n0,0,0,64\n1,1,1,64\n", encoding="utf-8")
        done = maar(*FRAMES, *QUEUES, long_name)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(lines[1].split(), "frame graph resources sharing peak proof bound "
                                           "edges".split())
        self.assertIn("a" * 60, lines)
        self.assertEqual(done.stdout.count("  aliasing edges between queues: "), len(QUEUES))
        self.assertRegex(done.stdout, r"(?m)^  search: [1-9][0-9]* nodes, .* ms of CPU time$")

    def test_picture_is_light_or_dark(self):
        folder = self.scratch()
        pictures = {}
        for theme in ("auto", "light", "dark"):
            self.plan("deferred_4k_async", "--picture", folder / theme, "--theme", theme)
            pictures[theme] = (folder / theme).read_text(encoding="utf-8")
        self.assertIn("prefers-color-scheme: dark", pictures["auto"])
        self.assertTrue(pictures["auto"].startswith(pictures["light"].removesuffix("</svg>\n")))
        self.assertIn('fill="#0D1117"', pictures["dark"])
        self.assertNotIn("<style>", pictures["dark"])
        self.refused("--theme x: expected auto, light or dark", "deferred_4k", "--theme", "x")

    def test_picture_shows_the_aliasing_edges(self):
        out = self.scratch() / "p.svg"
        result = self.plan("taau_1440p_to_4k_async", "--picture", out)[0][0]
        text = out.read_text(encoding="utf-8")
        # One head for each arrow, and the two of the legend.
        heads = len(re.findall(r"l-6.0 -2.6v5.2z", text))
        self.assertEqual(heads, result["aliasing_edges"] + 2)
        self.assertGreater(result["cross_queue_edges"], 0)
        crossing = len(re.findall(r'l-6.0 -2.6v5.2z" fill="#B4540A"', text))
        self.assertEqual(crossing, result["cross_queue_edges"] + 1)

    def test_hard_instances_fit(self):
        out = self.scratch() / "out.csv"
        files = make_data.write_instances(out.parent / "made")
        if OPTIONS.shared:
            found = sorted(pathlib.Path(OPTIONS.shared).glob("minimalloc/*.1048576.csv"))
            self.assertTrue(found, f"MAAR_SHARED_DATA: no instances in {OPTIONS.shared}/minimalloc")
            files += found
        results, _ = self.plan(*files, "--capacity", "1M", "--time-limit", 60, "--output", out)
        for result, path in zip(results, files, strict=True):
            self.assertIs(result["fits"], True)
            with open(out.parent / f"out-{path.stem}.csv", encoding="utf-8") as made:
                self.check_placement(list(csv.DictReader(made)), 2**20)


class Capacity(Case):
    def test_capacity_is_answered(self):
        path = self.write(HEADER + "a,0,1,100\nb,1,2,50\nc,2,2,100\n")
        for capacity in (150, "1K", "1KiB", "1G"):
            results, text = self.plan(path, "--capacity", capacity)
            self.assertIs(results[0]["fits"], True)
            self.assertEqual(text, "")
        out = path.parent / "none.csv"
        results, text = self.plan(path, "--capacity", 149, "--output", out, code=1)
        self.assertIs(results[0]["fits"], False)
        self.assertRegex(text, "^maar: made: does not fit into 149 bytes: at least 150 are needed\n$")
        self.assertFalse(out.exists())

    def test_any_capacity_may_be_asked_for(self):
        result = self.plan("deferred_4k", "--capacity", 2 ** 64 - 1)[0][0]
        self.assertTrue(result["fits"])
        self.assertLess(result["peak_bytes"], result["total_bytes"])
        self.assertEqual(result["capacity_bytes"], 2 ** 64 - 1)

    def test_capacity_undecided_exits_1(self):
        rows = "".join(f"{i},{i * 7 % 40},{i * 7 % 40 + i % 11},{i * i % 977 + 100}\n"
                       for i in range(200))
        path = self.write(HEADER + rows)
        least = self.plan(path, "--greedy")[0][0]["lower_bound_bytes"]
        results, text = self.plan(path, "--capacity", least, "--node-limit", 1, "--greedy", code=1)
        self.assertIsNone(results[0]["fits"])
        self.assertRegex(text, "undecided whether it fits into")

    def test_same_node_limit_same_plan(self):
        first, _ = self.plan("unet_sd15_512", "--node-limit", 1000)
        second, _ = self.plan("unet_sd15_512", "--node-limit", 1000)
        for key in ("peak_bytes", "nodes", "aliasing_edges"):
            self.assertEqual(first[0][key], second[0][key])


class Files(Case):
    def test_output_to_stdout(self):
        path = self.write(HEADER + '"a,1",0,1,100\n')
        done = maar(path, "--output", "-")
        self.assertEqual((done.returncode, done.stdout),
                         (0, 'id,first,last,size,offset\n"a,1",0,1,100,0\n'))

    def test_output_has_classes_where_types_differ(self):
        path = self.write("id,first,last,size,memory_types\na,0,1,8,0x1\nb,2,3,8,0x2\n")
        done = maar(path, "--output", "-")
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual({row["class"] for row in rows}, {"0", "1"})
        self.assertEqual([row["offset"] for row in rows], ["0", "0"])

    def test_output_is_whole_or_not_there(self):
        folder = self.scratch()
        for path in (folder / "no/out.csv", folder):
            self.refused("cannot be written", "deferred_4k", "--output", path)
        done = maar("deferred_4k", "--output", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full: cannot be written", done.stderr)
        out = folder / "out.csv"
        out.write_text("old", encoding="utf-8")
        self.assertEqual(maar("deferred_4k", "--output", out).returncode, 0)
        self.assertEqual([path.name for path in folder.iterdir()], ["out.csv"])
        self.assertTrue(out.read_text(encoding="utf-8").startswith("id,first,last"))

    def test_output_is_never_an_input(self):
        folder = self.scratch()
        for name in ("deferred_4k_async.resources", "deferred_4k_async.passes",
                     "deferred_4k_async.edges"):
            (folder / f"{name}.csv").write_bytes((frames() / f"dag/{name}.csv").read_bytes())
        graph = folder / "deferred_4k_async.resources.csv"
        (folder / "link.csv").symlink_to(graph)
        (folder / "hard.csv").hardlink_to(graph)
        old = {path: path.read_bytes() for path in folder.iterdir()}
        for option in ("--output", "--picture"):
            for path in (graph, folder / "link.csv", folder / "hard.csv",
                         folder / "../" / folder.name / graph.name,
                         folder / "deferred_4k_async.passes.csv",
                         folder / "deferred_4k_async.edges.csv"):
                self.refused(f"{option} .*: is the input .*; name another file", graph, option, path)
        other = folder / "out-deferred_4k_async.resources.csv"
        other.write_text(HEADER + "a,0,1,8\n", encoding="utf-8")
        done = maar(other, "deferred_4k", "--output", folder / "out-deferred_4k_async.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(old, {path: path.read_bytes() for path in old})

    def test_endless_input_is_refused_at_once(self):
        self.refused("/dev/zero:1: the header is no text", "/dev/zero")
        path = self.write(HEADER + "a,0,1,8\n")
        self.refused("/dev/zero:1: the header is no text", path, "--passes", "/dev/zero", "--edges",
                     "/dev/zero")
        self.refused("1: the header is too long", self.write("a" * 100000))

    def test_outputs_of_other_spellings_are_one_file(self):
        folder = self.scratch()
        made = folder / "in.csv"
        made.write_text(HEADER + "a,0,1,4096\n", encoding="utf-8")
        (folder / "link").symlink_to("new.csv")
        (folder / "there").write_text("kept", encoding="utf-8")
        os.link(folder / "there", folder / "again")
        for output, picture in (("b.csv", "./b.csv"), ("new.csv", "link"), ("link", "new.csv"),
                                ("there", "again")):
            self.refused("--output .* and --picture .* name the same file", made, "--output",
                         folder / output, "--picture", f"{folder}/{picture}")
        self.assertEqual((folder / "there").read_text(encoding="utf-8"), "kept")
        self.assertFalse((folder / "new.csv").exists())

    def test_output_is_written_through_a_link(self):
        folder = self.scratch()
        made = folder / "in.csv"
        made.write_text(HEADER + "a,0,1,4096\n", encoding="utf-8")
        (folder / "deep").mkdir()
        (folder / "link").symlink_to("deep/new.csv")
        for _ in range(2):  # the target is made, and then there
            self.plan(made, "--output", folder / "link", "--picture", "/dev/null")
            self.assertTrue((folder / "link").is_symlink())
            self.assertIn("offset", (folder / "deep/new.csv").read_text(encoding="utf-8"))
            self.assertEqual(sorted(path.name for path in folder.iterdir()),
                             ["deep", "in.csv", "link"])

    def test_names_are_data_and_nothing_else(self):
        folder = self.scratch()
        for name in ("#u64:abc", "{\"#u64\": \"5\"}", "esc\x1b[31m", "q\"\\"):
            made = folder / f"{name}.csv"
            made.write_text(HEADER + "a,0,1,4096\n", encoding="utf-8")
            rows, _ = self.plan(made)
            self.assertEqual(rows[0]["instance"], name)
            self.assertNotIn("\x1b", maar(made).stdout)
        made = os.fsencode(folder) + b"/\xff.csv"
        with open(made, "wb") as file:
            file.write((HEADER + "a,0,1,4096\n").encode())
        done = subprocess.run([OPTIONS.maar, "plan", "--json", made], capture_output=True,
                              timeout=100, check=False)
        self.assertEqual(json.loads(done.stdout)["instance"], "\N{REPLACEMENT CHARACTER}")
        done = maar(f"{folder}/none\x1b.csv")
        self.assertNotIn("\x1b", done.stderr)
        self.assertIn("none\\x1B.csv", done.stderr)

    def test_picture_is_well_formed(self):
        folder = self.scratch()
        self.plan("deferred_4k", "deferred_4k_async", "--picture", folder / "p.svg")
        for name, queue in (("deferred_4k", False), ("deferred_4k_async", True)):
            root = xml.parse(folder / f"p-{name}.svg").getroot()
            text = " ".join(root.itertext())
            self.assertIn(f"{name}: 52 resources", text)
            self.assertIn("proved optimal", text)
            self.assertIn("velocity", text)
            self.assertEqual("queue 1" in text, queue)

    def test_picture_is_the_same_again(self):
        folder = self.scratch()
        for name in ("a.svg", "b.svg"):
            self.plan("deferred_4k_async", "--picture", folder / name)
        self.assertEqual((folder / "a.svg").read_bytes(), (folder / "b.svg").read_bytes())

    def test_picture_shows_what_does_not_fit(self):
        out = self.scratch() / "p.svg"
        for capacity, code, expected in (
                ("401MiB", 1, "does not fit into 401 MiB; proved optimal"),
                ("402MiB", 0, "fits into 402 MiB")):
            self.plan("deferred_4k", "--capacity", capacity, "--picture", out, code=code)
            text = " ".join(xml.parse(out).getroot().itertext())
            self.assertIn(expected, text)
            self.assertEqual("capacity 401 MiB" in text, code == 1)

    def test_unknown_column_is_reported(self):
        path = self.write("id,first,last,size,align,class,offset\na,0,1,8,4,0,0\n")
        done = maar(path, "--output", "-")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr,
                         f"maar: {path}:1: the column 'align' is unknown; the output keeps it\n")
        self.assertEqual(done.stdout.splitlines()[0], "id,first,last,size,align,class,offset")

    def test_several_files_go_on_after_a_bad_one(self):
        bad = self.write("id\n")
        results, text = self.plan(bad, "deferred_4k", code=2)
        self.assertEqual(len(results), 1)
        self.assertIn(f"{bad}:1: ", text)


class Arguments(Case):
    def test_arguments_wrong_exit_2(self):
        self.refused("plan: no file given; see maar plan --help")
        self.refused("no such frame graph", "nothing")
        self.refused("--edges needs --passes", "x", "--edges", "y")
        self.refused("--passes belongs to one file", "x", "y", "--passes", "z")
        self.refused("both use standard output", "x", "--output", "-", "--json")
        self.refused("name the same file: y", "x", "--output", "y", "--picture", "y")
        self.refused("--output needs the name of a file", "x", "--output", "")
        self.refused("--picture needs the name of a file", "x", "--picture", "")
        self.refused("--capacity 5Q: expected bytes", "x", "--capacity", "5Q")
        self.refused("--capacity 0: expected bytes", "x", "--capacity", "0")
        self.refused("--time-limit -1: expected seconds", "x", "--time-limit=-1")
        self.refused("--time-limit nan: expected seconds", "x", "--time-limit", "nan")
        self.refused("--node-limit 0: expected a number", "x", "--node-limit", "0")
        self.refused("--node-limit -1: expected a number", "x", "--node-limit=-1")
        for option, most in (("--time-limit", 10 ** 9), ("--node-limit", 2 ** 64 - 1),
                             ("--capacity", 2 ** 64 - 1), ("--granularity", 2 ** 63)):
            for number in (10 ** 20, 10 ** 400):
                self.refused(f"{option} {number}: too large; at most {most} is allowed", "x", option,
                             number)
        self.refused("--capacity 99999999TiB: too large", "x", "--capacity", "99999999TiB")
        self.refused("--time-limit 1e3: expected seconds", "x", "--time-limit", "1e3")
        self.refused("--granularity 48: expected a power of two", "x", "--granularity", "48")
        self.refused("unrecognized option '--frob'; see maar plan --help", "--frob")
        self.refused("option '--passes' needs an argument", "--passes")

    def test_inputs_of_one_name_exit_2(self):
        paths = [self.write(HEADER + "a,0,1,8\n") for _ in range(2)]
        for option in ("--output", "--picture"):
            out = self.scratch() / "out"
            self.refused(f"{option} .* would both be written to \".*out-made\"", *paths, option, out)
            self.assertEqual(list(out.parent.iterdir()), [])
        self.assertEqual(len(self.plan(*paths)[0]), 2)

    def test_help_exits_0(self):
        done = maar("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--passes", "--capacity", "--output", "--picture"):
            self.assertIn(f"  {option} ", done.stdout)

    def test_malformed_files_name_the_line(self):
        for line, text in ((1, ""), (1, "id,first,size\n"), (2, HEADER + "a,0,1\n"),
                           (3, HEADER + "a,0,1,5\nb,2,1,5\n"), (3, HEADER + "a,0,1,5\na,0,1,5\n"),
                           (2, HEADER + "a,0,1,99999999999999999999\n")):
            path = self.write(text)
            self.refused(re.escape(f"{path}:{line}: ") + ".+", path)

    def test_lifetimes_given_twice_exit_2(self):
        for header, both in (("id,size,first,last,uses", "uses and first"),
                             ("id,size,first,last,lower,upper", "first and lower"),
                             ("id,size,uses,upper", "uses and upper")):
            path = self.write(header + "\n")
            self.refused(re.escape(f"{path}:1: the header has both {both}, "), path)

    def test_input_that_the_planner_refuses_exits_2(self):
        path = self.write("id,first,last,size,fixed_offset\na,0,1,8,0\nb,1,2,8,4\n")
        self.refused(re.escape(str(path)) + ": .*fixed offsets overlap", path)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--maar", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--shared", default="")
    OPTIONS = parser.parse_args()
    cases = (Frames, Capacity, Files, Arguments)
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
