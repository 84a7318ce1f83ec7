"""The Python in the documents runs as it stands there, on lavapipe and, where it wants CUDA, with
the FAKE CUDA driver and FAKE torch.

test_docs.py DOCUMENT...
"""

import os
import pathlib
import re
import sys

import maar

HERE = pathlib.Path(__file__).parent


def main():
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("skipped: no NumPy for this Python (Debian: python3-numpy)")
        return 77
    fakes = "MAAR_TEST_FAKE_CUDA" in os.environ
    if fakes:
        os.environ.update(MAAR_CUDA_LIBRARY=os.environ["MAAR_TEST_FAKE_CUDA"],
                          MAAR_VULKAN_LIBRARY=os.environ["MAAR_TEST_FAKE_SEMAPHORES"],
                          MAAR_FAKE_UUID=maar.devices()[0].uuid.hex,
                          MAAR_TEST_PYTHON_FOLDER=str(HERE))
        sys.path.insert(0, str(HERE.parent / "sample" / "FAKE_torch"))
        import torch
        torch.cuda.set_device(0)  # as PyTorch does by itself
    for document in sys.argv[1:]:
        text = pathlib.Path(document).read_text(encoding="utf-8")
        namespace = {}
        count = 0
        for match in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            if "torch" in match[1].replace("torch.from_dlpack(buffer) as well", "") and not fakes:
                break
            line = text.count("\n", 0, match.start(1))
            exec(compile("\n" * line + match[1], document, "exec"), namespace)
            count += 1
        if count == 0:
            print(f"{document}: no Python was found in it")
            return 1
        print(f"{document}: {count} blocks ran")
        namespace.clear()
    return 0


if __name__ == "__main__":
    sys.exit(main())
