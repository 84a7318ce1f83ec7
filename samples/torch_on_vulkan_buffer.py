#!/usr/bin/env python3
"""A Vulkan buffer as a PyTorch tensor: both sides use the same bytes, without a copy.

    torch_on_vulkan_buffer.py [--route cuda|torch|numpy] [--size N] [--rounds N] [--json]

Vulkan fills a buffer. PyTorch adds to it in place, and multiplies matrices in buffers. Vulkan copies
the results out, and the sample compares them. With an NVIDIA GPU and PyTorch for CUDA, the tensor is a
CUDA tensor over device memory, and queue and stream wait for each other. Without them, PyTorch on the
CPU or NumPy does the same over host-visible memory, and the sample prints what it has not shown.

Exit codes: 0 success; 1 a comparison failed; 2 wrong arguments; 77 this machine cannot run the sample.
"""

import argparse
import json
import statistics
import sys
import time

import maar

try:
    import torch
except ImportError:
    torch = None
try:
    import numpy
except ImportError:
    numpy = None


class Mismatch(Exception):
    """The bytes differ from the expected ones."""


def require(condition, what):
    if not condition:
        raise Mismatch(what)


def median_ms(function, rounds, finish):
    """Returns the median time of a call in milliseconds, without the first call."""
    times = []
    for _ in range(rounds + 1):
        finish()
        start = time.perf_counter()
        function()
        finish()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times[1:])


class Cuda:
    """Tensors of PyTorch on CUDA, over device memory."""

    name = "PyTorch on CUDA"
    unproven = ()

    def __init__(self, device):
        self.device = device
        torch.cuda.set_device(device.cuda.ordinal)
        self.free = torch.cuda.mem_get_info()[0]
        self.stream = torch.cuda.current_stream()

    def buffer(self, shape, name):
        return self.device.buffer(shape, "float32", name=name)

    def see(self, buffer):
        tensor = torch.from_dlpack(buffer)
        require(tensor.data_ptr() == buffer.cuda_pointer, "PyTorch has a different pointer")
        return tensor

    def give_back(self, buffer):
        buffer.acquire_from_cuda(self.stream)

    def take_again(self, buffer):
        buffer.release_to_cuda(self.stream)

    def native(self, size):
        return torch.rand((size, size), device="cuda")

    def multiply(self, left, right, out):
        torch.matmul(left, right, out=out)

    def finish(self):
        torch.cuda.synchronize()

    def notes(self):
        taken = self.free - torch.cuda.mem_get_info()[0]
        return {"cuda_device": self.device.cuda.name, "handoff": self.device.cuda.handoff,
                "imported_bytes": self.device.cuda.imported_bytes,
                "cuda_memory_taken_meanwhile": taken}


class Host:
    """Arrays over host-visible memory; the host waits for Vulkan."""

    unproven = ("that a CUDA kernel and a Vulkan queue see the same bytes of a GPU's memory",
                "that they wait for each other on the device")

    def __init__(self, device):
        self.device = device

    def buffer(self, shape, name):
        return self.device.buffer(shape, "float32", host_visible=True, name=name)

    def give_back(self, buffer):
        buffer.flush()

    def take_again(self, buffer):
        buffer.wait()

    def finish(self):
        pass

    def notes(self):
        return {}


class Torch(Host):
    name = "PyTorch on the CPU"

    def see(self, buffer):
        tensor = torch.from_dlpack(buffer)
        require(tensor.data_ptr() == buffer.numpy().ctypes.data, "PyTorch has a different pointer")
        return tensor

    def native(self, size):
        return torch.rand((size, size))

    def multiply(self, left, right, out):
        torch.matmul(left, right, out=out)


class NumPy(Host):
    name = "NumPy"
    unproven = ("anything of PyTorch", *Host.unproven)

    def see(self, buffer):
        return buffer.numpy()

    def native(self, size):
        return numpy.random.default_rng(1).random((size, size), dtype="float32")

    def multiply(self, left, right, out):
        numpy.matmul(left, right, out=out)


def choose(device, route):
    """Returns the best available side that shares Vulkan's buffers, and the reasons against better sides."""
    reasons = []
    if route in (None, "cuda"):
        if torch is None:
            reasons.append("PyTorch is not installed")
        elif not torch.cuda.is_available():
            reasons.append("PyTorch finds no CUDA device")
        else:
            try:
                return Cuda(device), reasons
            except maar.MaarError as error:
                reasons.append(str(error))
    if route in (None, "torch") and torch is not None and numpy is not None:
        return Torch(device), reasons
    if route in (None, "numpy") and numpy is not None:
        return NumPy(device), reasons
    raise SystemExit(skip(reasons or [f"what --route {route} needs is not installed"]))


def skip(reasons):
    print(f"skipped: {'; '.join(reasons)}", file=sys.stderr)
    return 77


def compare(device, buffer, expected, what):
    """Compares the contents that Vulkan reads from a buffer with the expected ones."""
    seen = device.buffer(buffer.shape, "float32", host_visible=True, shared=False)
    seen.copy_from(buffer)
    got = seen.memoryview().cast("f")
    step = max(1, len(got) // 4096)
    for index in range(0, len(got), step):
        wanted = expected(index)
        require(abs(got[index] - wanted) <= 1e-3 * max(1.0, abs(wanted)),
                f"{what}: element {index} is {got[index]}, not {wanted}")
    return len(range(0, len(got), step))


def add_in_place(device, side, size, plant):
    """Vulkan fills a buffer, the other side adds to it, and Vulkan sees the sum. Then both do so again."""
    buffer = side.buffer((size, size), "sum")
    buffer.fill(1.0, wait=False)
    tensor = side.see(buffer)
    if plant == "copy":
        tensor = tensor.clone() if torch is not None and isinstance(tensor, torch.Tensor) \
            else tensor.copy()
    tensor += 1
    side.give_back(buffer)
    checked = compare(device, buffer, lambda index: 2.0, "after the first addition")
    buffer.fill(40.0, wait=False)
    side.take_again(buffer)
    tensor += 2
    side.give_back(buffer)
    checked += compare(device, buffer, lambda index: 42.0, "after the second addition")
    return checked


def multiply(device, side, size, rounds):
    """Compares a product of matrices in Vulkan's buffers with one in the other side's memory."""
    left, right, product = (side.buffer((size, size), name) for name in ("left", "right", "product"))
    left.fill(0.5, wait=False)
    right.fill(2.0, wait=False)
    product.fill(0.0, wait=False)
    tensors = [side.see(buffer) for buffer in (left, right, product)]
    shared = median_ms(lambda: side.multiply(*tensors), rounds, side.finish)
    natives = [side.native(size) for _ in range(3)]
    native = median_ms(lambda: side.multiply(*natives), rounds, side.finish)
    side.give_back(product)
    checked = compare(device, product, lambda index: float(size), "the product")
    if isinstance(side, Cuda):
        side.give_back(left)
        side.give_back(right)
    return checked, shared, native


def outlive(device, side):
    """Checks that the tensor keeps the memory, which is freed with the tensor and not before."""
    device.wait()
    before = device.statistics().allocations
    buffer = side.buffer((64, 64), "lasting")
    buffer.fill(3.0)
    tensor = side.see(buffer)
    buffer.close()
    del buffer
    require(device.statistics().allocations == before + 1, "the memory was freed before its tensor")
    require(float(tensor.sum()) == 3.0 * 64 * 64, "the tensor lost its bytes")
    del tensor
    device.wait()
    require(device.statistics().allocations == before, "the memory was not freed with its tensor")


def main():
    parser = argparse.ArgumentParser(description="A Vulkan buffer as a PyTorch tensor, zero-copy.")
    parser.add_argument("--route", choices=("cuda", "torch", "numpy"), help="default: the best available one")
    parser.add_argument("--size", type=int, default=1024, help="rows of the square matrices")
    parser.add_argument("--rounds", type=int, default=9, help="number of timed products")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--plant", choices=("copy",), help="make a mistake, which the sample must notice")
    options = parser.parse_args()
    if not 16 <= options.size <= 32768 or not 1 <= options.rounds <= 10000:
        parser.error("--size is 16 to 32768, --rounds 1 to 10000")
    try:
        device = maar.Device()
    except maar.LibraryError as error:
        return skip([str(error)])
    with device:
        side, reasons = choose(device, options.route)
        try:
            checked = add_in_place(device, side, options.size, options.plant)
            products, shared, native = multiply(device, side, options.size, options.rounds)
            outlive(device, side)
        except Mismatch as error:
            print(f"torch_on_vulkan_buffer: {error}", file=sys.stderr)
            return 1
        figures = {"device": device.name, "route": side.name, "size": options.size,
                   "elements_compared": checked + products, "matmul_shared_ms": round(shared, 4),
                   "matmul_native_ms": round(native, 4),
                   "matmul_gflops": round(2e-6 * options.size ** 3 / shared, 2),
                   **side.notes(), "not_shown": list(side.unproven), "because": reasons}
        report(figures, options.json)
    return 0


def report(figures, as_json):
    if as_json:
        print(json.dumps(figures))
        return
    size = figures["size"]
    print(f"{figures['device']}: its buffers are arrays of {figures['route']}, without a copy")
    print(f"  Vulkan sees x += 1, and x sees Vulkan's fill: {figures['elements_compared']} "
          "elements compared, all equal")
    print(f"  {size} x {size} matmul: {figures['matmul_shared_ms']:.3f} ms in Vulkan's buffers, "
          f"{figures['matmul_native_ms']:.3f} ms in memory of {figures['route']} "
          f"({figures['matmul_gflops']:.1f} GFLOP/s)")
    print("  a closed buffer's memory stayed for its tensor and was freed with it")
    if "handoff" in figures:
        print(f"  {figures['cuda_device']}, handoff by {figures['handoff']}; "
              f"{figures['imported_bytes']} bytes imported; CUDA's free memory changed by "
              f"{figures['cuda_memory_taken_meanwhile']} bytes, including PyTorch's own")
    for text in figures["not_shown"]:
        print(f"  not shown here: {text}")
    for text in figures["because"]:
        print(f"    because {text}")


if __name__ == "__main__":
    sys.exit(main())
