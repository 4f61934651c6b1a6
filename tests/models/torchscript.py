"""Scripts models of torchvision by torch.jit.script, and compares what boxcar makes of their archives with PyTorch;
`./dev models torchscript` runs it.

Results must have the same structure and dtypes, and differ by at most 1e-4 of each tensor's largest value. The modules
of tests/data/torchscript are compared by `./dev test`, without PyTorch.
"""

import argparse
import fnmatch
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

sys.dont_write_bytecode = True

import torch  # noqa: E402
import torchvision  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = pathlib.Path(__file__).parent / "README.md"
TOLERANCE = 1e-4  # of the largest value

IMAGE, LARGE, CLIP = (2, 3, 96, 96), (2, 3, 224, 224), (1, 3, 16, 112, 112)
# The smallest model of each family, and the shape of its input.
MODELS = {
    "alexnet": LARGE, "vgg11": IMAGE, "vgg11_bn": IMAGE, "resnet18": IMAGE, "resnet50": IMAGE, "resnext50_32x4d": IMAGE,
    "wide_resnet50_2": IMAGE, "squeezenet1_1": IMAGE, "densenet121": IMAGE, "inception_v3": (2, 3, 299, 299),
    "googlenet": IMAGE, "shufflenet_v2_x0_5": IMAGE, "mobilenet_v2": IMAGE, "mobilenet_v3_small": IMAGE,
    "mnasnet0_5": IMAGE, "efficientnet_b0": IMAGE, "efficientnet_v2_s": IMAGE, "regnet_y_400mf": IMAGE,
    "regnet_x_400mf": IMAGE, "convnext_tiny": IMAGE, "vit_b_32": LARGE, "swin_t": LARGE, "swin_v2_t": (2, 3, 256, 256),
    "maxvit_t": LARGE, "segmentation.fcn_resnet50": IMAGE, "segmentation.deeplabv3_mobilenet_v3_large": IMAGE,
    "segmentation.lraspp_mobilenet_v3_large": IMAGE, "video.r3d_18": CLIP, "video.mc3_18": CLIP,
    "video.r2plus1d_18": CLIP, "video.s3d": (1, 3, 16, 224, 224), "video.mvit_v1_b": (1, 3, 16, 224, 224),
    "optical_flow.raft_small": (2, 1, 3, 128, 128),
    "detection.fasterrcnn_mobilenet_v3_large_320_fpn": None, "detection.ssdlite320_mobilenet_v3_large": None,
    "detection.retinanet_resnet50_fpn": None,
}

# Why a model is not equal.
REASONS = {
    "detection.ssdlite320_mobilenet_v3_large": "with new weights all scores are equal, and the order of boxes is any",
}

SCRIPT = """import "model.pt" as model
inputs = io::load("inputs.safetensors")
results: Dict(str, Tensor) = {{}}
fn keep(Any? x, str path, Dict(str, Tensor) results) -> () {{
    if isinstance(x, Tensor) {{
        results[path] = x.contiguous()
        return
    }}
    if x is None {{ return }}
    if type(x).startswith("Dict") and not type(x).endswith("[]") {{
        for k in x.keys() {{ keep(x[k], path + "." + k, results) }}
        return
    }}
    i = 0
    for e in x {{
        keep(e, path + "." + str(i), results)
        i += 1
    }}
}}
with no_grad() {{
    begin = clock()
    result = model.forward({arguments})
    seconds = clock() - begin
}}
keep(result, "result", results)
io::save(results, "results.safetensors")
print(seconds)
"""


def make(name):
    """Returns the scripted model and its arguments."""
    function = torchvision.models
    for part in name.split("."):
        function = getattr(function, part)
    torch.manual_seed(0)
    has_backbone = name.startswith(("segmentation", "detection"))
    model = function(weights=None, **({"weights_backbone": None} if has_backbone else {})).eval()
    generator = torch.Generator().manual_seed(1)
    if name.startswith("detection"):
        images = [torch.rand(3, *size, generator=generator) for size in [(200, 160), (120, 220)]]
        return torch.jit.script(model), (images, None)
    shape = MODELS[name]
    if name.startswith("optical_flow"):
        return torch.jit.script(model), (*torch.randn(shape, generator=generator), 3)
    return torch.jit.script(model), (torch.randn(shape, generator=generator),)


def keep(value, path, results):
    if isinstance(value, torch.Tensor):
        results[path] = value.contiguous()
    elif isinstance(value, dict):
        for key in value:
            keep(value[key], f"{path}.{key}", results)
    elif isinstance(value, (list, tuple)):
        for i, element in enumerate(value):
            keep(element, f"{path}.{i}", results)


def literal(value, path, tensors):
    if isinstance(value, torch.Tensor):
        tensors[path] = value.contiguous()
        return f'inputs["{path}"]'
    if isinstance(value, list):
        return "[" + ", ".join(literal(each, f"{path}.{i}", tensors) for i, each in enumerate(value)) + "]"
    return repr(value)


def difference(wanted, found):
    """Says how two dicts of tensors differ; empty if they do not."""
    if wanted.keys() != found.keys():
        return f"has {', '.join(found)} instead of {', '.join(wanted)}"
    for path, each in wanted.items():
        other = found[path]
        if each.dtype != other.dtype or each.shape != other.shape:
            return f"{path}: {other.dtype} {list(other.shape)} instead of {each.dtype} {list(each.shape)}"
        if each.numel() == 0:
            continue
        distance = (each.double() - other.double()).abs().max().item()
        if not distance <= TOLERANCE * max(each.abs().max().item(), 1e-6):
            return f"{path} differs by {distance:.2g}"
    return ""


def compare(name, boxcar):
    """Returns the row of the table of a model, and whether it is equal."""
    model, arguments = make(name)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        torch.jit.save(model, folder / "model.pt")
        inputs = {}
        text = ", ".join(literal(each, str(i), inputs) for i, each in enumerate(arguments))
        save_file(inputs, folder / "inputs.safetensors")
        (folder / "run.ops").write_text(SCRIPT.format(arguments=text))
        imported = subprocess.run([boxcar, "import", "--in-place", "model.pt", "-o", "model.ops"], cwd=folder,
                                  capture_output=True, text=True)
        if imported.returncode != 0:
            return [name, "no", imported.stderr.strip().replace("\n", " "), "", "", ""], False
        lines = len((folder / "model.ops").read_text().splitlines())
        run = subprocess.run([boxcar, "run", "--threads", "1", "run.ops"], cwd=folder, capture_output=True, text=True)
        if run.returncode != 0:
            return [name, "yes", run.stderr.strip().split("\n")[0], lines, "", ""], False
        wanted = {}
        with torch.no_grad():
            begin = time.perf_counter()
            result = model(*arguments)
            seconds = time.perf_counter() - begin
        keep(result, "result", wanted)
        found = load_file(folder / "results.safetensors")
        problem = difference(wanted, found)
        return [name, "yes", problem or "yes", lines, f"{float(run.stdout) * 1e3:.0f}", f"{seconds * 1e3:.0f}"], not problem


def main():
    parser = argparse.ArgumentParser(prog="./dev models torchscript", description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", default="*", help="only models with such names: 'resnet*'")
    parser.add_argument("--page", action="store_true", help="write the table to tests/models/README.md")
    parser.add_argument("--boxcar", default=ROOT / "build" / "release" / "boxcar", help="the program")
    options = parser.parse_args()
    if options.page and options.only != "*":
        parser.error("--page is of all models; leave out --only")
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    rows, equal, unexplained = [], 0, 0
    for name in MODELS:
        if fnmatch.fnmatch(name, options.only):
            row, is_equal = compare(name, options.boxcar)
            if not is_equal and name in REASONS:
                row[2] += ": " + REASONS[name]
            unexplained += not is_equal and name not in REASONS
            rows.append(row)
            equal += is_equal
            print(f"{name}: {row[2]}", file=sys.stderr)
    text = f"{equal} of {len(rows)} models are equal; torch {torch.__version__.split('+')[0]}, torchvision " \
           f"{torchvision.__version__.split('+')[0]}.\n\n"
    text += "| model | imports | equal | lines | first call ms | PyTorch's first call ms |\n| --- | --- | --- | --: | --: | --: |\n"
    text += "".join("| " + " | ".join(str(cell) for cell in row) + " |\n" for row in rows)
    if options.page:
        begin, end = "<!-- begin torchscript -->\n", "<!-- end torchscript -->\n"
        before, rest = PAGE.read_text().split(begin)
        PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")
    else:
        print(text)
    if unexplained:
        sys.exit("some models are not equal, and REASONS does not say why")


if __name__ == "__main__":
    main()
