#!/bin/sh
# Installs what is missing, builds, runs the tests.
#
#     sh tests/run.sh                 all stages; on a bare Debian machine as root, or with sudo
#     sh tests/run.sh gcc lint        these stages alone
#     BUILD=/somewhere sh tests/run.sh    builds there, not in build/
#
# A stage that fails does not stop the others. The last line counts: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$(pwd)
build=${BUILD:-$root/build}
results=$build/results
every_stage="gcc clang sanitizers threads no_openblas valgrind python package coverage lint"
stages=${*:-$every_stage}

packages="gcc g++ clang clang-tidy cmake ninja-build pkg-config libcmocka-dev libopenblas0-serial libopenblas-dev \
libjpeg-dev libpng-dev libtiff-dev libwebp-dev libopenjp2-7-dev \
ccache valgrind universal-ctags cppcheck gcovr python3 python3-venv python3-dev util-linux locales"
python_packages="numpy onnx onnxruntime ml_dtypes pytest pillow mypy"

# --- what is missing -------------------------------------------------------------------

missing_packages() {
    for package in $packages; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$package"
    done
}

has_german() {
    locale -a 2>/dev/null | grep -qix 'de_DE.utf-\?8'
}

install_missing() { # packages
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    echo "missing: $* $(has_german || echo the locale de_DE.UTF-8)"
    if [ -n "$sudo" ] && ! command -v sudo >/dev/null; then
        echo "not root, and no sudo: this has to be done first"
        [ $# -eq 0 ]
        return
    fi
    if [ $# -gt 0 ]; then
        $sudo apt-get -qq update || return 1
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" || return 1
    fi
    has_german || $sudo localedef -i de_DE -f UTF-8 de_DE.UTF-8
}

# Tests that need a decimal comma are skipped where no locale has one.
stage_setup() {
    missing=$(missing_packages)
    # shellcheck disable=SC2086
    { [ -z "$missing" ] && has_german; } || install_missing $missing
}

# --- building and testing ----------------------------------------------------------------

# What two builds have in common is compiled once: without OpenBLAS, one file differs.
export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR="${CCACHE_DIR:-$build/ccache}"

configure_and_build() { # preset
    cmake --preset "$1" -G Ninja -B "$build/$1" >"$build/$1.cmake.log" 2>&1 || { cat "$build/$1.cmake.log"; return 1; }
    ninja -C "$build/$1" -j "$(nproc)" || { echo "$1: does not build"; return 1; }
}

test_build() { # preset, further arguments of ctest
    preset=$1
    shift
    $run_under ctest --test-dir "$build/$preset" -j "$(nproc)" --timeout 900 --output-on-failure \
        --test-output-size-passed 1000000 --test-output-size-failed 1000000 \
        --output-junit "$results/$preset.xml" "$@"
}
run_under=

stage_gcc() {
    configure_and_build release && test_build release
}

stage_clang() {
    configure_and_build clang-release && test_build clang-release
}

stage_sanitizers() {
    configure_and_build sanitizers &&
        ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 test_build sanitizers
}

# The sanitizer's memory map does not fit every kernel's address randomisation.
stage_threads() {
    configure_and_build threads || return 1
    setarch "$(uname -m)" -R true 2>/dev/null && run_under="setarch $(uname -m) -R"
    TSAN_OPTIONS=halt_on_error=1 test_build threads -R '^(os|exec|api|faults)_'
}

stage_no_openblas() {
    configure_and_build no-openblas && test_build no-openblas
}

stage_valgrind() {
    configure_and_build release || return 1
    failed=0
    digits=samples/digits
    checks="--quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=definite,indirect,possible"
    for test in "$build"/release/tests/os_*; do
        # shellcheck disable=SC2086
        valgrind $checks "$test"
        count_script "valgrind $(basename "$test")" $? || failed=1
    done
    for command in "hello" "sequence samples/sequence.dnn" \
        "linked $digits/digits.dnn $digits/images/3.pgm" "linked $digits/digits.onnx $digits/images/3.pgm" \
        "loaded $build/release/libevallib.so $digits/digits.onnx $digits/images/8.pgm"; do
        # shellcheck disable=SC2086
        valgrind $checks "$build/release/samples/"$command >/dev/null
        count_script "valgrind $command" $? || failed=1
    done
    return $failed
}

python_environment() {
    [ -x "$build/venv/bin/python" ] || python3 -m venv "$build/venv" || return 1
    "$build/venv/bin/pip" install --quiet --disable-pip-version-check $python_packages || return 1
    "$build/venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps ./wrapper
}

stage_python() {
    python_environment || return 1
    "$build/venv/bin/python" -B -m pytest -q -p no:cacheprovider --junitxml "$results/pytest.xml" tests
}

stage_package() {
    configure_and_build release || return 1
    sh tests/install/run.sh "$build/release"
    count_script "install" $?
}

stage_coverage() {
    configure_and_build coverage || return 1
    find "$build/coverage" -name '*.gcda' -delete
    ctest --test-dir "$build/coverage" -j "$(nproc)" --timeout 900 --quiet --output-on-failure &&
        gcovr --root "$root" --filter evallib/ --object-directory "$build/coverage" --gcov-ignore-parse-errors \
            --exclude-throw-branches --print-summary "$build/coverage"
    count_script "coverage" $?
}

stage_lint() {
    CC=clang cmake --preset clang-debug -G Ninja -B "$build/lint" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null || return 1
    python3 -B tests/lint/lint.py "$root" "$build/lint"
    count_script "lint" $?
}

# --- counting ---------------------------------------------------------------------------

count_script() { # name, status: a script is one test
    if [ "$2" -eq 0 ]; then
        echo "passed $1" >>"$results/scripts"
    else
        echo "failed $1" >>"$results/scripts"
        return 1
    fi
}

# A stage says all in its log; here it gets one line, and the log's end when it fails.
run_stage() {
    began=$(date +%s)
    log=$build/$1.log
    if (stage_"$1") >"$log" 2>&1; then
        word=ok
    else
        word=FAILED
    fi
    printf '%-12s %-7s %4d s\n' "$1" "$word" $(($(date +%s) - began))
    case $1 in coverage) grep -E '^(TOTAL|lines:|branches:)' "$log" ;; esac
    grep -i '^skipped:' "$log" | sort -u
    [ $word = ok ] && return
    tail -n 60 "$log" | sed 's/^/    /'
    echo "    (the whole of it: $log)"
    # A stage that broke before any of its tests could fail is a failure of its own.
    echo "stage $1" >>"$results/broken"
}

rm -rf "$results"
mkdir -p "$results"
: >"$results/scripts"
: >"$results/broken"
for stage in setup $stages; do
    if type "stage_$stage" >/dev/null 2>&1; then
        run_stage "$stage"
    else
        echo "no stage is called $stage; there are: $every_stage"
        echo "stage $stage" >>"$results/broken"
    fi
done
exec python3 -B tests/count.py "$results"
