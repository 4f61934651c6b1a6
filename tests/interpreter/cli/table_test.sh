#!/usr/bin/env bash
# Tests `boxcar table`: one operator, all operators, JSON and the page. tests/browser tests the page in a browser.
# Usage: table_test.sh BOXCAR
set -u
source "$(dirname "$0")/expectations.sh"

isJson() { python3 -m json.tool <<< "$output" > object.json || fail "$test_name" "no JSON" "$output"; }
has() { grep -q -- "$1" object.json || fail "$test_name" "without $1"; }

# ---- One operator ----

run "a kernel of a backend" table aten::exp
expectStatus 0
places=$(grep -v 'gradient\|MkldnnCPU' <<< "$output" | grep -o 'backends/[a-z/_.]*:[0-9]*$')
formula=$(grep '^gradient: by the formula at backends/ops/aten_functions.derivatives:' <<< "$output")
kernel=$(grep -o 'backends/autograd/autograd_kernel.cpp:[0-9]*$' <<< "$output" | head -1)
class=$(grep -o 'backends/ops/aten.autocast:[0-9]*$' <<< "$output" | head -1)
[[ $(sed -n "${class##*:}p" "$(dirname "$0")/../../../${class%:*}") =~ ^aten::exp\ +cuda=fp32$ ]] ||
  fail "the class is there" "$output"
fallback=$(grep -o 'backends/composite/mkldnn.cpp:[0-9]*$' <<< "$output")
expectOutput "aten::exp(Tensor self) -> Tensor
defined at $(sed -n 1p <<< "$places")
$formula
autocast: fp32 on cuda, by $class
key                                    kernel   cause     registered for  at
AutocastCUDA                           unboxed  exact     AutocastCUDA    $class
AutogradNestedTensor                   boxed    alias     Autograd        $kernel
AutogradMeta to AutogradCPU (15 keys)  boxed    alias     Autograd        $kernel
AutogradOther                          boxed    alias     Autograd        $kernel
MkldnnCPU                              boxed    fallback  MkldnnCPU       $fallback
Meta                                   unboxed  exact     Meta            $(sed -n '$p' <<< "$places")
CPU                                    unboxed  exact     CPU             $(sed -n '$p' <<< "$places")
13 keys have their default and 82 are missing; --every shows them"
expectErrors ""

run "classes on two devices" table aten::prod
expectOutputHas "
autocast: fp32 on cpu, fp32_set_opt_dtype on cuda, by backends/ops/aten.autocast:"

run "a composite kernel" table aten::linear
expectStatus 0
[[ $output =~ AutogradMeta\ to\ AutogradCPU\ \(15\ keys\)\ +unboxed\ +alias\ +CompositeImplicitAutograd\ +backends/ ]] ||
  fail "$test_name" "$output"

run "--every" table aten::relu --every
expectStatus 0
[[ $(grep -c . <<< "$output") -eq 120 ]] || fail "$test_name" "not a line for each of 116 keys" "$output"
[[ $output =~ PreDispatch\ +modes\ +default ]] || fail "$test_name" "$output"
[[ $output =~ CUDA\ +missing\ +missing ]] || fail "$test_name" "$output"

run "--json" table aten::relu --json
expectStatus 0
isJson
has '"operator": "aten::relu"'
has '"registered_for": "CPU"'
has '"gradient": "by the formula at '
has '"registered_for": "Autograd"'
has '"autocast": ""'
! grep -q '"missing"' object.json || fail "$test_name" "it has missing cells"
run "--json --every" table aten::relu --json --every
isJson
[[ $(grep -c '"key"' object.json) -eq 116 ]] || fail "$test_name" "not 116 keys"

# ---- All operators ----

count=$("$boxcar" ops | wc -l)
run "--all" table --all
expectStatus 0
[[ $(grep -c . <<< "$output") -eq $((count + 1)) ]] || fail "$test_name" "not a line for each operator"
[[ $output =~ aten::empty.memory_format[\ .-]+exact ]] || fail "$test_name" "$output"
[[ $output =~ aten::relu[\ .-]+exact ]] || fail "$test_name" "$output"
run "--all --json" table --all --json
expectStatus 0
isJson
[[ $(grep -c '"gradient": "by the formula at ' object.json) -gt 500 ]] || fail "$test_name" "without formulas"
[[ $(grep -c '"operator"' object.json) -eq $count ]] || fail "$test_name" "not $count operators"

run "--html" table --html page.html
expectStatus 0
expectOutput ""
grep -q '<title>boxcar: operators and their kernels</title>' page.html || fail "$test_name" "no page"
grep -q '"aten::relu(Tensor self) -' page.html || fail "$test_name" "no operators in the page"
! grep -q '{{data}}\|https\?://' page.html || fail "$test_name" "the page lacks something"

# ---- Errors ----

run "--html to nowhere" table --html absent/page.html
expectStatus 1
expectErrors "boxcar: cannot write 'absent/page.html': No such file or directory"
usage="
Run \`boxcar table --help\` for its usage."
run "nothing asked for" table
expectStatus 2
expectErrors "boxcar table: OPERATOR, --all or --html FILE is required$usage"
run "one and all" table --all aten::relu
expectStatus 2
expectErrors "boxcar table: --all shows all operators, but 'aten::relu' names one; leave one of them out$usage"
run "a page and JSON" table --html page.html --json
expectStatus 2
expectErrors "boxcar table: --html writes a page, and --json asks for JSON; leave one of them out$usage"
run "an operator that is none" table aten::reluu
expectStatus 1
expectErrors "boxcar: there is no operator 'aten::reluu'. Did you mean 'aten::relu', 'aten::relu6' or 'aten::relu_'? \`boxcar ops\` lists all"

[[ $failures -eq 0 ]] || exit 1
