#!/usr/bin/env python3
"""Writes views.pt2 in this folder, which tests/backends/io/pt2_test.cpp reads. Needs nothing but Python.

It has what torch.export.save writes of a model's tensors: raw storages, and how each tensor lies in one. Like there,
members are stored and begin at multiples of 64 bytes. The program itself is left out, because nothing here runs it.
"""
import json
import os
import struct
import zipfile

DTYPES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8,
          "complex64": 10, "complex128": 11, "bool": 12, "bfloat16": 13}


def entry(path_name, dtype, sizes, strides, offset=0, is_param=True):
    meta = {"dtype": DTYPES[dtype], "sizes": [{"as_int": size} for size in sizes], "requires_grad": is_param,
            "device": {"type": "cpu", "index": None}, "strides": [{"as_int": stride} for stride in strides],
            "storage_offset": {"as_int": offset}, "layout": 7}
    return {"path_name": path_name, "is_param": is_param, "use_pickle": False, "tensor_meta": meta}


def write(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            begin = archive.fp.tell() + 30 + len(name) + 4
            padding = -begin % 64
            info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
            archive.writestr(info, data)


def main():
    storages = [("weight_0", struct.pack("<12f", *range(12))), ("weight_1", b"")]
    weights = {
        "embed.weight": entry("weight_0", "float32", [4, 3], [3, 1]),
        "head.weight": entry("weight_0", "float32", [4, 3], [3, 1]),
        "transposed": entry("weight_0", "float32", [3, 4], [1, 3]),
        "column": entry("weight_0", "float32", [3], [3], 4),
        "expanded": entry("weight_0", "float32", [2, 3], [0, 1], 9),
        "bits": entry("weight_0", "int32", [2], [1], 1),
        "empty": entry("weight_1", "float64", [0, 3], [3, 1]),
        "scalar": entry("weight_2", "int64", [], []),
    }
    storages.append(("weight_2", struct.pack("<q", 7)))
    numbers = {"uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float16": "e", "float32": "f",
               "float64": "d", "complex64": "ff", "complex128": "dd", "bool": "?"}
    for i, dtype in enumerate(DTYPES, 3):
        if dtype == "bfloat16":
            data = b"".join(struct.pack("<f", number)[2:] for number in [1, 0])
        elif dtype.startswith("complex"):
            data = struct.pack("<" + 2 * numbers[dtype], 1, -1, 0, 0)
        else:
            data = struct.pack("<2" + numbers[dtype], 1, 0)
        storages.append((f"weight_{i}", data))
        weights[dtype] = entry(f"weight_{i}", dtype, [2], [1])
    constants = {"mask": entry("tensor_0", "bool", [2, 2], [2, 1], is_param=False)}
    members = [("views/data/weights/" + name, data) for name, data in storages]
    members += [("views/data/weights/model_weights_config.json", json.dumps({"config": weights})),
                ("views/data/constants/tensor_0", b"\x01\x00\x00\x01"),
                ("views/data/constants/model_constants_config.json", json.dumps({"config": constants})),
                ("views/models/model.json", "{}"), ("views/archive_format", "pt2"), ("views/archive_version", "0"),
                ("views/byteorder", "little")]
    write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "views.pt2"), members)


main()
