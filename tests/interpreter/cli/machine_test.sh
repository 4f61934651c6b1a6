#!/usr/bin/env bash
# Tests --threads, BOXCAR_NUM_THREADS and --cpu-fallback as a program.
# Usage: machine_test.sh BOXCAR PLUGIN SCRIPTS, with the sample plugin and the folder of example scripts.
set -u

plugin=$2
scripts=$3
source "$(dirname "$0")/expectations.sh"

usage() { expectErrors "boxcar $1
Run \`boxcar ${1%%:*} --help\` for its usage."; expectStatus 2; }

# ---- Threads ----

cat > sums.ops <<'END2'
x = arange(300000, dtype=float32).reshape(300, 1000)
print(x.sum().item(), (x / 3).exp().sum(1)[7].item(), x.t().relu().max().item(), (x @ x.t())[3, 5].item())
print(x.softmax(1).sum().item(), (x * 2 + 1)[17, 3].item(), x.argmax().item(), x.mean(0)[:3].tolist())
END2
run "one thread" run --threads 1 sums.ops
expectStatus 0
expectErrors ""
one=$output
for threads in 2 3 8; do
  run "$threads threads" run --threads "$threads" sums.ops
  expectOutput "$one"
done
BOXCAR_NUM_THREADS=2 run "threads of the environment" run sums.ops
expectOutput "$one"

run "no threads" run --threads 0 sums.ops
usage "run: --threads: it must be a whole number from 1 to 1024, not '0'"
run "threads that are no number" run --threads two sums.ops
usage "run: --threads: it must be a whole number from 1 to 1024, not 'two'"
for count in 0 two -1 4x 1025 99999999999999999999; do
  BOXCAR_NUM_THREADS=$count run "BOXCAR_NUM_THREADS=$count" run sums.ops
  expectStatus 1
  expectOutput ""
  expectErrors "boxcar: BOXCAR_NUM_THREADS must be a number of threads from 1 to 1024, but it is '$count'"
  BOXCAR_NUM_THREADS=$count run "--threads goes before BOXCAR_NUM_THREADS=$count" run --threads 2 sums.ops
  expectOutput "$one"
done

# Threads that wait spin for a short time; libgomp says what it has read. What the user has set counts.
spinsFor() {  # COUNT VARIABLE=VALUE...
  local count=$1; shift
  [[ $(env -i OMP_DISPLAY_ENV=verbose "$@" "$boxcar" --version 2>&1) == *"GOMP_SPINCOUNT = '$count'"* ]] ||
    fail "waiting threads with $*" "libgomp did not read GOMP_SPINCOUNT = $count"
}
if env -i OMP_DISPLAY_ENV=verbose "$boxcar" --version 2>&1 | grep -q GOMP_SPINCOUNT; then
  for variable in _="$boxcar" HOME=/ OLDPWD=/tmp; do spinsFor 2000 "$variable"; done
  spinsFor 7 _=x GOMP_SPINCOUNT=7
  spinsFor 0 _=x OMP_WAIT_POLICY=passive
fi

# ---- The CPU fallback ----

digits=$(cd "$scripts" && "$boxcar" run digits.ops)
[[ $digits == "correct 273 of 297" ]] || fail "digits on the CPU" "$digits"
moved=$scripts/plugin/digits.ops
run "digits on a device that lacks most" --plugin "$plugin" run "$moved"
expectStatus 1
expectErrorsLike "could not run aten::.* or run with \`--cpu-fallback\`, or write \`impl aten::.* @ PrivateUse1"
run "digits on the CPU by the script for devices" --plugin "$plugin" run "$moved" cpu
expectOutput "$digits"

for option in --cpu-fallback --cpu-fallback=privateuseone; do
  run "digits with $option" --plugin "$plugin" run "$option" "$moved"
  expectStatus 0
  expectOutput "$digits"
  expectErrorsLike "^CPU fallback: [0-9]+ calls of [0-9]+ operators ran on the CPU for device 'privateuseone'
operator +calls +to the CPU +back
.*aten::addmm +2 "
done
run "digits with everything forced" --plugin "$plugin" run --cpu-fallback \
  --cpu-fallback-force 'linear,aten::relu,digits::mlp' "$moved"
expectOutput "$digits"
expectErrorsLike "digits::mlp +1 "
[[ $errors != *aten::relu* ]] || fail "$test_name" "what the forced operator calls runs on the CPU, too:" "$errors"

for handler in --check-schema --check-meta --check-nan "--trace out.ops" "--profile out.html" "--record out.rec" --memory \
  --cost; do
  # shellcheck disable=SC2086
  run "digits with $handler" --plugin "$plugin" run --cpu-fallback $handler "$moved"
  expectStatus 0
  expectOutput "$digits"
  expectErrorsLike "CPU fallback: "
done
run "a recording, made again" --plugin "$plugin" replay --cpu-fallback out.rec
expectStatus 0
expectErrorsLike "^CPU fallback: "

run "nothing to do" --plugin "$plugin" run --cpu-fallback "$moved" cpu
expectErrors "CPU fallback: no operator needed it"
run "no device" run --cpu-fallback "$scripts/digits.ops"
expectErrors "CPU fallback: there is no device except the CPU; --plugin loads one"

run "the CPU itself" run --cpu-fallback=cpu sums.ops
usage "run: --cpu-fallback: 'cpu' is not a device that can run its operators on the CPU instead"
run "a device with an index" run --cpu-fallback=cuda:0 sums.ops
usage "run: --cpu-fallback: name a kind of device, without an index: 'cuda'"
run "a device that nobody knows" run --cpu-fallback=gpu sums.ops
expectStatus 2
expectErrorsLike "--cpu-fallback: device 'gpu' has the unknown type 'gpu'"
run "forced without the fallback" run --cpu-fallback-force aten::mm sums.ops
usage "run: --cpu-fallback-force requires --cpu-fallback"
run "a name that nobody has" --plugin "$plugin" run --cpu-fallback --cpu-fallback-force aten::nm "$moved"
expectStatus 1
expectErrors "boxcar: cannot force 'aten::nm' onto the CPU: no operator has such a name"

cat > refused.ops <<'END2'
x = ones(2, 3, device="privateuseone")
print(x.relu().bernoulli())
END2
run "a random operator" --plugin "$plugin" run --cpu-fallback refused.ops
expectStatus 1
expectErrorsLike "error: aten::bernoulli.* has no kernel for PrivateUse1, and the CPU fallback does not run it: it draws random"
expectErrorsLike "
aten::relu +1 "

[[ $failures -eq 0 ]]
