"""The page of maar report in a real browser.

test_pages.py --maar=PROGRAM --maker=PROGRAM [--figures=FILE.json] [--pictures=FOLDER]

Captures are written by make_capture. With --figures, a capture of a million events is opened and
scrubbed as well, and what that took is written as JSON; nothing is asserted of it. Exits with 77
where no Chromium is installed.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser as chromium

OPTIONS = None
EVENTS = 20000


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.browser = chromium.Browser(chromium.find())
        cls.plain = cls.make("plain")
        cls.hostile = cls.make("hostile", "hostile")
        cls.shown = cls.make("shown", "swapchain")

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.scratch.cleanup()

    @classmethod
    def make(cls, name, *arguments, events=EVENTS):
        capture = cls.folder / f"{name}.maarcap"
        page = cls.folder / f"{name}.html"
        subprocess.run([OPTIONS.maker, capture, str(events), *arguments], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([OPTIONS.maar, "report", capture, "--output", page], check=True,
                       stdout=subprocess.DEVNULL)
        return page

    def open(self, page, fragment=""):
        self.browser.open("about:blank")
        self.browser.open(page.as_uri() + fragment)
        self.browser.run("maarReport.then((r) => { window.r = r; })")

    def tearDown(self):
        self.assertEqual(self.browser.faults(), [])

    def value(self, expression):
        self.browser.settle()
        return self.browser.run(expression)

    def panel(self):
        return self.value("document.getElementById('panel').textContent")

    def fragment(self):
        return self.value("location.hash")

    def test_page_asks_no_network_and_shows_the_peak(self):
        self.open(self.plain)
        addresses = [a for a in self.browser.requests() if not a.startswith(("file:", "about:"))]
        self.assertEqual(addresses, [])
        advice = json.loads(subprocess.run([OPTIONS.maar, "advise", "--json",
                                            self.folder / "plain.maarcap"],
                                           check=True, capture_output=True, text=True).stdout)
        self.assertEqual(self.value("r.meta.findings.length"), len(advice["findings"]))
        # 56 of the 64 memories of 16 MiB lie in heap 0, and all stay.
        self.assertEqual(self.value("r.meta.devices[0].heaps[0].peak"), 56 << 24)
        self.assertEqual(self.value("r.sumsAt(r.views[0], r.state.t)[15]"), 56 << 24)
        self.assertIn("896 MiB", self.value("document.getElementById('numbers').textContent"))

    def test_sums_agree_with_a_count_of_the_living(self):
        self.open(self.plain)
        for part in (0.1, 0.35, 0.8):
            bound, counted = self.value(
                f"(() => {{ const v = r.views[0], t = v.times[Math.floor(v.times.length * {part})];"
                "const s = r.sumsAt(v, t); let bound = 0; for (let c = 0; c < 9; ++c)"
                " bound += s[c]; let n = 0; for (const i of v.resources) { const b = r.col.r_begin[i];"
                " if (b + r.col.r_bind[i] <= t && (r.col.r_life[i] === 0xFFFFFFFF ||"
                " b + r.col.r_life[i] > t)) n += r.col.r_size[i]; } return [bound, n]; })()")
            self.assertEqual(bound, counted)
            self.assertGreater(bound, 0)

    def test_the_swapchain_stands_above_what_is_held(self):
        """Its images are no device memory: it takes nothing away from what is held and idle."""
        self.open(self.shown)
        mib = 1 << 20
        bands = self.value("r.bandsOf(r.sumsAt(r.views[0], r.state.t), 0, "
                           "r.sumsAt(r.views[0], r.state.t)[15])")
        places = {band[0]: band[1:] for band in bands}
        held = 56 << 24
        bound = self.value("(() => { const s = r.sumsAt(r.views[0], r.state.t); let n = 0;"
                           "for (let c = 0; c < 9; ++c) if (c !== 7) n += s[c]; return n; })()")
        self.assertEqual(places["free"], [bound, held])
        self.assertEqual(places["c7"], [held, held + 24 * mib])
        self.assertEqual(bands[-1][0], "c7")
        self.assertEqual([band[1] for band in bands[1:]], [band[2] for band in bands[:-1]])
        legend = self.value("document.getElementById('legend').textContent")
        self.assertIn("held as device memorySwapchain (estimate), above what is held", legend)
        self.assertIn("a presented frame", legend)
        self.browser.click("[data-tab=list]")
        self.assertIn("of which 24.0 MiB swapchain (estimate)", self.panel())

    def test_keys_move_mark_and_compare(self):
        self.open(self.plain)
        self.browser.run("r.setCursor(Math.floor(r.meta.length_ns / r.meta.tick_ns * 0.1))")
        self.browser.settle()
        before = self.value("r.state.t")
        self.browser.key("ArrowRight")
        self.assertGreater(self.value("r.state.t"), before)
        self.browser.key("a")
        self.browser.run("r.setCursor(Math.floor(r.meta.length_ns / r.meta.tick_ns * 0.4))")
        self.browser.settle()
        self.browser.key("b")
        self.browser.key("d")
        text = self.panel()
        self.assertIn("Only at A", text)
        self.assertIn("Only at B", text)
        counts = [int(n) for n in re.findall(r"(\d+) resources", text)]
        # The total of A's own and of what both have is what lives at A.
        alive = self.value("r.views[0].resources.filter((i) => r.col.r_begin[i] <= r.state.a &&"
                           " (r.col.r_life[i] === 0xFFFFFFFF || r.col.r_begin[i] + r.col.r_life[i] >"
                           " r.state.a)).length")
        self.assertEqual(counts[0] + counts[1], alive)

    def test_clicks_change_heap_tab_filter_and_cursor(self):
        self.open(self.plain)
        self.browser.click("#heaps button:nth-child(2)")
        self.assertEqual(self.value("r.state.view"), 1)
        self.browser.click("#heaps button:nth-child(1)")
        self.assertEqual(self.value("r.state.view"), 0)
        self.browser.click("[data-tab=list]")
        self.browser.click("#filter")
        for letter in "rock_1":
            self.browser.send("Input.insertText", text=letter)
        self.browser.settle()
        names = self.value("[...document.querySelectorAll('#panel td:first-child')]"
                           ".map((e) => e.textContent)")
        self.assertTrue(names)
        self.assertTrue(all("rock_1" in name for name in names), names[:5])
        box = self.value("(() => { const b = document.getElementById('overlay')"
                         ".getBoundingClientRect(); return [b.x, b.y, b.width]; })()")
        self.browser.click_at(box[0] + 74 + (box[2] - 74) / 2, box[1] + 50)
        middle = self.value("r.state.t / (r.meta.length_ns / r.meta.tick_ns)")
        self.assertAlmostEqual(middle, 0.5, delta=0.02)
        self.browser.click("[data-tab=findings]")
        self.assertIn("proved", self.panel())

    def test_named_images_show_and_are_found_by_size_and_format(self):
        self.open(self.plain, "#tab=list&q=rock_%20R8G8B8A8%20128%C3%97128")
        names = self.value("[...document.querySelectorAll('#panel td:first-child')]"
                           ".map((e) => e.textContent)")
        self.assertTrue(names)
        for name in names:
            self.assertRegex(name, r"^rock_\d+\.ktx2, image 128×128 R8G8B8A8_UNORM$")
        named = self.value(
            "r.views[0].resources.filter((i) => r.labelOf(i).startsWith('rock_') && "
            "r.col.r_begin[i] <= r.state.t && (r.col.r_life[i] === 0xFFFFFFFF || "
            "r.col.r_begin[i] + r.col.r_life[i] > r.state.t) && r.col.r_image[i] !== 0xFFFFFFFF && "
            "r.col.i_format[r.col.r_image[i]] === 37 && "
            "r.col.i_width[r.col.r_image[i]] === 128).length")
        self.assertIn(f": {named} resources", self.panel())
        self.open(self.plain, "#tab=list&q=rock_%20buffer")
        self.assertIn(", buffer of ", self.panel())

    def test_fragment_keeps_the_view(self):
        self.open(self.plain)
        self.browser.run("r.setRange(1000, 90000); r.setCursor(5000)")
        self.browser.click("[data-tab=list]")
        self.browser.settle()
        kept = self.fragment()
        self.open(self.plain, kept)
        self.assertEqual(self.value("[r.state.from, r.state.to, r.state.t, r.state.tab]"),
                         [1000, 90000, 5000, "list"])
        # Nonsense in the fragment is left aside.
        self.open(self.plain, "#heap=99&t=-5&from=9&to=3&a=x&tab=<b>&q=%3Cimg%3E&theme=red")
        self.assertEqual(self.value("r.state.tab"), "map")
        self.assertEqual(self.value("r.state.t"), 0)

    def test_themes_differ_and_stay(self):
        self.open(self.plain, "#theme=dark")
        dark = self.value("getComputedStyle(document.body).backgroundColor")
        self.browser.key("t")
        light = self.value("getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(dark, light)
        self.assertIn("theme=light", self.fragment())

    def test_hostile_names_run_no_script(self):
        self.open(self.hostile)
        for tab in ("map", "list", "diff", "findings", "peers"):
            self.browser.click(f"[data-tab={tab}]")
            self.browser.settle()
        self.browser.click("[data-tab=list]")
        self.assertIsNone(self.value("window.broken ?? null"))
        self.assertIn("<img src=x onerror=", self.panel())
        self.assertEqual(self.value("document.querySelectorAll('#panel img, #panel svg').length"), 0)
        self.assertIn("<script>", self.value("document.title"))

    def test_narrow_windows_lose_nothing(self):
        self.browser.send("Emulation.setDeviceMetricsOverride", width=420, height=800,
                          deviceScaleFactor=2, mobile=False)
        try:
            self.open(self.plain)
            self.assertLessEqual(self.value("document.documentElement.scrollWidth"), 420)
        finally:
            self.browser.send("Emulation.clearDeviceMetricsOverride")

    def test_pictures(self):
        if not OPTIONS.pictures:
            self.skipTest("no --pictures")
        folder = pathlib.Path(OPTIONS.pictures)
        folder.mkdir(parents=True, exist_ok=True)
        for theme in ("light", "dark"):
            for tab in ("map", "list", "findings"):
                self.open(self.plain, f"#theme={theme}&tab={tab}")
                self.browser.settle()
                self.browser.picture(folder / f"report-{tab}-{theme}.png")

    def test_figures_of_a_million_events(self):
        if not OPTIONS.figures:
            self.skipTest("no --figures")
        capture = self.folder / "million.maarcap"
        page = self.folder / "million.html"
        subprocess.run([OPTIONS.maker, capture, "1000000"], check=True, stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        subprocess.run([OPTIONS.maar, "report", capture, "--output", page], check=True,
                       stdout=subprocess.DEVNULL)
        written = time.monotonic() - begin
        begin = time.monotonic()
        self.open(page)
        opened = time.monotonic() - begin
        frames = self.browser.run(
            "(async () => { const length = r.meta.length_ns / r.meta.tick_ns; const times = [];"
            "let last = performance.now(); for (let i = 0; i < 150; ++i) { r.setCursor(length * i / 150);"
            "await new Promise(requestAnimationFrame); const now = performance.now();"
            "times.push(now - last); last = now; } times.sort((a, b) => a - b);"
            "return {median: times[75], p95: times[142]}; })()", limit=120)
        figures = {"events": 1000000, "written_s": round(written, 3), "opened_s": round(opened, 3),
                   "frame_median_ms": round(frames["median"], 2),
                   "frame_p95_ms": round(frames["p95"], 2), "bytes": page.stat().st_size}
        pathlib.Path(OPTIONS.figures).write_text(json.dumps(figures) + "\n", encoding="utf-8")
        print(json.dumps(figures))


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--maar", required=True)
    parser.add_argument("--maker", required=True)
    parser.add_argument("--figures")
    parser.add_argument("--pictures")
    OPTIONS = parser.parse_args()
    if chromium.find() is None:
        print("skipped: no Chromium is installed (Debian: chromium)")
        return 77
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Page)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
