"""Reads and writes safetensors files of a few dtypes: eight bytes with the header's length, the header (JSON), the data."""
import json
import struct

import torch

DTYPES = {"F32": torch.float32, "F16": torch.float16, "I64": torch.int64, "U8": torch.uint8}


def read_tensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = torch.frombuffer(bytearray(content[begin:end]), dtype=DTYPES[entry["dtype"]])
        tensors[name] = values.view(entry["shape"])
    return tensors


def write_tensors(path, tensors, **metadata):
    names = {dtype: name for name, dtype in DTYPES.items()}
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    # Widest elements first, so that all data is aligned.
    for name, tensor in sorted(tensors.items(), key=lambda item: -item[1].element_size()):
        content = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
