"""Stores cases in a safetensors file. It has one tensor per dtype, a row of all elements of that dtype, and the cases
as JSON in its metadata. case_reader.h reads it."""

import json
import math
import struct

import torch

from .expected import storage_key, tensors_in, whole_storage

kNames = {torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.int16: "I16", torch.int32: "I32",
          torch.int64: "I64", torch.float16: "F16", torch.bfloat16: "BF16", torch.float32: "F32",
          torch.float64: "F64", torch.complex64: "C64", torch.complex128: "F64"}


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def bytes_of(row):
    """Returns the bytes of a contiguous tensor."""
    if row.numel() == 0:
        return b""
    if row.dtype == torch.bfloat16:
        row = row.view(torch.int16)
    if row.dtype == torch.bool:  # memory that nobody has written holds other bytes than 0 and 1
        row = row.view(torch.uint8) != 0
    return row.numpy().tobytes()


class Elements:
    """The elements of all cases, by dtype; equal rows are stored once."""

    def __init__(self):
        self.parts = {}
        self.counts = {}
        self.places = {}

    def place(self, row):
        """Returns the position of the elements of [row] among those of their dtype."""
        data = bytes_of(row)
        key = (row.dtype, data)
        if key not in self.places:
            self.places[key] = self.counts.get(row.dtype, 0)
            self.parts.setdefault(row.dtype, []).append(data)
            self.counts[row.dtype] = self.places[key] + row.numel()
        return self.places[key]


class CaseEncoder:
    """Makes the JSON of one case."""

    def __init__(self, elements):
        self.elements = elements
        self.storages = []
        self.storage_index = {}
        self.tensors = []
        self.tensor_index = {}
        self.kept = []

    def argument(self, value):
        if isinstance(value, torch.Tensor):
            return {"t": self._tensor(value)}
        return self.constant(value, self.argument)

    def constant(self, value, inner):
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"f": str(value)}
        if isinstance(value, complex):
            return {"c": [inner(value.real), inner(value.imag)]}
        if isinstance(value, (list, tuple)):
            return [inner(element) for element in value]
        if isinstance(value, torch.dtype):
            return {"dtype": dtype_name(value)}
        if isinstance(value, torch.layout):
            return {"layout": str(value).removeprefix("torch.")}
        if isinstance(value, torch.memory_format):
            return {"format": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        raise TypeError(f"cases cannot hold {value!r}")

    def _tensor(self, tensor):
        if id(tensor) not in self.tensor_index:
            key = storage_key(tensor)
            if key not in self.storage_index:
                row = whole_storage(tensor)
                self.storage_index[key] = len(self.storages)
                self.storages.append([dtype_name(tensor.dtype), self.elements.place(row), row.numel()])
            self.tensor_index[id(tensor)] = len(self.tensors)
            self.kept.append(tensor)
            self.tensors.append([self.storage_index[key], list(tensor.size()), list(tensor.stride()),
                                 tensor.storage_offset()])
        return self.tensor_index[id(tensor)]

    def expectation(self, tensor, storages_after):
        """Returns [dtype, sizes, strides or None if they are not compared, place, storage that it shares or -1]."""
        row = tensor.detach().resolve_conj().resolve_neg().contiguous().view(-1)
        return [dtype_name(tensor.dtype), list(tensor.size()), list(tensor.stride()), self.elements.place(row),
                storages_after.get(storage_key(tensor), -1)]

    def result(self, value, storages_after, resized):
        if isinstance(value, torch.Tensor):
            expectation = self.expectation(value, storages_after)
            if id(value) in resized:
                expectation[2] = None  # the strides of a resized out= are not guaranteed
            return {"x": expectation}
        return self.constant(value, lambda element: self.result(element, storages_after, resized))

    def encode(self, name, dtype, outcome, written, options):
        args = {key: self.argument(value) for key, value in outcome.before.items()}
        # Identifies the storages after the call: copies are made in the order of the originals.
        storages_after = {}
        originals = list(tensors_in(list(outcome.before.values())))
        copies = list(tensors_in(list(outcome.after.values())))
        for original, copy in zip(originals, copies):
            storages_after[storage_key(copy)] = self.storage_index[storage_key(original)]
        case = {"op": name, "dtype": dtype_name(dtype), "st": self.storages, "te": self.tensors, "args": args}
        resized = {id(copy) for original, copy in zip(originals, copies) if original.size() != copy.size()}
        case["res"] = [self.result(value, storages_after, resized) for value in outcome.results]
        after = {}
        for argument in written:
            pairs = zip(tensors_in(outcome.before.get(argument)), tensors_in(outcome.after.get(argument)))
            for original, copy in pairs:
                expectation = self.expectation(copy, storages_after)
                if id(copy) in resized:
                    expectation[2] = None
                after[str(self.tensor_index[id(original)])] = expectation
        if after:
            case["after"] = after
        case.update(options)
        return case

    def encode_error(self, name, dtype, values, message):
        args = {key: self.argument(value) for key, value in values.items()}
        return {"op": name, "dtype": dtype_name(dtype), "st": self.storages, "te": self.tensors, "args": args,
                "err": message}


def write(path, metadata, elements):
    """Writes the safetensors file [path]."""
    header, data, end = {"__metadata__": metadata}, [], 0
    for dtype in sorted(elements.parts, key=lambda dtype: (-torch.empty(0, dtype=dtype).element_size(), str(dtype))):
        part = b"".join(elements.parts[dtype])
        count = elements.counts[dtype] * (2 if dtype == torch.complex128 else 1)
        header[dtype_name(dtype)] = {"dtype": kNames[dtype], "shape": [count], "data_offsets": [end, end + len(part)]}
        data.append(part)
        end += len(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for part in data:
            file.write(part)


def read_metadata(path):
    """Returns the metadata of the file [path]; {} if the file does not exist."""
    if not path.exists():
        return {}
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length)).get("__metadata__", {})


def read(path):
    """Returns the cases of the file [path] and their elements."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        elements = Elements()
        for name, row in header.items():
            if name != "__metadata__":
                begin, end = row["data_offsets"]
                file.seek(8 + length + begin)
                elements.parts[getattr(torch, name)] = [file.read(end - begin)]
    return json.loads(header["__metadata__"]["cases"]), elements
