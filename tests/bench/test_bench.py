"""The benchmarks from outside, with tiny numbers: arguments, exit codes, lines, self-checks.

test_bench.py --programs=FOLDER --source=ROOT --rig=RIG [--missing=REASON] [--env=NAME=VALUE...]

Nothing of speed is tested, but that times are positive. VulkanMemoryAllocator is expected to take
part where the programs do not say that they were built without it.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PLACEMENT = ("bench workload peer sizes live ns min of_vma of_second occupancy host_b failures runs "
             "operations self_check").split()
ALLOCATOR = ("bench device workload peer sync threads live cpu_ns cpu_min wall_ns wall_min "
             "parallel quiet quiet_ns of_vma speedup calls_fill calls blocks block_mib used host_b "
             "failures runs operations self_check").split()
SHARED = ("bench device workload case peer threads live cpu_ns cpu_min of_own of_vma calls blocks "
          "block_mib failures runs operations self_check").split()
TRACE = ("bench device trace peer policy live live_mib reserved_mib reserved_per_live "
         "reserved_of_vma calls ns min driver_ns of_vma host_b failures copies steps runs "
         "self_check").split()
FIRST_FILL = ("bench device workload peer live first_ns second_ns of_second worst_us faults faults_2 "
              "calls runs self_check").split()
PLAN = ("bench workload instance peer resources place_us min_us edge_us cached_us peak_mib "
        "of_bound proved nodes edges_1 edges runs self_check").split()
PAGING = ("bench device workload peer pages page_b binds calls pages_call submit_us done_us min_us "
          "pages_s of_calls runs self_check").split()
TILES = ("bench device workload peer requests updates update_us levels_us binds_us peak_mib uploads "
         "evictions hits self_check").split()
SHARING = ("bench device workload peer live shared create_us over_us destroy_us us min_us of_single "
           "memories exports imports fds live_mib reserved_mib of_live imported_mib runs "
           "self_check").split()
DEFRAGMENTED_RUN = ("bench device workload trace state peer pass live blocks released left moves "
                    "moved_mib extra_mib reserved_mib cpu_us self_check").split()
DEFRAGMENTED_BLOCKS = ("bench device workload trace state given_back least_mib vma vma_pass vma_mib "
                       "maar_mib of_vma asked_mib asked_of_vma self_check").split()
DEFRAGMENTED_STATE = ("bench device workload trace state live live_mib blocks left vma_left worst at last "
                      "worst_asked asked_at of_least worse missed missed_asked moves extra_mib "
                      "self_check").split()
DEFRAGMENTED_ROOM = ("bench device workload live live_mib blocks request_mib hole_mib least_mib best_mib "
                     "best_moves maar_mib maar_moves of_least of_best self_check").split()
SHARING_CALLS = "bench device workload peer ns min wall_ns of_bare runs self_check".split()
RESIDENCY = ("bench workload tuned_on perturbed capacity objects uses memory_mib bound_mib maar belady "
             "belady_mib oldest oldest_mib newest newest_mib clock clock_mib grace grace_mib "
             "maar_to_best moved_to_best maar_mib best_mib written_mib best_written_mib "
             "maar_use_ns").split()
RULES = "maar belady oldest newest clock grace".split()
TRACE_2 = ("op,id,kind,size,alignment,types,stream,time_ns,usage,note,device,object,offset,flags,"
           "value,name")
PROFILE = "simulated:amd-rx7900xtx-radv25.0"
NO_VMA = "VulkanMemoryAllocator was not found"
OPTIONS = None


def bench(name, *arguments, **variables):
    environment = dict(os.environ)
    environment.update(item.split("=", 1) for item in OPTIONS.env)
    environment.update(variables)
    program = pathlib.Path(OPTIONS.programs) / f"bench_{name}"
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          timeout=100, env=environment, check=False)


def game():
    return pathlib.Path(OPTIONS.source) / "data/traces/captured-supertuxkart.csv"


def device():
    return PROFILE if OPTIONS.rig == "simulated" else "auto"


class Case(unittest.TestCase):
    def rows(self, keys, name, *arguments):
        """The lines of a run that must succeed, and whether VMA takes part."""
        done = bench(name, *arguments)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(list(row), keys)
            self.assertEqual(row["bench"], name)
            control = row["peer"].startswith("driver") or row["peer"] == "empty"
            self.assertEqual(row["self_check"], "none" if control else "passed")
        return rows, NO_VMA not in done.stderr

    def refused(self, pattern, name, *arguments):
        done = bench(name, *arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")


class Placement(Case):
    tiny = ["--live", 3000, "--runs", 3, "--operations", 500, "--warm-up", 2]

    def test_workloads_all_report_every_peer(self):
        rows, vma = self.rows(PLACEMENT, "placement", *self.tiny)
        churned = {"maar-tlsf", "maar-buddy"}
        linear = {"maar-linear"}
        if vma:
            churned |= {"vma", "vma-min-time", "vma-min-memory"}
            linear |= {"vma-linear"}
        peers = {}
        for row in rows:
            peers.setdefault(row["workload"], set()).add(row["peer"])
            if row["workload"] in ("growth", "fill"):
                self.assertTrue(0.5 < row["occupancy"] <= 1, row)
            else:
                self.assertTrue(0 < row["min"] <= row["ns"], row)
            if row["peer"] not in ("maar-buddy", "empty"):
                self.assertEqual(row["failures"], 0, row)
        ordered = churned | linear | {"empty"}
        self.assertEqual(peers, {"churn": churned | {"empty"}, "growth": churned,
                                 "fill": churned | linear, "fifo": ordered, "lifo": ordered,
                                 "bump": ordered, "first-fill": ordered, "second-fill": ordered})

    def test_first_fill_is_compared_with_the_second(self):
        rows, _ = self.rows(PLACEMENT, "placement", "--workload", "first-fill", "--equal",
                            "--peer", "maar-tlsf", *self.tiny)
        self.assertEqual([row["workload"] for row in rows], ["first-fill", "second-fill"])
        self.assertEqual({row["sizes"] for row in rows}, {"equal"})
        self.assertGreater(rows[0]["of_second"], 0)
        self.assertIsNone(rows[1]["of_second"])

    def test_full_standard_output_exits_1(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([pathlib.Path(OPTIONS.programs) / "bench_placement",
                                   *map(str, self.tiny)], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output cannot be written", done.stderr)

    def test_vma_takes_part(self):
        rows, vma = self.rows(PLACEMENT, "placement", "--workload", "churn", *self.tiny)
        if not vma:
            # In the words that scripts/skipped.py reads.
            name = self.id().rsplit(".", 1)[-1]
            reason = NO_VMA + " when the benchmarks were built"
            print(f"\n[ RUN      ] {name}\nskipped: {reason}\n[  SKIPPED ] {name}", flush=True)
            self.skipTest(reason)
        compared = {row["peer"] for row in rows if row["of_vma"] is not None}
        self.assertEqual(compared, {"maar-tlsf", "maar-buddy", "vma-min-time", "vma-min-memory"})

    def test_growth_same_seed_same_result(self):
        arguments = ["--workload", "growth", "--peer", "maar-tlsf", "--raw", *self.tiny]
        first, _ = self.rows(PLACEMENT, "placement", *arguments)
        second, _ = self.rows(PLACEMENT, "placement", *arguments)
        self.assertEqual(first[0]["occupancy"], second[0]["occupancy"])
        self.assertEqual(first[0]["sizes"], "raw")
        self.assertEqual(len(first), 1)


class Allocator(Case):
    tiny = ["--live", 300, "--runs", 3, "--operations", 200]

    def test_workloads_two_threads_report_every_contestant(self):
        rows, vma = self.rows(ALLOCATOR, "allocator", "--device", device(), "--threads", 2,
                              *self.tiny)
        found = {}
        for row in rows:
            who = (row["peer"], row["sync"], row["threads"])
            found.setdefault(row["workload"], set()).add(who)
            self.assertTrue(0 < row["cpu_min"] <= row["cpu_ns"], row)
            self.assertTrue(0 < row["wall_min"] <= row["wall_ns"], row)
            self.assertEqual(row["failures"], 0, row)
            if not row["peer"].startswith("driver"):
                self.assertGreaterEqual(row["calls"], row["calls_fill"])
                self.assertGreater(row["calls_fill"], 0)
                self.assertGreaterEqual(row["calls"], row["blocks"])
                self.assertTrue(0 < row["used"] <= 1, row)
        allocators = {(name, sync, threads) for name in (["maar", "vma"] if vma else ["maar"])
                      for sync, threads in (("internal", 1), ("external", 1), ("internal", 2))}
        self.assertEqual(found, {
            "memory": allocators | {("driver", "internal", 1), ("driver", "internal", 2)},
            "buffer": allocators | {(f"driver-{what}", "internal", threads)
                                    for what in ("bind", "create") for threads in (1, 2)}})

    def test_shared_reports_each_case(self):
        rows, vma = self.rows(SHARED, "allocator", "--device", device(), "--workload", "shared",
                              *self.tiny)
        cases = ["own", "disjoint", "mixed", "handover"]
        self.assertEqual([(row["peer"], row["case"]) for row in rows],
                         [(name, case) for name in (["maar", "vma"] if vma else ["maar"])
                          for case in cases])
        for row in rows:
            self.assertEqual((row["threads"], row["failures"]), (2, 0), row)
            self.assertTrue(0 < row["cpu_min"] <= row["cpu_ns"], row)
            self.assertEqual(row["of_own"] is None, row["case"] == "own")
            self.assertGreaterEqual(row["calls"], row["blocks"])

    def test_shared_runs_a_chosen_case(self):
        rows, _ = self.rows(SHARED, "allocator", "--device", device(), "--workload", "shared",
                            "--peer", "maar", "--case", "mixed", "--threads", 3, *self.tiny)
        self.assertEqual([(row["case"], row["threads"]) for row in rows], [("mixed", 3)])

    def test_first_fill_reports_both_fills(self):
        rows, vma = self.rows(FIRST_FILL, "allocator", "--device", device(), "--live", 300,
                              "--runs", 2, "--workload", "first-fill,first-fill-buffer")
        peers = ["maar", "vma"] if vma else ["maar"]
        self.assertEqual([(row["workload"], row["peer"]) for row in rows],
                         [("first-fill", name) for name in peers] +
                         [("first-fill-buffer", name) for name in [*peers, "driver-bind"]])
        for row in rows:
            self.assertGreater(row["first_ns"], 0)
            self.assertGreater(row["second_ns"], 0)
            self.assertGreater(row["worst_us"], 0)
            self.assertGreater(row["calls"], 0)

    def test_peer_chosen_runs_alone(self):
        rows, _ = self.rows(ALLOCATOR, "allocator", "--device", device(), "--peer", "maar",
                            "--sync", "external", "--workload", "memory", "--block-size", "1MiB",
                            "--warm-up", 1, *self.tiny)
        self.assertEqual([(row["peer"], row["sync"]) for row in rows], [("maar", "external")])


class Trace(Case):
    def check_rows(self, rows, vma):
        self.assertEqual([(row["policy"], row["peer"]) for row in rows],
                         [(policy, peer) for policy in ("default", "same")
                          for peer in (["maar", "vma"] if vma else ["maar"])])
        for row in rows:
            self.assertGreaterEqual(row["reserved_mib"], row["live_mib"])
            self.assertGreater(row["calls"], 0)
            self.assertEqual(row["failures"], 0)

    def test_game_recorded_reports_memory(self):
        rows, vma = self.rows(TRACE, "trace", "--device", device(), "--runs", 2, game())
        self.check_rows(rows, vma)
        for row in rows:
            self.assertEqual((row["live"], row["steps"], row["copies"]), (245, 1746, 1))
            self.assertAlmostEqual(row["live_mib"] * 2**20, 70144424, delta=1000)

    def test_game_scaled_keeps_as_many_alive(self):
        rows, vma = self.rows(TRACE, "trace", "--device", device(), "--runs", 3, "--scale", 1000,
                              "--operations", 500, game())
        self.check_rows(rows, vma)
        for row in rows:
            self.assertTrue(900 <= row["live"] <= 1300, row)
            self.assertGreater(row["copies"], 5)

    def test_heap_too_small_skipped(self):
        done = bench("trace", "--device", PROFILE, "--heap", "1=64MiB", "--heap", "0=64MiB", game())
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertRegex(done.stderr, "skipped: captured-supertuxkart: 0.1 GiB live")


class Defragmentation(Case):
    """The program itself compares the layouts in which the contestants begin, and what they leave."""

    states = ["half of a level", "most of a level", "oldest streamed out", "requests ended"]

    def run_game(self, *arguments):
        done = bench("defragmentation", "--device", PROFILE, "--live", 400, "--block-size", "4MiB",
                     "--pass", "4MiB", *arguments, game())
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {"run": [], "blocks": [], "state": []}
        for line in done.stdout.splitlines():
            row = json.loads(line)
            self.assertEqual((row["bench"], row["self_check"]), ("defragmentation", "passed"))
            rows[row["workload"]].append(row)
        return rows, NO_VMA not in done.stderr

    def test_states_report_every_number_of_blocks(self):
        rows, vma = self.run_game("--each")
        peers = ["maar"] + (["vma fast", "vma balanced", "vma full"] if vma else [])
        passes = ["bytes", "one move", "no limit"]
        self.assertEqual([(row["state"], row["peer"], row["pass"]) for row in rows["run"]],
                         [(state, peer, name) for state in self.states for peer in peers
                          for name in passes])
        for row in rows["run"]:
            self.assertEqual(list(row), DEFRAGMENTED_RUN)
            self.assertEqual(row["left"], row["blocks"] - row["released"])
            if row["pass"] == "bytes":
                self.assertLessEqual(row["extra_mib"], 4)
            if row["peer"] == "maar":
                self.assertLessEqual(row["moves"], row["live"])
        for row in rows["blocks"]:
            self.assertEqual(list(row), DEFRAGMENTED_BLOCKS)
            self.assertEqual(vma, row["vma_mib"] is not None)
            for who in ("vma", "maar", "asked"):
                self.assertGreaterEqual(row[f"{who}_mib"] or row["least_mib"], row["least_mib"])
        for row in rows["state"]:
            self.assertEqual(list(row), DEFRAGMENTED_STATE)
            least = row["vma_left"] if vma else row["left"]
            self.assertEqual([one["given_back"] for one in rows["blocks"]
                              if one["state"] == row["state"]],
                             list(range(1, row["blocks"] - int(least) + 1)))

    def test_states_are_summed_up(self):
        rows, _ = self.run_game()
        self.assertEqual([row["state"] for row in rows["state"]], self.states)
        self.assertEqual(rows["blocks"], [])

    def test_room_costs_what_lives_in_a_window(self):
        done = bench("defragmentation", "--device", PROFILE, "--live", 500, "--block-size", "16MiB", "--room")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["request_mib"] for row in rows], [1, 4, 8])
        for row in rows:
            self.assertEqual(list(row), DEFRAGMENTED_ROOM)
            self.assertEqual(row["live"], 500)
            self.assertGreaterEqual(row["best_mib"], row["least_mib"])
            self.assertGreaterEqual(row["maar_mib"], row["least_mib"])
            self.assertLessEqual(row["of_best"], 1.25, row)
            self.assertEqual(row["hole_mib"] >= row["request_mib"], row["least_mib"] == 0, row)
        self.assertLess(rows[1]["least_mib"], rows[2]["least_mib"])

    def test_trace_missing_or_useless_exits_2(self):
        self.refused("no trace", "defragmentation")
        self.refused("needs no trace", "defragmentation", "--room", game())


class Plan(Case):
    peers = {"maar", "size-best", "size-first", "time-first", "time-best", "lifetime", "breadth",
             "conflicts", "objects", "slots", "skyline-width", "skyline-total"}

    def test_frames_report_every_peer(self):
        rows, _ = self.rows(PLAN, "plan", "--workload", "frames", "--runs", 2)
        peers = {}
        for row in rows:
            peers.setdefault(row["instance"], set()).add(row["peer"])
            self.assertTrue(0 < row["min_us"] <= row["place_us"], row)
            self.assertGreaterEqual(row["of_bound"], 1)
            if row["peer"] == "maar":
                self.assertEqual((row["of_bound"], row["proved"]), (1, "yes"), row)
                self.assertLessEqual(row["edges"], row["edges_1"])
        self.assertEqual(peers, {name: self.peers for name in peers})
        self.assertEqual(len(peers), 10)

    def test_published_rules_give_known_peaks(self):
        path = pathlib.Path(OPTIONS.source) / "data/frames/deferred_1080p.csv"
        rows, _ = self.rows(PLAN, "plan", "--runs", 1, path)
        ratios = {row["peer"]: round(row["of_bound"], 3) for row in rows}
        edges = {row["peer"]: row["edges"] for row in rows}
        known = {"objects": 1.918, "slots": 1.612, "time-first": 1.225, "size-best": 1.136,
                 "lifetime": 1.038, "maar": 1}
        self.assertEqual({peer: ratios[peer] for peer in known}, known)
        self.assertEqual(edges["size-best"], 57)

    def test_hard_instances_missing_are_skipped(self):
        done = bench("plan", "--workload", "hard", "--data", "/none")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("skipped: /none/minimalloc/A.1048576.csv does not exist", done.stderr)
        done = bench("plan", "--workload", "hard", MAAR_SHARED_DATA="")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("skipped: A, since neither --data nor MAAR_SHARED_DATA names a folder",
                      done.stderr)

    def test_files_wrong_exit_2(self):
        self.refused(r"README.md:[0-9]+: ", "plan", pathlib.Path(OPTIONS.source) / "README.md")

    def test_files_beyond_other_rules_exit_2(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "two.csv"
            path.write_text("id,lower,upper,size,memory_types\na,0,2,64,1\nb,1,3,64,2\n",
                            encoding="utf-8")
            self.refused("two.csv: resource b has other memory_types than resource a", "plan", path)
            path.write_text("id,lower,upper,size,fixed_offset\na,0,2,64,\nb,1,3,64,256\n",
                            encoding="utf-8")
            self.refused("two.csv: resource b has a fixed_offset", "plan", path)

    def test_solver_of_others_is_not_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) / "minimalloc"
            data.mkdir()
            for letter in "ABCDEFGHIJK":
                (data / f"{letter}.1048576.csv").write_text(
                    "id,lower,upper,size\n0,0,2,64\n1,1,3,64\n", encoding="utf-8")
            solver = pathlib.Path(folder) / "solver"
            solver.write_text('#!/bin/sh\necho "$3" >"${3#--output=}"\n', encoding="utf-8")
            solver.chmod(0o755)
            done = bench("plan", "--workload", "hard", "--data", folder, "--minimalloc", solver)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(rows), 3 * 2 * 12)
        for row in rows:
            ours = row["peer"] == "maar"
            self.assertEqual(row["self_check"], "passed" if ours else "none", row)
            self.assertEqual(row["fits"], "-" if row["instance"] == "all" else "yes", row)


class Paging(Case):
    def test_pages_bound_in_every_way(self):
        rows, _ = self.rows(TILES, "paging", "--device", device(), "--tiles", "--updates", 40)
        self.assertEqual(rows[0]["requests"], 240 * 135)
        self.assertGreater(rows[0]["uploads"], 40)
        self.assertGreater(rows[0]["hits"], 0.5)
        self.assertLessEqual(rows[0]["peak_mib"], 128)
        rows, _ = self.rows(PAGING, "paging", "--device", device(), "--pages", 64, "--runs", 2)
        ways = {(row["workload"], row["peer"]): row for row in rows}
        self.assertEqual(len(rows), 6)
        for load, pages in (("adjacent", 64), ("scattered", 1000)):
            self.assertEqual((ways[load, "maar"]["pages"], ways[load, "maar"]["calls"]), (pages, 1))
            self.assertEqual((ways[load, "driver"]["binds"], ways[load, "driver"]["calls"]),
                             (pages, 1))
            self.assertEqual(ways[load, "driver-calls"]["calls"], pages)
        self.assertEqual(ways["adjacent", "maar"]["binds"], 1)
        for row in rows:
            self.assertTrue(0 < row["min_us"] <= row["done_us"], row)

    def test_device_without_sparse_buffers_exits_2(self):
        self.refused("no sparse buffers", "paging", "--device", "simulated:arm-mali-g610-panvk25.0")


class Sharing(Case):
    def test_buffers_go_over_in_every_way(self):
        rows, vma = self.rows(SHARING, "sharing", "--device", device(), "--workload", "buffers",
                              "--live", 60, "--runs", 2)
        ways = {row["peer"]: row for row in rows}
        self.assertEqual(list(ways), ["maar", "maar-each"] +
                         (["vma", "vma-each", "maar-vma", "maar-vma-each"] if vma else []) +
                         ["single"])
        for row in rows:
            self.assertEqual((row["live"], row["shared"]), (60, 60), row)
            self.assertTrue(0 < row["min_us"] <= row["us"], row)
            self.assertGreaterEqual(row["of_live"], 0.99, row)
        for name in ("memories", "exports", "imports"):
            self.assertEqual(ways["single"][name], 60)
            self.assertTrue(0 < ways["maar"][name] < 10, ways["maar"])
        self.assertEqual(ways["maar-each"]["imports"], 60)
        self.assertEqual(ways["maar-each"]["exports"], ways["maar"]["exports"])
        self.assertLess(ways["maar"]["fds"], ways["single"]["fds"])

    def test_descriptors_scarce_only_what_was_made_counts(self):
        program = pathlib.Path(OPTIONS.programs) / "bench_sharing"
        environment = dict(os.environ)
        environment.update(item.split("=", 1) for item in OPTIONS.env)
        done = subprocess.run(
            ["sh", "-c", f"ulimit -n 200; exec '{program}' --device {device()} --workload buffers "
             "--live 300 --runs 2"],
            capture_output=True, text=True, timeout=100, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        for row in rows:
            self.assertGreaterEqual(row["of_live"], 0.99, row)
            self.assertEqual(row["self_check"], "passed" if row["shared"] else "none", row)
            for key in ("create_us", "over_us", "destroy_us", "us", "min_us", "of_single"):
                # Without anything that was shared by a memory each there is nothing to compare with.
                compared = key != "of_single" or rows[-1]["shared"]
                self.assertEqual(row[key] is None, not (row["shared"] and compared), (key, row))
        self.assertEqual(rows[0]["shared"], 300)
        if OPTIONS.rig == "simulated":  # how many a driver keeps for itself is its affair
            self.assertLess(rows[-1]["shared"], 300)

    def test_calls_report_every_way(self):
        rows, _ = self.rows(SHARING_CALLS, "sharing", "--device", device(), "--workload",
                            "handoff,message", "--runs", 2)
        drivers = ["maar", "driver", "driver-record"]
        self.assertEqual([(row["workload"], row["peer"]) for row in rows],
                         [(load, peer) for load in ("handoff", "handoff-burst") for peer in drivers]
                         + [("write", "maar"), ("read", "maar"), ("message", "maar"),
                            ("message", "system")])
        for row in rows:
            self.assertTrue(0 < row["min"] <= row["ns"], row)

    def test_workload_unknown_exits_2(self):
        self.refused("--workload paint", "sharing", "--workload", "buffers,paint")


class Residency(Case):
    """The policy alone, without a device."""

    def trace(self, rounds):
        """A trace with uses: six buffers of 1 to 6 MiB, in each round two at a time, in a circle."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        rows = [TRACE_2, "device,0,discrete,,,,0,0,,memories=4096,,,,,,"]
        rows += [f"alloc,{i},buffer,{(i + 1) << 20},256,,0,1,0x20,,0,,,,," for i in range(6)]
        for number in range(3 * rounds):
            rows.append(f"submit,{number},commands,,,,0,2,,,0,,,,,")
            for k in (0, 1):
                flags = "0x6" if number < 3 else "0x1"
                rows.append(f"use,{number},,,,,0,2,,,,{(2 * number + k) % 6},,{flags},,")
        path = pathlib.Path(folder.name) / "circle.csv"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return path

    def both(self, *arguments):
        done = bench("residency", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        for row in rows:
            self.assertEqual(list(row), RESIDENCY)
            for rule in RULES:
                self.assertGreaterEqual(row[rule], 1)
            self.assertGreaterEqual(row["maar_mib"], row["bound_mib"])
            self.assertAlmostEqual(row["maar_mib"], row["maar"] * row["bound_mib"], delta=0.01)
        return rows

    def test_uses_of_a_trace_are_played(self):
        half, most = self.both(self.trace(10))
        self.assertEqual((half["workload"], half["objects"], half["uses"]), ("circle", 6, 60))
        self.assertEqual((half["capacity"], most["capacity"]), (50, 90))
        # The largest submission has 5 + 6 MiB, the peak is 21 MiB.
        self.assertEqual((half["memory_mib"], round(most["memory_mib"], 1)), (11, 18.9))
        # 11 MiB: the third submission fills all memory, so 10 MiB come back in each round, and
        # of the third one all but what fits beside the second one, 11 - 7 MiB.
        self.assertEqual(half["bound_mib"], 9 * (10 + 11 - 4))
        # The oldest use is always the wrong one: all 21 MiB come back in each round.
        self.assertAlmostEqual(half["oldest"] * half["bound_mib"], 9 * 21, delta=0.01)
        # What was written whole in the first round is written to the host once.
        self.assertLessEqual(half["written_mib"], 21)

    def test_perturbed_uses_are_others(self):
        path = self.trace(10)
        rows = self.both("--perturbed", 30, path)
        self.assertNotEqual(rows[0]["bound_mib"], self.both(path)[0]["bound_mib"])

    def test_trace_without_uses_exits_2(self):
        self.refused("has no uses; maar capture --uses records them", "residency", game())

    def test_trace_malformed_names_line(self):
        path = self.trace(1)
        path.write_text(path.read_text().replace(",0,,0x6,,", ",9,,0x6,,", 1))
        self.refused("circle.csv:10: object '9' was never allocated", "residency", path)

    def test_logs_missing_are_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            done = bench("residency", "--logs", folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn(f"real-azure-conv-paged skipped: not in {folder}", done.stderr)


class Arguments(Case):
    def test_arguments_wrong_exit_2(self):
        for name in ("paging", "sharing"):
            self.refused("--frobnicate: no such option", name, "--frobnicate")
            self.refused("--runs: at most 1000", name, "--runs", "1001")
        for name in ("placement", "allocator", "trace", "plan"):
            self.refused("--frobnicate: no such option", name, "--frobnicate")
            self.refused("--runs needs N", name, "--runs")
            self.refused("--runs 0: expected a number", name, "--runs", "0")
            self.refused("--runs.*: at most 1000", name, "--runs", "1001")
            self.refused("--peer nobody: expected a list of: all, maar", name, "--peer", "nobody")
        self.refused("x: unexpected argument", "placement", "x")
        self.refused("--workload paint", "allocator", "--workload", "memory,paint")
        self.refused("--threads: at most 64", "allocator", "--threads", "65")
        self.refused("--heap 0: expected N=SIZE", "allocator", "--heap", "0")

    def test_device_wrong_exit_2(self):
        for name, operands in (("allocator", []), ("trace", [game()])):
            self.refused("expected auto, vulkan:N or simulated", name, "--device", "x", *operands)
            self.refused("no-such", name, "--device", "simulated:no-such", *operands)
            self.refused("--heap 9: .* heaps", name, "--device", PROFILE, "--heap", "9=1GiB",
                         *operands)

    def test_traces_wrong_exit_2(self):
        self.refused("no trace given", "trace")
        self.refused("no-such.csv", "trace", "--device", PROFILE, "no-such.csv")
        self.refused(r"README.md:1: ", "trace", "--device", PROFILE,
                     pathlib.Path(OPTIONS.source) / "README.md")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "back.csv"
            path.write_text("op,id,kind,size,alignment,types,stream,time_ns,usage,note\n"
                            "alloc,1,buffer,1000,16,,0,500,,\nfree,1,,,,,0,100,,\n",
                            encoding="utf-8")
            self.refused("back: row 3 is earlier", "trace", "--device", PROFILE, "--scale", "10",
                         path)

    def test_help_says_all_options(self):
        for name in ("placement", "allocator", "trace", "plan", "paging", "sharing"):
            done = bench(name, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(re.search(r"^  --runs N +\S", done.stdout, re.MULTILINE))

    def test_instructions_wrong_exit_2(self):
        script = pathlib.Path(OPTIONS.source) / "bench/instructions.sh"
        for arguments in ([], ["/bin/true"], ["bench_placement", "10", "vma", "--runs", "9"]):
            done = subprocess.run(["sh", script, *arguments], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, "instructions.sh")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--rig", required=True)
    parser.add_argument("--missing", default="")
    parser.add_argument("--env", action="append", default=[])
    OPTIONS = parser.parse_args()
    if OPTIONS.missing:
        print(f"skipped: {OPTIONS.missing}")
        return 77
    cases = [Allocator, Trace, Paging, Sharing] if OPTIONS.rig != "simulated" else \
        Case.__subclasses__()
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case)
                               for case in cases)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
