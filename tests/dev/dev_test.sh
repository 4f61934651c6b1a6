#!/usr/bin/env bash
# Tests the script `dev` in a temporary project, with fakes for every tool that installs, configures or builds.
set -uo pipefail
dev=$(readlink -f "${1:?usage: dev_test.sh PATH_OF_DEV}")
sandbox=$(readlink -f "$(mktemp -d)")
trap 'rm -rf "$sandbox"' EXIT
project="$sandbox/a tree" bin=$sandbox/bin log=$sandbox/log
failures=0 output='' errors='' status=0

# Installs a fake tool. Removes the old file first, so that the target of a link is not overwritten.
fake() { rm -f "$bin/$1" && printf '#!/bin/bash\necho "%s $*" >>"%s"\n%s\n' "$1" "$log" "$2" >"$bin/$1" && chmod +x "$bin/$1"; }

# Sets up a machine that has every package and a project that was never built. PATH holds only the fakes and standard
# tools.
start() {
  rm -rf "$project" "$bin" "$log" && mkdir -p "$project" "$bin" && touch "$log"
  cp "$dev" "$project/dev" && cp -r "$(dirname "$dev")/.ci" "$project/" && echo '{}' >"$project/CMakePresets.json"
  local tool
  for tool in bash env readlink dirname sed cat nproc rm touch mkdir chmod; do ln -s "$(command -v $tool)" "$bin/$tool"; done
  fake id 'echo 0'
  fake dpkg-query 'shift 3; for p; do [[ $p == "$MISSING" ]] || printf "%s=installed " "$p"; done'
  fake apt-get 'echo "E: apt-get was called" && exit 100'
  fake c++ ''
  fake ninja ''
  fake ctest 'pwd'
  fake cmake '
    if [[ $1 == --preset ]]; then
      mkdir -p "build/$2" && echo "CMAKE_GENERATOR:INTERNAL=Ninja" >"build/$2/CMakeCache.txt"
      [[ $BREAK == configuration ]] && exit 1
      touch "build/$2/build.ninja"
    else
      [[ $BREAK == build ]] && exit 1
      echo "${STEPS:-ninja: no work to do.}"
      printf "#!/bin/bash\necho \"\$@\"; exit 7\n" >"$2/boxcar" && chmod +x "$2/boxcar"
    fi'
  export MISSING='' BREAK='' STEPS=''
}

# Adds more of the system's tools to PATH.
link() { local tool; for tool; do ln -sf "$(command -v "$tool")" "$bin/$tool"; done; }

# Runs ./dev with the arguments in a directory outside the project; sets output, errors and status.
run() {
  (cd "$sandbox" && PATH=$bin "$project/dev" "$@" >"$sandbox/stdout" 2>"$sandbox/stderr")
  status=$? output=$(cat "$sandbox/stdout") errors=$(cat "$sandbox/stderr")
}

expect() {  # WHAT FOUND PATTERN
  # shellcheck disable=SC2053
  [[ $2 == $3 ]] && return
  printf '%s: %s is not as expected\n  expected: %s\n  found:    %s\n' "${FUNCNAME[1]}" "$1" "$3" "$2"
  failures=$((failures + 1))
}

calls() { grep -c "^$1" "$log"; }

dev_help_lists_every_command() {
  local how command
  for how in '' help -h --help; do
    run $how
    expect status "$status" 0
    for command in setup build run install wheel test bundle gpu bench numerics opinfo models fuzz format docs lint check clean help; do expect "help of '$how'" "$output" "*  $command *"; done
  done
}

dev_unknown_command_is_a_sentence() {
  run frobnicate
  expect status "$status" 2
  expect stderr "$errors" "dev: there is no command 'frobnicate'; the commands are: setup build run install wheel test bundle gpu bench numerics opinfo models fuzz format docs lint check clean help"
}

dev_fuzz_knows_the_targets_that_cmake_has() {
  local cmake targets
  cmake=$(dirname "$dev")/tests/fuzz/CMakeLists.txt
  run fuzz nonsense
  expect status "$status" 2
  expect stderr "$errors" "dev: there is no fuzz target 'nonsense'; the targets are: source *"
  targets=$(printf '%s\n' ${errors##*: } | sort)
  expect targets "$targets" "$({ sed -n 's/^boxcar_fuzz_target(\([a-z]*\) .*/\1/p' "$cmake" && echo operators; } | sort)"
  run help
  for target in $targets; do expect help "$output" "*the targets are*$target*"; done
  local seconds
  for seconds in soon 0 00 -1 1.5; do
    run fuzz schema "$seconds"
    expect status "$status" 2
    expect stderr "$errors" "dev: '$seconds' is not a whole number of seconds, at least 1"
  done
}

dev_fuzz_runs_a_target_with_its_own_corpus_and_dictionary() {
  mkdir -p "$project/tests/fuzz" && touch "$project/tests/fuzz/schema.dict"
  local run_of_target='build/fuzz/corpus/%s build/fuzz/tests/fuzz/corpus/%s'
  for target in schema npy; do
    fake cmake "mkdir -p build/fuzz && touch build/fuzz/build.ninja && printf '#!/bin/bash\necho \"\$@\" >&2; exit 7\n' >build/fuzz/fuzz_$target && chmod +x build/fuzz/fuzz_$target"
    run fuzz "$target" 5
    expect status "$status" 7
    # shellcheck disable=SC2059
    expect stderr "$errors" "*-max_total_time=5 *$(printf "$run_of_target" "$target" "$target")"
    if [[ $target == schema ]]; then expect stderr "$errors" "*-dict=tests/fuzz/schema.dict *"
    else expect stderr "${errors/-dict=/WRONG}" "$errors"; fi
  done
}

dev_fuzz_keep_adds_files_to_the_archive_of_a_target_by_their_content() {
  mkdir -p "$project/tests/fuzz/corpus" "$project/unpacked"
  link cmake cp cut ls sha1sum wc
  printf one >"$project/a" && printf two >"$project/b"
  run fuzz --keep schema "$project/a" "$project/b"
  expect status "$status" 0
  expect stderr "$errors" 'dev: schema has 2 kept inputs'
  local bytes
  bytes=$(sha1sum <"$project/tests/fuzz/corpus/schema.tar.xz")
  run fuzz --keep schema "$project/b"
  expect 'bytes of an archive to which nothing came' "$(sha1sum <"$project/tests/fuzz/corpus/schema.tar.xz")" "$bytes"
  (cd "$project/unpacked" && command cmake -E tar xf "$project/tests/fuzz/corpus/schema.tar.xz")
  expect 'kept input' "$(cat "$project/unpacked/$(sha1sum <"$project/a" | cut -d ' ' -f 1)")" one
  run fuzz --keep nonsense "$project/a"
  expect stderr "$errors" "dev: there is no fuzz target 'nonsense'; the targets are: source *"
  run fuzz --keep schema "$project/none"
  expect status "$status" 1
  expect stderr "$errors" "dev: there is no file '$project/none' to keep"
  run fuzz --keep schema
  expect status "$status" 2
}

dev_fuzz_operators_is_the_driver_of_the_release_build() {
  # shellcheck disable=SC2016
  fake cmake 'mkdir -p build/release && touch build/release/build.ninja && printf "#!/bin/bash\necho \"\$@\"; exit 7\n" >build/release/hostile && chmod +x build/release/hostile'
  BOXCAR_FUZZ_SEED=3 run fuzz operators 5
  expect status "$status" 7
  expect output "$output" '--seconds 5 --seed 3'
}

dev_setup_with_everything_present_does_not_call_apt() {
  run setup
  expect status "$status" 0
  expect stderr "$errors" 'dev: the packages are installed'
  expect 'calls of apt-get' "$(calls apt-get)" 0
}

dev_setup_installs_only_what_is_missing() {
  fake apt-get ''
  MISSING=libfmt-dev run setup
  expect status "$status" 0
  expect stderr "$errors" 'dev: installing libfmt-dev*'
  expect log "$(cat "$log")" '*apt-get *update*apt-get *install --no-install-recommends libfmt-dev*'
}

dev_setup_names_what_cannot_be_installed() {
  MISSING=libfmt-dev run setup
  expect status "$status" 1
  expect stderr "$errors" '*dev: apt-get could not install libfmt-dev (*'
}

dev_setup_without_root_asks_sudo() {
  fake id 'echo 1000'
  MISSING=libfmt-dev run setup
  expect status "$status" 1
  expect stderr "$errors" 'dev: cannot install packages without root or sudo; please have root run: apt-get install libfmt-dev'
  fake sudo ''
  MISSING=libfmt-dev run setup
  expect status "$status" 0
  expect 'calls of sudo' "$(calls sudo)" 2
}

dev_setup_without_apt_needs_the_tools() {
  rm "$bin/apt-get" "$bin/dpkg-query"
  run setup
  expect status "$status" 0
  expect stderr "$errors" 'dev: there is no apt-get, so the equivalents of these are assumed to be installed: g++ cmake *'
  rm "$bin/cmake"
  run setup
  expect status "$status" 1
  expect stderr "$errors" 'dev: cannot install packages without apt-get; please install the equivalents of: g++ cmake *'
}

dev_setup_models_installs_pytorch_in_an_environment_once() {
  link mv
  # shellcheck disable=SC2016
  fake python3 'mkdir -p "$3/bin"; printf "#!/bin/bash\necho \"environment \$*\" >>\"'"$log"'\"; [[ \$BREAK != pip ]]\n" >"$3/bin/python"; chmod +x "$3/bin/python"'
  BREAK=pip run setup models
  expect status "$status" 1
  expect stderr "$errors" '*dev: pip could not install PyTorch from PyPI (see its message above)'
  run setup models
  expect status "$status" 0
  expect stderr "$errors" 'dev: installing torch==2.* numpy expecttest torchvision==* from PyPI in build/models, some * GB*dev: the packages are installed'
  expect log "$(cat "$log")" '*environment -m pip install -q torch==2.* numpy expecttest torchvision==* transformers==* safetensors==* onnxruntime==* onnx==* onnxscript==*'
  run setup models
  expect 'calls of pip' "$(calls environment)" 2
}

dev_wheel_builds_bundles_and_tests() {
  link mv
  mkdir -p "$project/tests/python/wheel"
  printf '#!/bin/bash\necho "wheel_test $*" >>"%s"\n[[ $BREAK != use ]]\n' "$log" >"$project/tests/python/wheel/wheel_test.sh"
  chmod +x "$project/tests/python/wheel/wheel_test.sh"
  # shellcheck disable=SC2016
  fake python3 'mkdir -p "$3/bin"; printf "#!/bin/bash\necho \"environment \$*\" >>\"'"$log"'\"; [[ \$* != *bundle.py* ]] || echo here/made.whl; [[ \$BREAK != pip || \$3 != wheel ]]\n" >"$3/bin/python"; chmod +x "$3/bin/python"'
  BREAK=pip run wheel
  expect status "$status" 1
  expect stderr "$errors" '*dev: pip could not build the wheel (see its message above)'
  run wheel
  expect status "$status" 0
  expect stderr "$errors" '*dev: the wheel is here/made.whl'
  expect log "$(cat "$log")" "*environment -m pip wheel -q --no-deps --no-build-isolation -w $project/build/wheel-of-here $project*environment -B $project/python/wheel/bundle.py $project/build/wheel-of-here/* $project/build/wheel"
  expect 'tests of the wheel' "$(calls wheel_test)" 0
  run wheel --test there
  expect status "$status" 0
  expect log "$(cat "$log")" "*bundle.py * $sandbox/there*wheel_test here/made.whl"
  BREAK=use run wheel --test
  expect status "$status" 1
  expect stderr "$errors" '*dev: the wheel failed its test'
  run wheel one two
  expect status "$status" 2
  expect stderr "$errors" 'dev: wheel takes --test and at most one folder: ./dev wheel \[--test\] \[FOLDER\]'
}

dev_numerics_asks_the_pytorch_of_the_environment() {
  run numerics --update-sample
  expect status "$status" 1
  expect stderr "$errors" "dev: the kept samples are PyTorch 2.15's; ./dev setup models installs it"
  mkdir -p "$project/build/models/bin"
  fake environment ''
  link ln && ln -s "$bin/environment" "$project/build/models/bin/python"
  # shellcheck disable=SC2016
  fake cmake 'mkdir -p build/release && touch build/release/build.ninja && printf "#!/bin/bash\necho \"\$@\"; exit 7\n" >build/release/numerics_tests && chmod +x build/release/numerics_tests'
  run numerics --family nn
  expect status "$status" 7
  expect stdout "$output" "--files $project/build/numerics --families nn"
  expect log "$(cat "$log")" "*environment $project/tests/numerics/generate.py --family nn*"
  expect 'calls of apt-get' "$(calls apt-get)" 0
}

dev_opinfo_asks_the_pytorch_of_the_environment() {
  run opinfo
  expect status "$status" 1
  expect stderr "$errors" "dev: ./dev opinfo asks today's PyTorch; ./dev setup models installs it in build/models, with 6 GB"
  mkdir -p "$project/build/models/bin"
  fake environment 'exit 5'
  link ln && ln -s "$bin/environment" "$project/build/models/bin/python"
  run opinfo --only conv2d
  expect status "$status" 5
  expect log "$(cat "$log")" "*--target numerics_tests*environment $project/tests/numerics/opinfo.py --only conv2d*"
}

dev_models_asks_the_pytorch_of_the_environment() {
  run models
  expect status "$status" 1
  expect stderr "$errors" "dev: ./dev models exports models with today's PyTorch; ./dev setup models installs it in build/models, with 6 GB"
  mkdir -p "$project/build/models/bin"
  fake environment 'exit 5'
  link ln && ln -s "$bin/environment" "$project/build/models/bin/python"
  run models --only 'resnet*'
  expect status "$status" 5
  expect log "$(cat "$log")" "*--target boxcar *environment $project/tests/models/compare.py --only resnet\**"
  expect "calls of the export test" "$(grep -c export_test.py "$log")" 0
  run models exports --only mlp
  expect status "$status" 5
  expect log "$(cat "$log")" "*environment $project/tests/models/export_test.py --only mlp*"
  run models prepared --only mlp
  expect status "$status" 5
  expect log "$(cat "$log")" "*environment $project/tests/models/prepared.py --only mlp*"
  run models
  expect status "$status" 5
  expect log "$(cat "$log")" "*environment $project/tests/models/compare.py*environment $project/tests/models/export_test.py*environment $project/tests/models/prepared.py*"
}

dev_setup_rejects_an_unknown_group() {
  run setup nonsense
  expect status "$status" 2
  expect stderr "$errors" "dev: there is no package group 'nonsense'; the groups are: *"
}

dev_run_becomes_the_program() {
  run run 'my script.ops' -- 'a b'
  expect status "$status" 7
  expect stdout "$output" 'run my script.ops -- a b'
  expect stderr "$errors" ''
}

dev_run_stops_when_the_build_fails() {
  BREAK=build run run my.ops
  expect status "$status" 1
  expect stdout "$output" ''
}

dev_run_needs_a_script() {
  run run
  expect status "$status" 2
  expect stderr "$errors" 'dev: run needs a script: ./dev run FILE.ops \[ARGS\]'
}

dev_install_builds_what_is_installed_alone() {
  run install
  expect status "$status" 0
  expect stdout "$output" ''
  expect stderr "$errors" "*dev: the program is $project/build/boxcar/bin/boxcar"
  expect log "$(cat "$log")" "*cmake --build build/release --target boxcar_installed -j *cmake --install build/release --prefix $project/build/boxcar"
  run install 'my prefix'
  expect log "$(cat "$log")" "*cmake --install build/release --prefix $sandbox/my prefix"
  run install one two
  expect status "$status" 2
  expect stderr "$errors" 'dev: install takes at most one folder: ./dev install \[PREFIX\]'
}

dev_docs_installs_doxygen_and_reads_the_headers_of_the_build() {
  fake python3 'echo written'
  fake apt-get ''
  MISSING=doxygen run docs
  expect status "$status" 0
  expect stdout "$output" written
  expect log "$(cat "$log")" '*apt-get *install --no-install-recommends doxygen*cmake --build build/release --target boxcar_ops*python3 -B cmake/docs/make.py . build/release build/docs'
}

dev_second_build_does_not_configure() {
  run build debug
  run build debug
  expect status "$status" 0
  expect 'configurations' "$(calls 'cmake --preset debug')" 1
}

dev_build_tells_the_time_left() {
  STEPS=$'[0/1 0.001] Re-checking globbed directories...\n[1/120 0.400] Building a.o\n[40/120 100.250] Building b.o\nb.cpp: warning\n[110/120 300.000] Building c.o\n[120/120 310.000] Linking d'
  run build
  expect status "$status" 0
  expect stderr "$errors" $'\[1/120] Building a.o\n\[40/120, about 3 min left] Building b.o\nb.cpp: warning\n\[110/120, less than a minute left] Building c.o\n\[120/120] Linking d'
}

dev_builds_of_one_preset_wait_for_each_other() {
  command -v flock >/dev/null || return 0
  link flock
  run build
  expect stderr "$errors" 'ninja: no work to do.'
  exec 8>"$project/build/.release.lock" && flock 8
  run build debug
  expect stderr "$errors" 'ninja: no work to do.'
  # Releases the lock once the other build is waiting.
  (
    until grep -q waiting "$sandbox/stderr"; do sleep 0.05; done
    echo released >>"$log" && flock -u 8
  ) &
  exec 8>&-
  run build
  wait
  expect status "$status" 0
  expect stderr "$errors" 'dev: build/release is being built by another ./dev; waiting for it*'
  expect log "$(cat "$log")" '*cmake --build build/debug *released*cmake --build build/release *'
}

dev_builds_go_on_where_nothing_can_be_locked() {
  fake flock 'exit 71'
  run build
  expect status "$status" 0
  expect stderr "$errors" '*dev: build/.release.lock cannot be locked; another ./dev build of release would corrupt this one*ninja*'
}

dev_changed_presets_configure_again() {
  run build
  touch -d '+1 minute' "$project/CMakePresets.json"
  run build
  expect 'configurations' "$(calls 'cmake --preset release')" 2
}

dev_half_done_configuration_is_made_afresh() {
  BREAK=configuration run build
  expect status "$status" 1
  run build
  expect status "$status" 0
  expect stderr "$errors" 'dev: build/release was only partly configured; configuring it again*'
  expect 'fresh configurations' "$(calls 'cmake --preset release --fresh')" 1
}

dev_stale_cache_is_named() {
  run build
  local cache="$project/build/release/CMakeCache.txt"
  echo 'CMAKE_GENERATOR:INTERNAL=Unix Makefiles' >"$cache" && run build
  expect stderr "$errors" 'dev: build/release was configured for Unix Makefiles instead of Ninja; *'
  echo 'CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere' >"$cache" && run build
  expect stderr "$errors" 'dev: build/release was configured for the sources in /elsewhere; *'
  echo 'CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++-0' >"$cache" && run build
  expect stderr "$errors" 'dev: build/release was configured for the compiler /usr/bin/c++-0, which is gone; *'
}

dev_compiler_that_a_preset_names_without_its_folder_is_there() {
  run build
  echo 'CMAKE_CXX_COMPILER:STRING=bash' >"$project/build/release/CMakeCache.txt" && run build
  expect 'fresh configurations' "$(calls 'cmake --preset release --fresh')" 0
}

dev_test_takes_a_preset_and_arguments() {
  run test asan -R Schema
  expect status "$status" 0
  expect log "$(cat "$log")" '*cmake --build build/asan --target all*ctest --preset asan -j * -R Schema'
  expect 'directory of ctest' "$output" "$project"
  run test --stop-on-failure
  expect log "$(cat "$log")" '*ctest --preset release -j * --stop-on-failure'
}

dev_test_offline_installs_nothing_and_builds_from_the_bundle() {
  run test --offline
  expect status "$status" 1
  expect stderr "$errors" 'dev: there is no build/bundle; ./dev bundle makes one, on a machine that has a package registry'
  mkdir -p "$project/build/bundle"
  fake ctest 'echo "$CPLUS_INCLUDE_PATH"'
  MISSING=libfmt-dev run test --offline -R Schema
  expect status "$status" 0
  expect log "$(cat "$log")" '*cmake --preset offline*cmake --build build/offline --target all*ctest --preset offline -j * -R Schema'
  expect 'calls of apt-get' "$(calls apt-get)" 0
  expect "the compilers' path" "$output" "$project/build/bundle/include"
}

dev_test_help_builds_nothing() {
  local how
  for how in --help -h '--offline --help'; do
    run test $how
    expect status "$status" 0
    expect "help of 'test $how'" "$output" '*test --offline \[ARGS\]*'
  done
  expect log "$(cat "$log")" ''
}

dev_commands_without_arguments_refuse_some() {
  local command
  mkdir -p "$project/build"
  for command in bundle clean; do
    run $command --help me
    expect status "$status" 2
    expect stderr "$errors" "dev: ./dev $command takes no arguments, not '--help me'"
  done
  expect log "$(cat "$log")" ''
  [[ -d $project/build ]] || expect build gone there
}

dev_gpu_needs_a_gpu() {
  run gpu
  expect status "$status" 1
  expect stderr "$errors" 'dev: ./dev gpu needs a machine with an NVIDIA GPU: nvidia-smi finds none'
  fake nvidia-smi 'exit 9'
  run gpu
  expect status "$status" 1
  expect 'calls of cmake' "$(calls cmake)" 0
}

dev_gpu_builds_for_it_and_names_what_failed() {
  for tool in date grep; do ln -sf "$(command -v $tool)" "$bin/$tool"; done
  fake nvidia-smi ''
  fake python3 'echo "| table |"'
  fake timeout 'shift; case $1 in *numerics_tests) exit 1;; esac'
  run gpu
  expect stderr "$errors" '*nvcc was not found, so nothing was built for the GPU'
  touch "$project/build/gpu/libboxcar_cuda.so"
  run gpu
  expect status "$status" 1
  expect output "$output" '*, ./dev gpu*| table |'
  expect stderr "$errors" '*dev: failed: numerics on the GPU'
  expect log "$(cat "$log")" '*cmake --build build/gpu --target device_tests*timeout 200 ./device_tests*'
}

dev_gpu_takes_programs_that_were_built_elsewhere() {
  for tool in date grep; do ln -sf "$(command -v $tool)" "$bin/$tool"; done
  fake nvidia-smi ''
  fake python3 'echo "| table |"'
  fake timeout ''
  mkdir -p "$project/programs"
  run gpu programs more
  expect status "$status" 2
  expect stderr "$errors" 'dev: gpu takes at most one folder: ./dev gpu \[FOLDER\]'
  run gpu "$project/programs"
  expect status "$status" 1
  expect stderr "$errors" '*/programs has no boxcar; copy it from a release build on another machine, or name no folder to build it here'
  for name in boxcar device_tests numerics_tests boxcar_cuda_bench libboxcar_cuda.so; do touch "$project/programs/$name"; done
  run gpu "$project/programs"
  expect status "$status" 0
  expect output "$output" '*, ./dev gpu*| table |'
  expect 'calls of cmake' "$(calls cmake)" 0
}

dev_format_lays_out_sources_and_scripts() {
  fake git 'printf "a.cpp\0b.h\0"'
  fake clang-format-14 ''
  run format
  expect status "$status" 7
  expect stdout "$output" 'fmt scripts'
  expect log "$(cat "$log")" '*clang-format-14 -i a.cpp b.h*cmake --build build/release --target boxcar*'
}

dev_format_check_names_all_that_differs() {
  fake git 'printf "a.cpp\0"'
  fake clang-format-14 'echo "a.cpp differs" >&2; exit 1'
  run format --check
  expect status "$status" 1
  expect stdout "$output" 'fmt --check scripts'
  expect stderr "$errors" 'a.cpp differs*dev: these files are not formatted; run ./dev format'
  expect log "$(cat "$log")" '*clang-format-14 --dry-run --Werror a.cpp*'
}

dev_format_stops_when_the_build_fails() {
  fake git 'printf "a.cpp\0"'
  fake clang-format-14 ''
  BREAK=build run format --check
  expect status "$status" 1
  expect stdout "$output" ''
}

dev_fuzz_lists_its_targets() {
  run fuzz --list
  expect status "$status" 0
  expect stdout "$output" $'source\nprogram\nbytecode*'
  run fuzz nonsense
  expect status "$status" 2
  expect stderr "$errors" "dev: there is no fuzz target 'nonsense'; the targets are: source program bytecode*"
}

dev_bench_builds_what_it_measures_and_hands_arguments_on() {
  fake python3 'exit 3'
  run bench --strict --benchmark_filter=mm_
  expect status "$status" 3
  expect log "$(cat "$log")" "*cmake --build build/release --target boxcar_bench -j *python3 -B $project/bench/report.py --strict --benchmark_filter=mm_"
  expect 'calls of apt-get' "$(calls apt-get)" 0
  run bench --growth --out there
  expect status "$status" 3
  expect log "$(cat "$log")" "*cmake --build build/release --target boxcar_growth -j *python3 -B $project/bench/growth.py --out there"
  : >"$log"
  BREAK=build run bench
  expect status "$status" 1
  expect 'calls of python3' "$(calls python3)" 0
}

dev_bench_installs_its_peers_where_they_are_wanted() {
  fake python3 ''
  fake apt-get ''
  MISSING=liblua5.4-dev run bench
  expect 'calls of apt-get' "$(calls apt-get)" 0
  mkdir -p "$project/build/models/bin"
  printf '#!/bin/bash\n' >"$project/build/models/bin/python" && chmod +x "$project/build/models/bin/python"
  echo 'torch==2.15.0 numpy expecttest torchvision==0.29.2 transformers==5.24.0 safetensors==0.8.0 onnxruntime==1.32.0 onnx==1.23.2 onnxscript==0.7.2' >"$project/build/models/wheels"
  MISSING=liblua5.4-dev run bench --peers --strict
  expect status "$status" 0
  expect log "$(cat "$log")" "*apt-get *install --no-install-recommends liblua5.4-dev*python3 -B $project/bench/report.py --strict"
}

dev_build_configures_again_where_a_package_of_the_build_came_or_went_and_for_no_other() {
  run build
  expect 'configurations at first' "$(calls 'cmake --preset')" 1
  run build
  expect 'configurations where nothing changed' "$(calls 'cmake --preset')" 1
  MISSING=zsh run build
  expect 'configurations where another package went' "$(calls 'cmake --preset')" 1
  MISSING=libtorch-dev run build
  expect 'configurations where a library went' "$(calls 'cmake --preset')" 2
}

dev_build_times_tells_what_each_folder_took() {
  ln -sf "$(python3 -c 'import sys; print(sys.executable)')" "$bin/python3"    # python3 in PATH may be a script
  run build --times
  expect status "$status" 1
  expect stderr "$errors" '*build_times: nothing was built in build/release; ./dev build builds'
  printf '# ninja log v5\n0\t1500\t1\tx/CMakeFiles/x.dir/y/a.cpp.o\t1\n0\t2500\t1\tx/CMakeFiles/x.dir/y/a.cpp.o\t1\n0\t500\t1\tz.cpp.o\t1\n0\t9\t1\tboxcar\t1\n' \
    >"$project/build/release/.ninja_log"
  fake ninja 'printf "x/CMakeFiles/x.dir/y/a.cpp.o\nx/y/a.cpp\n"'
  run build --times release boxcar
  expect status "$status" 0
  expect stdout "$output" $'* seconds  sources  folder\n     2.5        1  x/y\n\n*\n\nboxcar: 1 sources, 2 s of compiling'
  fake ninja 'echo "ninja: error: unknown target"; exit 1'
  run build --times release boxcar
  expect stderr "$errors" '*build_times: ninja: error: unknown target'
}

dev_build_takes_a_preset_and_a_target() {
  run build asan dispatcher_tests
  expect status "$status" 0
  expect log "$(cat "$log")" '*cmake --preset asan*cmake --build build/asan --target dispatcher_tests -j *'
}

dev_lint_reads_the_sources_that_are_named() {
  link grep awk
  fake xargs 'cat >/dev/null; echo "a.cpp:1:2: error: a mistake [check]"; echo "  shown"; echo "a.cpp:1:2: error: a mistake [check]"'
  run lint a.cpp
  expect status "$status" 1
  expect stdout "$output" $'a.cpp:1:2: error: a mistake \[check\]\n  shown'
  expect log "$(cat "$log")" '*cmake --preset lint*cmake --build build/lint --target boxcar_ops *xargs *'
  fake xargs 'cat >/dev/null; echo "a.cpp:1:2: error: no header providing x is directly included [misc-include-cleaner]"; echo "  shown"'
  run lint a.cpp
  expect status "$status" 0
  expect stdout "$output" ''
}

dev_lint_reads_every_shell_script() {
  link grep awk comm sort paste
  fake xargs 'cat >/dev/null'
  fake git 'if [[ $* == *-z* ]]; then printf "tests/a.sh\0b c.sh\0"; else echo a.cpp; fi'
  fake shellcheck ''
  mkdir -p "$project/build/lint" && echo '"file": "a.cpp"' >"$project/build/lint/compile_commands.json"
  run lint
  expect status "$status" 0
  fake shellcheck '[[ $* != *"b c.sh"* ]] || { echo "In b c.sh line 1:"; exit 1; }'
  run lint
  expect status "$status" 1
  expect stdout "$output" '*In b c.sh line 1:'
  expect log "$(cat "$log")" '*shellcheck -x * dev .ci/run .ci/check .ci/lint .ci/includes tests/a.sh b c.sh'
}

dev_check_tells_its_steps() {
  run check --list
  expect status "$status" 0
  expect stdout "$output" '*asan *tsan *'
  expect log "$(cat "$log")" ''
}

dev_check_refuses_an_unknown_step_before_the_first() {
  run check asan nonsense
  expect status "$status" 2
  expect stderr "$errors" "check: there is no step 'nonsense'; the steps are: *asan*"
  expect log "$(cat "$log")" ''
}

dev_check_goes_on_after_a_failure_and_tells_all() {
  link grep paste tee
  fake ctest '[[ $2 == tsan ]] || { echo "99% tests passed, 1 tests failed out of 200" && exit 8; }; echo "100% tests passed, 0 tests failed out of 200"'
  fake git 'echo c0ffee'
  run check asan tsan
  expect status "$status" 1
  expect stdout "$output" $'| step |*| asan | * | failed, see build/check/asan.log: 1 of 200 tests failed | * | c0ffee |\n| tsan | * | passed: 0 of 200 tests failed | * | c0ffee |'
  expect stderr "$errors" '*check: failed: asan'
  expect summary "$(cat "$project/build/check/summary.md")" "$output"
  run check tsan
  expect status "$status" 0
  [[ $output != *asan* ]] || expect 'steps that ran' "$output" 'tsan alone'
  expect summary "$(cat "$project/build/check/summary.md")" $'| step |*| asan | * | failed, *\n| tsan | * | passed: *'
}

dev_check_puts_its_table_on_the_page_where_it_is_asked_to() {
  link grep paste tee
  fake python3 'exit "$FOUND"'
  FOUND=0 run check tsan --update-readme
  expect status "$status" 0
  expect log "$(cat "$log")" '*python3 bench/page.py check build/check/page.md'
  FOUND=1 run check --update-readme tsan
  expect status "$status" 1
  expect stderr "$errors" '*check: failed: --update-readme'
}

dev_check_keeps_the_row_on_the_page_of_a_step_that_failed() {
  link grep paste tee
  fake python3 ''
  mkdir "$project/bench" && printf '%s\n' '<!-- begin check -->' '| asan | what | passed | 1 | f00 |' '<!-- end check -->' >"$project/bench/README.md"
  fake ctest '[[ $2 == tsan ]]'
  run check asan tsan --update-readme
  expect status "$status" 1
  expect summary "$(cat "$project/build/check/summary.md")" '*| asan | * | failed, see *| tsan | * | passed | *'
  expect page "$(cat "$project/build/check/page.md")" '*| fuzz | * | no result is kept | | |*| asan | what | passed | 1 | f00 |*| tsan | * | passed | *'
}

dev_check_runs_every_fuzz_target() {
  link grep paste tee
  fake env 'case $2 in *fuzz_bytecode) exit 1 ;; esac'
  run check fuzz
  expect status "$status" 1
  expect log "$(cat "$log")" '*build/fuzz/fuzz_source -max_total_time=60 *build/fuzz/fuzz_bytecode -max_total_time=60 *'
}

dev_check_fuzz_fails_where_no_target_is_listed() {
  link grep paste tee
  sed -i 's/^fuzz_targets=(.*/fuzz_targets=()/' "$project/dev"
  run check fuzz
  expect status "$status" 1
  expect stderr "$errors" '*check: ./dev fuzz --list names no targets*'
}

dev_check_short_runs_both_programs_and_fails_with_either() {
  link grep paste tee mkdir
  local broken
  for broken in none asan tsan; do
    fake cmake "if [[ \$1 == --build ]]; then for program in rooms_tests dispatcher_storm; do
        printf '#!/bin/bash\necho \"\$0 ran\"; [[ \$0 != *$broken* ]]\n' >\"\$2/\$program\"; chmod +x \"\$2/\$program\"; done
      else mkdir -p \"build/\$2\"; touch \"build/\$2/build.ninja\"; fi"
    run check short
    expect "status with $broken broken" "$status" "$([[ $broken == none ]]; echo $?)"
    expect stderr "$errors" '*build/asan/rooms_tests ran*build/tsan/dispatcher_storm ran*'
  done
}

dev_check_cppcheck_reads_every_room_and_fails_where_it_finds_something() {
  link grep paste tee
  fake cppcheck 'exit "$FOUND"'
  FOUND=0 run check cppcheck
  expect status "$status" 0
  expect log "$(cat "$log")" '*cppcheck *--error-exitcode=1 * ivalue schema dispatcher backends interpreter tests scripts bench'
  FOUND=1 run check cppcheck
  expect status "$status" 1
}

dev_check_tidy_is_lint() {
  link grep paste tee awk tail
  run check tidy
  expect status "$status" 1
  expect stderr "$errors" '*lint: build/lint/compile_commands.json has none of the sources*'
}

dev_check_includes_fails_where_a_header_or_a_tool_does() {
  link grep paste tee xargs tail
  mkdir -p "$project/ivalue" && printf '#pragma once\n' >"$project/ivalue/a.h" && printf 'int main() { return std::max(1, 2); }\n' >"$project/ivalue/a.cpp"
  fake git 'echo ivalue/a.h; [[ $* != *.cpp* ]] || echo ivalue/a.cpp'
  fake clang-include-cleaner-19 ''
  fake cpplint ''
  run check includes
  expect status "$status" 0
  fake cpplint 'echo "ivalue/a.cpp:1:  Add #include <algorithm> for max  [build/include_what_you_use] [4]"; echo "Total errors found: 1"; exit 1'
  run check includes
  expect status "$status" 1
  expect stderr "$errors" '*ivalue/a.cpp:1: std::max wants #include <algorithm>*'
  local crash
  for crash in 'echo "Traceback (most recent call last):" >&2; exit 1' 'exit 127'; do
    fake cpplint "$crash"
    run check includes
    expect "status after $crash" "$status" 1
    expect stderr "$errors" '*includes: cpplint, * ended with status *'
  done
  rm "$bin/cpplint"
  run check includes
  expect 'status without cpplint' "$status" 1
  fake cpplint ''
  fake clang-include-cleaner-19 'echo "a.h:3:1: error: unknown type"; exit 1'
  run check includes
  expect status "$status" 1
  expect stderr "$errors" '*ivalue/a.h: does not compile alone:*error: unknown type*'
  fake clang-include-cleaner-19 'echo "- <string> @Line:2"'
  run check includes
  expect status "$status" 1
  expect stderr "$errors" '*ivalue/a.h:2: <string> is included and not used*'
  fake clang-include-cleaner-19 ''
  printf '#ifndef A\n' >"$project/ivalue/a.h"
  run check includes
  expect status "$status" 1
  expect stderr "$errors" "*ivalue/a.h:1: begins neither with '#pragma once' nor *"
}

dev_check_debug_fails_where_a_room_is_covered_too_little() {
  link grep paste tee find
  local python covered
  python=$(python3 -c 'import sys; print(sys.executable)')
  fake python3 "exec $python \"\$@\""
  fake gcovr 'while (($#)); do if [[ $1 == --json-summary ]]; then cp "$SUMMARY" "$2"; fi; shift; done'
  link cp
  export SUMMARY=$sandbox/summary.json
  for covered in 180 179; do
    printf '{"files": [%s]}' "$(for room in ivalue schema dispatcher; do printf '{"filename": "%s/a.cpp", "line_total": 10, "line_covered": 10}, ' $room; done)
      {\"filename\": \"interpreter/good.h\", \"line_total\": 100, \"line_covered\": 100},
      {\"filename\": \"interpreter/bad.cpp\", \"line_total\": 100, \"line_covered\": $((covered - 100))}" >"$SUMMARY"
    printf '# why\ninterpreter/bad.cpp: it is hard\n' >"$project/.ci/uncovered.txt"
    run check debug
    expect status "$status" $((covered < 180))
    expect stdout "$output" "*: ivalue 100.0 % of 10 lines; *interpreter $((covered / 2)).$((covered % 2 * 5)) % of 200 lines *"
    expect 'files below' "$(cat "$project/build/coverage/summary.txt")" "*  interpreter/bad.cpp: $((covered - 100)) of 100 lines: it is hard"
  done
  expect stderr "$errors" '*uncovered: interpreter: 89.5 % of its 200 lines have run, which is less than 90.0 %*'
  printf 'interpreter/good.h: no reason\ninterpreter/gone.h: no reason\n' >"$project/.ci/uncovered.txt"
  run check debug
  expect status "$status" 1
  expect stderr "$errors" '*uncovered: interpreter/bad.cpp is below 90.0 %: test it, or say in .ci/uncovered.txt why it is not tested*'
  expect stderr "$errors" '*uncovered: .ci/uncovered.txt says why interpreter/gone.h is below 90.0 %, and it is not, or is not there*interpreter/good.h*'
}

dev_check_whole_builds_with_and_without_the_libraries() {
  link grep paste tee
  fake cmake '[[ $* != *"$BREAK"* ]]'
  BREAK=nothing run check whole
  expect status "$status" 0
  expect log "$(cat "$log")" $'*-B build/whole *BATCH_SIZE=0*\ncmake --build build/whole --target boxcar\n*-B build/whole_alone *-D BOXCAR_HIGHWAY=OFF*\ncmake --build build/whole_alone --target boxcar'
  BREAK=whole_alone run check whole
  expect status "$status" 1
}

dev_check_budget_measures_a_build_without_ccache() {
  link grep paste tee awk tail
  fake cmake 'echo "ccache off: $CCACHE_DISABLE" >>"'"$log"'"'
  run check budget
  expect status "$status" 0
  expect stdout "$output" '*| budget | *boxcar took 0 s of 7 min; all took 0 s of 25 min*'
  expect log "$(cat "$log")" $'*cmake --preset release -B build/budget *ccache off: 1\ncmake --build build/budget --target boxcar\n*--target all\n*'
  fake awk 'echo 421'
  run check budget
  expect status "$status" 1
  expect stdout "$output" '*failed, see build/check/budget.log: boxcar took 421 s of 7 min; all took 421 s of 25 min*'
  fake cmake '[[ $1 == --preset ]] || { echo "error: no" && exit 1; }'
  run check budget
  expect status "$status" 1
  expect stderr "$errors" '*error: no*'
}

dev_check_memcheck_tells_a_finding_from_a_failure() {
  link grep paste tee
  mkdir "$project/scripts" && touch "$project/scripts"/{clean,failing,leaking}.ops
  fake valgrind 'case $* in *leaking*) echo "==1== lost" && exit 99 ;; *failing*) echo "error: no" && exit 1 ;; esac'
  run check memcheck
  expect status "$status" 1
  expect stderr "$errors" $'*scripts/clean.ops: nothing found\nscripts/failing.ops: fails under valgrind:\nerror: no\nscripts/leaking.ops: valgrind found:\n==1== lost*'
  rm "$project/scripts"/{failing,leaking}.ops
  run check memcheck
  expect status "$status" 0
}

dev_clean_removes_the_build() {
  run build
  run clean
  expect status "$status" 0
  expect 'what is left' "$(echo "$project"/*)" "$project/CMakePresets.json $project/dev"
}

count=0
for name in $(compgen -A function dev_); do
  start
  "$name"
  count=$((count + 1))
done
echo "$count tests, $failures failed expectations"
((failures == 0))
