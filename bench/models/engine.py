"""Runs a model in one engine of Python: engine.py ENGINE NAME BATCH THREADS FOLDER. peers.py calls it.

ENGINE is torch (the module itself), compiled (torch.compile), exported (the program of torch.export) or onnxruntime.
Prints a line of JSON once the model is
ready and has been called once, and another for each line on standard input, a number of seconds: the times of calls in
milliseconds.
"""

import json
import os
import pathlib
import sys
import time
import warnings

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")
engine, name, batch, threads, folder = sys.argv[1:]
batch, threads, folder = int(batch), int(threads), pathlib.Path(folder)
os.environ["OMP_NUM_THREADS"] = str(threads)
os.environ["HF_HUB_OFFLINE"] = "1"
MOST_CALLS = 1_000_000


def kilobytes(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1])
    return 0


def timed(function):
    begin = time.perf_counter()
    result = function()
    return result, (time.perf_counter() - begin) * 1e3


def torch_call():
    """Returns the call, and the time to load the model, if it comes from a file."""
    import torch
    import cases
    torch.set_num_threads(threads)
    case = next(each for each in cases.CASES if each.name == name)
    before, load = kilobytes("VmRSS"), 0.0
    if engine == "exported":
        program, load = timed(lambda: torch.export.load(folder / f"{name}.{batch}.pt2"))
        model = program.module()
    else:
        model = cases.made(case)
    if engine == "compiled":
        model = torch.compile(model)
    inputs = cases.inputs_of(case, batch)

    def call():
        with torch.inference_mode():
            return model(*inputs)
    return call, load, before


def onnx_call():
    import numpy
    import onnxruntime
    before = kilobytes("VmRSS")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    path = str(folder / f"{name}.{batch}.onnx")
    session, load = timed(
        lambda: onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]))
    arrays = numpy.load(folder / f"{name}.{batch}.npz")
    feeds = {each.name: arrays[f"in{i}"] for i, each in enumerate(session.get_inputs())}
    return (lambda: session.run(None, feeds)), load, before


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]


def main():
    import numpy
    call, load, before = onnx_call() if engine == "onnxruntime" else torch_call()
    result, first = timed(call)
    arrays = {f"out{i}": numpy.asarray(leaf) for i, leaf in enumerate(leaves(result))}
    del result
    numpy.savez(folder / f"{name}.{batch}.{engine}.npz", **arrays)
    print(json.dumps({"load": load, "first": first}), flush=True)
    for line in sys.stdin:
        seconds, times = float(line), []
        begin = time.perf_counter()
        while len(times) < 2 or (time.perf_counter() - begin < seconds and len(times) < MOST_CALLS):
            times.append(timed(call)[1])
        print(json.dumps({"times": times, "kilobytes": kilobytes("VmHWM") - before}), flush=True)


main()
