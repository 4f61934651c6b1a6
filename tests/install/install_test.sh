#!/usr/bin/env bash
# Installs a build and uses it as a user would: moved to another folder, with CMake and pkg-config, shared and static,
# with the sample plugin. Usage: install_test.sh CMAKE SOURCE BUILD KIND COMPILER [FLAGS]
# KIND is what the build makes: shared, which includes the static library as a component, or static.
set -euo pipefail
cmake=$1 source=$2 build=$3 kind=$4 compiler=$5 flags=${6:-}
folder=$(readlink -f "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failed=0

fail() { echo "FAILED: $1" && shift && printf '  %s\n' "$@" && failed=1; }
expect_same() {  # WHAT EXPECTED FOUND
  diff -u <(printf '%s\n' "$2") <(printf '%s\n' "$3") || fail "$1"
}
quietly() { "$@" >log 2>&1 || { cat log && fail "$*" && exit 1; }; }

# ---- Installing ----

sed "s|$build/boxcar\([;\"]\)|$build/not_there\1|" "$build/cmake_install.cmake" >half.cmake
if "$cmake" -D CMAKE_INSTALL_PREFIX="$folder/half" -P half.cmake >log 2>&1; then fail "an installation of half a build"; fi
tr -s ' \n' ' ' <log | grep -q "$build/not_there is not built, so nothing is installed" || fail "no error names what is not built:" "$(<log)"
[[ ! -e half ]] || fail "something of half a build was installed"

quietly "$cmake" --install "$build" --prefix "$folder/first"
if [[ $kind == shared ]]; then quietly "$cmake" --install "$build" --prefix "$folder/first" --component static; fi
mv first moved
prefix=$folder/moved
boxcar=$prefix/bin/boxcar
libdir=$(dirname "$(find "$prefix" -name 'libboxcar.a')")
# Matches only whole paths: if the sources are in /boxcar, lib/cmake/boxcar must not match.
begins='(^|[^[:alnum:]_.}/-])'
if grep -rIlE -e "$begins$source" -e "$begins$build" -e "$begins$folder/first" "$prefix" >paths; then fail "these name the places of the build:" "$(<paths)"; fi

echo 'print("moved", ones(2))' >moved.ops
expect_same "the installed program" "moved tensor([1., 1.])" "$("$boxcar" run moved.ops)"
operators=$("$boxcar" ops | wc -l)
((operators > 200)) || fail "the installed program has $operators operators"

expect_same "folders without files" "" "$(find "$prefix" -type d -empty)"

expect_same "completion in bash" "$("$boxcar" completion bash)" "$(<"$prefix/share/bash-completion/completions/boxcar")"
expect_same "completion in zsh" "$("$boxcar" completion zsh)" "$(<"$prefix/share/zsh/site-functions/_boxcar")"
expect_same "the manual page" "$("$boxcar" manual-page)" "$(<"$prefix/share/man/man1/boxcar.1")"

# ---- Projects of users ----

# Builds the project in folder $1 into folder $2; further arguments go to CMake.
build() {
  quietly "$cmake" -S "$1" -B "$2" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "${@:3}"
  quietly "$cmake" --build "$2"
}

consumer_output="operators $operators
consumer::twice tensor([0, 2, 4])
consumer_plugin::thrice tensor([0, 3, 6])
gradient tensor([2., 2.])
script [2.0, 2.0]
error: plugin absent.so cannot be opened: No such file or directory; give the path of the file, relative to the current directory"
needs_shared_boxcar() { readelf -d "$1" | grep -q 'NEEDED.*\[libboxcar\.so'; }

if [[ $kind == shared ]]; then
  build "$source/tests/install/consumer" shared
  expect_same "find_package, shared" "$consumer_output" "$(shared/consumer shared/libconsumer_plugin.so)"
  needs_shared_boxcar shared/consumer || fail "the shared consumer does not need libboxcar.so"

  build "$source/scripts/plugin" sample
  expect_same "the sample plugin's script" "$(<"$source/tests/install/demo.txt")" \
    "$("$boxcar" --plugin sample/libsample.so run "$source/scripts/plugin/demo.ops")"
  expect_same "a plugin named behind the command, in the current directory" \
    "sample::standardize(Tensor x, float eps=1e-5) -> Tensor" \
    "$(cd sample && "$boxcar" ops standardize --plugin libsample.so)"
  "$boxcar" --plugin sample/libsample.so check "$source/scripts/plugin/demo.ops" || fail "check with the plugin"
  if "$boxcar" check "$source/scripts/plugin/demo.ops" 2>errors; then fail "check without the plugin"; fi
fi

build "$source/tests/install/consumer" static -DBOXCAR_STATIC=ON
expect_same "find_package, static" "$consumer_output" "$(static/consumer static/libconsumer_plugin.so)"
if needs_shared_boxcar static/consumer; then fail "the static consumer needs libboxcar.so"; fi
if [[ $kind == shared ]]; then
  # Sanitizers would abort the program for the mistake that it must detect itself.
  expect_same "a plugin that brings a second boxcar" "operators $operators
error: plugin 'consumer_plugin' (shared/libconsumer_plugin.so) is linked with libboxcar.so, but this program contains boxcar; build the plugin with the static package, which uses the program's" \
    "$(ASAN_OPTIONS=detect_odr_violation=0 static/consumer shared/libconsumer_plugin.so)"
fi
if [[ $kind == static ]]; then
  expect_same "a plugin for the static program" "consumer_plugin::thrice(Tensor x) -> Tensor" \
    "$("$boxcar" ops thrice --plugin static/libconsumer_plugin.so)"
fi

# ---- pkg-config ----

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$libdir/pkgconfig
  read -ra cflags <<<"$flags $(pkg-config --cflags boxcar)"
  quietly "$compiler" -std=c++20 "${cflags[@]}" -c "$source/tests/install/consumer/main.cpp" -o main.o
  without_plugin=$(grep -v thrice <<<"$consumer_output")
  for package in boxcar boxcar-static; do
    read -ra libs <<<"$flags $(pkg-config --libs "$package")"
    quietly "$compiler" main.o "${libs[@]}" -Wl,-rpath,"$libdir" -o "with_$package"
    expect_same "pkg-config $package" "$without_plugin" "$("./with_$package")"
  done
  if needs_shared_boxcar with_boxcar-static; then fail "pkg-config's static consumer needs libboxcar.so"; fi
else
  echo "pkg-config is not installed: its file is not tested"
fi
exit $failed
