#!/usr/bin/env bash
# Tests `boxcar run` with --memory, --cost, --deny and --inject.
# Usage: counts_test.sh BOXCAR
set -u
source "$(dirname "${BASH_SOURCE[0]}")/expectations.sh"

cat > clean.ops << 'END'
const scale = full([1000], 2.0)
fn f(Tensor x) -> Tensor { return x * scale }
xs = [f(ones([1000])) for i in range(3)]
print(xs[2].sum().item())
END
cat > leak.ops << 'END'
kept = []
kept.append(kept)
for i in range(2) {
    kept.append(ones([1000]))
}
END

run "a clean script leaves nothing" run --memory clean.ops
expectStatus 0
expectOutput 2000.0
expectErrorsHave "memory: at most 19.5 KiB at once, reached at clean.ops:2; 0 B in 0 storages still live at the end
operator "
[[ $errors != *"still live at the end, by"* ]] || fail "$test_name" "it says that something is left:" "$errors"

run "a list that holds itself leaks" run --memory leak.ops
expectStatus 0
expectErrorsHave "; 7.8 KiB in 2 storages still live at the end
operator "
expectErrorsHave "still live at the end, by what allocated it:
  7.8 KiB in 2 storages: aten::empty.memory_format at leak.ops:4"

printf 'x = ones([1000])\ny = x @ ones([3])\n' > fails.ops
run "a script that fails leaves nothing, either" run --memory fails.ops
expectStatus 1
expectErrorsHave "; 0 B in 0 storages still live at the end"
expectErrorsHave "error: "

printf 'x = ones([64, 64])\nfor i in range(4) { y = relu(x @ x) }\n' > work.ops
run "--cost" run --cost work.ops
expectStatus 0
expectErrorsHave "cost: one core of this machine does "
expectErrorsHave "
operator "
# calls, operations, bytes and operations per byte; the other columns are times
[[ $errors =~ aten::mm\ +4\ +[0-9.]+\ +[0-9.]+\ +2\.10\ M\ +192\.0\ KiB\ +10\.67\  ]] || fail "$test_name" "$errors"
[[ $errors =~ aten::relu\ +4\ +[0-9.]+\ +[0-9.]+\ +16\.38\ k\ +128\.0\ KiB\ +0\.12\  ]] || fail "$test_name" "$errors"
[[ $errors =~ aten::matmul\ +4\ +[0-9.]+\ +[0-9.]+\ +-\ +-\ +-\ +-\ +-\ +-\ +overhead ]] || fail "$test_name" "$errors"

run "--deny" run --deny 'aten::mm' work.ops
expectStatus 1
expectErrors "error: aten::mm is denied by the pattern 'aten::mm': call another operator, or run without deny
  aten::matmul(self: float32[64, 64], other: float32[64, 64])
  work.ops:2:30
    for i in range(4) { y = relu(x @ x) }
                                 ^~~~~"

run "--inject" run --inject 'aten::mm,n=3' work.ops
expectStatus 1
expectErrors "inject 'aten::mm': 3 calls matched, 1 fault was injected
  call 3: an Error in aten::mm at work.ops:2
error: aten::mm was made to fail: inject 'aten::mm' chose call 3 of those that match
  aten::matmul(self: float32[64, 64], other: float32[64, 64])
  work.ops:2:30
    for i in range(4) { y = relu(x @ x) }
                                 ^~~~~"

run "--inject that corrupts" run --inject 'aten::relu,n=2,corrupt=True,seed=1' work.ops
expectStatus 0
expectErrorsHave "inject 'aten::relu': 4 calls matched, 1 fault was injected
  call 2: flipped bit "

run "--inject of what is not called" run --inject aten::conv2d work.ops
expectStatus 0
expectErrors "inject 'aten::conv2d': no call matched, nothing was injected"

run "--inject of call 0" run --inject 'aten::mm,n=0' work.ops
expectStatus 2
expectErrors "boxcar run: --inject: n=0 is not a call; calls are counted from 1
Run \`boxcar run --help\` for its usage."
run "--inject with a probability that is none" run --inject 'aten::mm,probability=2' work.ops
expectStatus 2
expectErrorsHave "boxcar run: --inject: probability=2 is not from 0.0 to 1.0"

run "several, nested" run --memory --inject 'aten::mm,n=2' --memory work.ops
expectStatus 1
[[ $(grep -c '^memory: at most 48.0 KiB at once' <<< "$errors") -eq 2 ]] || fail "$test_name" "$errors"

[[ $failures -eq 0 ]]
