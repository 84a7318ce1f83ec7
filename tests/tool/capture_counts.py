"""Counts of a capture, taken from the bytes of the file alone: what the command says is compared with
these."""

import pathlib
import struct

HEADER, RECORD = 65536, 64
DEVICE, TYPE, MEMORY, MEMORY_END = 3, 5, 8, 10
BUFFER, BUFFER_END, IMAGE, IMAGE_END, BIND, FRAME, BUDGET = 16, 17, 18, 19, 20, 32, 40
STATE_AT, EPOCH_AT, PROGRAM_AT = 28, 56, 104


def entries(path):
    """Pairs of kind, payload."""
    data = pathlib.Path(path).read_bytes()
    at = HEADER
    while at + RECORD <= len(data):
        kind, more = struct.unpack_from("<HH", data, at)
        payload = bytearray(data[at + 16:at + RECORD])
        for i in range(1, more + 1):
            payload += data[at + i * RECORD + 8:at + (i + 1) * RECORD]
        if kind > 1:
            yield kind, payload
        at += RECORD * (more + 1 if kind > 1 else 1)


class Counts:
    """What one device of a capture holds at its end: lists by heap."""

    def __init__(self, path):
        self.held, self.peak, self.bound = [0] * 16, [0] * 16, [0] * 16
        self.allocations, self.memories = [0] * 16, [0] * 16
        self.frames = self.resources = 0
        self.budget = self.usage = None
        self.heap_of_type, self.memory, self.size, self.binds = {}, {}, {}, {}
        for kind, payload in entries(path):
            self.take(kind, payload)

    def take(self, kind, payload):
        if kind == TYPE:
            _, index, heap, _ = struct.unpack_from("<IIII", payload)
            self.heap_of_type[index] = heap
        elif kind == MEMORY:
            _, index, handle, size = struct.unpack_from("<IIQQ", payload)
            heap = self.heap_of_type[index]
            self.memory[handle] = heap, size
            self.held[heap] += size
            self.allocations[heap] += 1
            self.memories[heap] += 1
            self.peak[heap] = max(self.peak[heap], self.held[heap])
        elif kind == MEMORY_END:
            heap, size = self.memory.pop(struct.unpack_from("<Q", payload, 8)[0])
            self.held[heap] -= size
            self.memories[heap] -= 1
        elif kind in (BUFFER, IMAGE):
            handle = struct.unpack_from("<Q", payload, 8)[0]
            self.size[handle] = struct.unpack_from("<Q", payload, 32 if kind == BUFFER else 48)[0]
            self.resources += 1
        elif kind == BIND:
            handle, memory = struct.unpack_from("<QQ", payload, 8)
            self.binds[handle] = self.memory[memory][0]
            self.bound[self.binds[handle]] += self.size[handle]
        elif kind in (BUFFER_END, IMAGE_END):
            handle = struct.unpack_from("<Q", payload, 8)[0]
            self.bound[self.binds.pop(handle)] -= self.size.pop(handle)
            self.resources -= 1
        elif kind == FRAME:
            self.frames += 1
        elif kind == BUDGET:
            self.budget = struct.unpack_from("<16Q", payload, 8)
            self.usage = struct.unpack_from("<16Q", payload, 8 + 128)


def change(path, at, data):
    """Changes bytes of a file."""
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)
