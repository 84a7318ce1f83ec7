"""maar top from outside: figures, states, the kernel's figures, and the page in a terminal.

test_top.py --maar=PROGRAM --maker=PROGRAM

Captures are written by make_capture and counted again by capture_counts.py. The terminal is tmux.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import capture_counts as counts
import case_run

OPTIONS = None
COLOUR = re.compile("\x1b\\[[0-9;]*3[0-7]m")


def top(*arguments, **variables):
    return subprocess.run([OPTIONS.maar, "top", *map(str, arguments)], capture_output=True,
                          timeout=60, env=dict(os.environ, **variables), check=False)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "proc").mkdir()

    def make(self, name, *arguments, events=5000):
        path = self.folder / f"{name}.maarcap"
        subprocess.run([OPTIONS.maker, path, str(events), *arguments], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def make_slow(self, name, events=3000):
        """A program that writes a capture until it is killed."""
        path = self.folder / f"{name}.maarcap"
        program = subprocess.Popen([OPTIONS.maker, path, str(events), "slow"],
                                   stdout=subprocess.DEVNULL)

        def end():
            program.kill()
            program.wait()

        self.addCleanup(end)
        limit = time.monotonic() + 30
        while not path.exists() or counts_frames(path) < 20:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)
        return path, program

    def once(self, *arguments):
        done = top("--once", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["schema"], "maar-top/1")
        return result

    def write(self, path, text):
        path = self.folder / "proc" / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def client(self, process, number, text, target="/dev/dri/renderD128", name="a program"):
        self.write(f"{process}/comm", name + "\n")
        self.write(f"{process}/fdinfo/{number}", text)
        link = self.folder / "proc" / str(process) / "fd" / str(number)
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(target)


def counts_frames(path):
    try:
        return sum(1 for kind, _ in counts.entries(path) if kind == counts.FRAME)
    except OSError:
        return 0


class Figures(Case):
    def test_totals_equal_a_count_of_the_bytes(self):
        path = self.make("plain", events=20000)
        counted = counts.Counts(path)
        result = self.once(path, "--proc", self.folder / "proc")["captures"][0]
        self.assertEqual(result["state"], "ended")
        self.assertEqual(result["program"], "a made-up game")
        device = result["devices"][0]
        self.assertEqual(device["frames"], counted.frames)
        self.assertEqual(sum(device["resources"].values()), counted.resources)
        self.assertGreater(counted.resources, 0)
        self.assertEqual(len(device["heaps"]), 2)
        for heap in device["heaps"]:
            index = heap["heap"]
            self.assertEqual(heap["held_bytes"], counted.held[index])
            self.assertEqual(heap["held_peak_bytes"], counted.peak[index])
            self.assertEqual(heap["bound_bytes"], counted.bound[index])
            self.assertGreater(heap["bound_bytes"], 0)
            self.assertEqual(sum(heap["bound_bytes_by_kind"].values()), heap["bound_bytes"])
            self.assertEqual(heap["memories"], counted.memories[index])
            self.assertEqual(heap["allocations"], counted.allocations[index])
            self.assertEqual(heap["budget_bytes"], counted.budget[index])
            self.assertEqual(heap["usage_bytes"], counted.usage[index])
        largest = [entry["bytes"] for entry in result["largest"]]
        self.assertEqual(largest, sorted(counted.size.values(), reverse=True)[:len(largest)])
        self.assertEqual(len(largest), 20)

    def test_page_has_the_figures_within_its_width(self):
        path = self.make("plain")
        done = top("--once", path, "--proc", self.folder / "proc", LC_ALL="C")
        text = done.stdout.decode("ascii")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a made-up game  A made-up card (make_capture)", text)
        self.assertRegex(text, r"0 device +896 MiB +896 MiB +[\d.]+ MiB +900 MiB +1.17 GiB  #+=+\.+ +75%")
        self.assertRegex(text, r"(?m)^ +[\d.]+ KiB +\d+ s +[01] +(image|buffer) ")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertEqual(done.stdout.count(b"\x1b"), 0)

    def test_hostile_names_send_no_command_to_the_terminal(self):
        path = self.make("hostile", "hostile")
        counts.change(path, counts.PROGRAM_AT, "ev\x1b[31mil\r\n\x9b\u202e\xff".encode("latin-1",
                      "replace") + b"\xff\x00")
        for locale in ("C", "C.UTF-8"):
            done = top("--once", path, "--proc", self.folder / "proc", LC_ALL=locale)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = done.stdout.decode("utf-8")
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertIn("ev?[31mil", text)

    def test_rates_are_those_of_the_last_second(self):
        path, program = self.make_slow("slow")
        time.sleep(1.3)
        result = self.once(path)["captures"][0]
        self.assertEqual(result["state"], "running")
        self.assertEqual(result["process"], program.pid)
        self.assertGreater(result["frames_per_second"], 5)
        self.assertLess(result["frames_per_second"], 101)


class States(Case):
    def test_running_then_killed_then_another_process_of_that_number(self):
        path, program = self.make_slow("slow")
        self.assertEqual(self.once(path)["captures"][0]["state"], "running")
        program.kill()
        program.wait()
        killed = self.once(path)["captures"][0]
        self.assertEqual(killed["state"], "killed")
        self.assertGreater(killed["devices"][0]["heaps"][0]["held_bytes"], 0)
        # A process that began long after the capture cannot have written it.
        for began, state in ((0, "running"), (2**33, "killed")):
            self.write("stat", f"cpu 1 2\nbtime {began}\n")
            self.write(f"{program.pid}/stat", f"{program.pid} (a) b) R {'0 ' * 18}100 0\n")
            result = self.once(path, "--proc", self.folder / "proc")["captures"][0]
            self.assertEqual(result["state"], state, began)

    def test_the_title_counts_what_runs(self):
        """What ended may have held memory to its end, as its row says, and holds nothing now."""
        done = top("--once", self.make("ended"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"^maar top +1 capture, 0 running\n")
        self.assertRegex(done.stdout.decode(), r"ended +1\.00 GiB")
        path, _ = self.make_slow("slow")
        self.assertRegex(top("--once", path).stdout.decode(), "1 capture, 1 running with 1.00 GiB held\n")

    def test_states_of_the_header(self):
        for number, word in ((1, "ended"), (2, "disk full"), (3, "limit")):
            path = self.make(f"state{number}")
            counts.change(path, counts.STATE_AT, bytes([number]))
            self.assertEqual(self.once(path)["captures"][0]["state"], word)

    def test_nothing_to_show_is_said(self):
        for arguments, words in (((), "No program writes a capture"),
                                 (("--folder", self.folder), "The folder has no capture")):
            done = top("--once", "--proc", self.folder / "proc", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(words, done.stdout.decode())
            self.assertIn("0 captures", done.stdout.decode())

    def test_folder_has_ended_and_running_ones(self):
        self.make("one")
        self.make_slow("two")
        (self.folder / "three.maarcap").write_bytes(b"not yet")
        (self.folder / "four.txt").write_bytes(b"no")
        result = self.once("--folder", self.folder)
        self.assertEqual(sorted(entry["state"] for entry in result["captures"]), ["ended", "running"])

    def test_all_finds_what_a_process_has_open(self):
        path, program = self.make_slow("slow")
        link = self.folder / "proc" / str(program.pid) / "fd/5"
        link.parent.mkdir(parents=True)
        link.symlink_to(path)
        result = self.once("--proc", self.folder / "proc")
        self.assertEqual([entry["file"] for entry in result["captures"]], [str(path)])
        # Named and found: one capture.
        result = self.once("--proc", self.folder / "proc", "--all", path)
        self.assertEqual(len(result["captures"]), 1)

    def test_all_looks_at_real_processes(self):
        found = [entry["process"] for entry in self.once()["captures"]]
        _, program = self.make_slow("slow")
        self.assertNotIn(program.pid, found)
        self.assertIn(program.pid, [entry["process"] for entry in self.once("--all")["captures"]])

    def test_a_file_that_had_no_name_at_first_is_found(self):
        """As the layer creates it: the name in /proc stays that of a deleted file."""
        path = self.make("plain")
        named = self.folder / "named.maarcap"
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        file = os.open(self.folder, os.O_TMPFILE | os.O_RDWR)
        self.addCleanup(os.close, file)
        os.write(file, path.read_bytes())
        # With a folder, os.link follows the link in /proc.
        os.link(f"/proc/self/fd/{file}", named, src_dir_fd=folder, follow_symlinks=True)
        self.assertIn("(deleted)", os.readlink(f"/proc/self/fd/{file}"))
        found = {entry["file"]: entry["state"] for entry in self.once("--all")["captures"]}
        self.assertEqual(found.get(str(named)), "ended")

    def test_json_follows_until_the_program_ends(self):
        path, program = self.make_slow("slow")
        watcher = subprocess.Popen([OPTIONS.maar, "top", "--json", "--interval", "0.1", path],
                                   stdout=subprocess.PIPE, text=True)
        lines = [json.loads(watcher.stdout.readline()) for _ in range(4)]
        frames = [line["captures"][0]["devices"][0]["frames"] for line in lines]
        self.assertEqual(frames, sorted(frames))
        self.assertGreater(frames[-1], frames[0])
        program.kill()
        program.wait()
        rest, _ = watcher.communicate(timeout=20)
        self.assertEqual(json.loads(rest.splitlines()[-1])["captures"][0]["state"], "killed")
        self.assertEqual(watcher.returncode, 0)


class Kernel(Case):
    def read(self):
        return {entry["process"]: entry
                for entry in self.once("--proc", self.folder / "proc")["kernel"]}

    def test_each_driver_has_its_keys(self):
        self.client(101, 5, "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
                    "drm-memory-vram:\t2048 KiB\ndrm-memory-gtt: \t512 KiB\ndrm-memory-cpu: \t0 KiB\n"
                    "amd-evicted-vram:\t4 KiB\ndrm-engine-gfx:\t9 ns\n", name="amd")
        self.client(102, 5, "drm-driver:\txe\ndrm-client-id:\t8\ndrm-pdev:\t0000:00:02.0\n"
                    "drm-total-vram0:\t9 MiB\ndrm-resident-vram0:\t7 MiB\ndrm-total-gtt:\t3 MiB\n"
                    "drm-shared-gtt:\t1 MiB\n", name="xe")
        self.client(103, 5, "drm-driver:\ti915\ndrm-client-id:\t9\ndrm-pdev:\t0000:00:02.0\n"
                    "drm-total-local0:\t11 MiB\ndrm-total-system0:\t1024 KiB\n", name="i915")
        self.client(104, 5, "drm-driver:\tmsm\ndrm-client-id:\t1\ndrm-total-memory:\t5 MiB\n"
                    "drm-resident-memory:\t3 MiB\n", name="msm")
        self.client(105, 5, "drm-driver:\tpanthor\ndrm-client-id:\t2\ndrm-resident-memory:\t4096\n"
                    "drm-total-doorbell:\t8 MiB\n", name="panthor")
        mib = 1 << 20
        expected = {101: (2 * mib, mib // 2, "amdgpu"), 102: (7 * mib, 3 * mib, "xe"),
                    103: (11 * mib, mib, "i915"), 104: (0, 3 * mib, "msm"), 105: (0, 4096, "panthor")}
        found = {process: (entry["device_bytes"], entry["host_bytes"], entry["driver"])
                 for process, entry in self.read().items()}
        self.assertEqual(found, expected)
        text = top("--once", "--proc", self.folder / "proc", LC_ALL="C").stdout.decode()
        self.assertRegex(text, r"101 +amd +amdgpu +2\.00 MiB +512 KiB +0000:03:00\.0")
        self.assertLess(text.index("i915"), text.index("panthor"))

    def test_a_client_counts_once(self):
        client = "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t1 MiB\n"
        other = client.replace("\t7", "\t8")
        self.client(201, 3, client)
        self.client(201, 4, client)
        self.client(201, 5, other)
        self.client(202, 3, client)
        self.client(203, 3, client.replace("03:00", "04:00"))
        found = {process: entry["device_bytes"] >> 20 for process, entry in self.read().items()}
        self.assertEqual(found, {201: 2, 203: 1})

    def test_other_files_and_nonsense_are_no_memory(self):
        client = "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-memory-vram:\t1 MiB\n"
        self.client(301, 3, client, target="/dev/null")
        self.client(302, 3, "drm-memory-vram:\t1 MiB\n")
        self.client(303, 3, "drm-driver:\tx\ndrm-memory-vram:\t-1 KiB\ndrm-total-" + "a" * 3000 + ":\t1\n"
                    + "".join(f"drm-total-r{i}:\t1 KiB\n" for i in range(40)))
        self.client(304, 3, b"drm-driver:\t\xff\x1b[31m\ndrm-client-id:\t1\n"
                    b"drm-memory-vram:\t99999999999999999999999999 GiB\n")
        found = self.read()
        self.assertEqual(set(found), {303, 304})
        self.assertEqual(found[303]["device_bytes"], 0)
        self.assertLessEqual(found[303]["host_bytes"], 16 << 10)
        self.assertEqual(found[304]["device_bytes"], 0)
        text = top("--once", "--proc", self.folder / "proc", LC_ALL="C").stdout
        self.assertNotIn(b"\x1b", text)

    def test_captured_process_stands_with_its_capture_alone(self):
        path, program = self.make_slow("slow")
        self.client(program.pid, 9, "drm-driver:\txe\ndrm-client-id:\t1\ndrm-total-vram0:\t6 MiB\n")
        self.write(f"{program.pid}/stat", f"{program.pid} (x) R {'0 ' * 18}100 0\n")
        result = self.once(path, "--proc", self.folder / "proc")
        self.assertEqual(result["captures"][0]["kernel_device_bytes"], 6 << 20)
        text = top("--once", path, "--proc", self.folder / "proc").stdout.decode()
        self.assertIn("kernel: 6.00 MiB device", text)
        self.assertIn("lists no other process", text)


class Errors(Case):
    def refused(self, pattern, *arguments, code=2):
        done = top(*arguments)
        self.assertEqual(done.returncode, code, done.stdout)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], pattern)

    def test_each_mistake_has_one_error(self):
        text = self.folder / "text.maarcap"
        text.write_text("no capture")
        self.refused("nothere: No such file", "--once", "nothere")
        self.refused("text.maarcap: byte 0: ", "--once", text)
        self.refused("is a folder; --folder takes one", "--once", self.folder)
        self.refused("--folder nothere: No such file", "--once", "--folder", "nothere")
        self.refused("--folder .*: is no folder", "--once", "--folder", text)
        self.refused("--proc nothere: No such file", "--once", "--proc", "nothere")
        for wrong in ("0", "x", "1x", "-1", "nan", "1e9"):
            self.refused("--interval .*: expected seconds, 0.1 to 3600", "--once", "--interval", wrong)
        self.refused("unrecognized option '--on-ce'", "--on-ce")
        self.refused("needs an argument", "--folder")
        self.refused("no terminal|no ncurses", text)

    def test_a_broken_capture_is_said_and_shown(self):
        path = self.make("broken")
        data = bytearray(path.read_bytes())
        at = counts.HEADER + 400 * counts.RECORD
        data[at:at + 2] = b"\x08\x00"
        data[at + 16:at + 24] = b"\x63\x00\x00\x00\x00\x00\x00\x00"
        path.write_bytes(data)
        done = top("--once", path)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertRegex(done.stderr.decode(), r"byte \d+: ")
        self.assertIn(b"wrong", done.stdout)


class Terminal(Case):
    """The page in tmux."""

    def setUp(self):
        super().setUp()
        if shutil.which("tmux") is None:
            self.skipTest("tmux is not installed")
        if b"no ncurses" in top().stderr:
            self.skipTest("the command was built without ncurses")
        self.socket = str(self.folder / "tmux")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *arguments], check=True,
                              capture_output=True, text=True, timeout=20,
                              env=dict(os.environ, LC_ALL="C.UTF-8")).stdout

    def start(self, *arguments, width=80, height=24, **variables):
        variables = {"LC_ALL": "C.UTF-8", **variables}
        words = ["env", *(f"{name}={value}" for name, value in variables.items()), OPTIONS.maar, "top",
                 "--interval", "0.2", *map(str, arguments)]
        quoted = " ".join("'" + word + "'" for word in words)
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height),
                  f"{quoted}; echo left with $?; sleep 30")
        self.addCleanup(subprocess.run, ["tmux", "-S", self.socket, "kill-server"], check=False,
                        capture_output=True)

    def page(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def await_page(self, pattern, *options):
        limit = time.monotonic() + 20
        text = ""
        while time.monotonic() < limit:
            text = self.page(*options)
            if re.search(pattern, text):
                return text
            time.sleep(0.1)
        self.fail(f"{pattern} is not on the page:\n{text}")

    def key(self, name):
        self.tmux("send-keys", name)

    def test_live_page_keys_and_resize(self):
        self.make("ended", "hostile")
        path, program = self.make_slow("slow")
        self.start("--folder", self.folder)
        text = self.await_page(r"a made-up game +running")
        self.assertIn("2 captures, 1 running", text)
        self.assertEqual(len(text.splitlines()), 24)
        self.assertTrue(text.splitlines()[-1].startswith("q leave"))
        self.assertRegex(text, r"0 device +896 MiB")
        # The chosen row is the one in reverse, and its details stand below.
        def chosen():
            row = [line for line in self.page("-e").splitlines() if "\x1b[7m" in line or ";7m" in line]
            self.assertEqual(len(row), 1, row)
            return "made-up" if "made-up" in row[0] else "hostile"
        before = chosen()
        self.key("Down" if before == "made-up" else "Up")
        self.key("Down")
        self.key("Up")
        self.await_page("script>  A made-up card|a made-up game  A made-up card")
        self.key("Down")
        time.sleep(0.5)
        first = chosen()
        self.key("Up")
        time.sleep(0.5)
        self.assertNotEqual(chosen(), first)
        heads = []
        for _ in range(6):
            styled = self.page("-e")
            heads.append(re.search("\x1b\\[[0-9;]*4m([A-Z/]+)", styled).group(1))
            self.key("Right")
            time.sleep(0.4)
        self.assertEqual(set(heads), {"HELD", "BOUND", "FRAME/S", "ALLOC/S", "RESOURCE", "PROGRAM"})
        self.key("?")
        self.await_page("show or hide this page")
        self.key("?")
        self.await_page("LARGEST RESOURCES")
        self.tmux("resize-window", "-x", "120", "-y", "40")
        wide = self.await_page(r"(?m)^q leave(?=[^\n]*\n\Z)")
        self.assertEqual(len(wide.splitlines()), 40)
        self.tmux("resize-window", "-x", "30", "-y", "6")
        self.await_page(r"maar top")
        self.tmux("resize-window", "-x", "80", "-y", "24")
        program.kill()
        program.wait()
        self.await_page(r"a made-up game +killed")
        self.key("q")
        self.await_page("left with 0")

    def test_colours_are_used_and_can_be_refused(self):
        path, _ = self.make_slow("slow")
        self.start(path)
        self.await_page("running")
        self.assertRegex(self.page("-e"), COLOUR)
        self.key("q")
        self.await_page("left with 0")

    def test_no_color_is_heeded(self):
        path, _ = self.make_slow("slow")
        self.start(path, NO_COLOR=1)
        self.await_page("running")
        self.assertNotRegex(self.page("-e"), COLOUR)

    def test_terminal_without_colours_or_utf8(self):
        path, _ = self.make_slow("slow")
        self.start(path, TERM="vt100", LC_ALL="C")
        text = self.await_page("running")
        self.assertNotRegex(self.page("-e"), COLOUR)
        self.assertRegex(text, r"#+=+\.+")
        text.encode("ascii")

    def test_unknown_terminal_is_one_error(self):
        path = self.make("one")
        self.start(path, TERM="nosuch")
        text = self.await_page("left with 2")
        self.assertIn('the terminal "nosuch" is not known', text)

    def test_signal_restores_the_terminal(self):
        path, _ = self.make_slow("slow")
        self.start(path)
        self.await_page("running")
        shown = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
        children = pathlib.Path(f"/proc/{shown}/task/{shown}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGTERM)
        self.await_page("left with 0")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--maar", required=True)
    parser.add_argument("--maker", required=True)
    OPTIONS, cases = parser.parse_known_args()
    return case_run.run(sys.modules[__name__], cases)


if __name__ == "__main__":
    sys.exit(main())
