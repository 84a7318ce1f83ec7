"""The maar command from outside: arguments, exit codes, output, verification, pictures.

test_tool.py --maar=PROGRAM --source=ROOT --rig=RIG [--missing=REASON] [--slow]
             [--env=NAME=VALUE...]

Rig none checks what needs no driver; the others replay on a device of that rig.
"""

import argparse
import gzip
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

KEYS = ("trace device driver strategy events allocations failures peak_live_bytes "
        "trace_peak_live_bytes peak_reserved_bytes peak_blocks device_allocation_calls "
        "ns_per_event verification verified_bytes validation_messages").split()
MIB = 1 << 20
STRATEGIES = ["auto", "linear", "buddy", "tlsf", "dedicated"]
SPARSE_KEYS = ("peak_page_rounded_live_bytes stitched_allocations pages_bound binds "
               "bind_submissions").split()
PROFILES = ["amd-rx7900xtx-radv25.0", "nvidia-gtx1060-linux535", "qualcomm-adreno740-turnip26.2"]
HEADER = "op,id,kind,size,alignment,types,stream,time_ns,usage,note\n"
BUDGET_KEYS = ("trace device driver budget_bytes host_budget_bytes trace_peak_used_bytes residents "
               "resident_bytes stand_ins too_large submissions uses unmet_submissions missing_bytes "
               "restored_bytes restored_count written_bytes written_count evictions "
               "peak_device_bytes allocator_errors validation_messages ns_per_use validated").split()
OPTIONS = None


def maar(*arguments, timeout=120, **variables):
    environment = dict(os.environ)
    environment.update(item.split("=", 1) for item in OPTIONS.env)
    environment.update(variables)
    return subprocess.run([OPTIONS.maar, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, env=environment, check=False)


def captured():
    return sorted((pathlib.Path(OPTIONS.source) / "data/traces").glob("captured-*.csv"))


def trace(name):
    return pathlib.Path(OPTIONS.source) / "data/traces" / f"captured-{name}.csv"


class Case(unittest.TestCase):
    device = "auto"

    def replay(self, *arguments, code=0, device=None):
        done = maar("replay", "--device", device or self.device, "--json", *arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def strategies(self, device=None):
        """All strategies, those of this device: sparse binding is not everywhere."""
        done = maar("replay", trace("vkcube"), "--device", device or self.device, "--strategy",
                    "sparse", "--json")
        self.assertIn(done.returncode, (0, 2), done.stderr)
        if done.returncode == 2:
            self.assertRegex(done.stderr, "--strategy sparse: .* has no sparse binding")
            return STRATEGIES
        return STRATEGIES + ["sparse"]

    def skip(self, reason):
        """Skip in the words that scripts/skipped.py reads."""
        name = self.id().rsplit(".", 1)[-1]
        print(f"\n[ RUN      ] {name}\nskipped: {reason}\n[  SKIPPED ] {name}", flush=True)
        self.skipTest(reason)

    def scratch(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def write_trace(self, text, name="made.csv"):
        path = self.scratch() / name
        path.write_text(text, encoding="utf-8")
        return path

    def check_result(self, result, verification):
        self.assertEqual(list(result)[:len(KEYS)], KEYS)
        self.assertEqual(result["verification"], verification)
        self.assertEqual(result["verified_bytes"], result["allocated_bytes"])
        self.assertGreater(result["verified_bytes"], 0)
        self.assertEqual(result["validation_messages"], 0)
        for key in SPARSE_KEYS:
            self.assertEqual(result[key] is None, result["strategy"] != "sparse")
        self.assertGreaterEqual(result["peak_reserved_bytes"], result["peak_live_bytes"])
        self.assertGreater(result["ns_per_event"], 0)


def rounds(buffers=12, count=3, together=2, freed=False):
    """A trace: `count` rounds over buffers of 1 MiB, so many of them in a submission. Each buffer
    is written whole in the first round, and read from then on."""
    head = HEADER.strip() + ",device,object,offset,flags,value,name"
    rows = [head, "device,0,discrete,,,,0,0,,memories=4096 uses=0x0,,,,,,a card",
            "heap,0,,1073741824,,,0,0,,,0,,,0x1,,", "type,0,,,,,0,0,,,0,0,,0x1,,",
            "memory,0,,1073741824,,,0,0,,,0,0,,0x0,,"]
    for i in range(buffers):
        rows.append(f"alloc,{i},buffer,{MIB},256,0x1,0,1,0x20,,0,0,{i * MIB},,,")
    for number in range(count * buffers // together):
        at = 2 + number
        rows.append(f"submit,{number},commands,,,,0,{at},,,0,,,,,")
        for k in range(together):
            flags = "0x4" if number < buffers // together else "0x1"
            used = (number * together + k) % buffers
            rows.append(f"use,{number},,,,,0,{at},,,,{used},,{flags},,")
        rows.append(f"frame,,,,,,0,{at},,,0,,,,,")
    if freed:
        rows += [f"free,{i},,,,,0,1000,,,,,,,," for i in range(buffers)]
    return "\n".join(rows) + "\n"


class Budgets:
    """Uses of submissions through residents, on every device that has timelines."""

    def budget(self, text, budget, *more, code=0):
        path = self.write_trace(text)
        result = self.replay(path, "--budget", budget, *more, code=code)[0][0]
        self.assertEqual(list(result), BUDGET_KEYS)
        self.assertLessEqual(result["peak_device_bytes"], result["budget_bytes"])
        self.assertEqual((result["allocator_errors"], result["validation_messages"]), (0, 0))
        return result

    def test_budget_below_the_set_restores(self):
        for freed in (False, True):
            result = self.budget(rounds(freed=freed), "50%")
            self.assertEqual(result["budget_bytes"], 6 * MIB)
            self.assertEqual(result["trace_peak_used_bytes"], 12 * MIB)
            self.assertEqual((result["residents"], result["too_large"]), (12, 0))
            self.assertEqual((result["submissions"], result["uses"]), (18, 36))
            self.assertEqual(result["unmet_submissions"], 0)
            # No rule keeps more than the budget from round to round.
            self.assertGreaterEqual(result["restored_bytes"], 10 * MIB)
            self.assertLessEqual(result["restored_bytes"], 24 * MIB)
            self.assertEqual(result["restored_bytes"], result["restored_count"] * MIB)
            # Each is written to the host once: it never changes again.
            self.assertLessEqual(result["written_bytes"], 12 * MIB)
            self.assertGreaterEqual(result["evictions"], 6)
            self.assertGreater(result["ns_per_use"], 0)

    def test_budget_above_the_set_restores_nothing(self):
        result = self.budget(rounds(), "64MiB")
        self.assertEqual((result["restored_bytes"], result["evictions"]), (0, 0))
        self.assertEqual(result["budget_bytes"], 64 * MIB)

    def test_submission_above_the_budget_is_left_out(self):
        result = self.budget(rounds(together=4), "3MiB")
        self.assertEqual((result["submissions"], result["unmet_submissions"]), (9, 9))
        self.assertGreaterEqual(result["missing_bytes"], MIB - 65536)
        self.assertEqual(result["restored_bytes"], 0)

    def test_resource_above_the_budget_is_counted(self):
        result = self.budget(rounds(), "512KiB")
        self.assertEqual((result["too_large"], result["residents"]), (12, 0))
        self.assertEqual(result["submissions"], 0)


class WithoutDriver(Case):
    """Arguments and malformed input: exit code 2, with file, line and reason."""

    simulated = "simulated:" + PROFILES[0]

    def refused(self, pattern, *arguments):
        done = maar(*arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")

    def test_arguments_wrong_exit_2(self):
        csv = trace("vkcube")
        self.refused("Usage", )
        self.refused("no such command: frobnicate", "frobnicate")
        self.refused("no trace given", "replay")
        self.refused("expected auto, vulkan:N or simulated:PROFILE", "replay", csv, "--device", "x")
        self.refused("expected auto, linear", "replay", csv, "--strategy", "best")
        self.refused("expected N=SIZE", "replay", csv, "--heap", "0:4GiB")
        self.refused("expected N=SIZE", "replay", csv, "--heap", "0=4GB")
        self.refused("has [0-9]+ heaps", "replay", csv, "--device", self.simulated, "--heap",
                     "9=1GiB")
        self.refused("no such limit", "replay", csv, "--device", self.simulated, "--limit", "a=1")
        self.refused("32 bits", "replay", csv, "--device", self.simulated, "--limit",
                     "maxMemoryAllocationCount=8GiB")
        self.refused("expected 1 to", "replay", csv, "--threads", "0")
        self.refused("--threads 257: too large; at most 256 is allowed", "replay", csv, "--threads",
                     "257")
        self.refused("--threads 1" + 20 * "0" + ": too large", "replay", csv, "--threads", 10 ** 20)
        for heap in ("16=1GiB", f"{10 ** 9}=1GiB"):
            self.refused(f"--heap: the heap of {heap}: too large; at most 15", "replay", csv, "--heap",
                         heap)
        self.refused("--heap 0=1" + 20 * "0" + ": too large", "replay", csv, "--heap",
                     f"0={10 ** 20}")
        self.refused("--limit maxBufferSize=1" + 20 * "0" + ": too large", "replay", csv, "--device",
                     self.simulated, "--limit", f"maxBufferSize={10 ** 20}")
        self.refused("need --verify", "replay", csv, "--plant", "overlap")
        self.refused("unexpected argument", "info", "x")
        self.refused("--picture needs the name of a file", "replay", csv, "--picture", "")

    def test_budget_wrong_exits_2(self):
        csv = trace("vkcube")
        for budget in ("0", "0%", "101%", "%", "x", "12.5%", "-1", ""):
            self.refused(f"--budget {re.escape(budget)}: expected bytes, as in 64MiB, or 1% to 100%",
                         "replay", csv, "--budget", budget)
        for more in (["--threads", "2"], ["--verify"], ["--strategy", "all"],
                     ["--strategy", "tlsf"], ["--block-size", "1MiB"]):
            self.refused("--budget plays residents: of the other options it allows", "replay", csv,
                         "--budget", "50%", *more)
        self.refused("vkcube: no uses of submissions, which --budget plays; maar capture --uses",
                     "replay", csv, "--device", self.simulated, "--budget", "50%")

    def test_uses_malformed_name_line(self):
        text = rounds(buffers=2, count=1)
        for row, reason in (("use,9,,,,,0,2,,,,0,,0x1,,", "id '9' is no submission"),
                            ("use,0,,,,,0,2,,,,7,,0x1,,", "object '7' was never allocated"),
                            ("use,0,,,,,0,2,,,,0,,0x8,,", "flags '0x8' has bits above 0x7")):
            lines = text.splitlines()
            at = next(i for i, line in enumerate(lines) if line.startswith("use,"))
            lines[at] = row
            path = self.write_trace("\n".join(lines) + "\n")
            self.refused(f"{path}:{at + 1}: {reason}", "replay", path, "--budget", "50%",
                         "--device", self.simulated)

    def test_mistake_is_one_line_with_a_guess(self):
        csv = trace("vkcube")
        for meant, *arguments in (
                ("replay", "reply"), ("report", "repotr"), ("advise", "advice"),
                ("--fail-on", "advise", "--failon=proved"), ("proved", "advise", "--fail-on", "prooved"),
                ("plan", "paln"), ("info", "Info"), ("help", "hlep"),
                ("replay", "help", "replya"),
                ("--device", "replay", csv, "--devcie", "auto"),
                ("--strategy", "replay", csv, "--stratgy=all"),
                ("--picture", "plan", "deferred_4k", "--pictures", "x.svg"),
                ("--list-profiles", "info", "--list-profile_"),
                ("buddy", "replay", csv, "--strategy", "budy"),
                ("dedicated", "replay", csv, "--strategy", "DEDICATED"),
                ("dark", "replay", csv, "--theme", "drak"),
                ("overlap", "replay", csv, "--verify", "--plant", "overlpa"),
                ("auto", "replay", csv, "--device", "atuo"),
                ("vulkan:0", "replay", csv, "--device", "vulcan:0"),
                ("simulated:x", "replay", csv, "--device", "simulate:x"),
                ("simulated:" + PROFILES[1], "replay", csv, "--device", PROFILES[1]),
                (PROFILES[1], "replay", csv, "--device", "simulated:gtx1060"),
                ("captured-vkcube", "replay", "captured-vkcueb"),
                ("captured-supertuxkart", "replay", "supertuxkart"),
                ("deferred_4k", "plan", "defered_4k"),
                ("deferred_4k_async", "plan", "deferred_4k_asnyc"),
                ("maxBufferSize", "replay", csv, "--device", self.simulated, "--limit",
                 "maxBuferSize=1")):
            self.refused(f"did you mean {re.escape(meant)}\\?", *arguments)
            self.assertEqual(maar(*arguments).stderr.count("\n"), 1, arguments)
        for arguments in (("frobnicate",), ("replay", csv, "--frob"), ("replay", "nothing-alike"),
                          ("replay", csv, "--strategy", "best"), ("replay", csv, csv, "--device", "x"),
                          ("replay", csv, trace("mpv-hq"), "--strategy", "all", "--device",
                           "simulated:zzz"), ("plan", "x"), ("help", "x")):
            done = maar(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1),
                             done.stderr)
            self.assertNotIn("did you mean", done.stderr)

    def test_limits_wrong_exit_2(self):
        for limit in ("bufferImageGranularity=3", "nonCoherentAtomSize=96",
                      "minStorageBufferOffsetAlignment=2GiB"):
            self.refused(f"--limit {limit}: expected a power of two", "replay", trace("vkcube"),
                         "--device", self.simulated, "--limit", limit)

    def test_device_too_old_names_its_version(self):
        profile = json.loads((pathlib.Path(OPTIONS.source) /
                              f"data/profiles/{PROFILES[0]}.json").read_text(encoding="utf-8"))
        profile["apiVersion"] = "1.0.68"
        path = self.scratch() / "old.json"
        path.write_text(json.dumps(profile), encoding="utf-8")
        self.refused(r"has Vulkan 1\.0\.68, and Maar needs Vulkan 1\.1 or later", "replay",
                     trace("vkcube"), "--device", f"simulated:{path}")

    def test_endless_input_is_refused_at_once(self):
        limit = "import os, resource, sys; " \
                "resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29)); " \
                "os.execv(sys.argv[1], sys.argv[1:])"
        folder = self.scratch()
        block = b"frame" * 20000
        for name, head, pattern in (("none", b"", ":1: the header is not"),
                                    ("row", HEADER.encode(), ":2: the line is longer than 65536")):
            with gzip.open(folder / f"{name}.gz", "wb", compresslevel=1) as file:
                file.write(head + 2000 * block)
            self.refused(f"{name}.gz{pattern}", "replay", folder / f"{name}.gz", "--device",
                         self.simulated)
        prefix = [] if OPTIONS.slow else [sys.executable, "-c", limit]
        for path in ("/dev/zero", folder / "none.gz", folder / "row.gz"):
            done = subprocess.run([*prefix, OPTIONS.maar, "replay", path, "--device", self.simulated],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, ":[12]: the (header is not|line is longer)")
        self.refused("/dev/zero:1: no JSON object", "info", "--device", "simulated:/dev/zero")

    def test_picture_is_never_an_input(self):
        folder = self.scratch()
        csv = folder / "t.csv"
        csv.write_bytes(trace("vkcube").read_bytes())
        profile = folder / "p.json"
        profile.write_bytes((pathlib.Path(OPTIONS.source) /
                             f"data/profiles/{PROFILES[0]}.json").read_bytes())
        (folder / "link").symlink_to(csv)
        old = {path: path.read_bytes() for path in (csv, profile)}
        for path in (*old, folder / "link"):
            self.refused("--picture .*: is the input .*; name another file", "replay", csv, "--device",
                         f"simulated:{profile}", "--picture", path)
        self.assertEqual(old, {path: path.read_bytes() for path in old})

    def test_traces_of_one_name_exit_2(self):
        text = trace("vkcube").read_text(encoding="utf-8")
        paths = [self.write_trace(text) for _ in range(2)]
        out = self.scratch() / "out.svg"
        self.refused("--picture .* would both be written to \".*out-made.svg\"", "replay", *paths,
                     "--device", self.simulated, "--picture", out)
        self.assertEqual(list(out.parent.iterdir()), [])

    def test_full_standard_output_exits_1(self):
        for arguments in (["--help"], ["info", "--list-profiles"],
                          ["info", "--device", self.simulated],
                          ["info", "--device", self.simulated, "--json"],
                          ["replay", trace("vkcube"), "--device", self.simulated],
                          ["plan", "deferred_4k"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([OPTIONS.maar, *map(str, arguments)], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("standard output cannot be written", done.stderr)

    def test_json_has_numbers_of_64_bits(self):
        done = maar("info", "--device", "simulated:nvidia-gtx1080ti-win", "--json")
        self.assertEqual(json.loads(done.stdout)["paging"]["sparseAddressSpaceSize"], 2 ** 64 - 1)
        done = maar("info", "--device", "simulated:nvidia-gtx1080ti-win")
        self.assertRegex(done.stdout, f"sparseAddressSpaceSize +{2 ** 64 - 1}\n")

    def test_options_wrong_name_the_help(self):
        for command in ("replay", "info"):
            for words, option in (("unrecognized option '--frob'", "--frob"),
                                  ("unrecognized option '-x'", "-x"),
                                  ("option '--device' needs an argument", "--device"),
                                  ("option '--json=x' takes no argument", "--json=x")):
                done = maar(command, option)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr, f"maar: {command}: {words}; see maar {command} "
                                              "--help\n")
        self.refused("option '--ver' is ambiguous", "replay", "--ver")

    def test_info_overrides_need_a_simulated_device(self):
        text = "^maar: info: --heap and --limit need --device simulated:PROFILE\n$"
        self.refused(text, "info", "--heap", "0=1GiB")
        self.refused(text, "info", "--device", "vulkan:0", "--limit", "maxBufferSize=1GiB")

    def test_names_of_data_are_listed(self):
        profiles = maar("info", "--list-profiles")
        self.assertEqual(profiles.returncode, 0)
        self.assertEqual(profiles.stdout.split(), sorted(profiles.stdout.split()))
        for path in (pathlib.Path(OPTIONS.source) / "data/profiles").glob("*.json"):
            self.assertIn(path.stem, profiles.stdout.split())
        traces = maar("replay", "--list-traces")
        self.assertEqual(traces.returncode, 0)
        for path in captured():
            self.assertIn(path.stem, traces.stdout.split())
        done = maar("replay", "captured-vkcube", "--device", self.simulated)
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.scratch()
        (folder / "profiles").mkdir()
        done = maar("info", "--device", "simulated:none-such", MAAR_DATA_DIR=str(folder))
        self.assertRegex(done.stderr, re.escape(f'looked for the file "none-such" and in {folder}/'
                                                "profiles, ") + "/.*see maar info --list-profiles")

    def test_no_driver_points_to_the_simulated_one(self):
        done = maar("info", VK_ICD_FILENAMES=str(self.scratch() / "none.json"), VK_DRIVER_FILES="")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--device simulated:PROFILE needs none", done.stderr)

    def test_help_and_version_exit_0(self):
        for arguments in (["--help"], ["info", "--help"], ["replay", "--help"], ["--version"],
                          ["help"], ["help", "info"], ["help", "replay"]):
            done = maar(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, "maar")
        for command in ("info", "replay"):
            self.assertEqual(maar("help", command).stdout, maar(command, "--help").stdout)
        self.refused("no such command: frobnicate", "help", "frobnicate")

    def test_trace_malformed_names_line(self):
        good = "alloc,0,buffer,16,64,0x1,0,1,0x1,\n"
        rows = {
            1: "op,id\n",
            2: HEADER + "alloc,0,buffer,sixteen,64,0x1,0,1,0x1,\n",
            3: HEADER + good + "alloc,0,buffer,16,64,0x1,0,2,0x1,\n",
            4: HEADER + good + "free,0,,,,,0,2,,\n" + "free,0,,,,,0,3,,\n",
            5: HEADER + good + "frame,,,,,,0,2,,\n" + "free,0,,,,,0,3,,\n" + "leap,1,,,,,0,4,,\n",
        }
        for line, text in rows.items():
            path = self.write_trace(text)
            self.refused(re.escape(f"{path}:{line}: ") + ".+", "replay", path, "--device",
                         self.simulated)

    def test_trace_missing_or_cut_exits_2(self):
        self.refused("nothing.csv: no such trace", "replay", "nothing.csv", "--device", self.simulated)
        path = self.scratch() / "cut.csv.gz"
        whole = gzip.compress(HEADER.encode() + b"frame,,,,,,0,0,,\n" * 50)
        path.write_bytes(whole[:-9])
        self.refused("cut.csv.gz: .+", "replay", path, "--device", self.simulated)

    def test_profile_malformed_names_file(self):
        path = self.scratch() / "profile.json"
        path.write_text('{\n "heaps": [\n}', encoding="utf-8")
        self.refused(re.escape(str(path)) + ":[0-9]+: .+", "info", "--device", f"simulated:{path}")
        self.refused("no such profile", "info", "--device", "simulated:none-such")


class OnSimulated(Budgets, Case):
    device = "simulated:" + PROFILES[0]

    def test_info_names_a_type_for_each_purpose(self):
        for profile in PROFILES:
            done = maar("info", "--device", f"simulated:{profile}", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            info = json.loads(done.stdout)
            self.assertEqual(len(info["uses"]), 6)
            for use in info["uses"]:
                self.assertIn(use["type"], range(len(info["types"])))
                self.assertTrue(use["reason"])
            done = maar("info", "--device", f"simulated:{profile}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("readback", done.stdout)

    def test_captured_traces_every_strategy(self):
        for profile in PROFILES:
            results, _ = self.replay(*captured(), "--strategy", "all", "--verify", "--validate",
                                     device=f"simulated:{profile}")
            strategies = self.strategies(f"simulated:{profile}")
            self.assertEqual(len(results), len(strategies) * len(captured()))
            for result in results:
                self.check_result(result, "bookkeeping")
                self.assertEqual(result["failures"], 0)

    def test_programs_hold_little_more_than_what_lives(self):
        """MaarAllocatorCreateInfo::preferredBlockSize of 0: a quarter more at the peak, or 4 MiB, on
        a device of one memory type and on cards of several. One capture needs a little more on
        cards."""
        folder = pathlib.Path(OPTIONS.source) / "data/traces"
        traces = sorted(folder.glob("*-*.csv*"))
        more = {"used-supertuxkart": 1.256}
        self.assertGreaterEqual(len(traces), 30)
        for profile in ("cpu-lavapipe25.0", "amd-rx7900xtx-radv26.2", "nvidia-rtx4090-linux"):
            results, _ = self.replay(*traces, device=f"simulated:{profile}")
            self.assertEqual(len(results), len(traces))
            for result in results:
                live = result["peak_live_bytes"]
                part = more.get(result["trace"], 1.25)
                self.assertLessEqual(result["peak_reserved_bytes"],
                                     max(int(live * part), live + 4 * MIB),
                                     f"{profile}: {result}")

    def test_as_much_is_alive_under_every_strategy(self):
        """What lives follows from the trace and the device, not from who places it."""
        traces = sorted((pathlib.Path(OPTIONS.source) / "data/traces").glob("*-*.csv*"))
        self.assertGreaterEqual(len(traces), 30)
        results, _ = self.replay(*traces, "--strategy", "all",
                                 device="simulated:nvidia-rtx4090-linux")
        self.assertEqual(len(results), 6 * len(traces))
        alive = {}
        for result in results:
            if result["failures"] == 0:
                alive.setdefault(result["trace"], {})[result["strategy"]] = result["peak_live_bytes"]
        self.assertTrue(all(len(found) >= 5 for found in alive.values()), alive)
        self.assertEqual({name: found for name, found in alive.items()
                          if len(set(found.values())) != 1}, {})

    def test_every_profile_every_strategy(self):
        profiles = sorted((pathlib.Path(OPTIONS.source) / "data/profiles").glob("*.json"))
        self.assertGreaterEqual(len(profiles), 49)
        for profile in profiles[::8] if OPTIONS.slow else profiles:
            results, _ = self.replay(trace("supertuxkart"), trace("ggml-vulkan-softmax"),
                                     "--strategy", "all", "--verify", "--validate",
                                     device=f"simulated:{profile}")
            self.assertIn(len(results), (10, 12))
            self.assertEqual([result["failures"] for result in results], [0] * len(results),
                             profile)

    def test_large_traces_need_no_more_than_a_large_device(self):
        traces = self.large()
        for strategy in ("auto", "tlsf"):
            results, _ = self.replay(*traces, "--strategy", strategy, "--verify", "--heap",
                                     "0=256GiB", device="simulated:nvidia-rtx4090-linux")
            self.assertEqual(len(results), len(traces))
            for result in results:
                self.check_result(result, "bookkeeping")
                self.assertEqual(result["failures"], 0)

    def large(self):
        """The traces that tools/make_data.py makes, and those that MAAR_SHARED_DATA names."""
        if OPTIONS.slow:
            self.skip("so many events take too long with sanitizers or heavy checks")
        traces = make_data.write_traces(self.scratch())
        folder = dict(item.split("=", 1) for item in OPTIONS.env).get("MAAR_SHARED_DATA", "")
        if folder:
            found = sorted(pathlib.Path(folder).glob("traces/*.csv*"))
            self.assertTrue(found, f"MAAR_SHARED_DATA: no traces in {folder}/traces")
            traces += found
        return traces

    def test_pages_take_little_more_than_what_lives(self):
        traces = self.large()
        for profile in ("nvidia-rtx4090-linux", "amd-rx7900xtx-radv26.2"):
            results, _ = self.replay(*traces, "--strategy", "sparse", "--verify", "--heap",
                                     "0=256GiB", "--heap", "1=256GiB",
                                     device=f"simulated:{profile}")
            self.assertEqual(len(results), len(traces))
            for result in results:
                self.check_result(result, "bookkeeping")
                self.assertEqual(result["failures"], 0)
                needed = result["peak_page_rounded_live_bytes"]
                held = result["peak_reserved_bytes"]
                if needed > 1 << 30:
                    self.assertLessEqual(held, 1.02 * needed, result["trace"])
                    self.assertGreater(result["stitched_allocations"], 0)
                else:
                    self.assertLessEqual(held, needed + (16 << 20), result["trace"])
                self.assertLessEqual(result["peak_blocks"], 4096)
                if result["trace"] != "captured-vkcube":  # whose one object has eight pages
                    self.assertGreaterEqual(result["pages_bound"], 20 * result["binds"])

    def test_pages_fit_where_ranges_do_not(self):
        path = next(path for path in self.large() if path.name == "made-streaming.csv.gz")
        card = "simulated:nvidia-rtx4090-linux"
        results, _ = self.replay(path, "--strategy", "sparse", "--heap", "0=256GiB", device=card)
        heap = results[0]["peak_page_rounded_live_bytes"] * 105 // 100
        heaps = ("--heap", f"0={heap}", "--heap", "1=1MiB")
        results, _ = self.replay(path, "--strategy", "sparse", *heaps, device=card)
        self.assertEqual(results[0]["failures"], 0)
        results, _ = self.replay(path, "--strategy", "tlsf", *heaps, device=card, code=1)
        self.assertGreater(results[0]["failures"], 0)

    def test_pages_by_threads(self):
        card = "simulated:nvidia-rtx4090-linux"
        results, _ = self.replay(*captured(), "--strategy", "sparse", "--verify", "--threads", "4",
                                 device=card)
        for result in results:
            self.check_result(result, "bookkeeping")

    def test_device_without_sparse_binding_is_passed_over(self):
        card = "simulated:arm-mali-g610-panvk25.0"
        self.replay(trace("vkcube"), "--strategy", "sparse", device=card, code=2)
        results, _ = self.replay(trace("vkcube"), "--strategy", "all", device=card)
        self.assertEqual([result["strategy"] for result in results], STRATEGIES)

    def test_json_prints_nothing_else(self):
        results, _ = self.replay(trace("vkcube"))
        self.assertEqual(results[0]["trace"], "captured-vkcube")
        self.assertEqual(results[0]["strategy"], "auto")
        self.assertEqual(results[0]["verification"], "off")
        self.assertEqual(results[0]["verified_bytes"], 0)

    def test_table_has_a_row_for_each_run(self):
        done = maar("replay", trace("vkcube"), trace("mpv-hq"), "--device", self.device,
                    "--strategy", "all")
        self.assertEqual(done.returncode, 0, done.stderr)
        count = len(self.strategies())
        self.assertEqual(done.stdout.count("\ncaptured-vkcube: 130 events, 5 allocations\n"), 1)
        self.assertEqual(done.stdout.count("\ncaptured-mpv-hq: "), 1)
        rows = re.findall("^(" + "|".join(self.strategies()) + ") .* ns$", done.stdout, re.M)
        self.assertEqual(len(rows), 2 * count)

    def test_table_fits_80_columns_and_labels_everything(self):
        done = maar("replay", trace("supertuxkart"), "--device", self.device, "--strategy", "all",
                    "--verify")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = done.stdout[done.stdout.index("\n\n") + 2:].splitlines()
        self.assertLessEqual(max(map(len, table)), 80)
        heads = ("strategy most_alive most_reserved unused most_blocks vkAllocate-_Memory "
                 "failed_allocations time_per_event").split()
        ends = [match.end() for match in re.finditer(r"\S+", table[1])]
        words = [table[1][:ends[0]]] + [
            f"{table[0][start:end].strip()}_{table[1][start:end].strip()}".strip("_")
            for start, end in zip(ends, ends[1:])]
        self.assertEqual([word.replace(" ", "_") for word in words], heads)
        self.assertEqual(done.stdout.count("  verified: all "), len(self.strategies()))
        self.assertEqual(done.stdout.count("  pages: the bytes alive, rounded up to whole pages, are at "
                                           "most "), "sparse" in self.strategies())

    def test_block_size_is_kept(self):
        size = 4 << 20
        small, _ = self.replay(trace("supertuxkart"), "--strategy", "tlsf", "--block-size", "4MiB")
        large, _ = self.replay(trace("supertuxkart"), "--strategy", "tlsf")
        self.assertEqual(small[0]["block_size_bytes"], size)
        self.assertEqual(large[0]["block_size_bytes"], 0)
        large, _ = self.replay(trace("supertuxkart"), "--strategy", "tlsf", "--block-size",
                               "256MiB")
        self.assertGreater(small[0]["device_allocation_calls"],
                           large[0]["device_allocation_calls"])
        self.assertLess(small[0]["peak_reserved_bytes"], large[0]["peak_reserved_bytes"])
        for wrong in ("0", "x", "-1", "4MB"):
            done = maar("replay", trace("vkcube"), "--block-size", wrong)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_vma_is_beside_maar_where_it_was_built_in(self):
        results, _ = self.replay(trace("supertuxkart"), trace("vkcube"), "--strategy", "auto")
        if results[0]["vma"] is None:
            self.assertEqual([result["vma"] for result in results], [None, None])
            self.skip("the command was built without VulkanMemoryAllocator")
        for result in results:
            vma = result["vma"]
            self.assertEqual(vma["failures"], 0)
            self.assertGreaterEqual(vma["peak_reserved_bytes"], result["peak_live_bytes"])
            self.assertGreaterEqual(vma["device_allocation_calls"], vma["peak_blocks"])
            self.assertGreater(vma["peak_blocks"], 0)
        small, _ = self.replay(trace("supertuxkart"), "--block-size", "4MiB")
        self.assertGreater(small[0]["vma"]["device_allocation_calls"],
                           results[0]["vma"]["device_allocation_calls"])
        done = maar("replay", trace("vkcube"), trace("supertuxkart"), "--device", self.device,
                    "--strategy", "all")
        self.assertEqual(len(re.findall("^VMA ", done.stdout, re.M)), 2)

    def test_sizes_may_have_fractions(self):
        path = self.write_trace(HEADER + "alloc,0,buffer,65536,256,,0,0,,\n")
        for text, size in (("1.5MiB", 3 << 19), ("0.25M", 1 << 18), ("51.3MiB", 53791948),
                           ("2.0KiB", 2048), ("3MiB", 3 << 20)):
            results, _ = self.replay(path, "--block-size", text)
            self.assertEqual(results[0]["block_size_bytes"], size, text)
        for text in ("1.5", "1.5B", "1.MiB", ".5MiB", "1.5.5MiB", "1.xMiB", "1,5MiB", "1.-5MiB"):
            done = maar("replay", path, "--device", self.device, "--block-size", text)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), text)

    def test_baseline_is_compared(self):
        folder = self.scratch()
        results, _ = self.replay(trace("supertuxkart"), trace("vkcube"), "--strategy", "all")
        same = folder / "same.json"
        same.write_text("".join(json.dumps(result) + "\n" for result in results), encoding="utf-8")
        again, text = self.replay(trace("supertuxkart"), trace("vkcube"), "--strategy", "all",
                                  "--baseline", same)
        self.assertEqual(text, "")
        for before, after in zip(results, again):
            self.assertIsNone(before["baseline"])
            self.assertFalse(after["baseline"]["worse"])
            for key in ("peak_reserved_bytes", "device_allocation_calls", "failures"):
                self.assertEqual(after["baseline"][key], before[key])
        better = dict(results[0], peak_reserved_bytes=results[0]["peak_reserved_bytes"] * 100 // 110)
        path = folder / "better.json"
        path.write_text(json.dumps(better) + "\n\n", encoding="utf-8")
        worse, text = self.replay(trace("supertuxkart"), "--baseline", path, code=1)
        self.assertTrue(worse[0]["baseline"]["worse"])
        self.assertRegex(text, "strategy auto: worse than the baseline: peak_reserved_bytes was "
                               "[0-9]+ and is [0-9]+\n$")
        self.replay(trace("supertuxkart"), "--baseline", path, "--tolerance", "9", code=1)
        self.replay(trace("supertuxkart"), "--baseline", path, "--tolerance", "10.5")
        _, text = self.replay(trace("vkcube"), "--baseline", path, code=1)
        self.assertRegex(text, "the baseline has no run of this trace; it has "
                               f"{results[0]['trace']}\n$")
        for change, words in (({"device": "Another card"}, "this trace on Another card, not on .*"),
                              ({"threads": 2}, "no run on .* with 1 thread")):
            path.write_text(json.dumps(dict(results[0], **change)) + "\n", encoding="utf-8")
            _, text = self.replay(trace("supertuxkart"), "--baseline", path, code=1)
            self.assertRegex(text, f"the baseline has {words}\n$")
        path.write_text(json.dumps(better) + "\n", encoding="utf-8")
        done = maar("replay", trace("supertuxkart"), "--device", self.device, "--baseline", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"  baseline: .* reserved \(\+(9\.9|10\.0) %\).*: worse\n")

    def test_baseline_of_another_process_is_that_of_the_program(self):
        """Names of captures end with the number of the process, which differs each time."""
        folder = self.scratch()
        rows = "".join(f"alloc,{i},buffer,65536,256,,0,{i},,\n" for i in range(4))
        names = ("maar.game.100", "maar.game.200", "maar.game.100.2", "maar.tool.100")
        for name in names:
            (folder / f"{name}.csv").write_text(HEADER + rows, encoding="utf-8")
        path = folder / "before.json"
        results = {name: self.replay(folder / f"{name}.csv")[0][0] for name in names}
        self.assertEqual([results[name]["trace"] for name in names], list(names))

        def compare(name, *before, code=0):
            path.write_text("".join(json.dumps(results[n]) + "\n" for n in before),
                            encoding="utf-8")
            found, text = self.replay(folder / f"{name}.csv", "--baseline", path, code=code)
            return found[0]["baseline"], text

        found, text = compare("maar.game.200", "maar.tool.100", "maar.game.100.2", "maar.game.100")
        self.assertEqual((found["trace"], text), ("maar.game.100", ""))
        found, _ = compare("maar.game.200", "maar.game.100", "maar.game.200")
        self.assertEqual(found["trace"], "maar.game.200")
        found, text = compare("maar.game.200", "maar.tool.100", "maar.game.100.2", code=1)
        self.assertIsNone(found)
        self.assertRegex(text, "no run of this trace; it has maar.tool.100 and maar.game.100.2\n$")
        results["maar.game.300"] = dict(results["maar.game.100"], trace="maar.game.300")
        found, text = compare("maar.game.200", "maar.game.100", "maar.game.300", code=1)
        self.assertIsNone(found)
        self.assertRegex(text, "the baseline has several captures of this program: maar.game.100 "
                               "and maar.game.300\n$")
        compare("maar.game.200", "maar.game.100")
        done = maar("replay", folder / "maar.game.200.csv", "--device", self.device, "--baseline", path)
        self.assertIn("  baseline maar.game.100: ", done.stdout)

    def test_baseline_wrong_exit_2(self):
        folder = self.scratch()
        path = folder / "b.json"
        for text, words in (("", "has no result"), ("{}\n", ":1: not a line of"),
                            ("\n[1]\n", ":2: not a line of"), ("{\n", ":1: not a line of .*: ")):
            path.write_text(text, encoding="utf-8")
            done = maar("replay", trace("vkcube"), "--device", self.device, "--baseline", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for arguments in (("--baseline", folder / "none"), ("--tolerance", "2"),
                          ("--baseline", path, "--tolerance", "x"), ("--baseline", "")):
            done = maar("replay", trace("vkcube"), "--device", self.device, *arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_leftovers_are_freed_at_the_end(self):
        results, _ = self.replay(trace("chromium"), "--verify")
        self.assertEqual(results[0]["freed_at_end"], 17)

    def test_threads_replay_the_same(self):
        single, _ = self.replay(trace("supertuxkart"), "--verify")
        several, _ = self.replay(trace("supertuxkart"), "--verify", "--threads", "4")
        self.check_result(several[0], "bookkeeping")
        for key in ("events", "allocations", "verified_bytes", "freed_at_end"):
            self.assertEqual(single[0][key], several[0][key])

    def test_heap_too_small_fails_and_large_enough_passes(self):
        rows = "".join(f"alloc,{i},buffer,{64 << 20},256,,0,{i},,\n" for i in range(64))
        path = self.write_trace(HEADER + rows)
        heaps = [arg for i in range(3) for arg in ("--heap", f"{i}=1GiB")]
        info = json.loads(maar("info", "--device", self.device, "--json").stdout)
        heaps = heaps[:2 * len(info["heaps"])]
        results, text = self.replay(path, *heaps, "--verify", code=1)
        self.assertGreater(results[0]["failures"], 0)
        self.assertIn("VK_ERROR_OUT_OF_DEVICE_MEMORY", text)
        self.replay(path, *heaps, "--strategy", "dedicated", "--verify")
        results, _ = self.replay(path, "--heap", "0=16GiB", "--heap", "1=16GiB", "--verify")
        self.assertEqual(results[0]["failures"], 0)

    def test_limit_on_count_is_kept(self):
        rows = "".join(f"alloc,{i},buffer,65536,256,,0,{i},,\n" for i in range(64))
        path = self.write_trace(HEADER + rows)
        results, _ = self.replay(path, "--limit", "maxMemoryAllocationCount=8", "--strategy",
                                 "dedicated", "--verify")
        self.assertEqual(results[0]["allocations"], 8)
        self.assertEqual(results[0]["failures"], 56)

    def test_planted_faults_are_caught(self):
        for plant, text in (("overlap", "overlaps"), ("offset", "is misaligned")):
            results, errors = self.replay(trace("supertuxkart"), "--verify", "--plant", plant,
                                          code=1)
            self.assertGreater(results[0]["mismatches"], 0)
            self.assertIn(text, errors)

    def test_picture_is_well_formed(self):
        folder = self.scratch()
        self.replay(trace("supertuxkart"), "--strategy", "all", "--picture", folder / "p.svg")
        for strategy in STRATEGIES:
            root = xml.parse(folder / f"p-{strategy}.svg").getroot()
            text = " ".join(root.itertext())
            self.assertIn("captured-supertuxkart", text)
            self.assertIn(f"strategy {strategy}", text)
            self.assertRegex(text, r"Block 1: type|1: [\d.]+ .iB, \d+ % used|dedicated block")
        self.replay(trace("vkcube"), trace("mpv-hq"), "--picture", folder / "q.svg")
        self.assertTrue((folder / "q-captured-vkcube.svg").exists())
        self.assertTrue((folder / "q-captured-mpv-hq.svg").exists())

    def test_picture_is_light_or_dark(self):
        folder = self.scratch()
        pictures = {}
        for theme in ("auto", "light", "dark"):
            self.replay(trace("supertuxkart"), "--block-size", "256MiB", "--picture",
                        folder / theme, "--theme", theme)
            pictures[theme] = (folder / theme).read_text(encoding="utf-8")
        self.assertIn("prefers-color-scheme: dark", pictures["auto"])
        self.assertTrue(pictures["auto"].startswith(pictures["light"].removesuffix("</svg>\n")))
        self.assertIn('fill="#0D1117"', pictures["dark"])
        self.assertNotIn("<style>", pictures["dark"])
        for explained in ("The two shades of a colour", "Padding: ", "A dashed line stands for",
                          ">0 B<"):
            self.assertIn(explained, pictures["dark"])

    def test_picture_that_cannot_be_written_is_refused(self):
        folder = self.scratch()
        (folder / "q-auto.svg").mkdir()
        for path, strategy in ((folder / "no/p.svg", "auto"), (folder / "no/p.svg", "all"),
                               (folder, "auto"), (folder / "q.svg", "all")):
            results, text = self.replay(trace("vkcube"), "--strategy", strategy, "--picture", path,
                                        code=2)
            self.assertEqual(results, [])
            self.assertIn("cannot be written", text)

    def test_picture_is_whole_or_not_there(self):
        path = self.scratch() / "p.svg"
        limit = "import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " \
                "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); " \
                "os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run([sys.executable, "-c", limit, OPTIONS.maar, "replay", trace("vkcube"),
                               "--device", self.device, "--picture", path], capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{path}: cannot be written: File too large", done.stderr)
        self.assertEqual([file.name for file in path.parent.iterdir()], [])
        path.write_text("old", encoding="utf-8")
        path.chmod(0o640)
        done = subprocess.run([sys.executable, "-c", limit, OPTIONS.maar, "replay", trace("vkcube"),
                               "--device", self.device, "--picture", path], capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([(file.name, file.read_text(encoding="utf-8"))
                          for file in path.parent.iterdir()], [("p.svg", "old")])
        self.replay(trace("vkcube"), "--picture", path)
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)
        self.assertNotEqual(path.read_text(encoding="utf-8"), "old")


IMAGES = """op,id,kind,size,alignment,types,stream,time_ns,usage,note,device,object,offset,flags,value,name
alloc,0,image_optimal,65536,256,,0,1,0x6,format=37 extent=32x32x16 mips=3 layers=1 samples=1 dimensions=3,,,,0x8,,volume
alloc,1,image_optimal,65536,256,,0,1,0x6,format=37 extent=64x64x1 mips=4 layers=6 samples=1,,,,0x10,,cube
alloc,2,image_optimal,65536,256,,0,1,0x6,format=37 extent=256x1x1 mips=1 layers=3 samples=1 dimensions=1,,,,,,line
alloc,3,image_optimal,65536,256,,0,1,0x16,format=37 extent=64x64x1 mips=1 layers=2 samples=4,,,,,,samples
alloc,4,image_optimal,65536,256,,0,1,0x6,format=37 extent=64x64x1 mips=1 layers=1 samples=1 modifier=1,,,,,,modifier
alloc,5,image_optimal,65536,256,,0,1,0x6,format=37 extent=64x64x1 mips=1 layers=1 samples=1,,,,0x800,,protected
alloc,6,buffer,65536,256,,0,1,0x2000000020,,,,,,60000,later usage
alloc,7,buffer,65536,256,,0,1,0x22,,,,,,60001,of its own size
alloc,8,other,65536,256,,0,1,,,,,,,,session
free,0,,,,,0,2,,,,,,,,
"""


class OnDevice(Budgets, Case):
    """What holds on every real driver, though its kernel may execute nothing."""

    def test_resources_of_version_2_are_real(self):
        """3D images, cubes, arrays and samples are created; what needs more is placed by size."""
        for more in ([], ["--verify-copies"]):
            result = self.replay(self.write_trace(IMAGES), "--verify", *more)[0][0]
            self.check_result(result, self.verification)
            self.assertEqual(result["allocations"], 9)
            self.assertEqual((result["real_buffers"], result["real_images"]), (1, 4))
            self.assertEqual(result["unsupported_rows"], 3)

    verification = "bookkeeping"

    def strategies(self, device=None):
        return STRATEGIES if OPTIONS.rig == "swiftshader" else STRATEGIES + ["sparse"]

    def validate(self):
        done = maar("info", "--validate", "--json")
        if "is not installed" in done.stderr:
            return []
        return ["--validate"]

    def test_info_validated(self):
        done = maar("info", "--json", *self.validate())
        self.assertEqual(done.returncode, 0, done.stderr)
        info = json.loads(done.stdout.splitlines()[0])
        self.assertTrue(all(use["type"] is not None for use in info["uses"]), info["uses"])

    def test_captured_traces_every_strategy(self):
        results = []
        for strategy in self.strategies():
            results += self.replay(*captured(), "--strategy", strategy, "--verify",
                                   *self.validate())[0]
        self.assertEqual(len(results), len(self.strategies()) * len(captured()))
        for result in results:
            self.check_result(result, self.verification)
            self.assertEqual(result["failures"], 0)
            self.assertGreater(result["real_buffers"] + result["real_images"], 0)

    def test_threads_verified(self):
        for name, threads in (("mpv-hq", 2), ("chromium", 5)):
            results, _ = self.replay(trace(name), "--verify", "--threads", threads,
                                     *self.validate())
            self.check_result(results[0], self.verification)
            self.assertEqual(results[0]["threads"], threads)

    def test_layer_missing_is_an_error(self):
        done = maar("replay", trace("vkcube"), "--validate", VK_LAYER_PATH=str(self.scratch()))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("VK_LAYER_KHRONOS_validation is not installed", done.stderr)

    def test_heap_missing_is_an_error(self):
        done = maar("replay", trace("vkcube"), "--device", self.device, "--heap", "15=1GiB")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, "--heap 15: .* has [0-9]+ heap")

    def test_device_missing_is_an_error(self):
        done = maar("replay", trace("vkcube"), "--device", "vulkan:99")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("no such device", done.stderr)

    def test_plain_rows_of_odd_sizes(self):
        rows = []
        for i in range(300):
            kind = ("buffer", "image_linear", "image_optimal")[i % 3]
            rows.append(f"alloc,{i},{kind},{1 + i * i % 4099},{1 << i % 4},,0,{i},,\n")
            if i % 2 == 1:
                rows.append(f"free,{i // 2},,,,,0,{i},,\n")
        path = self.write_trace(HEADER + "".join(rows))
        for strategy in STRATEGIES:
            results, _ = self.replay(path, "--verify", "--strategy", strategy, *self.validate())
            self.check_result(results[0], self.verification)
            self.assertEqual(results[0]["plain_rows"], 300)

    def test_pages_from_many_holes(self):
        if "sparse" not in self.strategies():
            self.skip("the driver has no sparse binding")
        mib = 1 << 20
        rows = [f"alloc,{i},buffer,{mib + i},1,,0,{i},,\n" for i in range(40)]
        rows += [f"free,{i},,,,,0,{40 + i},,\n" for i in range(0, 40, 2)]
        rows += [f"alloc,{40 + i},buffer,{7 * mib + 13 * i},1,,0,{80 + i},,\n" for i in range(3)]
        path = self.write_trace(HEADER + "".join(rows))
        results, _ = self.replay(path, "--verify", "--strategy", "sparse", *self.validate())
        self.check_result(results[0], self.verification)
        self.assertGreater(results[0]["stitched_allocations"], 0)
        self.assertEqual(results[0]["plain_rows"], 43)

    def test_planted_overlap_is_caught(self):
        results, text = self.replay(trace("mpv-hq"), "--verify", "--plant", "overlap", code=1)
        self.assertIn("overlaps", text)
        self.check_planted(results[0], text)

    def test_planted_offset_is_caught(self):
        results, text = self.replay(trace("mpv-hq"), "--verify", "--plant", "offset", code=1)
        self.assertIn("is misaligned", text)
        self.check_planted(results[0], text)

    def check_planted(self, result, text):
        del text
        self.assertGreater(result["mismatches"], 0)


class OnExecutingDriver(OnDevice):
    verification = "gpu"

    def check_planted(self, result, text):
        self.assertIn("the device finds", text)
        self.assertLess(result["verified_bytes"], result["allocated_bytes"])

    def test_allocation_larger_than_a_window(self):
        size = (300 << 20) + 13
        rows = f"alloc,0,buffer,3,1,,0,0,,\nalloc,1,buffer,{size},1,,0,0,,\n"
        path = self.write_trace(HEADER + rows)
        for strategy in ("tlsf", "dedicated"):
            results, _ = self.replay(path, "--verify", "--strategy", strategy, *self.validate())
            self.check_result(results[0], "gpu")
            self.assertEqual(results[0]["verified_bytes"], size + 3)

    def test_missing_barrier_is_a_message(self):
        validate = self.validate()
        if not validate:
            self.skip("the validation layer is not installed")
        results, text = self.replay(trace("mpv-hq"), "--verify", "--plant", "barrier", *validate,
                                    code=1)
        self.assertGreater(results[0]["validation_messages"], 0)
        self.assertRegex(text, "SYNC-HAZARD|hazard detected")

    def test_copies_verify_what_windows_cannot(self):
        results, _ = self.replay(trace("mpv-hq"), trace("vkcube"), "--verify", "--verify-copies",
                                 *self.validate())
        for result in results:
            self.check_result(result, "gpu")
            self.assertGreater(result["copy_verified_bytes"], 0)


def cases_of(rig):
    family = rig.split(":")[0]
    if family in ("lavapipe", "swiftshader"):
        return OnExecutingDriver
    return {"none": WithoutDriver, "simulated": OnSimulated}.get(family, OnDevice)


def main():
    parser = argparse.ArgumentParser()
    for name in ("maar", "source", "rig"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--missing", default="")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--slow", action="store_true", help="built with sanitizers, heavy checks or coverage")
    global OPTIONS
    OPTIONS, rest = parser.parse_known_args()
    if OPTIONS.missing:
        print(f"skipped: {OPTIONS.missing}")
        sys.exit(77)
    loader = unittest.TestLoader()
    if rest:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in rest]
    suite = loader.loadTestsFromTestCase(cases_of(OPTIONS.rig))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
