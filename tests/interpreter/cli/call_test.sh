#!/usr/bin/env bash
# Tests call and bench-model as a program. Usage: call_test.sh BOXCAR MODELS
set -u

source "$(dirname "$0")/expectations.sh"
models=$2

cp "$models/blocks.pt2" "$models/structures.pt2" "$models/named.pt2" "$models/checked_core.pt2" "$models/placed.pt2" \
  "$models/models.safetensors" .
cat >tool.ops <<'END'
fn scale(Tensor x, int by=2) -> Tensor { return x * by }
fn pair(float a) -> Any { return {"sum": ones(2) * a, "more": (tensor([1]), a)} }
fn greet(str name) -> str { return "hello " + name }
END

# ---- Values ----

runMerged "an expression" call tool.ops scale 'ones(2)' by=3
expectStatus 0
expectOutput "tensor([3., 3.])"
runMerged "a text" call tool.ops greet '"you"'
expectOutput "hello you"
echo 'fn count(int[] sizes, Tensor[] xs) -> int { return sum(sizes, 0) + len(xs) }' >lists.ops
runMerged "lists" call lists.ops count '[10, 20, 30]' '[ones(1), ones(2)]'
expectOutput "62"
echo 'print(argv)' >words.ops
runMerged "words that look like lists" run words.ops '[1, 2]' --max-seconds 9 'a b' -- '[3]'
expectOutput "['[1, 2]', 'a b', '[3]']"
runMerged "results in a file" call tool.ops pair 1.5 -o pair.npz
expectStatus 0
expectOutput ""
runMerged "an array of a file" call tool.ops scale pair.npz:sum
expectOutput "tensor([3., 3.])"
runMerged "one array" call tool.ops scale x=pair.npz:more.0 -o one.npy
expectStatus 0
runMerged "a file of one array" call tool.ops scale one.npy
expectOutput "tensor([4])"

echo 'fn mixed() -> Any { return {"a": ones(2), "b": None, "c": "text"} }' >mixed.ops
runMerged "results that are no numbers" call mixed.ops mixed -o mixed.npz
expectStatus 0
expectOutput "not written, since the file holds numbers: b: None, c: text"

# ---- Names ----

runMerged "an operator that the file does not have" call tool.ops relu 'ones(2)'
expectStatus 1
expectOutput "<call>:3:22: error: the file imported as \`program\` has no function \`relu\`
    result = program.relu(ones(2))
                     ^~~~"
echo 'fn relu(Tensor x) -> str { return "mine" }' >named.ops
runMerged "a function with the name of an operator" call named.ops relu 'ones(2)'
expectOutput "mine"
mkdir -p 'a "folder"'
runMerged "a path with quotes" call tool.ops scale 'ones(2)' -o 'a "folder"/out.npy'
expectStatus 0
[[ -s 'a "folder"/out.npy' ]] || fail "the file was not written"

# ---- Models ----

runMerged "a model" call blocks.pt2 models.safetensors:blocks.in0 -o found.safetensors
expectStatus 0
echo 'print(allclose(io::load("found.safetensors")["result"], io::load("models.safetensors")["blocks.out0"], 1e-5, 1e-6))' >compare.ops
runMerged "its results" run compare.ops
expectOutput "True"
runMerged "a dict with a key too many" call structures.pt2 forward 'pair=(ones(2), zeros(2))' 'named={"a": ones(2), "b": ones(2), "c": ones(2)}'
expectStatus 1
[[ $output == "error: assertion failed: named must not have 'c'; it must have the keys ['a', 'b']"* ]] || fail "$output"
runMerged "a dict without a key" call structures.pt2 forward 'pair=(ones(2), zeros(2))' 'named={"a": ones(2)}'
expectStatus 1
[[ $output == "error: assertion failed: named has no 'b'; it must have the keys ['a', 'b']"* ]] || fail "$output"
runMerged "a model by names" call structures.pt2 forward 'pair=(ones(2), zeros(2))' 'named={"a": ones(2), "b": ones(2)}'
expectOutput "{'total': tensor([2., 2.]), 'parts': [tensor([1., 1.]), tensor([0., 0.])], 'rest': (tensor(4.), None, 3)}"

# ---- Devices ----

runMerged "what it makes on a device" call tool.ops scale 'ones(2)' --device meta
expectOutput "tensor(..., device='meta', size=(2,))"
runMerged "an array of a file on a device" call tool.ops scale one.npy --device meta
expectOutput "tensor(..., device='meta', size=(1,), dtype=torch.int64)"
echo 'fn places(Dict(str, Tensor) found) -> str[] { return [str(x.device) for x in found.values()] }' >places.ops
runMerged "all arrays of a file on a device" call places.ops places pair.npz --device meta
expectOutput "['meta', 'meta', 'meta']"
runMerged "a model on a device" call blocks.pt2 models.safetensors:blocks.in0 --device meta
expectStatus 0
expectOutputHas "device='meta'"
runMerged "a model that makes tensors, and that named its device" call placed.pt2 models.safetensors:placed.in0 models.safetensors:placed.in1 --device meta
expectOutput "tensor(..., device='meta', size=(2, 3))"
runMerged "what it converts" import placed.pt2 -o placed.ops
expectStatus 0
grep -q 'mask.to(bool)' placed.ops || fail "$test_name" "$(< placed.ops)"
runMerged "weights that cannot be moved" call net.pt 'ones(2)' --device meta
expectStatus 2
expectOutputHas "--device: the weights of a TorchScript archive are fields of its objects, which stay where they are; export the model with torch.export to run it on another device"
runMerged "a device that is none" call tool.ops scale 'ones(2)' --device nowhere
expectStatus 2
expectOutputHas "--device: device 'nowhere' has the unknown type 'nowhere'; the type is one of cpu, cuda"

# ---- Errors ----

runMerged "no function" call tool.ops
expectStatus 2
expectOutput "boxcar call: FUNCTION: a script has several functions: name the one to call, after FILE
Run \`boxcar call --help\` for its usage."
runMerged "an unknown function" call tool.ops scael 'ones(2)'
expectStatus 1
expectOutputHas "there is no function or operator called \`scael\`. Did you mean 'scale'"
runMerged "another shape" call blocks.pt2 'zeros(1, 4, dtype=int64)'
expectStatus 1
expectOutputHas "tokens must have the shape [s52, 5], where s52 may be any size, not [1, 4]"
runMerged "a check of a decomposed program" call checked_core.pt2 'zeros(2, 2)'
expectStatus 1
expectOutputHas "linalg.inv"
runMerged "another string" call named.pt2 'pair=(ones(2), ones(2))' 'record={"left": ones(2), "right": ones(2)}' \
  'rows={"a": ones(2, 3), "b": ones(2, 3)}' 'mode_="multiply"'
expectStatus 1
expectOutputHas 'mode_ must be "add", as it was when the model was exported, not multiply'
runMerged "no tensors" call tool.ops greet '"you"' -o none.npz
expectStatus 1
expectOutputHas "the function returns no tensors"
[[ ! -e none.npz ]] || fail "an empty file was written"
runMerged "several arrays" call tool.ops pair 1.5 -o pair.npy
expectStatus 1
expectOutputHas "a .npy file has one array: name an .npz file"
runMerged "another kind of file" call tool.ops scale 'ones(2)' -o out.txt
expectStatus 2
expectOutputHas "'out.txt' does not end with .npz, .npy or .safetensors"

# ---- Measuring ----

runMerged "bench-model" bench-model blocks.pt2 'zeros(1, 5, dtype=int64)' --seconds 0.05
expectStatus 0
[[ $output =~ ^load\ +[0-9.]+\ ms.*run\ +[0-9.]+\ ms.*calls\ +[0-9]+.*latency\ +[0-9.]+\ ms\ median.*throughput\ +[0-9.]+\ calls.*memory\ +[0-9.]+\ MB ]] ||
  fail "$test_name" "$output"

[[ $failures -eq 0 ]] || exit 1
