"""The capture layer and maar capture, on one rig.

test_layer.py --maar=PROGRAM --probe=PROGRAM --layer=FOLDER --source=ROOT --samples=FOLDER
              --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...] [--case=NAME...]
"""

import argparse
import glob
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from capture_file import Capture, Format

LAYER = "VK_LAYER_MAAR_capture"
OPTIONS = None
LAYOUT = None
CORE = re.compile(r"PFN_vk(\w+)\)")


def environment(**more):
    values = {name: value for name, value in os.environ.items()
              if not name.startswith(("MAAR_CAPTURE", "VK_INSTANCE_LAYERS", "VK_ADD_LAYER"))}
    values.update(item.split("=", 1) for item in OPTIONS.env)
    values.update(more)
    return values


def is_complete(capture):
    return capture.state == 1


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="maar-layer-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def skip(self, reason):
        name = self.id().rsplit(".", 1)[-1]
        print(f"\n[ RUN      ] {name}\nskipped: {reason}\n[  SKIPPED ] {name}", flush=True)
        self.skipTest(reason)

    def layered(self, layers=LAYER, **more):
        """The environment of a program with the layer, without maar capture."""
        return environment(**{"VK_ADD_LAYER_PATH": OPTIONS.layer, "VK_INSTANCE_LAYERS": layers,
                              "MAAR_CAPTURE_FILE": f"{self.folder}/c", **more})

    def run_program(self, *arguments, code=0, env=None, **more):
        done = subprocess.run([str(item) for item in arguments], capture_output=True, text=True,
                              timeout=600, env=env or environment(), check=False, **more)
        if done.returncode == 77:
            self.skip(done.stdout.strip().splitlines()[-1] if done.stdout else "not possible here")
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def probe(self, *arguments, code=0, **more):
        return self.run_program(OPTIONS.probe, *arguments, code=code, env=self.layered(), **more)

    def captures(self, count=None):
        found = sorted(self.folder.glob("*.maarcap"))
        if count is not None:
            self.assertEqual(len(found), count, [path.name for path in found])
        result = [Capture(path, LAYOUT) for path in found]
        for capture in result:
            self.assertEqual(capture.errors, [])
        return result

    def capture(self):
        return self.captures(1)[0]

    def hooks(self, files):
        """Names of the functions that these files of the layer intercept."""
        texts = (path.read_text() for path in (pathlib.Path(OPTIONS.source) / "layer").glob(files))
        return set(re.findall(r"LAYER_HOOK\((\w+),", "".join(texts)))

    def functions(self):
        """Names of all functions that the Vulkan headers declare."""
        header = next((path for path in (OPTIONS.vulkan, "/usr/include") if
                       os.path.exists(f"{path}/vulkan/vulkan_core.h")), None)
        if header is None:
            self.skip("no vulkan_core.h")
        text = pathlib.Path(f"{header}/vulkan/vulkan_core.h").read_text(encoding="utf-8")
        return sorted({"vk" + name for name in CORE.findall(text)})


class Recording(Case):
    """What a capture holds."""

    def check_everything(self, capture, output):
        facts = [line.split(" ") for line in output.splitlines()]
        seen = {fact[0] for fact in facts}
        self.assertLessEqual({"buffer", "image", "submit", "reached", "queue"}, seen)
        for fact in facts:
            numbers = [int(item) for item in fact[1:] if re.fullmatch(r"-?\d+", item)]
            getattr(self, "check_" + fact[0])(capture, numbers, " ".join(fact[2:]))
        self.assertEqual(capture.check_lives(), {})
        self.assertEqual(capture.errors, [])

    def one(self, capture, kind, **values):
        found = [entry for entry in capture.of(kind)
                 if all(entry[name] == value for name, value in values.items())]
        self.assertTrue(found, f"no {kind} with {values}")
        return found[0]

    def check_absent(self, capture, numbers, text):
        pass

    def check_name(self, capture, numbers, text):
        entry = self.one(capture, "NAME", object=numbers[0])
        self.assertEqual(entry["texts"][0], text)

    def check_queue(self, capture, numbers, _):
        self.assertTrue(self.one(capture, "QUEUE", queue=numbers[0])["flags"] & 4)

    def check_buffer(self, capture, numbers, _):
        entry = self.one(capture, "BUFFER", buffer=numbers[0], size=numbers[1])
        self.assertEqual((entry["needsSize"], entry["needsAlignment"]), tuple(numbers[2:4]))
        self.assertTrue(entry["needsFlags"] & 1)
        self.assertTrue(entry["caller"])

    def check_dedicated(self, capture, numbers, _):
        entry = self.one(capture, "MEMORY", memory=numbers[0], object=numbers[2])
        self.assertEqual(entry["size"], numbers[1])
        self.assertEqual(entry["flags"] & 1, 1)
        self.assertGreater(entry["duration_ns"], 0)
        self.one(capture, "BIND", object=numbers[2], memory=numbers[0], result=0)

    def check_map(self, capture, numbers, _):
        self.one(capture, "MAP", memory=numbers[0], size=2**64 - 1)
        self.one(capture, "UNMAP", handle=numbers[0])

    def check_failure(self, capture, numbers):
        entry = self.one(capture, "MEMORY_FAILED", size=numbers[0], memory=0)
        self.assertEqual(entry["result"], numbers[1])
        self.assertLess(entry["result"], 0)

    def check_image(self, capture, numbers, _):
        entry = self.one(capture, "IMAGE", image=numbers[0], width=numbers[1], height=numbers[2])
        self.assertEqual((entry["needsSize"], entry["mipLevels"], entry["arrayLayers"]),
                         (numbers[3], 3, 2))

    def check_bind(self, capture, numbers, _):
        self.one(capture, "BIND", object=numbers[0], memory=numbers[1], objectKind=2)

    def check_planes(self, capture, numbers, _):
        entry = self.one(capture, "IMAGE", image=numbers[0], width=64)
        self.assertEqual((entry["needsSize"], entry["needsFlags"] & 0x11), (numbers[1], 0x11))
        self.one(capture, "BIND", object=numbers[0], plane=1, offset=numbers[2])

    def check_timeline(self, capture, numbers, _):
        self.one(capture, "SEMAPHORE", semaphore=numbers[0], isTimeline=1, value=numbers[1])

    def check_submit(self, capture, numbers, _):
        first = self.one(capture, "SUBMIT", fence=numbers[0], signalCount=1)
        signal_ = self.one(capture, "SUBMIT_SIGNAL", submission=first["submission"])
        self.assertEqual((signal_["semaphore"], signal_["value"]), (numbers[1], numbers[2]))
        wait = self.one(capture, "SUBMIT_WAIT", semaphore=numbers[1], value=5)
        self.assertEqual(wait["submission"], first["submission"] + 1)
        self.one(capture, "SUBMIT_SIGNAL", submission=wait["submission"], value=6)

    def check_reached(self, capture, numbers, _):
        timeline = [(entry["value"], entry["isSignal"]) for entry in capture.of("REACHED")
                    if entry["objectKind"] == 7 and entry["object"] == numbers[0]]
        self.assertLessEqual(len(timeline), 2 + 100)  # two objects may share the layer's memory
        self.assertEqual(list(dict.fromkeys(timeline)), [(6, 0), (9, 1)])
        fence = [entry for entry in capture.of("REACHED")
                 if entry["objectKind"] == 8 and entry["object"] == numbers[1]]
        self.assertGreaterEqual(len(fence), 1)
        self.assertLessEqual(len(fence), 2 + 100)
        self.one(capture, "REACHED", objectKind=6)
        self.one(capture, "REACHED", objectKind=9)

    def check_sparse(self, capture, numbers, _):
        self.one(capture, "SPARSE_BIND", object=numbers[0], form=0, offset=numbers[2],
                 size=numbers[2], objectKind=1)
        texels = self.one(capture, "SPARSE_BIND", object=numbers[1], form=2, objectKind=2)
        self.assertEqual(texels["extent"], (256, 256, 1))
        self.assertEqual(texels["size"], numbers[3])
        self.one(capture, "SUBMIT", submission=texels["submission"])

    def check_swapchain(self, capture, numbers, _):
        entry = self.one(capture, "SWAPCHAIN", swapchain=numbers[0], width=numbers[1],
                         height=numbers[2])
        self.assertGreaterEqual(entry["imageCount"], 3)
        self.assertGreaterEqual(entry["estimatedSize"], entry["imageCount"] * 128 * 64 * 4)
        images = capture.of("SWAPCHAIN_IMAGE")
        self.assertEqual([image["index"] for image in images], list(range(entry["imageCount"])))
        frames = capture.of("FRAME")
        self.assertEqual([frame["frame"] for frame in frames], [0, 1, 2])

    def test_everything_that_is_recorded(self):
        done = self.probe("everything")
        capture = self.capture()
        self.check_everything(capture, done.stdout)
        self.assertTrue(is_complete(capture))
        self.assertEqual(capture.entries[-1]["kind"], "END")
        self.assertEqual(capture.program, pathlib.Path(OPTIONS.probe).name)
        self.assertEqual(capture.size, 65536 + 64 * capture.records)
        device = capture.of("DEVICE")[0]
        self.assertEqual(device["heapCount"], len(capture.of("HEAP")))
        self.assertEqual(device["typeCount"], len(capture.of("TYPE")))
        self.assertTrue(device["texts"][0])
        self.assertEqual(len(capture.of("DEVICE_END")), 1)
        budgets = capture.of("BUDGET")
        self.assertTrue(budgets)  # these drivers have VK_EXT_memory_budget
        self.assertEqual(budgets[0]["heapCount"], device["heapCount"])
        self.assertGreater(budgets[0]["budget"][0], 0)
        span_ns = capture.entries[-1]["time_ns"] - budgets[0]["time_ns"]
        self.assertLessEqual(len(budgets), span_ns / 100e6 + 2)
        self.assertEqual(capture.of("INSTANCE")[0]["texts"][:2], ["layer probe", "none"])

    def test_allocation_that_fails(self):
        done = self.probe("excess")
        found = re.search(r"^failed (\d+) (-\d+)$", done.stdout, re.MULTILINE)
        if found is None:
            self.skip("this driver promises any size")
        self.check_failure(self.capture(), [int(found[1]), int(found[2])])

    def test_names_without_the_extension(self):
        done = self.probe("unasked-names")
        bare = self.run_program(OPTIONS.probe, "unasked-names")
        self.assertEqual(done.stdout, bare.stdout)
        names = [entry["texts"][0] for entry in self.capture().of("NAME")]
        self.assertEqual(names, [] if done.stdout == "none\n" else ["unasked"])

    def test_module_of_callers(self):
        self.probe("everything")
        capture = self.capture()
        names = {pathlib.Path(entry["texts"][0]).name for entry in capture.of("MODULE")}
        self.assertIn(pathlib.Path(OPTIONS.probe).name, names)
        ranges = [(entry["begin"], entry["end"]) for entry in capture.of("MODULE")]
        self.assertEqual(len(ranges), len(set(ranges)))
        for entry in capture.of("BUFFER", "MEMORY"):
            self.assertTrue(any(begin <= entry["caller"] < end for begin, end in ranges))

    def test_driver_memory_only_on_request(self):
        self.probe("everything")
        self.assertEqual(self.capture().of("REPORT"), [])

    def test_no_output_and_a_log_on_request(self):
        done = self.probe("cost", 10)
        bare = self.run_program(OPTIONS.probe, "cost", 10)
        self.assertEqual(done.stderr, bare.stderr)
        log = self.folder / "log"
        self.run_program(OPTIONS.probe, "cost", 10,
                         env=self.layered(MAAR_CAPTURE_LOG=str(log)))
        self.assertRegex(log.read_text(), r"^\d+ writes \S+\.maarcap\n$")


class Uses(Case):
    """What submissions use, on request."""

    def with_uses(self, *arguments, layers=LAYER, input=None, **more):
        return self.run_program(OPTIONS.probe, *arguments, input=input,
                                env=self.layered(layers, MAAR_CAPTURE_USES="1", **more))

    def check_uses(self, capture, output):
        batches = {}
        for entry in capture.of("USE"):
            batch = batches.setdefault(entry["submission"], [])
            letters = "".join(letter for bit, letter in enumerate("rwd")
                              if entry["flags"] >> bit & 1)
            kind = {1: "buffer", 2: "image"}[entry["objectKind"]]
            batch.append((kind, str(entry["object"]), letters))
        wanted, count = {}, 0
        for line in output.splitlines():
            words = line.split()
            if words[0] == "use":
                wanted.setdefault(int(words[1]), []).append(tuple(words[2:]))
            elif words[0] == "batches":
                count = int(words[1])
        self.assertGreater(count, 15)
        self.assertEqual(len(capture.of("SUBMIT")), count)
        for batch in range(1, count + 1):
            self.assertEqual(sorted(batches.get(batch, [])), sorted(wanted.get(batch, [])), batch)

    def test_each_command_counts_as_it_uses(self):
        done = self.with_uses("uses")
        capture = self.capture()
        self.check_uses(capture, done.stdout)
        self.assertEqual(capture.check_lives(), {})
        self.assertTrue(is_complete(capture))
        self.assertEqual([entry["flags"] for entry in capture.of("USES")], [1])
        self.assertLess(capture.entries.index(capture.of("USES")[0]),
                        capture.entries.index(capture.of("BUFFER")[0]))

    def test_nothing_without_the_request(self):
        self.probe("uses")
        self.assertEqual(self.capture().of("USE", "USES"), [])

    def test_pointers_of_functions_that_name_no_resource(self):
        names = self.functions()
        text = "".join(name + "\n" for name in names)
        without = self.probe("pointers", input=text).stdout.splitlines()
        with_uses = self.with_uses("pointers", input=text).stdout.splitlines()
        hooks = self.hooks("layer_use*.c")
        self.assertGreater(len(hooks), 100)
        changed = set()
        for name, before, after in zip(names, without, with_uses, strict=True):
            if before != after:
                self.assertIn("VkLayer_maar_capture", after)
                self.assertNotIn(" none", before)
                self.assertNotIn("VkLayer_maar_capture", before)
                changed.add(name[2:])
        self.assertLessEqual(changed, hooks)
        self.assertIn("CmdCopyBuffer", changed)
        self.assertNotIn("CmdDraw", changed)
        self.assertGreater(len(changed), 50)

    def test_everything_else_stays_the_same(self):
        plain = self.probe("everything").stdout
        done = self.with_uses("everything")
        self.assertEqual(re.sub(r"\d+", "", plain), re.sub(r"\d+", "", done.stdout))
        for capture in self.captures(2):
            self.assertEqual(capture.check_lives(), {})

    def test_sample_is_byte_identical(self):
        sample = pathlib.Path(OPTIONS.samples) / "deferred_frame"
        if not sample.exists() or OPTIONS.rig != "lavapipe":
            self.skip("the sample draws on lavapipe")
        arguments = ["--size", "160x90", "--frames", "3", "--output"]
        self.run_program(sample, *arguments, self.folder / "a.png", env=environment())
        self.run_program(sample, *arguments, self.folder / "b.png",
                         env=self.layered(MAAR_CAPTURE_USES="1"))
        self.assertEqual((self.folder / "a.png").read_bytes(),
                         (self.folder / "b.png").read_bytes())
        capture = self.capture()
        known = {("BUFFER", entry["buffer"]) for entry in capture.of("BUFFER")}
        known |= {("IMAGE", entry["image"]) for entry in capture.of("IMAGE")}
        for entry in capture.of("USE"):
            self.assertIn(({1: "BUFFER", 2: "IMAGE"}[entry["objectKind"]], entry["object"]), known)
        self.assertGreater(len(capture.of("USE")), 20)

    def test_validation_below_is_silent(self):
        found = glob.glob("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")
        if not found:
            self.skip("the validation layer is not installed (Debian: vulkan-validationlayers)")
        settings = self.folder / "vk_layer_settings.txt"
        log = self.folder / "validation.txt"
        settings.write_text("khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
                            "khronos_validation.report_flags = error,warn\n"
                            f"khronos_validation.log_filename = {log}\n")
        folders = f"{OPTIONS.layer}:{os.path.dirname(found[0])}"
        done = self.with_uses("uses", layers=f"{LAYER}:VK_LAYER_KHRONOS_validation",
                              VK_ADD_LAYER_PATH=folders, VK_LAYER_SETTINGS_PATH=str(settings))
        self.assertEqual(log.read_text(), "")
        self.check_uses(self.capture(), done.stdout)

    def test_threads_and_forks(self):
        self.with_uses("threads", 50)
        self.with_uses("fork")
        for capture in self.captures(3):
            self.assertTrue(is_complete(capture))
            self.assertEqual(capture.check_lives(), {})


class Invisible(Case):
    """Programs see no difference."""

    def plain(self, *arguments, **more):
        return self.run_program(*arguments, env=environment(), **more)

    def test_same_pointers_and_unknown_functions(self):
        names = self.functions() + ["vkNoSuchFunction", "maarNothing", "vk", "",
                                    "vkGetDeviceProcAddr", "vkMapMemory2KHR", "vkMapMemory2",
                                    "vkBindBufferMemory2KHR", "vkCreateVideoSessionKHR"]
        text = "".join(name + "\n" for name in names)
        without = self.plain(OPTIONS.probe, "pointers", input=text).stdout.splitlines()
        with_layer = self.probe("pointers", input=text).stdout.splitlines()
        hooks = self.hooks("layer_[!u]*.c")
        changed = 0
        for name, before, after in zip(names, without, with_layer, strict=True):
            if name[2:] in hooks and "VkLayer_maar_capture" in after:
                self.assertNotIn(" none", before)
                changed += 1
            else:
                self.assertEqual(before, after)
                # Some functions stay the loader's own.
                self.assertTrue(name[2:] not in hooks or re.search(" none| libvulkan", before))
        self.assertGreater(changed, 20)
        self.assertGreater(sum(line.endswith(" none") for line in without), 20)
        without = self.plain(OPTIONS.probe, "instance-pointers", input=text).stdout.splitlines()
        with_layer = self.probe("instance-pointers", input=text).stdout.splitlines()
        for before, after in zip(without, with_layer, strict=True):
            if "VkLayer_maar_capture" not in after:
                self.assertEqual(before, after)
            else:
                self.assertNotIn(" none", before)

    def test_off_is_not_loaded(self):
        hidden = self.folder / "share"
        (hidden / "vulkan/implicit_layer.d").mkdir(parents=True)
        manifest = json.loads(
            (pathlib.Path(OPTIONS.layer) / "VkLayer_MAAR_capture.json").read_text())
        library = pathlib.Path(OPTIONS.layer) / manifest["layer"]["library_path"]
        manifest["layer"]["library_path"] = str(library.resolve())
        (hidden / "vulkan/implicit_layer.d/VkLayer_MAAR_capture.json").write_text(
            json.dumps(manifest))
        base = {"XDG_DATA_DIRS": str(hidden), "MAAR_CAPTURE_FILE": f"{self.folder}/c"}
        for more, loaded in (({}, "absent"), ({"MAAR_CAPTURE": "0"}, "absent"),
                             ({"MAAR_CAPTURE": "1"}, "loaded"),
                             ({"MAAR_CAPTURE": "1", "MAAR_CAPTURE_DISABLE": "1"}, "absent")):
            done = self.run_program(OPTIONS.probe, "loaded", env=environment(**base, **more))
            self.assertEqual(done.stdout.strip(), loaded, more)
        self.captures(1)
        # Both ways at once load it once.
        both = self.run_program(OPTIONS.probe, "everything", env=environment(
            **base, MAAR_CAPTURE="1", VK_ADD_LAYER_PATH=OPTIONS.layer, VK_INSTANCE_LAYERS=LAYER))
        self.assertIn("buffer ", both.stdout)
        last = max(self.captures(2), key=lambda capture: capture.path.stat().st_mtime_ns)
        self.assertEqual(last.check_lives(), {})
        self.assertEqual(last.errors, [])

    def test_one_exported_symbol(self):
        nm = shutil.which("nm")
        if nm is None:
            self.skip("no nm")
        library = glob.glob(f"{OPTIONS.layer}/libVkLayer_maar_capture.so")[0]
        done = self.run_program(nm, "-D", "--defined-only", library)
        names = {line.split()[-1] for line in done.stdout.splitlines()}
        self.assertEqual(names, {"vkNegotiateLoaderLayerInterfaceVersion"})

    def test_samples_are_byte_identical(self):
        sample = pathlib.Path(OPTIONS.samples) / "deferred_frame"
        if not sample.exists() or OPTIONS.rig != "lavapipe":
            self.skip("the sample draws on lavapipe")
        arguments = ["--size", "160x90", "--frames", "2", "--output"]
        bare = self.plain(sample, *arguments, self.folder / "a.png")
        layered = self.run_program(sample, *arguments, self.folder / "b.png", env=self.layered())
        self.assertEqual((self.folder / "a.png").read_bytes(),
                         (self.folder / "b.png").read_bytes())
        clean = re.compile(r"rendered in .*")
        self.assertEqual(clean.sub("", bare.stdout), clean.sub("", layered.stdout))
        self.assertEqual(bare.stderr, layered.stderr)
        self.assertEqual(self.capture().check_lives(), {})

    def in_both_orders(self, manifest, mode, **more):
        """Runs the probe with another layer above and below. The loader puts layers in the order
        in which it finds their manifests."""
        name = json.loads(pathlib.Path(manifest).read_text())["layer"]["name"]
        folder = os.path.dirname(manifest)
        done = []
        for order in ((folder, OPTIONS.layer), (OPTIONS.layer, folder)):
            env = self.layered(f"{name}:{LAYER}", VK_LAYER_PATH=":".join(order),
                               VK_LOADER_DEBUG="layer", **more)
            del env["VK_ADD_LAYER_PATH"]
            run = self.run_program(OPTIONS.probe, mode, env=env)
            stack = run.stderr[run.stderr.index("vkCreateDevice layer callstack"):]
            stack = re.findall(rf"^LAYER:\s+({name}|{LAYER})$", stack, re.MULTILINE)[:2]
            self.assertEqual(stack, [name, LAYER] if order[0] == folder else [LAYER, name])
            done.append(run)
        return done

    def test_validation_above_and_below(self):
        found = glob.glob("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")
        if not found:
            self.skip("the validation layer is not installed (Debian: vulkan-validationlayers)")
        settings = self.folder / "vk_layer_settings.txt"
        log = self.folder / "validation.txt"
        settings.write_text("khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
                            "khronos_validation.report_flags = error,warn,perf\n"
                            f"khronos_validation.log_filename = {log}\n")
        self.in_both_orders(found[0], "everything", VK_LAYER_SETTINGS_PATH=str(settings))
        self.assertTrue(log.exists())
        self.assertEqual(log.read_text(), "")
        self.captures(2)
        # The same settings do report a mistake.
        self.in_both_orders(found[0], "excess", VK_LAYER_SETTINGS_PATH=str(settings))
        self.assertIn("vkAllocateMemory", log.read_text())

    def test_mangohud_above_and_below(self):
        found = glob.glob("/usr/share/vulkan/implicit_layer.d/MangoHud*.json")
        if not found:
            self.skip("MangoHud is not installed (Debian: mangohud)")
        self.in_both_orders(found[0], "everything", MANGOHUD_CONFIG="no_display",
                            HOME=str(self.folder))
        for capture in self.captures(2):
            self.assertGreater(len(capture.of("BUFFER")), 0)


class Lives(Case):
    """Processes, threads, loads, and how they end."""

    def test_a_hundred_loads(self):
        self.probe("loads", 100)
        captures = self.captures(100)
        self.assertTrue(all(is_complete(capture) for capture in captures))
        self.assertEqual(len({capture.path.name for capture in captures}), 100)

    def test_nothing_is_leaked_by_loads(self):
        valgrind = shutil.which("valgrind")
        if valgrind is None or OPTIONS.rig != "lavapipe":
            self.skip("no valgrind")
        done = subprocess.run(
            [valgrind, "--leak-check=full", "--show-leak-kinds=definite,indirect",
             "--keep-debuginfo=yes", OPTIONS.probe, "loads", "2"], capture_output=True, text=True,
            timeout=600, env=self.layered(), check=False)
        blocks = re.split(r"\n==\d+== \n", done.stderr)
        own = [block for block in blocks if "VkLayer_maar_capture" in block]
        self.assertEqual(own, [])

    def test_a_thousand_threads(self):
        # On lavapipe alone: the threads are the layer's matter, and not the driver's.
        count = 100 if OPTIONS.slow or OPTIONS.rig != "lavapipe" else 1000
        self.probe("threads", count)
        capture = self.capture()
        self.assertEqual(capture.check_lives(), {})
        self.assertEqual((capture.errors, capture.lost, capture.empty), ([], 0, 0))
        self.assertEqual(len(capture.of("BUFFER")), count * 20 * 8)
        self.assertGreaterEqual(len({entry["thread"] for entry in capture.of("BUFFER")}),
                                count // 2)

    def test_fork(self):
        self.probe("fork")
        first, second = self.captures(2)
        parent, child = (first, second) if second.parent == first.process else (second, first)
        self.assertEqual(child.parent, parent.process)
        self.assertEqual((len(parent.of("MEMORY")), len(child.of("MEMORY"))), (2, 3))
        self.assertTrue(is_complete(parent) and is_complete(child))
        self.assertEqual({entry["thread"] for entry in child.of("BUFFER")}, {child.process})

    def test_exit_with_threads(self):
        for _ in range(3 if OPTIONS.rig == "lavapipe" else 1):
            self.probe("exit")
        for capture in self.captures():
            self.assertTrue(is_complete(capture))
            capture.check_lives()
            self.assertGreater(len(capture.of("MEMORY")), 10)

    def test_several_devices(self):
        icd = next((item.split("=", 1)[1] for item in OPTIONS.env
                    if item.startswith("VK_ICD_FILENAMES=")), None)
        if icd is None or OPTIONS.rig != "lavapipe":
            self.skip("needs lavapipe")
        # A second copy of the library, or the loader would take one of them.
        manifest = json.loads(pathlib.Path(icd).read_text())
        library = manifest["ICD"]["library_path"]
        if not os.path.isabs(library):
            found = glob.glob(f"/usr/lib/*/{os.path.basename(library)}")
            if not found:
                self.skip("the driver's library was not found")
            library = found[0]
        shutil.copy(library, self.folder / "libvulkan_second.so")
        manifest["ICD"]["library_path"] = str(self.folder / "libvulkan_second.so")
        (self.folder / "second.json").write_text(json.dumps(manifest))
        env = self.layered(VK_ICD_FILENAMES=f"{icd}:{self.folder}/second.json")
        done = self.run_program(OPTIONS.probe, "devices", env=env)
        self.assertEqual(done.stdout.split(), ["devices", "2"] * 2)
        capture = self.capture()
        self.assertEqual([entry["device"] for entry in capture.of("DEVICE")], [1, 2, 3, 4])
        for device, count in ((1, 1), (2, 2), (3, 1), (4, 2)):
            own = [entry for entry in capture.of("MEMORY") if entry["device"] == device]
            self.assertEqual(len(own), count)
        self.assertEqual(len(capture.of("DEVICE_END")), 4)
        self.assertEqual(len(capture.of("INSTANCE")), 2)

    def test_killed_at_random_moments(self):
        rounds = int(os.environ.get("MAAR_LAYER_KILLS", 20 if OPTIONS.slow else 40))
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        moments = random.Random(seed)
        empties, sizes = 0, []
        for _ in range(rounds):
            program = subprocess.Popen([OPTIONS.probe, "busy", "-1"], env=self.layered(),
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            with program:
                program.stdout.readline()
                time.sleep(moments.uniform(0, 0.05))
                program.send_signal(signal.SIGKILL)
            capture = self.capture()
            live = capture.check_lives()
            self.assertEqual(capture.errors, [])
            self.assertEqual(capture.state, 0)
            self.assertLessEqual(len(live), 4)
            empties += capture.empty
            sizes.append(len(capture.entries))
            capture.path.unlink()
        print(f"{rounds} kills, {sum(sizes)} entries, {empties} unfinished", flush=True)
        self.assertGreater(max(sizes), 100)

    def test_descriptors_closed_by_the_program(self):
        target = self.folder / "own.txt"
        target.write_bytes(b"mine")
        self.probe("closed", target)
        self.assertEqual(target.read_bytes(), b"mine")
        self.assertEqual(self.capture().state, 2)


class Ends(Case):
    """Captures that end before their program."""

    def test_full_disk(self):
        if os.geteuid() != 0 or shutil.which("mount") is None:
            self.skip("a small file system needs root")
        place = self.folder / "small"
        place.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "maar", str(place)],
                                 check=False, capture_output=True)
        if mounted.returncode != 0:
            self.skip("a small file system cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(place)], check=False)
        env = self.layered(MAAR_CAPTURE_FILE=f"{place}/c")
        done = self.run_program(OPTIONS.probe, "cost", 40000, env=env)
        self.assertEqual(done.stderr, "")
        capture = Capture(next(place.glob("*.maarcap")), LAYOUT)
        self.assertEqual((capture.state, capture.errors), (2, []))
        self.assertGreater(len(capture.of("BUFFER")), 1000)
        # A disk that is full from the beginning.
        rest = os.open(place / "rest", os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(rest, b"x" * 4096) > 0:
                pass
        except OSError:
            os.close(rest)
        env = self.layered(MAAR_CAPTURE_FILE=f"{place}/d", MAAR_CAPTURE_LOG=f"{self.folder}/log")
        done = self.run_program(OPTIONS.probe, "cost", 100, env=env)
        self.assertEqual(done.stderr, "")
        self.assertIn("the disk is full", (self.folder / "log").read_text())

    def test_largest_file_of_the_process(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
        self.probe("cost", 40000, preexec_fn=limit)
        capture = self.capture()
        self.assertEqual((capture.state, capture.errors), (2, []))
        self.assertGreater(len(capture.of("BUFFER")), 1000)

    def test_limit(self):
        env = self.layered(MAAR_CAPTURE_LIMIT=str(3 << 20))
        self.run_program(OPTIONS.probe, "cost", 40000, env=env)
        capture = self.capture()
        self.assertEqual((capture.state, capture.errors), (3, []))
        self.assertLessEqual(capture.size, 3 << 20)
        self.assertGreater(capture.size, (3 << 20) - 65536)

    def test_folder_that_does_not_exist(self):
        for prefix in ("/nonexistent/folder/c", "/proc/c", "x" * 5000):
            env = self.layered(MAAR_CAPTURE_LOG=f"{self.folder}/log")
            env["MAAR_CAPTURE_FILE"] = prefix
            done = self.run_program(OPTIONS.probe, "everything", env=env)
            self.assertEqual(done.stderr, "")
            self.assertIn("buffer ", done.stdout)
        self.assertEqual((self.folder / "log").read_text().count("cannot write"), 3)


class Command(Case):
    """maar capture."""

    def maar(self, *arguments, code=0, **more):
        return self.run_program(OPTIONS.maar, "capture", *arguments, code=code, cwd=self.folder,
                                **more)

    def test_names_the_files(self):
        done = self.maar("-o", f"{self.folder}/run", "--", OPTIONS.probe, "everything")
        self.assertRegex(done.stderr, r"^maar: \S+/run\.layer_probe\.\d+\.maarcap: \S+ \wiB, "
                                      r"process \d+, \d+ events, peak [\d.]+ \wiB\n$")
        self.assertIn("buffer ", done.stdout)
        self.capture()

    def test_folder_and_default(self):
        self.maar("-o", str(self.folder) + "/", OPTIONS.probe, "cost", "10")
        self.maar("-o", self.folder, OPTIONS.probe, "cost", "10")
        self.maar(OPTIONS.probe, "cost", "10")
        names = [capture.path.name for capture in self.captures(3)]
        self.assertTrue(all(name.startswith("maar.layer_probe.") for name in names), names)

    def test_exit_codes(self):
        self.maar("--", "sh", "-c", "exit 7", code=7)
        self.maar("--", "sh", "-c", "kill -9 $$", code=137)
        self.maar("--", "no-such-program", code=127)
        self.maar("--", str(self.folder), code=126)
        self.maar(code=2)
        self.maar("--nonsense", "true", code=2)
        self.maar("--limit", "3", "true", code=2)
        self.maar("-o", "/nonexistent/x", "true", code=2)
        self.assertIn("Usage: maar capture", self.maar("--help").stdout)

    def test_explains_that_nothing_opened_vulkan(self):
        done = self.maar("true")
        self.assertIn("no process of true opened Vulkan", done.stderr)
        self.assertIn("CPU driver LIBGL_ALWAYS_SOFTWARE=1", done.stderr)

    def test_says_how_the_program_ended(self):
        done = self.maar("sh", "-c", "kill -9 $$", code=137)
        self.assertIn("sh was killed by signal 9", done.stderr)
        done = self.maar("sh", "-c", "exit 3", code=3)
        self.assertIn("sh ended with exit status 3", done.stderr)

    def test_makes_a_folder_that_is_named_as_one(self):
        done = self.maar("-o", "made/", "true")
        self.assertIn("--render-driver=vulkan", done.stderr)
        self.assertTrue((self.folder / "made").is_dir())

    def test_processes_left_behind(self):
        done = self.maar("--", "sh", "-c", f"(sleep 0.3; {OPTIONS.probe} cost 10) >/dev/null & "
                         f"{OPTIONS.probe} cost 10; exit 3", code=3)
        self.assertEqual(done.stderr.count(".maarcap"), 2)
        self.captures(2)

    def test_passes_signals_on(self):
        script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"
        program = subprocess.Popen([OPTIONS.maar, "capture", "--", "sh", "-c", script],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   env=environment(), cwd=self.folder)
        with program:
            self.assertEqual(program.stdout.readline(), "ready\n")
            program.send_signal(signal.SIGTERM)
            self.assertEqual(program.wait(timeout=30), 9)

    def test_keeps_other_layers(self):
        env = environment(VK_INSTANCE_LAYERS="VK_LAYER_other", VK_ADD_LAYER_PATH="/somewhere",
                          MAAR_CAPTURE_DISABLE="1")
        done = self.maar("sh", "-c", "echo $VK_INSTANCE_LAYERS $VK_ADD_LAYER_PATH "
                                     "$MAAR_CAPTURE$MAAR_CAPTURE_DISABLE", env=env)
        self.assertEqual(done.stdout.split(), [f"VK_LAYER_other:{LAYER}",
                                               f"/somewhere:{OPTIONS.layer}", "1"])

    def test_uses_on_request_alone(self):
        env = environment(MAAR_CAPTURE_USES="1")
        script = ("sh", "-c", "echo =$MAAR_CAPTURE_USES")
        self.assertEqual(self.maar(*script, env=env).stdout, "=\n")
        self.assertEqual(self.maar("--uses", *script).stdout, "=1\n")

    def test_limit_and_killed_programs_are_named(self):
        done = self.maar("--limit", "2MiB", OPTIONS.probe, "cost", "40000")
        self.assertIn("the limit was reached", done.stderr)
        done = self.maar("sh", "-c", f"{OPTIONS.probe} busy -1 & sleep 1; kill -9 $!")
        self.assertIn("killed or still runs", done.stderr)

    def test_log_names_a_file_that_cannot_be_written(self):
        done = self.maar("sh", "-c", f"MAAR_CAPTURE_FILE=/nonexistent/x {OPTIONS.probe} cost 10")
        self.assertRegex(done.stderr, r"process \d+ could not write its capture: /nonexistent/x")


CASES = (Recording, Uses, Invisible, Lives, Ends, Command)


def main():
    global OPTIONS, LAYOUT
    parser = argparse.ArgumentParser()
    for name in ("maar", "probe", "layer", "source", "samples"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--vulkan", default="/usr/include")
    parser.add_argument("--rig", default="none")
    parser.add_argument("--missing", default="")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--case", action="append", default=[])
    OPTIONS = parser.parse_args()
    LAYOUT = Format(OPTIONS.source)
    if OPTIONS.missing:
        print(f"skipped: {OPTIONS.missing}")
        return 77
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite()
    for case in CASES:
        for test in loader.loadTestsFromTestCase(case):
            if not OPTIONS.case or any(name in test.id() for name in OPTIONS.case):
                suite.addTest(test)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    if len(result.skipped) == result.testsRun:
        return 77
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
