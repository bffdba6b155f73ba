#!/bin/sh
# Measures evallib against the newest ONNX Runtime and prints a table; README.md says how to read it.
#
#     sh tests/bench/run.sh                                  every model, at one thread and at two
#     sh tests/bench/run.sh --only resnet18,mlp_b1 --threads 1 --rounds 3
#     LIBRARY=some/libevallib.so sh tests/bench/run.sh       that library instead of a build of this tree
#     PYTHON=some/venv/bin/python sh tests/bench/run.sh      that Python, with numpy, onnx and onnxruntime
#
# Everything goes to build/bench/.
set -eu
cd "$(dirname "$0")/../.."
out=build/bench
mkdir -p $out

if [ -z "${LIBRARY:-}" ]; then
    cmake --preset release -G Ninja >$out/cmake.log || { cat $out/cmake.log; exit 1; }
    ninja -C build/release libevallib.so >$out/ninja.log || { tail -n 40 $out/ninja.log; exit 1; }
    LIBRARY=build/release/libevallib.so
fi

if [ -z "${PYTHON:-}" ]; then
    [ -x $out/venv/bin/python ] || python3 -m venv $out/venv
    $out/venv/bin/pip install --quiet --disable-pip-version-check --upgrade numpy onnx onnxruntime matplotlib
    PYTHON=$out/venv/bin/python
fi

here=tests/bench
flags="-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Wshadow -Iinclude -Ievallib"
vector_bytes=16
has() { cc -march=native -dM -E -x c /dev/null | grep -q "define $1 "; }
has __AVX__ && vector_bytes=32
has __AVX512F__ && vector_bytes=64
for is_double in 0 1; do
    cc $flags -O2 -DEVL_REAL_IS_DOUBLE=$is_double -c $here/ours_real.c -o $out/ours_$is_double.o
    cc $flags -O3 -march=native -ffp-contract=fast -funroll-loops -DEVL_REAL_IS_DOUBLE=$is_double -DVECTOR_BYTES=$vector_bytes \
        -c $here/peak_real.c -o $out/peak_$is_double.o
done
cc $flags -O2 $here/time.c $here/ort.c $out/ours_?.o -ldl -o $out/time
cc $flags -O2 $here/peak.c $out/peak_?.o -pthread -o $out/peak

exec "$PYTHON" -B $here/bench.py --library "$LIBRARY" "$@"
