"""maar export from outside: traces of Perfetto, metrics, the web server, the dashboard.

test_export.py --maar=PROGRAM --maker=PROGRAM --dashboard=FILE.json

Captures are written by make_capture and counted again by capture_counts.py. Traces are read by the
Python package `perfetto`, metrics by promtool, and the dashboard's expressions are answered by a
Prometheus server: what is not installed is skipped.
"""

import argparse
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import capture_counts as counts
import case_run

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto
except ImportError:
    perfetto = None

OPTIONS = None
SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\["\\n])*)"')
ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def export(*arguments):
    return subprocess.run([OPTIONS.maar, "export", *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, check=False)


def read_metrics(text):
    """{name: [(labels, value)]}. Every line must be a comment or a sample."""
    found = {}
    for line in text.split("\n"):
        if line and not line.startswith("# "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            labels = {name: re.sub(r"\\.", lambda m: ESCAPES[m.group()], value)
                      for name, value in LABEL.findall(match.group(2))}
            found.setdefault(match.group(1), []).append((labels, float(match.group(3))))
    return found


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, name, *arguments, events=5000):
        path = self.folder / f"{name}.maarcap"
        subprocess.run([OPTIONS.maker, path, str(events), *arguments], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def run_beside(self, *command, **options):
        program = subprocess.Popen([str(word) for word in command], text=True, **options)

        def end():
            program.kill()
            program.wait()
            for pipe in (program.stdout, program.stderr):
                if pipe is not None:
                    pipe.close()

        self.addCleanup(end)
        return program

    def make_slow(self, name):
        path = self.folder / f"{name}.maarcap"
        program = self.run_beside(OPTIONS.maker, path, 3000, "slow", stdout=subprocess.DEVNULL)
        limit = time.monotonic() + 30
        while not path.exists() or path.stat().st_size < counts.HEADER + counts.RECORD:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)
        return path, program

    def export(self, *arguments):
        done = export(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Trace(Case):
    def setUp(self):
        super().setUp()
        if perfetto is None:
            self.skipTest("the Python package perfetto is not installed")

    def read(self, *captures):
        out = self.folder / "out.pftrace"
        said = self.export(*captures, "--perfetto", out)
        trace = perfetto.Trace()
        trace.ParseFromString(out.read_bytes())
        self.assertIn(f"{len(trace.packet)} packets", said)
        # Nothing in the file is unknown to Perfetto.
        again = perfetto.Trace()
        again.CopyFrom(trace)
        again.DiscardUnknownFields()
        self.assertEqual(again.SerializeToString(), trace.SerializeToString())
        return trace

    def names(self, trace):
        """The event names of each sequence; checks that each is there before it is used."""
        names = {}
        for packet in trace.packet:
            own = names.setdefault(packet.trusted_packet_sequence_id, {})
            for entry in packet.interned_data.event_names:
                self.assertNotIn(entry.iid, own)
                own[entry.iid] = entry.name
            if packet.HasField("track_event") and packet.track_event.name_iid:
                self.assertIn(packet.track_event.name_iid, own)
        return names

    def test_counters_end_and_peak_where_the_bytes_do(self):
        path = self.make("plain", events=20000)
        counted = counts.Counts(path)
        trace = self.read(path)
        tracks, last, peak = {}, {}, {}
        time_ns = 0
        for packet in trace.packet:
            if packet.HasField("track_descriptor"):
                self.assertNotIn(packet.track_descriptor.uuid, tracks)
                tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            event = packet.track_event
            if packet.HasField("track_event") and event.type == event.TYPE_COUNTER:
                self.assertIn(event.track_uuid, tracks)
                self.assertGreaterEqual(packet.timestamp, time_ns)
                time_ns = packet.timestamp
                last[event.track_uuid] = event.counter_value
                peak[event.track_uuid] = max(peak.get(event.track_uuid, 0), event.counter_value)
        by_name = {track.name: uuid for uuid, track in tracks.items() if track.HasField("counter")}
        for heap, where in ((0, "device"), (1, "host")):
            held = by_name[f"heap {heap} ({where}) held"]
            self.assertEqual(last[held], counted.held[heap])
            self.assertEqual(peak[held], counted.peak[heap])
            self.assertEqual(last[by_name[f"heap {heap} ({where}) bound"]], counted.bound[heap])
            kinds = [last[uuid] for name, uuid in by_name.items()
                     if name.startswith(f"heap {heap} ({where}) bound: ")]
            self.assertEqual(sum(kinds), counted.bound[heap])
            self.assertEqual(len(kinds), 2)
            self.assertEqual(last[by_name[f"heap {heap} ({where}) budget"]], counted.budget[heap])
        units = {track.counter.unit for track in tracks.values() if track.HasField("counter")}
        self.assertEqual(units, {perfetto.CounterDescriptor.UNIT_SIZE_BYTES})

    def test_slices_are_the_lives_of_memory_and_the_frames(self):
        path = self.make("plain")
        counted = counts.Counts(path)
        trace = self.read(path)
        names = self.names(trace)[1]
        tracks = {packet.track_descriptor.uuid: packet.track_descriptor.name
                  for packet in trace.packet if packet.HasField("track_descriptor")}
        begun, ended, open_at = {}, {}, {}
        held = 0
        for packet in trace.packet:
            event = packet.track_event
            if event.type == event.TYPE_SLICE_BEGIN:
                kind = names[event.name_iid]
                begun[kind] = begun.get(kind, 0) + 1
                # Slices of one track do not overlap.
                self.assertNotIn(event.track_uuid, open_at)
                open_at[event.track_uuid] = packet.timestamp
                if kind == "memory":
                    self.assertRegex(tracks[event.track_uuid], r"heap [01] \((device|host)\) memories")
                    held += event.debug_annotations[0].uint_value
            elif event.type == event.TYPE_SLICE_END:
                self.assertLessEqual(open_at.pop(event.track_uuid), packet.timestamp)
                ended[tracks[event.track_uuid]] = ended.get(tracks[event.track_uuid], 0) + 1
        self.assertEqual(begun["memory"], sum(counted.allocations))
        self.assertEqual(held, sum(counted.held))
        self.assertEqual(begun["frame"], counted.frames - 1)
        self.assertEqual(ended, {"frames": counted.frames - 1})

    def test_several_captures_are_several_processes(self):
        one, two = self.make("one"), self.make("two", "hostile")
        counts.change(two, counts.PROGRAM_AT, b"\xff\xfe<b>\n\x00")
        trace = self.read(one, two)
        processes = {packet.trusted_packet_sequence_id: packet.track_descriptor
                     for packet in trace.packet if packet.track_descriptor.HasField("process")}
        self.assertEqual(len({track.uuid for track in processes.values()}), 2)
        self.assertEqual(processes[1].process.process_name, "a made-up game")
        self.assertEqual(processes[2].process.process_name, "\ufffd\ufffd<b>\n")
        for packet in trace.packet:
            track = packet.track_descriptor
            if track.parent_uuid:
                self.assertEqual(track.parent_uuid,
                                 processes[packet.trusted_packet_sequence_id].uuid)

    def test_compressed_capture_gives_the_same_trace(self):
        path = self.make("plain")
        packed = self.folder / "packed.maarcap.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        self.assertEqual(self.read(path).SerializeToString(), self.read(packed).SerializeToString())


class Metrics(Case):
    def metrics(self, *arguments):
        out = self.folder / "out.prom"
        self.export(*arguments, "--prometheus", out)
        return out.read_text(encoding="utf-8")

    def test_values_equal_a_count_of_the_bytes(self):
        path = self.make("plain", events=20000)
        counted = counts.Counts(path)
        found = read_metrics(self.metrics(path))
        for name, expected in (("maar_heap_held_bytes", counted.held),
                               ("maar_heap_held_peak_bytes", counted.peak),
                               ("maar_heap_allocations_total", counted.allocations),
                               ("maar_heap_memories", counted.memories),
                               ("maar_heap_budget_bytes", counted.budget),
                               ("maar_heap_usage_bytes", counted.usage)):
            values = {labels["heap"]: value for labels, value in found[name]}
            self.assertEqual(values, {"0": expected[0], "1": expected[1]}, name)
        for heap in (0, 1):
            bound = [value for labels, value in found["maar_heap_bound_bytes"]
                     if labels["heap"] == str(heap)]
            self.assertEqual(sum(bound), counted.bound[heap])
        self.assertEqual([value for _, value in found["maar_device_frames_total"]], [counted.frames])
        states = {labels["state"]: value for labels, value in found["maar_capture_state"]}
        self.assertEqual([word for word, value in states.items() if value == 1], ["ended"])

    def test_hostile_names_stay_labels(self):
        path = self.make('we"ird\\ {}\n# HELP x', "hostile")
        counts.change(path, counts.PROGRAM_AT, b'a"b\\c\nd{}\xff 1\nmaar_fake 1\x00')
        text = self.metrics(path)
        found = read_metrics(text)
        self.assertNotIn("maar_fake", found)
        labels = found["maar_capture_running"][0][0]
        self.assertEqual(labels["program"], 'a"b\\c\nd{}\ufffd 1\nmaar_fake 1')
        self.assertEqual(labels["capture"], 'we"ird\\ {}\n# HELP x')
        self.check_by_promtool(text)

    def check_by_promtool(self, text):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed (Debian: prometheus)")
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_promtool_is_content(self):
        text = self.metrics(self.make("one"), self.make("two", "hostile"))
        self.check_by_promtool(text)
        # It can be discontent.
        done = subprocess.run(["promtool", "check", "metrics"], input=text.replace("_total", ""),
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_file_is_replaced_whole_while_a_program_runs(self):
        path, program = self.make_slow("slow")
        out = self.folder / "live.prom"
        out.write_text("old")
        writer = self.run_beside(OPTIONS.maar, "export", path, "--prometheus", out, "--interval", 0.1)
        seen = set()
        limit = time.monotonic() + 20
        while len(seen) < 3 and time.monotonic() < limit:
            text = out.read_text(encoding="utf-8")
            if text != "old":
                self.assertTrue(text.endswith("\n"))
                seen.add(read_metrics(text)["maar_device_frames_total"][0][1])
        self.assertGreaterEqual(len(seen), 3)
        program.kill()
        program.wait()
        self.assertEqual(writer.wait(timeout=20), 0)
        found = read_metrics(out.read_text(encoding="utf-8"))
        self.assertEqual(found["maar_capture_running"][0][1], 0)
        self.assertEqual([entry.name for entry in self.folder.iterdir() if "live.prom" in entry.name],
                         ["live.prom"])


class Server(Case):
    def setUp(self):
        super().setUp()
        done = export("--serve", "0", "--perfetto", "x")
        probe = export("nothere", "--serve", "0")
        if "no libmicrohttpd" in probe.stderr + done.stderr:
            self.skipTest("the command was built without libmicrohttpd")

    def serve(self, *arguments, address="0"):
        server = self.run_beside(OPTIONS.maar, "export", *arguments, "--serve", address,
                                 stdout=subprocess.PIPE)
        line = server.stdout.readline()
        match = re.fullmatch(r"serving http://(\S+):(\d+)/metrics\n", line)
        self.assertTrue(match, line)
        return server, match.group(1), int(match.group(2))

    def get(self, port, path="/metrics", method="GET", host="127.0.0.1", **fields):
        connection = http.client.HTTPConnection(host, port, timeout=20)
        connection.request(method, path, headers=fields)
        answer = connection.getresponse()
        body = answer.read().decode("utf-8")
        connection.close()
        return answer, body

    def test_format_is_the_one_that_is_asked_for(self):
        _, address, port = self.serve(self.make("plain"))
        self.assertEqual(address, "127.0.0.1")
        plain, text = self.get(port)
        self.assertEqual(plain.status, 200)
        self.assertEqual(plain.getheader("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
        self.assertIn("# TYPE maar_device_frames_total counter\n", text)
        self.assertNotIn("# EOF", text)
        for accept in ("application/openmetrics-text",
                       "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                       "text/plain;q=0.3, application/openmetrics-text; version=1.0.0; q=0.8"):
            answer, body = self.get(port, Accept=accept)
            self.assertEqual(answer.getheader("Content-Type"),
                             "application/openmetrics-text; version=1.0.0; charset=utf-8", accept)
            self.assertTrue(body.endswith("\n# EOF\n"))
            self.assertIn("# TYPE maar_device_frames counter\n", body)
            self.assertEqual(read_metrics(body).keys(), read_metrics(text).keys())
        for accept in ("*/*", "text/html", "application/openmetrics-text;q=0",
                       "application/openmetrics-text;q=0.1, text/plain;q=0.9",
                       "application/openmetrics-textual", ";;;,,q=", "a" * 3000):
            answer, _ = self.get(port, Accept=accept)
            self.assertTrue(answer.getheader("Content-Type").startswith("text/plain"), accept)

    def test_other_pages_and_methods(self):
        server, _, port = self.serve(self.make("plain"))
        self.assertEqual(self.get(port, "/")[0].status, 200)
        self.assertEqual(self.get(port, "/nothing")[0].status, 404)
        refused, _ = self.get(port, method="POST")
        self.assertEqual(refused.status, 405)
        self.assertEqual(refused.getheader("Allow"), "GET, HEAD")
        head, body = self.get(port, method="HEAD")
        self.assertEqual((head.status, body), (200, ""))
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=20), 0)

    def test_what_grows_is_followed_and_new_captures_appear(self):
        _, program = self.make_slow("slow")
        _, _, port = self.serve("--folder", self.folder)
        frames = []
        for _ in range(3):
            frames.append(read_metrics(self.get(port)[1])["maar_device_frames_total"][0][1])
            time.sleep(0.2)
        self.assertLess(frames[0], frames[2])
        self.make("another")
        self.assertEqual(len(read_metrics(self.get(port)[1])["maar_capture_running"]), 2)
        program.kill()
        program.wait()
        running = [value for _, value in read_metrics(self.get(port)[1])["maar_capture_running"]]
        self.assertEqual(running, [0, 0])

    def test_addresses(self):
        path = self.make("plain")
        for address in ("localhost:0", "127.0.0.1:0"):
            self.assertEqual(self.serve(path, address=address)[1], "127.0.0.1")
        if socket.has_ipv6 and pathlib.Path("/proc/net/if_inet6").exists():
            _, address, port = self.serve(path, address="[::1]:0")
            self.assertEqual(address, "[::1]")
            self.assertEqual(self.get(port, host="::1")[0].status, 200)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = export(path, "--serve", taken.getsockname()[1])
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\Amaar: --serve: 127.0.0.1 port \d+ cannot be listened at: "
                             r"Address already in use\n\Z")


class Dashboard(Case):
    def setUp(self):
        super().setUp()
        self.dashboard = json.loads(pathlib.Path(OPTIONS.dashboard).read_text(encoding="utf-8"))

    def expressions(self):
        for panel in self.dashboard["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"]

    def test_metrics_and_legends_exist(self):
        out = self.folder / "out.prom"
        self.export(self.make("plain"), "--prometheus", out)
        found = read_metrics(out.read_text(encoding="utf-8"))
        used = set()
        for title, expression in self.expressions():
            names = re.findall(r"maar_\w+", expression)
            self.assertTrue(names, title)
            used.update(names)
        self.assertEqual(used - found.keys(), set())
        # All panels have a place of their own.
        cells = [(x, y) for panel in self.dashboard["panels"] for box in [panel["gridPos"]]
                 for x in range(box["x"], box["x"] + box["w"]) for y in range(box["y"], box["y"] + box["h"])]
        self.assertEqual(len(cells), len(set(cells)))
        self.assertLessEqual(max(x for x, _ in cells), 23)

    def query(self, port, path, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(fields)}")
            return json.loads(connection.getresponse().read())
        except OSError:
            return {"status": "no answer"}
        finally:
            connection.close()

    def test_prometheus_answers_every_expression(self):
        if shutil.which("prometheus") is None:
            self.skipTest("no Prometheus server is installed (Debian: prometheus)")
        if "no libmicrohttpd" in export("nothere", "--serve", "0").stderr:
            self.skipTest("the command was built without libmicrohttpd")
        path, _ = self.make_slow("slow")
        server = self.run_beside(OPTIONS.maar, "export", path, "--serve", "0", stdout=subprocess.PIPE)
        target = re.search(r"http://(\S+)/metrics", server.stdout.readline()).group(1)
        config = self.folder / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1s}\nscrape_configs:\n"
                          f"- {{job_name: maar, static_configs: [{{targets: ['{target}']}}]}}\n")
        port = free_port()
        self.run_beside("prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
                        stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 60
        # Two scrapes, so that there are rates.
        while True:
            answer = self.query(port, "query", query="count_over_time(maar_capture_running[1m]) >= 3")
            if answer.get("data", {}).get("result"):
                break
            self.assertLess(time.monotonic(), limit, answer)
            time.sleep(0.3)
        asked = 0
        for title, expression in self.expressions():
            plain = (expression.replace("$program", ".*").replace("$pid", ".*")
                     .replace("$__rate_interval", "20s"))
            self.assertNotIn("$", plain)
            answer = self.query(port, "query", query=plain)
            self.assertEqual(answer["status"], "success", f"{title}: {answer}")
            self.assertTrue(answer["data"]["result"], f"{title}: no result of {plain}")
            asked += 1
        self.assertGreaterEqual(asked, 10)
        frames = self.query(port, "query", query="sum(rate(maar_device_frames_total[20s]))")
        self.assertGreater(float(frames["data"]["result"][0]["value"][1]), 1)
        for variable in self.dashboard["templating"]["list"]:
            if variable["type"] == "query":
                match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
                series = match.group(1).replace("$program", ".*")
                answer = self.query(port, f"label/{match.group(2)}/values", **{"match[]": series})
                self.assertEqual(len(answer["data"]), 1, answer)


class Errors(Case):
    def refused(self, pattern, *arguments, code=2):
        done = export(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, pattern)

    def test_each_mistake_has_one_error(self):
        path = self.make("plain")
        text = self.folder / "text.maarcap"
        text.write_text("no capture")
        out = self.folder / "out"
        self.refused("give one of --perfetto, --prometheus and --serve", path)
        self.refused("give one of", path, "--perfetto", out, "--prometheus", out)
        self.refused("name the captures for --perfetto", "--perfetto", out)
        self.refused("without --folder and --all", path, "--all", "--perfetto", out)
        self.refused("--interval belongs to --prometheus", path, "--perfetto", out, "--interval", "1")
        self.refused("byte 0: ", text, "--perfetto", out)
        self.refused("byte 0: ", text, "--prometheus", out)
        self.refused("nothere: No such file", "nothere", "--prometheus", out)
        self.refused("nothere: ", "nothere", "--perfetto", out)
        self.assertFalse(out.exists())
        self.refused("is the input", path, "--perfetto", path)
        self.refused("is the input", path, "--prometheus", path)
        self.refused("cannot be written", path, "--perfetto", self.folder)
        self.refused("cannot be written", path, "--prometheus", self.folder / "no/x.prom")
        self.refused("needs the name of a file", path, "--perfetto", "")
        for wrong in ("", "x", "1x", "-1", "127.0.0.1:", "127.0.0.1:x"):
            self.refused(r"--serve .*: expected \[ADDRESS:\]PORT", path, f"--serve={wrong}")
        for wrong in ("1.2.3:80", "example.test:80", "::1:80", "[127.0.0.1]:80", ":80"):
            self.refused("--serve .*: expected a numeric address", path, "--serve", wrong)
        self.refused("too large; at most 65535", path, "--serve", "65536")
        self.refused("unrecognized option", path, "--chrome", out)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_full_disk_is_an_error(self):
        path = self.make("plain")
        for option in ("--perfetto", "--prometheus"):
            self.refused("/dev/full", path, option, "/dev/full", code=1)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--maar", required=True)
    parser.add_argument("--maker", required=True)
    parser.add_argument("--dashboard", required=True)
    OPTIONS, cases = parser.parse_known_args()
    return case_run.run(sys.modules[__name__], cases)


if __name__ == "__main__":
    sys.exit(main())
