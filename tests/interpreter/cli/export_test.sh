#!/usr/bin/env bash
# Tests `boxcar export`: what is in the archive, and that boxcar imports it again with equal results. tests/models has the
# comparison with PyTorch. Usage: export_test.sh BOXCAR MODELS SCRIPTS
set -u

source "$(dirname "$0")/expectations.sh"
models=$2
scripts=$3
command -v python3 > /dev/null || { echo "skipped: archives are read with python3"; exit 77; }

cat >tool.ops <<'END'
const net = {"fc.weight": ones(2, 3), "fc": tensor([0.5, -1.0]), "half": ones(1)}
const state = {"count": tensor([0]), "mean": zeros(2)}
const table = tensor([1.0, 2.0])
op my::twice(Tensor x) -> Tensor { return x * 2 }

fn small(Tensor x, int by=2, Tensor? mask=None, *, Any more) -> Any {
    fresh = tensor([1.0, 2.0])
    fresh.add_(1)
    y = my::twice(linear(x, net["fc.weight"], net["fc"])).relu_() * fresh + net["half"]
    state["count"].add_(1)
    values, indices = topk(y, 1)
    print("sum", y.sum().item())
    return {"values": values, "rest": (more["k"] + by, None, [indices, y[:, [1]]], 3, 2.5, True, inf)}
}
fn plain(Tensor x) -> Tensor { return batch_norm(x, table, table, table, table, False, 0.1, 1e-5, False) }
fn twin(Tensor x) -> (Tensor, Tensor) { return x.sum(), x.max() }
fn lacks(Tensor x) -> Tensor {
    slope = func::grad(square)
    x = slope(x).sum() + qr(x.view(1, -1))[0].sum()
    y = fft_thing(x)
    io::write_text("a", "a.txt")
    return x + y + cholesky(ones(1, 1)).sum()
}
fn square(Tensor x) -> Tensor { return (x * x).sum() }
fn fft_thing(Tensor x) -> Tensor { return qr(x.view(1, 1))[1] }
fn text(Tensor x) -> Any { return [x, "name"] }
fn typed(Tensor x, ScalarType d) -> Tensor { return x.to(d) }
fn on_meta(Tensor x) -> Tensor { return x.to("meta") + meta_table }
const meta_table = ones(2, device="meta")
fn part() -> Tensor { return table[:1] }
fn shares(Tensor x) -> Tensor { return x + table }
fn device(Device d, Tensor x) -> Tensor { return x }
END

# ---- The archive ----

runMerged "a function" export tool.ops small 'ones(1, 3)' more='{"k": ones(2), "n": 7}' -o small.pt2
expectStatus 0
expectOutput "sum 28.0"
python3 - "$models/exported.json" <<'END' || fail "the archive"
import json, struct, sys, zipfile
archive = zipfile.ZipFile("small.pt2")
names = archive.namelist()
assert names == [*(f"small/data/weights/weight_{i}" for i in range(6)), "small/data/weights/model_weights_config.json",
                 "small/data/constants/model_constants_config.json", "small/models/model.json",
                 "small/data/sample_inputs/model.pt", "small/archive_format", "small/archive_version",
                 "small/.data/version", "small/byteorder"], names
assert archive.testzip() is None
data = open("small.pt2", "rb").read()
for info in archive.infolist():
    assert info.compress_type == zipfile.ZIP_STORED
    name, extra = struct.unpack("<HH", data[info.header_offset + 26:info.header_offset + 30])
    begin = info.header_offset + 30 + name + extra
    assert begin % 64 == 0, (info.filename, begin)
    assert data[begin:begin + info.file_size] == archive.read(info)
program = json.loads(archive.read("small/models/model.json"))
program["weights_config"] = json.loads(archive.read("small/data/weights/model_weights_config.json"))

# A line for each part that is not long.
def lines(value, indent=""):
    flat = json.dumps(value)
    if len(flat) <= 400 or not isinstance(value, (dict, list)):
        return flat
    if isinstance(value, dict):
        inner = [f"{indent} {json.dumps(key)}: {lines(each, indent + ' ')}" for key, each in value.items()]
    else:
        inner = [f"{indent} {lines(each, indent + ' ')}" for each in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return begin + "\n" + ",\n".join(inner) + "\n" + indent + end

text = lines(program) + "\n"
open("found.json", "w").write(text)
if text != open(sys.argv[1]).read():
    sys.exit("the program is another one than in " + sys.argv[1])
END
[[ $failures -eq 0 ]] || diff "$models/exported.json" found.json
runMerged "the same again" export tool.ops small 'ones(1, 3)' more='{"k": ones(2), "n": 7}' -o again/small.pt2
expectStatus 1
mkdir again
runMerged "the same again" export tool.ops small 'ones(1, 3)' more='{"k": ones(2), "n": 7}' -o again/small.pt2
cmp small.pt2 again/small.pt2 || fail "the same function gives another archive"

# ---- Imported again ----

# Compares a function with its archive: both get the tensors of in.safetensors.
same() {  # SCRIPT FUNCTION WORD...
  local script=$1 function=$2
  shift 2
  runMerged "export of $function" export "$script" "$function" "$@" -o model.pt2
  expectStatus 0
  runMerged "$function" call "$script" "$function" "$@" -o wanted.safetensors
  runMerged "$function, imported" call --no-prepare model.pt2 "$@" -o found.safetensors
  expectStatus 0
  echo 'wanted = io::load("wanted.safetensors")
found = io::load("found.safetensors")
print(len(wanted) > 0 and str(wanted.keys()) == str(found.keys()) and all([equal(wanted[k], found[k]) for k in wanted.keys()]))' >compare.ops
  runMerged "$function, imported, is the same" run compare.ops
  expectOutput "True"
}

{
  sed '/^data = /,$d' "$scripts/digits.ops"
  echo "const net = io::load(\"$scripts/data/digits_mlp.safetensors\")
fn mlp(Tensor x) -> Tensor { return digits::mlp(x, net[\"fc1.weight\"], net[\"fc1.bias\"], net[\"fc2.weight\"], net[\"fc2.bias\"]) }"
} >mlp.ops
{
  sed '/^data = /,$d' "$scripts/digits_cnn.ops"
  echo "const net = io::load(\"$scripts/data/digits_cnn.safetensors\")
fn cnn(Tensor images) -> Tensor { return digits::cnn(images, net) }"
} >cnn.ops
{
  sed '/^beginning = /,$d' "$scripts/gpt.ops"
  echo "fn loaded() -> Dict(str, Tensor) {
    halves = io::load(\"$scripts/data/gpt.safetensors\")
    for name in halves.keys() { halves[name] = halves[name].to(float32) }
    return halves
}
const net = loaded()
fn scores(Tensor tokens) -> Tensor { return gpt::scores(tokens, net) }"
} >gpt.ops
echo 'io::save({"images": arange(640, dtype=float32).view(10, 64) / 640}, "in.safetensors")' >in.ops
runMerged "inputs" run in.ops
same mlp.ops mlp in.safetensors:images
same cnn.ops cnn 'images=io::load("in.safetensors")["images"].view(10, 1, 8, 8)'
same gpt.ops scores 'tokens=arange(12)'
same tool.ops plain 'rand(3, 2) if False else ones(3, 2)'
same tool.ops twin 'ones(3)'
same "$models/structures.pt2" forward 'pair=(ones(2), zeros(2))' 'named={"a": ones(2), "b": ones(2)}'

# ---- Errors ----

refused() {  # NAME EXPECTED WORD...
  local name=$1 expected=$2
  shift 2
  rm -f none.pt2
  runMerged "$name" export tool.ops "$@" -o none.pt2
  expectStatus 1
  expectOutput "boxcar: $expected"
  [[ ! -e none.pt2 ]] || fail "$name: an archive was written"
}

refused "operators that PyTorch does not have" "lacks cannot be exported, because PyTorch does not have
  aten::qr (tool.ops:19)
  aten::qr (tool.ops:25)
  io::write_text (tool.ops:21)
  aten::cholesky (tool.ops:22)
Let the function do without them, or call them outside of it and pass it what they give" lacks 'ones(2)'
refused "a text" "text cannot be exported: it returns the text \"name\"; a program returns tensors and numbers, alone or in lists, tuples and dicts" text 'ones(2)'
refused "a weight without elements" "on_meta cannot be exported: the tensor 'meta_table' is on the meta device, so it has no elements" on_meta 'ones(2)'
refused "a weight in the memory of an argument" "shares cannot be exported: the tensor 'table' shares memory with an argument, which a program cannot say; pass a clone() of the argument" shares 'part()'
refused "a device" "device cannot be exported: argument 'd' has a value of kind Device; a program takes tensors, numbers and texts" device '"cpu"' 'ones(2)'
runMerged "another ending" export tool.ops plain 'ones(3, 2)' -o out.zip
expectStatus 2
expectOutputHas "boxcar export: --output: 'out.zip' does not end with .pt2"
runMerged "no file" export tool.ops plain 'ones(3, 2)'
expectStatus 2
expectOutputHas "boxcar export: --output is required"
cp small.pt2 own.pt2
runMerged "the model itself" export own.pt2 'ones(1, 3)' -o own.pt2
expectStatus 2
expectOutputHas "'own.pt2' is the script itself: name another file"
runMerged "a folder that is not there" export tool.ops plain 'ones(3, 2)' -o none/out.pt2
expectStatus 1
expectOutput "boxcar: cannot write 'none/out.pt2': No such file or directory"
runMerged "an argument that does not fit" export tool.ops plain '3' -o none.pt2
expectStatus 1
expectOutputHas "plain(): argument 'x' must be Tensor, not int"

[[ $failures -eq 0 ]] || exit 1
