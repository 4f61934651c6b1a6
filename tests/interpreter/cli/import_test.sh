#!/usr/bin/env bash
# Tests import as a program: what it writes runs, and reads as it should. Usage: import_test.sh BOXCAR MODELS
set -u

source "$(dirname "$0")/expectations.sh"
models=$2

# ---- The script ----

cp "$models"/*.pt2 "$models/models.safetensors" .
runMerged "import" import blocks.pt2 -o blocks.ops
expectStatus 0
expectOutput ""
diff -u "$models/blocks.ops" blocks.ops || fail "the script of blocks.pt2 is another one than in $models"
cat >use.ops <<'END'
import "blocks.ops" as blocks
data = io::load("models.safetensors")
print(allclose(blocks.forward(data["blocks.in0"]), data["blocks.out0"], 1e-5, 1e-6))
END
runMerged "the script" run use.ops
expectStatus 0
expectOutput "True"
# Model NAME reads as in NAME.ops, and gives what PyTorch gave for its input.
expectScript() {  # NAME WHAT
    runMerged "$2" import "$1.pt2" -o "$1.ops"
    expectStatus 0
    diff -u "$models/$1.ops" "$1.ops" || fail "the script of $1.pt2 is another one than in $models"
    cat >use_it.ops <<END
import "$1.ops" as model
data = io::load("models.safetensors")
fn tensors(Any result) -> Tensor[] {
    if isinstance(result, Tensor) {
        return [result]
    }
    return [x for x in result if isinstance(x, Tensor)]
}
for i, x in enumerate(tensors(model.forward(data["$1.in0"]))) {
    assert allclose(x, data[f"$1.out{i}"], 1e-5, 1e-6), f"result {i} differs"
}
END
    runMerged "the script of $1.pt2" run use_it.ops
    expectStatus 0
    expectOutput ""
}
expectScript numbers "modules that differ in numbers"
expectScript layers_core "layers that run_decompositions took apart"
expectScript sizes "sizes that modules compute"
expectScript sizes_core "sizes that modules compute, after run_decompositions"
expectScript growing "modules that take what all before them gave"
expectScript casts "regions of autocast"
cat >names.ops <<'END'
names = io::load("blocks.safetensors").keys()
print("embed.weight" in names, "head.weight" in names, len(names))
END
runMerged "tied weights, under one name" run names.ops
expectOutput "True False 19"
rm blocks.safetensors
runMerged "import --in-place" import --in-place blocks.pt2 -o blocks.ops
expectStatus 0
[[ ! -e blocks.safetensors ]] || fail "the weights were copied"
runMerged "the script on the archive's weights" run use.ops
expectStatus 0
expectOutput "True"

# ---- Errors ----

runMerged "a file that is no archive" import use.ops -o out.ops
expectStatus 1
expectOutput "boxcar: 'use.ops' is not a valid zip archive: it has 153 bytes, and does not end with the record that ends an archive; it may be cut off or damaged, so fetch or write it again"
printf '\x80\x02\x8a\x0a' >old.pt
runMerged "a checkpoint of the old format" import old.pt -o out.ops
expectStatus 1
expectOutput "boxcar: 'old.pt' holds no program, but tensors or other values, which io::load reads; a program is written in Python by torch.export.save, or torch.jit.save"
runMerged "no model" import absent.pt2 -o out.ops
expectStatus 1
expectOutput "boxcar: cannot open 'absent.pt2': No such file or directory"
runMerged "one of several programs" import several.pt2 -o out.ops
expectStatus 1
expectOutput "boxcar: 'several.pt2' holds several programs, 'double', 'triple'; name one, as in 'several.pt2:double'"
runMerged "a program that is not there" import several.pt2:quadruple -o out.ops
expectStatus 1
expectOutput "boxcar: 'several.pt2' has no program 'quadruple'; it has 'double', 'triple'"
runMerged "a program by its name" import several.pt2:double -o double.ops
expectStatus 0
runMerged "a call of it" call double.ops forward 'ones(2)'
expectOutput "tensor([2., 2.])"
runMerged "a call of one in the archive" call several.pt2:triple 'ones(2)'
expectOutput "tensor([3., 3.])"
runMerged "no output" import blocks.pt2
expectStatus 2
runMerged "the name of a script of the library" import blocks.pt2 -o nn.ops
expectStatus 1
expectOutput "boxcar: the script cannot be called 'nn.ops': that is a script of boxcar's own, which imports in this folder would no longer find; choose another name"
[[ ! -e nn.ops && ! -e nn.safetensors ]] || fail "the script was written"
[[ ! -e out.ops && ! -e out.safetensors ]] || fail "an import that failed wrote a file"

# ---- What boxcar does not have ----

# Writes the archive $2, which is $1 with the text $4 in place of $3 in its program.
rewrite() {
  python3 - "$@" <<'END' || exit 1
import sys
import zipfile

old, new = (text.encode() for text in sys.argv[3:])
with zipfile.ZipFile(sys.argv[1]) as source, zipfile.ZipFile(sys.argv[2], "w") as target:
    for name in source.namelist():
        data = source.read(name)
        target.writestr(name, data.replace(old, new) if "/models/" in name else data)
END
}

rewrite blocks.pt2 strange.pt2 aten.gelu.default strange.gelu.default
runMerged "an unknown operator" import strange.pt2 -o out.ops
expectStatus 1
expectOutput "boxcar: 'strange.pt2' cannot be imported, because boxcar does not have
  torch.ops.strange.gelu.default (make_models.py:27)
A plugin may bring an operator; --lenient imports the rest"
sed 's/torch.ops.higher_order.cond/torch.ops.higher_order.kond/' control.pt2 >functions.pt2
runMerged "an operator of functions" import functions.pt2 -o out.ops
expectStatus 1
expectOutputHas "A plugin may bring an operator; in PyTorch, run_decompositions() may write what takes functions in operators; --lenient"
runMerged "import --lenient" import --lenient strange.pt2 -o out.ops
expectStatus 0
echo 'import "out.ops"; forward(zeros(1, 5, dtype=int64))' >use.ops
runMerged "a call of what is missing" run use.ops
expectStatus 1
[[ $output == "error: boxcar does not have torch.ops.strange.gelu.default (make_models.py:27)"* ]] || fail "$output"

rewrite control.pt2 unsigned.pt2 '"as_scalar_type": 5' '"as_scalar_type": 28'
runMerged "a dtype that is not there" import unsigned.pt2 -o out.ops
expectStatus 1
expectOutput "boxcar: 'unsigned.pt2' cannot be imported, because boxcar does not have
  the dtype uint16 for torch.ops.aten.zeros.default (make_models.py:58)
A plugin may bring an operator; --lenient imports the rest"

[[ $failures -eq 0 ]] || exit 1
