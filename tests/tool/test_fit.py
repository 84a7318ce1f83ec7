"""maar fit from outside: arguments, malformed headers, published figures, reasons, all profiles.

test_fit.py --maar=PROGRAM --source=ROOT [--slow]

The headers are written by gguf_files.py and, where it is installed, by the package `gguf`, which is
the reference. --slow is for programs with a sanitizer, which need memory of their own.
"""

import argparse
import gzip
import json
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import gguf_files as files

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import make_data  # pylint: disable=wrong-import-position

GIB = 2 ** 30
MIB = 2 ** 20
CARD = "amd-rx7600-navi33-radv26.2"  # heap 1 of 7.98 GiB, heap 0 in host memory
SHARED = "arm-mali-g610-panvk25.0"  # one heap
LARGE = ("--device", SHARED, "--heap", "0=1024GiB")
TINY = files.Model3(2, 256, 4, 2, 512, 256, 64)
HEADER = "op,id,kind,size,alignment,types,stream,time_ns,usage,note\n"
FRAMES = ["deferred_1080p", "deferred_4k", "forwardplus_msaa4_1440p", "frostbite_like_4k",
          "taau_1440p_to_4k", "pathtracer_1080p_to_4k", "llm_8b_prefill512", "unet_sd15_512",
          "deferred_4k_async", "taau_1440p_to_4k_async"]
OPTIONS = None


def maar(*arguments, command="fit", limit=None):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    return subprocess.run([OPTIONS.maar, command, *map(str, arguments)], capture_output=True,
                          text=True, timeout=200, check=False,
                          preexec_fn=set_limit if limit and not OPTIONS.slow else None)


class Case(unittest.TestCase):
    def fit(self, *arguments, code=0):
        done = maar("--json", *arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def fit_one(self, *arguments, code=0):
        results = self.fit(*arguments, code=code)
        self.assertEqual(len(results), 1)
        return results[0]

    def refused(self, pattern, *arguments, **options):
        done = maar(*arguments, **options)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")

    def scratch(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def write(self, data, name="made.gguf"):
        path = self.scratch() / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def skip(self, reason):
        name = self.id().rsplit(".", 1)[-1]
        print(f"\n[ RUN      ] {name}\nskipped: {reason}\n[  SKIPPED ] {name}", flush=True)
        self.skipTest(reason)

    def model(self, model, mixture, *arguments, **how):
        """The needs of a model; its exact weights are checked on the way."""
        header, weights = model.header(mixture, **how)
        result = self.fit_one(self.write(header.data()), *LARGE, *arguments)
        self.assertEqual(result["needs"]["weights"]["bytes"], weights)
        return result["needs"]


class Arguments(Case):
    def test_arguments_wrong_exit_2(self):
        path = self.write(TINY.header("F16")[0].data())
        training = ("--parameters", "1B", "--training", "mixed-adam")
        self.refused("no input given; see maar fit --help")
        self.refused("unexpected argument: deferred_1080p", path, "deferred_1080p")
        self.refused("no such input", "nowhere.gguf")
        self.refused("did you mean captured-vkcube", "capturd-vkcube")
        self.refused("no such profile", path, "--device", "no-such-card")
        self.refused("--heap needs one --device", path, "--heap", "0=1GiB")
        self.refused("has 1 heaps", path, "--device", SHARED, "--heap", "3=1GiB")
        self.refused("expected N=SIZE", path, "--device", SHARED, "--heap", "0=1GB")
        self.refused("no such limit", path, "--limit", "maxDreams=1")
        self.refused("--context 0: expected 1 to", path, "--context", 0)
        self.refused("--context 4294967296: too large", path, "--context", 2 ** 32)
        self.refused("--parallel 65537: too large", path, "--parallel", 65537)
        self.refused("--kv-type q3_k: expected f16, f32", path, "--kv-type", "q3_k")
        self.refused("--reserve 1GB: expected bytes", path, "--reserve", "1GB")
        self.refused("reserve: .* more than any device has", path, "--reserve", "1000000TiB")
        self.refused("options of training take no input", path, *training)
        self.refused("needs --parameters N and --training", "--parameters", "1B")
        self.refused("needs --parameters N and --training", "--training", "mixed-adam")
        self.refused("--training sgd: expected mixed-adam", "--training", "sgd")
        for wrong in ("0", "-1", "1.5", "7.5G", "1.2345K", "B", "", "9999999999T", "1.", "1e9"):
            self.refused("--parameters .*: expected a number above 0", "--parameters", wrong)
        self.refused("--zero 4: expected 0, 1, 2 or 3", *training, "--zero", 4)
        self.refused("--zero needs --gpus", *training, "--zero", 1)
        self.refused("activations need all of", *training, "--layers", 4)
        self.refused("--recompute needs --layers", *training, "--recompute", "full")
        self.refused("--recompute some: expected none, selective or full", "--recompute", "some")
        self.refused("need a GGUF file", *training, "--context", 10)
        self.refused("need a GGUF file", "deferred_1080p", "--context", 10)
        self.refused("unrecognized option '--what'; see maar fit --help", "--what")
        self.refused("'--context' needs an argument", path, "--context")

    def test_help_and_exit_codes(self):
        done = maar("--help")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, "^Usage: maar fit INPUT")
        path = self.write(TINY.header("F16")[0].data())
        small = ("--device", SHARED, "--heap", "0=1MiB")
        self.assertEqual(maar(path, "--device", CARD).returncode, 0)
        self.assertEqual(maar(path, *small).returncode, 1)
        # With named devices it must fit on all of them; without, on one.
        tight = ("--limit", "maxMemoryAllocationCount=1")
        self.assertEqual(maar(path, "--device", CARD, "--device", SHARED).returncode, 0)
        self.assertEqual(maar(path, *tight, "--device", "all", "--reserve", "20GiB").returncode, 1)

    def test_rest_in_the_mappable_heap_is_said(self):
        """A card of two heaps: what the shrunken one does not hold goes to the other."""
        card = ("captured-supertuxkart", "--device", "nvidia-gtx950-linux440")
        says = "heap 0 of 8.00 MiB does not hold the program alone"
        result = self.fit_one(*card, "--heap", "0=8MiB")
        self.assertIs(result["fits"], True)
        displaced = [heap["displaced_bytes"] for heap in result["heaps"]]
        self.assertEqual(displaced[:2], [0, 0])
        self.assertGreater(displaced[2], 50 * MIB)
        text = maar(*card, "--heap", "0=8MiB").stdout
        self.assertIn(says, " ".join(text.split()))
        self.assertIn(f"{displaced[2] / MIB:.1f} MiB of what belongs there lie in heap 2 of 246 MiB",
                      " ".join(text.split()))
        self.assertIn("--heap 0=SIZE --heap 2=SIZE", text)
        both = ("--heap", "0=8MiB", "--heap", "2=8MiB")
        self.assertIs(self.fit_one(*card, *both, code=1)["fits"], False)
        whole = maar(*card)
        self.assertNotIn("does not hold the program alone", whole.stdout)
        for heap in self.fit_one(*card)["heaps"]:
            self.assertEqual(heap["displaced_bytes"], 0)

    def test_least_heap_fits_and_less_does_not(self):
        path = self.write(TINY.header("F16")[0].data())
        self.refused("--least needs --device", path, "--least")
        cases = (("captured-supertuxkart", "nvidia-gtx950-linux440"), (path, SHARED),
                 ("captured-supertuxkart", "amd-rx580-bar256-radv26.2"))
        for subject, card in cases:
            device = (subject, "--device", card)
            whole = self.fit_one(*device, "--least")
            least, heap = whole["least_heap_bytes"], whole["main_heap"]
            self.assertEqual(least % MIB, 0)
            held = [entry["live_bytes"] for entry in whole["heaps"]]
            enough = self.fit_one(*device, "--heap", f"{heap}={least}")
            self.assertIs(enough["fits"], True)
            done = maar("--json", *device, "--heap", f"{heap}={least - MIB}")
            less = json.loads(done.stdout) if least > MIB else {"fits": False}
            others = [entry["live_bytes"] > held[i] for i, entry in enumerate(less.get("heaps", []))
                      if i != heap]
            self.assertTrue(less["fits"] is False or any(others), card)
            # From a heap that is too small, the search goes up.
            again = self.fit_one(*device, "--heap", f"{heap}=1MiB", "--least",
                                 code=maar(*device, "--heap", f"{heap}=1MiB").returncode)
            if again["main_heap"] == heap and again["fits"] is False:
                self.assertEqual(again["least_heap_bytes"], least)
            self.assertIn(f"of heap {heap}, and not into 1 MiB less", maar(*device, "--least").stdout)

    def test_table_says_what_json_says(self):
        path = self.write(files.LLAMA_3_8B.header("Q4_K_M")[0].data())
        done = maar(path)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = dict(re.findall(r"^(\S+) +(yes|no) +\d", done.stdout, re.MULTILINE))
        results = self.fit(path)
        self.assertEqual(rows, {result["profile"]: "yes" if result["fits"] else "no"
                                for result in results})
        self.assertIn(f"It fits on {sum(result['fits'] for result in results)} of {len(results)}",
                      done.stdout)
        for result in results:
            if result["reason"] is not None and not result["fits"]:
                self.assertIn(f"    {result['reason']['text']}\n", done.stdout)
        self.assertRegex(done.stdout, r"nvidia-rtx4090-linux .* 24\.0 GiB\*")  # an assumed size
        named = maar(path, "--device", "simulated:" + CARD).stdout
        self.assertRegex(named, r"(?m)^     1  device +7\.98 GiB +7\.98 GiB +\S+ GiB +\S+ GiB")
        self.assertRegex(named, r"memories +\d+  maxMemoryAllocationCount is not limited")

    def test_names_are_shown_safely(self):
        made = files.Writer()
        made.add_tensor(b"\x1b[31m\xff", (256,), 0, 0)
        path = self.write(made.data())
        shown = subprocess.run([OPTIONS.maar, "fit", path, "--device", CARD], capture_output=True,
                               check=True).stdout
        self.assertIn(b"\\x1B[31m", shown)
        self.assertNotIn(b"\x1b", shown)
        result = self.fit_one(path, "--device", CARD)
        self.assertEqual(result["needs"]["weights"]["largest"], "\x1b[31m�")


class Models(Case):
    """Exact weights, and the published figures that docs/fitting.md lists."""

    def test_published_weights(self):
        for model, mixture, gib in ((files.LLAMA_3_8B, "F16", 14.96),
                                    (files.LLAMA_3_8B, "Q8_0", 7.95),
                                    (files.LLAMA_3_8B, "Q6_K", 6.14),
                                    (files.LLAMA_3_8B, "Q4_K_M", 4.58),
                                    (files.LLAMA_3_70B, "Q4_0", 37.22)):
            needs = self.model(model, mixture)
            self.assertEqual(round(needs["weights"]["bytes"] / GIB, 2), gib, mixture)
            bits = {"Q4_K_M": 4.8944, "Q4_0": 4.53}.get(mixture)
            if bits:
                parameters = sum(files.math.prod(shape) for _, shape, _ in model.tensors(mixture))
                self.assertAlmostEqual(8 * needs["weights"]["bytes"] / parameters, bits,
                                       delta=0.005)

    def test_published_caches(self):
        for model, context, kind, mib in ((files.LLAMA_2_7B, 2048, "f16", 1024),
                                          (files.LLAMA_3_8B, 8192, "f16", 1024),
                                          (files.LLAMA_30B, 512, "f32", 1560)):
            needs = self.model(model, "F16", "--context", context, "--kv-type", kind)
            self.assertEqual(needs["kv_cache"]["bytes"], mib * MIB)
            self.assertEqual(needs["kv_cache"]["resources"], 2 * model.layers)

    def test_cache_follows_its_options(self):
        def cache(*arguments, **how):
            return self.model(TINY, "F16", *arguments, **how)["kv_cache"]["bytes"]
        values = 2 * TINY.layers * TINY.kv_heads * 64  # a token
        self.assertEqual(cache(), 2 * values * 64)  # the model's own context: less than 4,096
        self.assertEqual(cache("--context", 100), 2 * values * 100)
        self.assertEqual(cache("--context", 100, "--parallel", 3), 2 * values * 300)
        for kind, bits in (("f32", 32), ("bf16", 16), ("q8_0", 8.5), ("q5_1", 6), ("q5_0", 5.5),
                           ("q4_1", 5), ("q4_0", 4.5), ("iq4_nl", 4.5)):
            self.assertEqual(cache("--context", 128, "--kv-type", kind), values * 128 * bits / 8)
        # Heads of each layer: one layer without attention.
        self.assertEqual(cache("--context", 10, kv_heads=[4, 0]), 2 * 2 * 4 * 64 * 10)
        large = self.model(files.LLAMA_2_7B, "F16")  # 4,096 by default
        self.assertEqual(large["kv_cache"]["bytes"], 2 * GIB)

    def test_head_sizes_of_the_header_count(self):
        header, _ = TINY.header("F16")
        header.add_number("llama.attention.key_length", 192)
        header.add_number("llama.attention.value_length", 128)
        header.add_number("llama.attention.sliding_window", 32)
        result = self.fit_one(self.write(header.data()), *LARGE, "--context", 10)
        self.assertEqual(result["needs"]["kv_cache"]["bytes"], 2 * 2 * 2 * 10 * (192 + 128))
        self.assertTrue(any("sliding window of 32 tokens" in note for note in result["notes"]))
        header.add_number("llama.attention.head_size_of_nobody", 1)
        self.refused("heads of 192 and 16 values do not divide into blocks of 32", self.write(
            header.data().replace(struct.pack("<II", files.U32, 128), struct.pack(
                "<II", files.U32, 16))), "--kv-type", "q8_0")

    def test_model_without_a_cache(self):
        made = files.Writer()
        made.add_string("general.architecture", "clip")
        made.add_tensor("t", (256,), 0, 0)
        path = self.write(made.data())
        result = self.fit_one(path, "--device", CARD)
        self.assertNotIn("kv_cache", result["needs"])
        self.assertIn("lacks a usable clip.block_count", result["notes"][0])
        self.refused("--context: .* lacks a usable clip.block_count", path, "--context", 8)

    def test_one_part_of_several_says_so(self):
        header, _ = TINY.header("F16")
        header.add_raw("split.count", files.U16, struct.pack("<H", 3))
        result = self.fit_one(self.write(header.data()), "--device", CARD)
        self.assertTrue(any("one of 3 parts" in note for note in result["notes"]))

    def test_byte_orders_and_versions_read_the_same(self):
        first = self.model(TINY, "Q4_K_M")
        self.assertEqual(self.model(TINY, "Q4_K_M", order=">"), first)
        self.assertEqual(self.model(TINY, "Q4_K_M", version=2), first)

    def test_only_the_header_is_read(self):
        path = self.write(files.LLAMA_3_70B.header("F16")[0].data())
        os.truncate(path, 2 ** 40)  # sparse
        start = time.monotonic()
        self.fit_one(path, "--device", CARD, code=1)
        self.assertLess(time.monotonic() - start, 10)

    def test_reference_package_writes_what_is_read(self):
        try:
            import gguf  # pylint: disable=import-outside-toplevel
            import numpy
        except ImportError as error:
            self.skip(f"the Python package gguf is not installed: {error}")
        kinds = gguf.GGMLQuantizationType
        for order in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
            path = self.scratch() / "reference.gguf"
            writer = gguf.GGUFWriter(path, "llama", endianess=order)
            writer.add_block_count(2)
            writer.add_context_length(64)
            writer.add_embedding_length(256)
            writer.add_head_count(4)
            writer.add_head_count_kv([2, 1])
            writer.add_key_length(64)
            writer.add_value_length(32)
            writer.add_tokenizer_model("none")
            writer.add_token_list(["a", "b", ""])
            writer.add_token_scores([0.5, 1.0, 2.0])
            total = 0
            for kind, (values, size) in gguf.constants.GGML_QUANT_SIZES.items():
                if kind == kinds.Q8_1:
                    continue  # of intermediate results; readers disagree on its size
                row = 3 * 256 // values * size
                writer.add_tensor_info(f"t.{kind.name}", (5, row), numpy.dtype(numpy.uint8),
                                       5 * row, raw_dtype=kind)
                total += 5 * row
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_ti_data_to_file()
            writer.close()
            needs = self.fit_one(path, *LARGE)["needs"]
            self.assertEqual(needs["weights"]["bytes"], total)
            self.assertEqual(needs["kv_cache"]["bytes"], 2 * 64 * 3 * (64 + 32))


class Malformed(Case):
    """Headers that lie: the byte and the reason, at once and without memory for a lie."""

    def rejected(self, data, at, pattern):
        path = self.write(data.data() if isinstance(data, files.Writer) else data)
        self.refused(f"made.gguf: byte {at}: {pattern}", path, limit=64 * MIB)

    def test_counts_and_lengths(self):
        made = files.Writer()
        self.rejected(b"GGUF", 4, "the file ends within its header")
        self.rejected(made.data()[:20], 20, "the file ends within its header")
        self.rejected(made.data(tensor_count=2 ** 63), 8, f"{2 ** 63} tensors; at most 1048576")
        self.rejected(made.data(key_count=2 ** 40), 16, f"{2 ** 40} keys; at most 1048576")
        self.rejected(made.data(key_count=2 ** 20), 24, "the file ends within its header")
        self.rejected(made.data(tensor_count=2 ** 20), 24, "the file ends within its header")
        self.rejected(made.data(key_count=1) + made.number("Q", 2 ** 64 - 1), 24,
                      "a key has 18446744073709551615 bytes; 1 to 65535")
        self.rejected(made.data(key_count=1) + made.number("Q", 0), 24, "a key has 0 bytes")
        made.add_raw("text", files.STRING, made.number("Q", 2 ** 62) + b"abc")
        self.rejected(made, 51, "the file ends within its header")
        made = files.Writer()
        made.add_raw("list", files.ARRAY, struct.pack("<IQ", files.U64, 2 ** 61))
        self.rejected(made, 44, f"an array has {2 ** 61} elements")
        made = files.Writer()
        made.add_raw("deep", files.ARRAY, struct.pack("<IQ", files.ARRAY, 1) * 9)
        self.rejected(made, 136, "arrays are nested more than 8 deep")

    def test_an_endless_header_is_refused(self):
        made = files.Writer()
        made.add_raw("text", files.STRING, made.number("Q", 2 ** 38))
        path = self.write(made.data())
        os.truncate(path, 2 ** 39)  # sparse
        self.refused(r"byte 268\d+: the header is longer than 268435456 bytes", path,
                     limit=64 * MIB)

    def test_versions(self):
        for version, order, pattern in ((1, "<", "version 1 is not supported; versions 2 and 3"),
                                        (4, "<", "version 4 is not supported"),
                                        (0, "<", "version 0 is not supported"),
                                        (2, ">", "version 2, big-endian: only version 3")):
            self.rejected(TINY.header("F16", version=version, order=order)[0], 4, pattern)

    def test_values(self):
        def with_key(key, kind, payload):
            made = files.Writer()
            made.add_raw(key, kind, payload)
            return made
        self.rejected(with_key("key", 13, b""), 35, "the value type 13 is unknown")
        self.rejected(with_key("flag", files.BOOL, b"\2"), 40, "a boolean is 2")
        self.rejected(with_key("general.alignment", files.U32, struct.pack("<I", 48)), 53,
                      "general.alignment is 48, which is no power of two")
        self.rejected(with_key("general.alignment", files.U32, bytes(4)), 53,
                      "general.alignment is 0, ")
        self.rejected(with_key("general.alignment", files.U64, bytes(8)), 49,
                      "general.alignment has the wrong type 10")
        self.rejected(with_key("general.architecture", files.U32, bytes(4)), 52,
                      "general.architecture has the wrong type 4")
        self.rejected(with_key("a\0b", files.U8, b"\0"), 24, "a key contains a zero byte")
        made = files.Writer()
        made.add_number("same", 1)
        made.add_number("same", 2)
        self.rejected(made, 44, "the key same occurs twice")

    def test_tensors(self):
        def with_tensors(*tensors):
            made = files.Writer()
            for tensor in tensors:
                made.add_tensor(*tensor)
            return made
        self.rejected(with_tensors(("t", (32,) * 5, 0, 0)), 33, "t has 5 dimensions; at most 4")
        self.rejected(with_tensors(("t", (32,), 99, 0)), 45, "t has the type 99, which is unknown")
        self.rejected(with_tensors(("t", (32,), 4, 0)), 45, "t has the type 4, which is unknown")
        self.rejected(with_tensors(("t", (2 ** 32, 2 ** 31), 0, 0)), 24,
                      "t has more values than fit 63 bits")
        self.rejected(with_tensors(("t", (2 ** 62,), 28, 0)), 24,
                      "t has more bytes than fit 64 bits")
        self.rejected(with_tensors(("t", (33,), 8, 0)), 24,
                      "t has rows of 33 values; Q8_0 has blocks of 32")
        self.rejected(with_tensors(("t", (32,), 0, 8)), 49, "t begins at 8, no multiple of 32")
        self.rejected(with_tensors(("t", (2 ** 60,), 0, 2 ** 64 - 32)), 49,
                      r"t ends behind byte 2\^64")
        self.rejected(with_tensors(("t", (32,), 0, 0), ("t", (32,), 0, 128)), 57,
                      "the tensor t occurs twice")
        self.rejected(with_tensors(("t", (32,), 0, 0), ("u", (32,), 0, 64)), 57, "u overlaps t")
        self.rejected(with_tensors(("n" * 256, (32,), 0, 0)), 24, "a tensor's name has 256 bytes")
        self.refused("there is nothing to place", self.write(files.Writer().data()))
        self.refused("do not fit 64 bits", self.write(with_tensors(
            ("t", (2 ** 60,), 28, 0), ("u", (2 ** 60 - 2 ** 20,), 28, 2 ** 63)).data()),
            "--reserve", "63TiB")

    def test_cut_anywhere(self):
        data = TINY.header("Q8_0")[0].data()
        step = 10 if OPTIONS.slow else 1
        for length in [*range(4, 200, step), *range(200, len(data), 37 * step)]:
            done = maar(self.write(data[:length]), "--device", CARD)
            self.assertEqual(done.returncode, 2, length)
            self.assertRegex(done.stderr, f"byte {length}: the file ends within its header")

    def test_other_files(self):
        self.refused("made.csv:2: ", self.write(HEADER + "alloc,0\n", "made.csv"))
        self.refused("made.csv:1: ", self.write("id,what\n", "made.csv"))
        self.refused("made.gguf: is neither a GGUF file nor a trace nor a frame graph",
                     self.write(b"\x7fELF" + bytes(100)))
        self.refused("made.csv:1: the file has no header", self.write(b"", "made.csv"))


class Training(Case):
    def needs(self, *arguments):
        return self.fit_one("--training", "mixed-adam", "--parameters", *arguments, *LARGE)["needs"]

    def test_published_states(self):
        """ZeRO, 7.5 billion parameters, 64 devices: gigabytes of 10^9 bytes."""
        for stage, gigabytes in ((0, 120), (1, 31.4), (2, 16.6), (3, 1.9)):
            needs = self.needs("7.5B", "--gpus", 64, "--zero", stage)
            self.assertEqual(round(needs["bytes"] / 1e9, 1), gigabytes)

    def test_states_by_purpose(self):
        needs = self.needs(1000, "--gpus", 3, "--zero", 2)
        self.assertEqual({key: needs[key]["bytes"] for key in ("weights", "gradients", "optimizer")},
                         {"weights": 2000, "gradients": 667, "optimizer": 4000})
        for text, number in (("1K", 1000), ("2.5M", 2500000), ("0.001B", 10 ** 6), ("12", 12)):
            self.assertEqual(self.needs(text)["bytes"], 16 * number)

    def test_published_activations(self):
        """5as/h and what selective recomputation saves: GPT-3 and MT-NLG."""
        for heads, hidden, layers, share, saved in ((96, 12288, 96, 80, 70.2),
                                                    (128, 20480, 105, 64, 65.3)):
            shape = ("--layers", layers, "--hidden", hidden, "--heads", heads, "--batch", 1,
                     "--sequence", 2048)
            whole, selective, full = (
                self.needs(1, *shape, "--recompute", how)["activations"]["bytes"]
                for how in ("none", "selective", "full"))
            unit = 2048 * hidden * layers
            self.assertEqual(whole, unit * (34 + share))
            self.assertEqual(selective, unit * 34)
            self.assertEqual(full, unit * 2)
            self.assertEqual(round(100 * (1 - selective / whole), 1), saved)

    def test_too_many_bytes(self):
        self.refused("the bytes do not fit 64 bits", "--training", "mixed-adam", "--parameters",
                     "4000000T")
        self.refused("more than any device has", "--training", "mixed-adam", "--parameters", "90T")
        large = 2 ** 32
        self.refused("the activations do not fit", "--training", "mixed-adam", "--parameters", "1",
                     *[word for name in ("layers", "hidden", "heads", "batch", "sequence")
                       for word in (f"--{name}", large)])


class Frames(Case):
    def test_frames_need_what_their_plan_needs(self):
        planned = maar(*FRAMES, "--json", command="plan")
        self.assertEqual(planned.returncode, 0, planned.stderr)
        for line in planned.stdout.splitlines():
            plan = json.loads(line)
            result = self.fit_one(plan["instance"], "--device", CARD)
            self.assertEqual(result["kind"], "frame graph")
            self.assertEqual(result["needs"]["transients"]["bytes"], plan["peak_bytes"])
            self.assertIs(result["needs"]["proved"], True)
            self.assertEqual(result["heaps"][1]["live_bytes"], plan["peak_bytes"])

    def test_plan_that_is_not_proved(self):
        # One of those that the planner's search does not finish with its own limit.
        path = self.write(make_data.instance(random.Random("0-450"), 450, True).encode(), "made.csv")
        plan = json.loads(maar(path, "--json", command="plan").stdout)
        self.assertIs(plan["proved_optimal"], False)
        for size, fits in ((plan["peak_bytes"] + 65536, True),
                           ((plan["peak_bytes"] + plan["proved_bound_bytes"]) // 2, None),
                           (plan["proved_bound_bytes"] - 65536, False)):
            result = self.fit_one(path, "--device", SHARED, "--heap", f"0={size}",
                                  code=0 if fits else 1)
            self.assertIs(result["fits"], fits, size)


class Traces(Case):
    def test_traces_hold_what_their_replay_holds(self):
        traces = sorted((pathlib.Path(OPTIONS.source) / "data/traces").glob("captured-*.csv"))
        self.assertTrue(traces)
        for path in traces:
            for profile in (SHARED, "intel-hd530-skl-anv25.0", "apple-m1-honeykrisp26.2"):
                replay = json.loads(maar(path, "--json", "--device", f"simulated:{profile}",
                                         command="replay").stdout)
                result = self.fit_one(path, "--device", profile)
                self.assertEqual(len(result["heaps"]), 1)
                self.assertEqual(result["heaps"][0]["held_bytes"], replay["peak_reserved_bytes"])
                self.assertGreaterEqual(result["heaps"][0]["live_bytes"], replay["peak_live_bytes"])
                self.assertEqual(result["memories"], replay["peak_blocks"])
                self.assertEqual(result["needs"]["bytes"], replay["trace_peak_live_bytes"])

    def test_the_program_itself_is_beside_what_maar_holds(self):
        """The most of its memories at one time, and the swapchain then; from the rows of the trace."""
        found = 0
        for path in sorted((pathlib.Path(OPTIONS.source) / "data/traces").glob("submitted-*.gz")):
            alive = {"memory": 0, "reserve": 0}
            most, swapchain, sizes = 0, 0, {}
            with gzip.open(path, "rt") as file:
                rows = [line.split(",") for line in file]
            for op, number, kind, size, *_ in rows:
                if op == "memory" or (op == "reserve" and kind == "swapchain"):
                    sizes[op, number] = int(size)
                    alive[op] += int(size)
                elif op in ("memory_end", "unreserve"):
                    op = "memory" if op == "memory_end" else "reserve"
                    alive[op] -= sizes.pop((op, number), 0)
                if alive["memory"] > most:
                    most, swapchain = alive["memory"], 0
                if alive["memory"] == most:
                    swapchain = max(swapchain, alive["reserve"])
            program = self.fit_one(path, "--device", CARD)["program"]
            self.assertEqual(program["held_bytes"], most, path)
            self.assertEqual(program["swapchain_bytes"], swapchain, path)
            found += swapchain > 0
        self.assertGreater(found, 3)
        text = maar("submitted-vkcube", "--device", CARD).stdout
        self.assertRegex(text, r"program itself held [0-9.]+ \w+ in \d+ memories at its peak, "
                               r"swapchain about [0-9.]+ \w+ beside\n")
        text = maar("submitted-ggml-backend-ops", "--device", CARD).stdout
        self.assertIn("had no swapchain", text)

    def test_textures_that_can_be_attached_are_noted(self):
        for name, expected in (("submitted-extremetuxracer", True), ("submitted-neverball", True),
                               ("submitted-supertuxkart", False), ("submitted-vkcube", False)):
            notes = self.fit_one(name, "--device", CARD)["notes"]
            self.assertEqual(any("zink" in note for note in notes), expected, name)

    def test_a_trace_of_version_1_does_not_know_the_program(self):
        self.assertIsNone(self.fit_one("captured-vkcube", "--device", CARD)["program"])
        self.assertNotIn("program itself", maar("captured-vkcube", "--device", CARD).stdout)

    def test_the_row_names_the_heap_that_resources_go_to_first(self):
        """Also when that heap is made smaller than another of the device."""
        result = self.fit_one("captured-supertuxkart", "--device", "nvidia-gtx950-linux440",
                              "--heap", "0=96MiB")
        self.assertEqual(result["main_heap"], 0)
        held = [heap["held_bytes"] for heap in result["heaps"]]
        self.assertEqual(max(held), held[0])

    def test_purposes_add_up(self):
        result = self.fit_one("captured-supertuxkart", "--device", CARD)
        purposes = [value for value in result["needs"].values() if isinstance(value, dict)]
        self.assertGreaterEqual(len(purposes), 3)
        self.assertEqual(sum(value["bytes"] for value in purposes), result["needs"]["bytes"])
        self.assertEqual(sum(value["resources"] for value in purposes),
                         result["needs"]["resources"])

    def test_frees_make_room(self):
        rows = [HEADER]
        for i in range(20):
            rows.append(f"alloc,{i},buffer,{64 * MIB},256,,0,{i},0x23,\n")
            rows.append(f"free,{i},,,,,0,{i},,\n")
        path = self.write("".join(rows), "turns.csv")
        result = self.fit_one(path, "--device", SHARED, "--heap", "0=100MiB")
        self.assertEqual(result["needs"]["bytes"], 64 * MIB)


class Reasons(Case):
    """A case for each reason why something does not fit."""

    def fails(self, kind, *arguments):
        result = self.fit_one(*arguments, code=1)
        self.assertIs(result["fits"], False)
        self.assertEqual(result["reason"]["kind"], kind, result["reason"])
        self.assertGreater(result["missing_bytes"], 0)
        return result

    def llama(self):
        return self.write(files.LLAMA_3_8B.header("Q4_K_M")[0].data())

    def test_heap_is_full(self):
        result = self.fails("heap_full", self.llama(), "--device", CARD, "--heap", "1=4GiB")
        self.assertEqual(result["reason"]["heap"], 1)
        self.assertRegex(result["reason"]["resource"], r"^blk\.\d+\.")
        self.assertGreater(result["host_bytes"], 0)
        self.assertEqual(result["unplaced_bytes"], 0)
        needed = result["needs"]["bytes"]
        self.assertGreaterEqual(result["missing_bytes"], needed - 4 * GIB)
        # The missing bytes are enough.
        enough = 4 * GIB + result["missing_bytes"] + 64 * MIB
        self.fit_one(self.llama(), "--device", CARD, "--heap", f"1={enough}")
        # Resources may go to host memory if that is accepted.
        allowed = self.fit_one(self.llama(), "--device", CARD, "--heap", "1=4GiB", "--allow-host")
        self.assertIs(allowed["fits"], True)
        self.assertEqual(allowed["host_bytes"], result["host_bytes"])

    def test_one_heap_is_full(self):
        result = self.fails("heap_full", self.llama(), "--device", SHARED, "--heap", "0=4GiB")
        self.assertEqual(result["host_bytes"], 0)
        self.assertGreater(result["unplaced_bytes"], 0)

    def test_larger_than_the_heap(self):
        result = self.fails("larger_than_heap", self.llama(), "--device", CARD, "--heap",
                            "1=200MiB")
        self.assertEqual(result["reason"]["resource"], "token_embd.weight")
        self.assertEqual(result["reason"]["limit"], 200 * MIB)

    def test_buffer_above_its_limit(self):
        result = self.fails("max_buffer_size", self.llama(), "--device", CARD, "--limit",
                            "maxBufferSize=400MiB")
        self.assertEqual(result["reason"]["resource"], "output.weight")
        self.assertEqual(result["reason"]["limit"], result["maxBufferSize"])
        self.assertEqual(result["missing_bytes"], result["reason"]["resource_bytes"])

    def test_memory_above_its_limit(self):
        result = self.fails("max_memory_allocation_size", "deferred_4k", "--device", CARD,
                            "--limit", "maxMemoryAllocationSize=256MiB")
        self.assertEqual(result["reason"]["resource"], "the plan")
        self.assertEqual(result["reason"]["limit"], 256 * MIB)

    def test_too_many_memories(self):
        result = self.fails("max_memory_allocation_count", self.llama(), "--device", SHARED,
                            "--limit", "maxMemoryAllocationCount=5")
        self.assertEqual(result["memories"], 5)

    def test_budget(self):
        """2.7 of 3 GiB are this program's."""
        profile = "nvidia-ampere-ga102-nvk25.0"
        result = self.fails("budget", "deferred_1080p", "--reserve", "2700MiB", "--device", profile)
        self.assertEqual(result["reason"]["limit"], result["heaps"][0]["budget_bytes"])
        self.fails("heap_full", "deferred_1080p", "--reserve", "3000MiB", "--device", profile)
        self.fit_one("deferred_1080p", "--reserve", "2500MiB", "--device", profile)

    def test_budget_of_the_only_heap(self):
        """There is no other memory: it works above the budget, which is no fit."""
        profile = "intel-hd530-skl-anv25.0"
        result = self.fails("budget", "deferred_1080p", "--reserve", "1750MiB", "--device", profile)
        self.assertEqual(result["unplaced_bytes"], 0)
        self.assertGreater(result["over_budget_bytes"], 0)

    def test_budget_that_is_assumed(self):
        profile = "nvidia-gtx950-linux440"  # 2 GiB, and no driver that names a budget
        result = self.fails("assumed_budget", "deferred_1080p", "--reserve", "1700MiB", "--device",
                            profile)
        self.assertIsNone(result["heaps"][0]["budget_bytes"])
        self.assertAlmostEqual(result["reason"]["limit"] / result["heaps"][0]["size_bytes"], 0.8,
                               places=2)

    def test_holes(self):
        """60 of 64 MiB, of which every second MiB is freed: 20 MiB have no place."""
        rows = [HEADER]
        rows += [f"alloc,{i},buffer,{MIB},256,,0,{i},0x23,\n" for i in range(60)]
        rows += [f"free,{i},,,,,0,{60 + i},,\n" for i in range(0, 60, 2)]
        rows += [f"alloc,99,buffer,{20 * MIB},256,,0,200,0x23,\n"]
        path = self.write("".join(rows), "holes.csv")
        result = self.fails("holes", path, "--device", SHARED, "--heap", "0=64MiB")
        self.assertEqual(result["reason"]["resource"], "buffer 99")
        self.assertGreater(result["reason"]["free"], 20 * MIB)
        self.fit_one(path, "--device", SHARED, "--heap", "0=96MiB")


class Profiles(Case):
    def check(self, result):
        heaps = result["heaps"]
        local = [heap for heap in heaps if heap["device_local"]] or heaps
        for heap in heaps:
            self.assertLessEqual(heap["live_bytes"], heap["held_bytes"])
            self.assertLessEqual(heap["held_bytes"], heap["size_bytes"])
            budget = heap["budget_bytes"] or heap["size_bytes"]
            self.assertLessEqual(heap["left_bytes"], min(budget, heap["size_bytes"]))
        self.assertEqual(result["fits"], result["missing_bytes"] == 0, result)
        self.assertEqual(result["fits"], result["reason"] is None, result)
        if result["fits"]:
            self.assertLessEqual(result["needs"]["bytes"],
                                 sum(heap["size_bytes"] for heap in heaps))
        if result["maxMemoryAllocationSize"]:
            self.assertLessEqual(result["largest_memory_bytes"], result["maxMemoryAllocationSize"])
        if result["maxMemoryAllocationCount"]:
            self.assertLessEqual(result["memories"], result["maxMemoryAllocationCount"])
        if result["integrated"]:
            return sum(heap["size_bytes"] for heap in heaps)
        return max(heap["size_bytes"] for heap in local)

    def test_every_profile(self):
        profiles = maar("--list-profiles", command="info").stdout.split()
        small = self.write(TINY.header("F16")[0].data())
        large = self.write(files.LLAMA_3_8B.header("F16")[0].data(), "large.gguf")
        for path, code in ((small, 0), (large, 0), ("captured-supertuxkart", 0),
                           ("deferred_4k", 0)):
            results = self.fit(path, code=code)
            self.assertEqual([result["profile"] for result in results], profiles)
            for result in results:
                heap = self.check(result)
                if path == small:
                    self.assertIs(result["fits"], True)
                if path == large and heap < 15 * GIB:
                    self.assertIs(result["fits"], False)
                if path == large and heap > 20 * GIB:
                    self.assertIs(result["fits"], True)

    def test_sizes_that_no_device_reported(self):
        for profile, measured in (("amd-rx7900xtx-radv26.2", [True, True]),
                                  ("nvidia-rtx4090-linux", [False, False]),
                                  ("nvidia-gtx1070ti-win582", [True, False, True]),
                                  (SHARED, [False]), ("cpu-lavapipe26.2", [False])):
            result = self.fit_one("deferred_1080p", "--device", profile)
            self.assertEqual([heap["size_from_device"] for heap in result["heaps"]], measured)
        result = self.fit_one("deferred_1080p", "--device", SHARED, "--heap", "0=4GiB")
        self.assertIs(result["heaps"][0]["size_from_device"], True)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--maar", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--slow", action="store_true")
    OPTIONS = parser.parse_args()
    cases = (Arguments, Models, Malformed, Training, Frames, Traces, Reasons, Profiles)
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
