"""Reads maar-capture/1 for tests: the kinds and structures come from include/maar/capture_file.h."""

import ctypes
import pathlib
import re
import struct

HEADER_SIZE = 65536
RECORD_SIZE = 64
TYPES = {"uint8_t": "B", "uint16_t": "H", "uint32_t": "I", "int32_t": "i", "uint64_t": "Q",
         "float": "f"}


class Format:
    """Numbers of kinds, and layouts of structures, as the header defines them."""

    def __init__(self, root):
        text = (pathlib.Path(root) / "include/maar/capture_file.h").read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        self.kinds = {int(value, 0): name for name, value in
                      re.findall(r"MAAR_CAPTURE_KIND_(\w+) = (\d+)\b", text)}
        self.constants = {name: int(value, 0) for name, value in
                          re.findall(r"(MAAR_CAPTURE_\w+) = (0x[0-9A-F]+|\d+)\b", text)}
        defines = dict(re.findall(r"#define (MAAR_CAPTURE_\w+) (\d+)", text))
        self.structures = {}
        for name, body, _ in re.findall(r"typedef struct (\w+) \{(.*?)\} (\w+);", text, re.DOTALL):
            fields, layout = [], "="
            for kind, field, count in re.findall(r"(\w+) (\w+)(?:\[(\w+)\])?;", body):
                if kind in TYPES:
                    number = int(defines.get(count, count or 1))
                    fields.append((field, number))
                    layout += TYPES[kind] * number
            self.structures[name] = (fields, struct.Struct(layout))

    def take(self, name, payload):
        fields, layout = self.structures[name]
        raw = payload[:layout.size].ljust(layout.size, b"\0")
        values, result, at = layout.unpack(raw), {}, 0
        for field, count in fields:
            result[field] = values[at] if count == 1 else values[at:at + count]
            at += count
        result["texts"] = [text.decode("utf-8", "replace")
                           for text in payload[layout.size:].split(b"\0")]
        return result


STRUCTURES = {
    "INSTANCE": "Instance", "DEVICE": "Device", "HEAP": "Heap", "TYPE": "Type", "QUEUE": "Queue",
    "MEMORY": "Memory", "MEMORY_FAILED": "Memory", "MAP": "Map", "PRIORITY": "Priority",
    "BUFFER": "Buffer", "IMAGE": "Image", "BIND": "Bind", "SPARSE_BIND": "SparseBind",
    "STRUCTURE": "Structure", "SWAPCHAIN": "Swapchain", "SWAPCHAIN_IMAGE": "SwapchainImage",
    "OTHER": "Other", "FRAME": "Frame", "SUBMIT": "Submit", "SUBMIT_WAIT": "Point",
    "SUBMIT_SIGNAL": "Point", "SEMAPHORE": "Semaphore", "REACHED": "Reached", "BUDGET": "Budget",
    "NAME": "Name", "MODULE": "Module", "REPORT": "Report",
    "USE": "Use", "USES": "Uses",
}


class Capture:
    """All entries of a file, and what is wrong with it."""

    def __init__(self, path, layout):
        self.path = pathlib.Path(path)
        data = self.path.read_bytes()
        self.size = len(data)
        self.errors = []
        if len(data) < HEADER_SIZE or data[:15] != b"maar-capture/1\n":
            raise ValueError(f"{path}: not a capture")
        (self.origin, self.state) = struct.unpack_from("=II", data, 24)
        (self.process, self.parent) = struct.unpack_from("=QQ", data, 32)
        (self.lost,) = struct.unpack_from("=Q", data, 72)
        program = 104
        self.program = ctypes.create_string_buffer(data[program:program + 256]).value.decode()
        self.entries, self.empty, self.records = [], 0, 0
        self._read(memoryview(data)[HEADER_SIZE:], layout)

    def _read(self, data, layout):
        count = len(data) // RECORD_SIZE
        while count > 0 and not any(data[(count - 1) * RECORD_SIZE:count * RECORD_SIZE]):
            count -= 1
        self.records = count
        at = 0
        while at < count:
            record = bytes(data[at * RECORD_SIZE:(at + 1) * RECORD_SIZE])
            kind, more, thread, time_ns = struct.unpack_from("=HHIQ", record)
            at += 1
            if kind == 0:
                self.empty += 1
                continue
            if layout.kinds.get(kind) == "CONTINUATION":
                if self.empty == 0:
                    self.errors.append(f"record {at}: a continuation of nothing")
                continue
            payload, whole = record[16:], True
            for index in range(1, more + 1):
                next_record = bytes(data[at * RECORD_SIZE:(at + 1) * RECORD_SIZE])
                if len(next_record) < 8 or \
                        struct.unpack_from("=HH", next_record) != (1, index):
                    whole = False
                    break
                payload += next_record[8:]
                at += 1
            name = layout.kinds.get(kind, f"unknown {kind}")
            if not whole:
                self.empty += 1
                continue
            structure = "MaarCapture" + STRUCTURES.get(name, "End")
            entry = layout.take(structure, payload)
            entry.update(kind=name, thread=thread, time_ns=time_ns)
            self.entries.append(entry)

    def of(self, *kinds):
        return [entry for entry in self.entries if entry["kind"] in kinds]

    def check_lives(self):
        """Every object begins once before it ends. Returns the live ones by kind."""
        live = {}
        pairs = {"MEMORY": "memory", "BUFFER": "buffer", "IMAGE": "image",
                 "SEMAPHORE": "semaphore", "SWAPCHAIN": "swapchain"}
        for entry in self.entries:
            kind = entry["kind"]
            if kind in pairs:
                key = (kind, entry["device"], entry[pairs[kind]])
                if key in live:
                    self.errors.append(f"{key} begins twice")
                live[key] = entry
            elif kind.endswith("_END") and kind[:-4] in pairs:
                key = (kind[:-4], entry["device"], entry["handle"])
                if live.pop(key, None) is None:
                    self.errors.append(f"{key} ends without a beginning")
        return live
