"""Headers of GGUF files, written by a few lines that share nothing with the reader, and the tensors
of known models. Only headers: no file has the bytes of its tensors.
"""

import math
import struct

ALIGNMENT = 32
U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)

# name: number, values of a block, bytes of a block
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34),
         "Q4_K": (12, 256, 144), "Q6_K": (14, 256, 210)}


class Writer:
    """Collects the fields of a header. `order` is "<" or ">"."""

    def __init__(self, version=3, order="<"):
        self.version, self.order = version, order
        self.keys, self.tensors = [], []

    def number(self, form, value):
        return struct.pack(self.order + form, value)

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        return self.number("Q", len(data)) + data

    def add_raw(self, key, kind, payload):
        self.keys.append(self.string(key) + self.number("I", kind) + payload)

    def add_number(self, key, value):
        self.add_raw(key, U32, self.number("I", value))

    def add_string(self, key, value):
        self.add_raw(key, STRING, self.string(value))

    def add_numbers(self, key, values):
        self.add_raw(key, ARRAY, self.number("I", U32) + self.number("Q", len(values)) +
                     b"".join(self.number("I", value) for value in values))

    def add_tensor(self, name, shape, kind, offset):
        self.tensors.append(self.string(name) + self.number("I", len(shape)) +
                            b"".join(self.number("Q", size) for size in shape) +
                            self.number("I", kind) + self.number("Q", offset))

    def data(self, tensor_count=None, key_count=None):
        tensors = len(self.tensors) if tensor_count is None else tensor_count
        keys = len(self.keys) if key_count is None else key_count
        return (b"GGUF" + self.number("I", self.version) + self.number("Q", tensors) +
                self.number("Q", keys) + b"".join(self.keys) + b"".join(self.tensors))


def size_of(shape, kind):
    _, values, size = TYPES[kind]
    return math.prod(shape) // values * size


def more_bits(layer, layers):
    """The layers that a "medium" mixture stores in more bits."""
    return (layer < layers // 8 or layer >= 7 * layers // 8 or
            (layer - layers // 8) % 3 == 2)


class Model:
    """A transformer of the LLaMA family."""

    has_frequencies = False  # of the rotary embedding, as a tensor

    def __init__(self, layers, hidden, heads, kv_heads, feed, vocabulary, context):
        self.layers, self.hidden, self.heads, self.kv_heads = layers, hidden, heads, kv_heads
        self.feed, self.vocabulary, self.context = feed, vocabulary, context

    def tensors(self, mixture):
        """Name, shape and type of each tensor, in a mixture of types as llama.cpp makes it."""
        base = {"Q4_K_M": "Q4_K"}.get(mixture, mixture)
        output = base if base in ("F16", "F32", "Q8_0") else "Q6_K"
        width = self.hidden // self.heads * self.kv_heads
        yield "token_embd.weight", (self.hidden, self.vocabulary), base
        if self.has_frequencies:
            yield "rope_freqs.weight", (self.hidden // self.heads // 2,), "F32"
        for layer in range(self.layers):
            more = "Q6_K" if mixture == "Q4_K_M" and more_bits(layer, self.layers) else base
            at = f"blk.{layer}."
            yield at + "attn_norm.weight", (self.hidden,), "F32"
            yield at + "attn_q.weight", (self.hidden, self.hidden), base
            yield at + "attn_k.weight", (self.hidden, width), base
            yield at + "attn_v.weight", (self.hidden, width), more
            yield at + "attn_output.weight", (self.hidden, self.hidden), base
            yield at + "ffn_norm.weight", (self.hidden,), "F32"
            yield at + "ffn_gate.weight", (self.hidden, self.feed), base
            yield at + "ffn_up.weight", (self.hidden, self.feed), base
            yield at + "ffn_down.weight", (self.feed, self.hidden), more
        yield "output_norm.weight", (self.hidden,), "F32"
        yield "output.weight", (self.hidden, self.vocabulary), output

    def header(self, mixture, architecture="llama", version=3, order="<", kv_heads=None):
        """The header as a Writer, and the bytes of all tensors."""
        made = Writer(version, order)
        made.add_string("general.architecture", architecture)
        made.add_number(f"{architecture}.block_count", self.layers)
        made.add_number(f"{architecture}.context_length", self.context)
        made.add_number(f"{architecture}.embedding_length", self.hidden)
        made.add_number(f"{architecture}.attention.head_count", self.heads)
        if isinstance(kv_heads, list):
            made.add_numbers(f"{architecture}.attention.head_count_kv", kv_heads)
        else:
            made.add_number(f"{architecture}.attention.head_count_kv", kv_heads or self.kv_heads)
        made.add_raw("tokenizer.ggml.tokens", ARRAY, made.number("I", STRING) +
                     made.number("Q", 3) + b"".join(made.string(word) for word in ("a", "", "the")))
        offset = total = 0
        for name, shape, kind in self.tensors(mixture):
            made.add_tensor(name, shape, TYPES[kind][0], offset)
            size = size_of(shape, kind)
            total += size
            offset += -(-size // ALIGNMENT) * ALIGNMENT
        return made, total


class Model3(Model):
    """The third generation of the family."""

    has_frequencies = True


LLAMA_2_7B = Model(32, 4096, 32, 32, 11008, 32000, 4096)
LLAMA_3_8B = Model3(32, 4096, 32, 8, 14336, 128256, 8192)
LLAMA_3_70B = Model3(80, 8192, 64, 8, 28672, 128256, 131072)
LLAMA_30B = Model(60, 6656, 52, 52, 17920, 32000, 2048)
