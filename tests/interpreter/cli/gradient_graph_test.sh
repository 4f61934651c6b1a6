#!/usr/bin/env bash
# Tests `boxcar run --grad-graph`: what it draws, and when it draws nothing.
# Usage: gradient_graph_test.sh BOXCAR
set -u
source "$(dirname "$0")/expectations.sh"

# Prints the boxes and the arrows of a graph, without their styles.
parts() { sed -nE 's/^  ([nc][0-9]+) \[label="([^"]*)".*\];( n[0-9]+ -> c[0-9]+;)?$/\1 \2\3/p; s/^  (n[0-9]+ -> n[0-9]+)( \[label="(.*)"\])?;$/\1 \3/p' "$1"; }
expectParts() {  # FILE EXPECTED
  local found
  found=$(parts "$1" | sed 's/ $//')
  [[ $found == "$2" ]] || fail "$test_name" "it drew:" "$found" "instead of:" "$2"
}

cat > step.ops <<'END_OF_SCRIPT'
w = tensor([[1.0, 2.0], [3.0, 4.0]]).requires_grad_()
top, low = w.unbind()
loss = (low * top).sum()
loss.backward()
print(w.grad)
w.sum().backward()
END_OF_SCRIPT
run "a step" run --grad-graph step.dot step.ops
expectStatus 0
expectOutput "tensor([[3., 4.],
        [1., 2.]])"
expectErrors ""
expectParts step.dot 'n0 SumBackward0\nfloat32 []\naten::sum at step.ops:3\nloss = (low * top).sum()
n1 MulBackward0\nfloat32 [2]\naten::mul at step.ops:3\nloss = (low * top).sum()
n2 UnbindBackward0\nfloat32 [2]\nfloat32 [2]\naten::unbind at step.ops:2\ntop, low = w.unbind()
n3 leaf 1\nfloat32 [2, 2]
n0 -> n1
n1 -> n2 result 1
n1 -> n2
n2 -> n3'

cat > uses.ops <<'END_OF_SCRIPT'
x = ones(1).requires_grad_()
y = x
for i in range(5) { y = y * x }
print(autograd::grad([y], [x])[0])
END_OF_SCRIPT
run "a leaf that is used often" run --grad-graph uses.dot uses.ops
expectStatus 0
expectOutput "tensor([6.])"
[[ $(parts uses.dot | grep -c '^c[0-5] leaf 1\\nfloat32 \[1\] n[0-9] -> c[0-5];$') -eq 6 ]] || fail "$test_name" "$(< uses.dot)"

cat > long.ops <<'END_OF_SCRIPT'
x = ones(1).requires_grad_()
y = x
for i in range(150000) { y = -y }
y.backward()
END_OF_SCRIPT
run "a long chain" run --grad-graph long.dot long.ops
expectStatus 0
expectErrors "'long.dot': the graph has 150001 nodes; these are the 100000 nearest to where the pass begins"
[[ $(grep -c NegBackward0 long.dot) -eq 100000 ]] || fail "$test_name" "$(grep -c NegBackward0 long.dot) boxes"

run "the script fails after its step" run --grad-graph fails.dot - <<< 'x = ones(1).requires_grad_()
x.backward()
assert False, "later"'
expectStatus 1
expectErrorsHave "later"
expectParts fails.dot 'n0 leaf 1\nfloat32 [1]'

if command -v dot > /dev/null; then
  run "a picture" run --grad-graph step.svg step.ops
  expectStatus 0
  grep -q 'UnbindBackward0</text>' step.svg || fail "$test_name" "$(head -c 300 step.svg)"
  run "a picture of a long chain" run --grad-graph long.svg long.ops
  expectStatus 0
  [[ $errors =~ ^"'long.svg': the graph has 150001 nodes; these are the "[1-9][0-9]+" nearest to where the pass begins; a .dot file has up to 100000"$ ]] ||
    fail "$test_name" "$errors"
  grep -q 'the graph has 150001 nodes' long.svg || fail "$test_name" "the picture does not say that it is a part"
  rm step.svg
fi
PATH=/nowhere run "a picture without Graphviz" run --grad-graph step.svg step.ops
expectStatus 1
expectOutput ""
expectErrorsHave "install the package graphviz, or write the graph to a .dot file"

# ---- Nothing to draw ----

echo 'older' > none.dot
run "no pass" run --grad-graph none.dot - <<< 'print(1)'
expectStatus 1
expectOutput 1
expectErrors "boxcar: 'none.dot' was not written, because the script began no backward pass: --grad-graph draws what the first call of backward or autograd.grad differentiates"
[[ $(< none.dot) == older ]] || fail "$test_name" "it wrote $(< none.dot)"
run "another file name" run --grad-graph step.png step.ops
expectStatus 2
expectErrors "boxcar run: --grad-graph: 'step.png' must end in .svg, for a picture, or in .dot, for Graphviz's language
Run \`boxcar run --help\` for its usage."
run "a folder that is not there" run --grad-graph absent/step.dot step.ops
expectStatus 1
expectErrors "boxcar: cannot write 'absent/step.dot': No such file or directory"
cp step.ops step.dot
run "the script itself" run --grad-graph step.dot step.dot
expectStatus 2
expectErrorsHave "is the script itself"

[[ $failures -eq 0 ]] || exit 1
