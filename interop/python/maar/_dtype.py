"""Element types, by NumPy's names, without NumPy."""

import operator
import struct


class DType:
    """An element type: its name, its bytes, and how NumPy and DLPack call it."""

    __slots__ = ("name", "itemsize", "typestr", "code", "_format")

    def __init__(self, name, itemsize, typestr, code, pack):
        self.name = name
        self.itemsize = itemsize
        self.typestr = typestr  # of the array interfaces; None: NumPy has no such type
        self.code = code        # DLDataTypeCode
        self._format = pack     # of the struct module, once or twice for complex numbers

    def pack(self, value):
        """The bytes of one element."""
        if self.code in (0, 1):
            value = operator.index(value)
        try:
            if self.name == "bfloat16":
                bits = struct.unpack("<I", struct.pack("<f", value))[0]
                if bits & 0x7F800000 != 0x7F800000:  # neither infinite nor NaN: round to even
                    bits += 0x7FFF + (bits >> 16 & 1)
                return struct.pack("<H", bits >> 16)
            if self.code == 5:
                number = complex(value)
                return struct.pack("<2" + self._format, number.real, number.imag)
            return struct.pack("<" + self._format, value)
        except (struct.error, OverflowError) as error:
            raise ValueError(f"{value!r} is no {self.name}: {error}") from None

    def __repr__(self):
        return f"maar.dtype({self.name!r})"

    def __eq__(self, other):
        try:
            return self.name == dtype(other).name
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self.name)


_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_ALL = [DType(*row) for row in (
    ("bool", 1, "|b1", _BOOL, "?"),
    ("int8", 1, "|i1", _INT, "b"), ("int16", 2, "<i2", _INT, "h"),
    ("int32", 4, "<i4", _INT, "i"), ("int64", 8, "<i8", _INT, "q"),
    ("uint8", 1, "|u1", _UINT, "B"), ("uint16", 2, "<u2", _UINT, "H"),
    ("uint32", 4, "<u4", _UINT, "I"), ("uint64", 8, "<u8", _UINT, "Q"),
    ("float16", 2, "<f2", _FLOAT, "e"), ("float32", 4, "<f4", _FLOAT, "f"),
    ("float64", 8, "<f8", _FLOAT, "d"), ("bfloat16", 2, None, _BFLOAT, None),
    ("complex64", 8, "<c8", _COMPLEX, "f"), ("complex128", 16, "<c16", _COMPLEX, "d"))]
_BY_NAME = {item.name: item for item in _ALL}
_BY_NAME.update({item.typestr: item for item in _ALL if item.typestr})
_BY_NAME.update({item.typestr[1:]: item for item in _ALL if item.typestr})
_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def dtype(wanted):
    """An element type by name ("float32", "<f4", "f4"), Python type, NumPy or PyTorch dtype."""
    if isinstance(wanted, DType):
        return wanted
    if isinstance(wanted, type) and wanted in _PYTHON:
        return _BY_NAME[_PYTHON[wanted]]
    name = wanted
    if not isinstance(name, str):
        name = getattr(wanted, "str", None)             # a dtype of NumPy's
        if not isinstance(name, str):
            name = getattr(wanted, "__name__", None)    # a scalar type of NumPy's
        if not isinstance(name, str):
            name = str(wanted)                          # torch.float32
            name = name[6:] if name.startswith("torch.") else None
    if name in _BY_NAME:
        return _BY_NAME[name]
    raise TypeError(f"{wanted!r} is no element type that Maar's buffers have: "
                    + ", ".join(item.name for item in _ALL))
