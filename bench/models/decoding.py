"""Measures tokens of a GPT whose keys and values grow, in float32 and bfloat16, beside PyTorch.

boxcar imports what torch.export wrote for any number of tokens before. One loop gives its caches away, so that they grow
in place; another keeps a reference to them, so that each token copies them, as PyTorch's module does. All run in turns,
each in its own process. Needs ./dev setup models, whose Python runs it.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "bench" / "models"
BOXCAR = ROOT / "build" / "release" / "boxcar"
TURNS, TOKENS, FIRST = 3, 16, 3  # the first tokens of a turn are not counted
DTYPES = ("float32", "bfloat16")

BOXCAR_LOOP = """\
import "{archive}" as m
with inference_mode() {{
    past = [(randn(1, {heads}, {words}, 64).to({dtype}), randn(1, {heads}, {words}, 64).to({dtype})) for i in range({layers})]
    kept = past
    for i in range({tokens}) {{
        begin = clock()
        logits, past = m.forward(tensor([[i]]), past)
        print((clock() - begin) * 1000)
        {keeps}
    }}
}}
"""
TORCH_LOOP = """\
import sys, time
sys.path.insert(0, {here!r})
import decoding, torch
torch.set_num_threads({threads})
model = decoding.made({layers}, {heads}, torch.{dtype})
past = [(torch.randn(1, {heads}, {words}, 64, dtype=torch.{dtype}), torch.randn(1, {heads}, {words}, 64, dtype=torch.{dtype}))
        for _ in range({layers})]
with torch.inference_mode():
    for i in range({tokens}):
        begin = time.perf_counter()
        logits, past = model(torch.tensor([[i]]), past)
        print((time.perf_counter() - begin) * 1000)
"""


def made(layers, heads, dtype):
    import cases
    import transformers as hf
    config = hf.GPT2Config(n_layer=layers, n_head=heads, n_embd=64 * heads, n_positions=2048)
    return cases.NextToken(hf.GPT2LMHeadModel(config)).eval().to(dtype)


def export(archive, layers, heads, dtype):
    import torch
    dtype = getattr(torch, dtype)
    past = [(torch.randn(1, heads, 128, 64, dtype=dtype), torch.randn(1, heads, 128, 64, dtype=dtype))
            for _ in range(layers)]
    length = torch.export.Dim("length", min=2, max=2047)
    shapes = ({}, [({2: length}, {2: length}) for _ in range(layers)])
    with torch.no_grad():
        program = torch.export.export(made(layers, heads, dtype), (torch.tensor([[5]]), past), dynamic_shapes=shapes)
    torch.export.save(program, archive)


def run(*command):
    out = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    return [float(line) for line in out.split()][FIRST:]


def times(engine, archive, **options):
    if engine == "PyTorch":
        return run(sys.executable, "-B", "-c", TORCH_LOOP.format(here=str(HERE), **options))
    script = FOLDER / "decoding.ops"
    script.write_text(BOXCAR_LOOP.format(archive=archive, keeps="kept = past" if engine == "copied" else "", **options))
    return run(BOXCAR, "run", "--threads", options["threads"], script)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a GPT of 4 layers, 256 wide, instead of GPT-2 small")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--words", type=int, nargs="+", default=[128, 1024], help="how many tokens came before")
    options = parser.parse_args()
    layers, heads = (4, 4) if options.small else (12, 12)
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| dtype | words | threads | PyTorch, ms a token | boxcar, copied | boxcar, grown in place | to PyTorch |\n"
          "| --- | --: | --: | --: | --: | --: | --: |")
    for dtype in DTYPES:
        archive = FOLDER / f"decoding.{layers}.{dtype}.pt2"
        if not archive.exists():
            export(archive, layers, heads, dtype)
        for words in options.words:
            for threads in options.threads:
                found = {"PyTorch": [], "copied": [], "grown": []}
                for _ in range(TURNS):
                    for engine, all_times in found.items():
                        all_times += times(engine, archive, layers=layers, heads=heads, words=words, threads=threads,
                                           dtype=dtype, tokens=TOKENS)
                theirs, copied, grown = (statistics.median(each) for each in found.values())
                print(f"| {dtype} | {words} | {threads} | {theirs:.4g} | {copied:.4g} | {grown:.4g} | {grown / theirs:.2f} |",
                      flush=True)


if __name__ == "__main__":
    main()
