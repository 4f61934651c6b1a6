#!/usr/bin/env bash
# Tests that archives of torch.jit.save are imported and run. Usage: torchscript_test.sh BOXCAR MODULES CHECKPOINTS
set -u

source "$(dirname "$0")/expectations.sh"
modules=$2
checkpoints=$3
cp "$modules"/*.pt "$modules/expected.safetensors" "$modules/check.ops" .

# ---- Results ----

runMerged "all modules" run check.ops
expectStatus 0
expectOutput "51 modules are equal"

runMerged "import" import conv.pt -o conv.ops
expectStatus 0
expectOutput ""
diff -u "$modules/conv.ops" conv.ops || fail "the script of conv.pt is another one than in $modules"
cat >use.ops <<'END'
import "conv.ops" as conv
import "conv.pt" as archive
expected = io::load("expected.safetensors")
x = expected["conv.0.argument.0"]
print(allclose(conv.forward(x), expected["conv.0"], 1e-4, 1e-5), equal(conv.forward(x), archive.forward(x)))
END
runMerged "the script" run use.ops
expectStatus 0
expectOutput "True True"
rm conv.safetensors
runMerged "loops that end early" import breaks.pt -o breaks.ops
expectStatus 0
diff -u "$modules/breaks.ops" breaks.ops || fail "the script of breaks.pt is another one than in $modules"
runMerged "import --in-place" import --in-place conv.pt -o conv.ops
expectStatus 0
[[ ! -e conv.safetensors ]] || fail "the weights were copied"
runMerged "the script on the archive's weights" run use.ops
expectStatus 0
expectOutput "True True"

cat >state.ops <<'END'
import "buffers.pt" as a
import "buffers.pt" as b
x = ones(2, 3)
print(a.forward(x)[0, 0].item(), a.forward(x)[0, 0].item(), b.forward(x)[0, 0].item())
print(sorted(io::load("shared.pt").keys()))
END
runMerged "each import has its own buffers" run state.ops
expectStatus 0
expectOutput "1.5 2.25 1.5
['a.bias', 'a.weight', 'b.bias', 'b.weight', 'c.bias', 'c.weight']"

runMerged "another method" call exported.pt twice 'ones(1, 4)' -o twice.npz
expectStatus 0

# ---- Errors ----

runMerged "what a module raises" call raises.pt 'ones(2)' n=-1
expectStatus 1
expectOutputHas "error: n is -1, but must not be negative"
runMerged "an assertion" call raises.pt 'ones(2)' 11
expectStatus 1
expectOutputHas "error: AssertionError: n is too large"

runMerged "a checkpoint" import "$checkpoints/state_dict_now.pt" -o out.ops
expectStatus 1
expectOutput "boxcar: '$checkpoints/state_dict_now.pt' holds no program, but tensors or other values, which io::load reads; a program is written in Python by torch.export.save, or torch.jit.save"
runMerged "a model as the output" import mlp.pt -o mlp.pt
expectStatus 1
expectOutput "boxcar: the script cannot be called 'mlp.pt': its name must end in .ops, so that it is no model or other file"
cmp -s mlp.pt "$modules/mlp.pt" || fail "the model was overwritten"

# An archive with other code.
cat >change.py <<'END'
import sys
import zipfile
source, target, member, old, new = sys.argv[1:]
with zipfile.ZipFile(source) as read, zipfile.ZipFile(target, "w") as write:
    assert any(name.endswith(member) for name in read.namelist()), member
    for name in read.namelist():
        data = read.read(name)
        if name.endswith(member):
            assert old.encode() in data, name
            data = data.replace(old.encode(), new.encode())
        write.writestr(name, data)
END
change() { python3 change.py "$@"; }
change mlp.pt other.pt activation.py "relu(" "no_such_operator("
runMerged "an operator that boxcar lacks" import other.pt -o out.ops
expectStatus 1
expectOutputHas "boxcar: 'other.pt' cannot be imported, because boxcar does not have
  __torch__.torch.nn.functional.no_such_operator (code/__torch__/torch/nn/modules/activation.py, line "
[[ ! -e out.ops ]] || fail "half an import was written"
runMerged "import --lenient" import --lenient other.pt -o out.ops
expectStatus 0
echo 'import "out.ops" as m
m.forward(ones(1, 4))' >run_other.ops
runMerged "what is missing fails when it runs" run run_other.ops
expectStatus 1
expectOutputHas "error: __torch__.torch.nn.functional.no_such_operator (code/__torch__/torch/nn/modules/activation.py, line "

change located.pt other.pt builtin_modules.py "torch.sigmoid" "torch.no_operator"
runMerged "an operator that boxcar lacks, with the line of Python" import other.pt -o out.ops
expectStatus 1
expectOutputHas "
  torch.no_operator(Tensor) (code/__torch__/builtin_modules.py, line 10, which is /home/me/net.py, line 152)
"
change located.pt named.pt builtin_modules.py "torch.sigmoid" "torch.refine_names"
runMerged "an operator of named dimensions" import named.pt -o out.ops
expectStatus 1
expectOutputHas "
  torch.refine_names(Tensor); tensors have no named dimensions, as PyTorch removed them: give the number of a dimension, and keep it in a variable to name it (code/__torch__/builtin_modules.py, line 10, "
cat >lines.ops <<'END'
name = "located/code/__torch__/builtin_modules.py.debug_pkl"
print(io::torchscript_lines(io::load_zip("located.pt")[name])[0])
for size in range(1, 200) { io::torchscript_lines(io::load_zip("located.pt")[name][:size]) }
print(io::torchscript_lines(tensor([41, 46], dtype=uint8)), io::torchscript_lines(tensor([1, 2], dtype=uint8)))
print(io::torchscript_lines(tensor([0.5])))
END
runMerged "the lines of a debug_pkl" run lines.ops
expectStatus 1
expectOutputHas "(217, '/home/me/net.py', 151)
[] []
error: io::torchscript_lines takes the bytes of a member .debug_pkl, as io::load_zip gives them: a contiguous Tensor of uint8 on the CPU"
python3 - other.pt cut.pt <<'END'
import sys
import zipfile
with zipfile.ZipFile(sys.argv[1]) as read, zipfile.ZipFile(sys.argv[2], "w") as write:
    for name in read.namelist():
        data = read.read(name)
        write.writestr(name, data[:100] if name.endswith(".debug_pkl") else data)
END
runMerged "lines that are damaged are not told" import cut.pt -o out.ops
expectStatus 1
expectOutputHas "
  torch.no_operator(Tensor) (code/__torch__/builtin_modules.py, line 10)
"

change early_return.pt branch.pt code/__torch__.py "torch.mul(y, 2)" "torch.no_such_operator(y, 2)"
runMerged "an operator in a branch that does not run" call branch.pt 'ones(2)' 0
expectStatus 0
runMerged "an operator in a branch that runs" call branch.pt 'ones(2)' 2
expectStatus 1
expectOutputHas "error: torch.no_such_operator(Tensor, int) (code/__torch__.py, line 33) cannot be had"

change mlp.pt broken.pt activation.py "def forward" "def forw@rd"
runMerged "code that is no code" import broken.pt -o broken.ops
expectStatus 1
expectOutputHas "boxcar: 'broken.pt', code/__torch__/torch/nn/modules/activation.py, line "

[[ $failures -eq 0 ]] || exit 1
