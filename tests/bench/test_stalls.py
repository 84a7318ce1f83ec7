"""What bench_stalls shows, in virtual time: the figures are the same on every machine.

test_stalls.py PROGRAM
"""

import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop()
MODELS = ("--workload", "decode,serving,training,alternating", "--frames", "14")
SHORT = ("--workload", "streaming", "--frames", "300")
PROFILES = ("nvidia-rtx4090-linux", "intel-arc-b580-bmg-anv25.0")  # several queues, and one


def play(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=240,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Stalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        profiles = ("--profile", ",".join(PROFILES))
        cls.rows = (play(*profiles, *MODELS) + play(*profiles, *SHORT) +
                    play("--profile", PROFILES[0], "--workload", "flight"))
        cls.frames = [row for row in cls.rows if row["of"] == "frame"]

    def test_each_profile_plays_each_workload(self):
        self.assertEqual(len(self.rows), 2 * (5 * len(PROFILES) + 1))
        self.assertEqual({row["device"] for row in self.rows}, set(PROFILES))

    def test_p99_of_frames_is_at_most_half_of_that_of_the_oldest_use(self):
        for row in self.frames:
            # No rule restores less than the oldest use where a program goes forward and backward.
            if row["workload"] == "training":
                continue
            with self.subTest(device=row["device"], workload=row["workload"]):
                self.assertGreater(row["oldest_p99"], 0)
                self.assertLessEqual(row["p99_us"], row["oldest_p99"] / 2)

    def test_nothing_waits_where_the_set_and_what_is_named_fit(self):
        fitting = [row for row in self.rows if row["fits"] == "yes"]
        self.assertEqual({row["workload"] for row in fitting}, {"serving", "streaming"})
        for row in fitting:
            self.assertEqual((row["p99_us"], row["most_us"], row["sum_ms"]), (0, 0, 0), row)

    def test_nothing_waits_longer_than_with_the_oldest_use(self):
        for row in self.frames:
            self.assertLessEqual(row["sum_ms"], row["oldest_sum"], row)

    def test_another_run_gives_the_same(self):
        again = play("--profile", PROFILES[0], "--workload", "training", "--frames", "6")
        self.assertEqual(again, play("--profile", PROFILES[0], "--workload", "training",
                                     "--frames", "6"))


if __name__ == "__main__":
    unittest.main()
