"""Makes large traces and hard planner instances: make_data.py FOLDER

FOLDER/traces gets traces of the format maar-trace/1 with up to twenty thousand events each,
FOLDER/minimalloc instances in the columns of google/minimalloc, which fit into 1,048,576 bytes and
into nothing less. The contents depend on nothing but this program, and are made up: no other
program's data is in them. Tests make them; MAAR_SHARED_DATA names a folder with larger or recorded
ones in the same places.
"""

import gzip
import pathlib
import random
import sys

KIB, MIB = 1 << 10, 1 << 20
CAPACITY = MIB


class Trace:
    """Rows of a trace. Resources are buffers; what lives at the end is freed."""

    def __init__(self):
        self.rows = ["op,id,kind,size,alignment,types,stream,time_ns,usage,note"]
        self.alive = {}
        self.count = 0
        self.time = 0

    def allocate(self, size, stream=0):
        size = max(256, size + 255 & ~255)
        self.rows.append(f"alloc,{self.count},buffer,{size},256,,{stream},{self.time},,")
        self.alive[self.count] = stream
        self.count += 1
        return self.count - 1

    def free(self, *resources):
        for resource in resources:
            self.rows.append(f"free,{resource},,,,,{self.alive.pop(resource)},{self.time},,")

    def step(self, nanoseconds):
        self.time += nanoseconds

    def text(self):
        self.free(*list(self.alive))
        return "\n".join(self.rows) + "\n"


def stencil(rng):
    """A solver that takes a new field in each step and gives back the oldest, with halos beside
    them. The grid is refined now and then, so holes of one phase are too small for the next."""
    trace = Trace()
    fields = []
    for phase in range(12):
        field = (88 + 3 * phase) * MIB + rng.randrange(64) * 64 * KIB
        for _ in range(60):
            fields.append(trace.allocate(field))
            halos = [trace.allocate(field // rng.choice((96, 144, 288)), 1) for _ in range(6)]
            rng.shuffle(halos)
            trace.step(60000)
            trace.free(*halos)
            if len(fields) > 14:
                trace.free(fields.pop(rng.randrange(3)))
            trace.step(130000)
    return trace.text()


def streaming(rng):
    """A camera that moves: textures of all sizes come and go by thousands."""
    trace = Trace()
    near = []
    for _ in range(250):
        for _ in range(rng.randrange(20, 60)):
            near.append(trace.allocate(int(2 ** rng.uniform(8, 24)), rng.randrange(3)))
        rng.shuffle(near)
        while len(near) > 1500:
            trace.free(near.pop())
        trace.step(16666667)
    return trace.text()


def serving(rng):
    """A server of a language model: weights, then pages of 2 MiB for the keys and values of
    requests that grow and end."""
    trace = Trace()
    for _ in range(16):
        trace.allocate(117 * MIB)
    requests = []
    for _ in range(1200):
        if len(requests) < 64 and rng.random() < 0.3:
            requests.append(([trace.allocate(2 * MIB) for _ in range(rng.randrange(1, 24))],
                             rng.randrange(2, 120)))
        for index in reversed(range(len(requests))):
            pages, left = requests[index]
            if left == 0:
                trace.free(*pages)
                del requests[index]
            else:
                if left % 16 == 0:
                    pages.append(trace.allocate(2 * MIB))
                requests[index] = (pages, left - 1)
        scratch = trace.allocate(rng.randrange(8 * KIB, 8 * MIB), 1)
        trace.step(20000000)
        trace.free(scratch)
    return trace.text()


def training(rng):
    """Steps of training with sequences of any length: activations forward, given back backward."""
    trace = Trace()
    for _ in range(48):
        trace.allocate(rng.choice((16, 25, 33)) * MIB)
    for _ in range(80):
        length = rng.randrange(8, 65)
        kept = []
        for _ in range(24):
            kept.append([trace.allocate(length * part * 4 * KIB) for part in (1, 2, 8)])
            scratch = trace.allocate(length * 12 * KIB)
            trace.step(90000)
            trace.free(scratch)
        for activations in reversed(kept):
            gradient = trace.allocate(length * 32 * KIB)
            trace.step(180000)
            trace.free(*activations)
            trace.free(gradient)
    return trace.text()


TRACES = {"made-stencil": stencil, "made-streaming": streaming, "made-serving": serving,
          "made-training": training}


def dissect(rng, count, pinwheels):
    """A rectangle of time and bytes, cut into pieces without waste: (begin, end, bottom, top)."""
    pieces = [(0, 2000, 0, CAPACITY // 256)]
    while len(pieces) < count:
        index = rng.choices(range(len(pieces)), [(p[1] - p[0]) * (p[3] - p[2]) for p in pieces])[0]
        begin, end, bottom, top = pieces[index]
        large = end - begin >= 8 and top - bottom >= 8
        if pinwheels and large and len(pieces) + 4 <= count and rng.random() < 0.6:
            # Four around a fifth, which no cut from edge to edge can do.
            x = sorted(rng.sample(range(begin + 1, end), 2))
            y = sorted(rng.sample(range(bottom + 1, top), 2))
            pieces[index] = (x[0], x[1], y[0], y[1])
            pieces += [(begin, x[1], bottom, y[0]), (x[1], end, bottom, y[1]),
                       (x[0], end, y[1], top), (begin, x[0], y[0], top)]
        elif end - begin >= 2 and rng.random() * ((end - begin) * 2 + top - bottom) < (end - begin) * 2:
            at = rng.randrange(begin + 1, end)
            pieces[index] = (begin, at, bottom, top)
            pieces.append((at, end, bottom, top))
        elif top - bottom >= 2:
            at = rng.randrange(bottom + 1, top)
            pieces[index] = (begin, end, bottom, at)
            pieces.append((begin, end, at, top))
    rng.shuffle(pieces)
    return pieces


# Each name: resources, with pinwheels.
INSTANCES = {"cuts_60": (60, False), "cuts_200": (200, False), "cuts_450": (450, False),
             "pinwheels_60": (60, True), "pinwheels_200": (200, True), "pinwheels_450": (450, True)}


def instance(rng, count, pinwheels):
    """The rows of an instance of so many resources, in the columns of google/minimalloc."""
    rows = [f"{i},{begin},{end},{(top - bottom) * 256}\n" for i, (begin, end, bottom, top) in
            enumerate(dissect(rng, count, pinwheels))]
    return "id,lower,upper,size\n" + "".join(rows)


def write_traces(folder):
    """Writes all traces; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in TRACES.items():
        text = make(random.Random(name)).encode()
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text, mtime=0))
    return [folder / f"{name}.csv.gz" for name in TRACES]


def write_instances(folder):
    """Writes all instances; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, shape in INSTANCES.items():
        paths.append(folder / f"{name}.{CAPACITY}.csv")
        paths[-1].write_text(instance(random.Random(name), *shape), encoding="utf-8")
    return paths


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    write_traces(folder / "traces")
    write_instances(folder / "minimalloc")
    return 0


if __name__ == "__main__":
    sys.exit(main())
