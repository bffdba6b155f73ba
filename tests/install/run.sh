#!/bin/sh
# Installs a build into a folder of its own and the Python package into another, uses both as others would, and
# takes them away again.
#
#     sh tests/install/run.sh BUILD_FOLDER
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
built=$(cd "$1" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
prefix=$place/prefix
model=$root/samples/digits/digits.onnx
strict="-Wall -Wextra -Wpedantic -Werror"

cmake --install "$built" --prefix "$prefix" >"$place/log" || { cat "$place/log"; exit 1; }

says_digits() { # a program: it must find the model's input and output
    "$@" "$model" >"$place/said" || { cat "$place/said"; echo "$1 failed"; return 1; }
    grep -q 'input features: 784 elements' "$place/said" && grep -q 'output ol.z: 10 elements' "$place/said" ||
        { cat "$place/said"; echo "$1 says something else"; return 1; }
}

echo "find_package"
cmake -S "$root/samples/embed" -B "$place/embed" -DCMAKE_PREFIX_PATH="$prefix" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
cmake --build "$place/embed" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
says_digits "$place/embed/embed_shared"
says_digits "$place/embed/embed_static"

echo "pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name evallib.pc)")
export PKG_CONFIG_PATH
libraries=$(pkg-config --variable=libdir evallib)
cc -std=c11 $strict -o "$place/shared" "$root/samples/embed/embed.c" $(pkg-config --cflags --libs evallib)
LD_LIBRARY_PATH=$libraries says_digits "$place/shared"
cc -std=c11 -static-libgcc $strict -o "$place/static" "$root/samples/embed/embed.c" \
    $(pkg-config --cflags evallib) "$libraries/libevallib.a" $(pkg-config --libs --static evallib | sed 's/-levallib//')
says_digits "$place/static"

echo "headers alone"
for header in $(cd "$prefix/include" && find evallib -name '*.h' ! -path '*/cntk/*'); do
    printf '#include <%s>\nint main(void) { return 0; }\n' "$header" >"$place/alone.c"
    cp "$place/alone.c" "$place/alone.cpp"
    cc -std=c11 $strict -I"$prefix/include" -fsyntax-only "$place/alone.c"
    c++ -std=c++11 $strict -I"$prefix/include" -fsyntax-only "$place/alone.cpp"
done
for header in $(cd "$prefix/include" && find evallib -path '*/cntk/*.h'); do
    printf '#include <%s>\nint main() { return 0; }\n' "$header" >"$place/alone.cpp"
    c++ -std=c++11 $strict -I"$prefix/include" -fsyntax-only "$place/alone.cpp"
done
printf '#include "Eval.h"\nint main() { Microsoft::MSR::CNTK::IEvaluateModel<float> *m; GetEvalF(&m); m->Destroy(); }\n' >"$place/alone.cpp"
c++ -std=c++11 $strict -I"$prefix/include/evallib/cntk" -o "$place/named" "$place/alone.cpp" -L"$libraries" -levallib
LD_LIBRARY_PATH=$libraries "$place/named"
echo "the Python package"
python3 -m venv "$place/venv"
pip="$place/venv/bin/pip --quiet --disable-pip-version-check"
$pip install "$root/wrapper" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
package=$("$place/venv/bin/python" -c 'import os, evallib; print(os.path.dirname(evallib.__file__))')
finds_library() { # environment: the package must find the library, and with it the digit
    (cd "$root" && env "$@" "$place/venv/bin/python" -B samples/hello.py >"$place/said" 2>&1) &&
        grep -qx 'The digit is 7' "$place/said" || { cat "$place/said"; echo "not found with $*"; return 1; }
}
finds_library EVALLIB_LIBRARY=/none
mv "$package/libevallib.so" "$place/elsewhere.so"
finds_library EVALLIB_LIBRARY="$place/elsewhere.so" LD_LIBRARY_PATH=/none
finds_library LD_LIBRARY_PATH="$libraries"
$pip uninstall -y evallib >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
[ ! -e "$package/__init__.py" ] || { echo "$package is still there"; exit 1; }

echo "an archive of wrapper/ alone"
mkdir -p "$place/alone/wrapper"
(cd "$root/wrapper" && cp -r CMakeLists.txt CNTKPythonWrapper.py README.md backend.py evallib pyproject.toml src "$place/alone/wrapper")
! $pip install "$place/alone/wrapper" >"$place/log" 2>&1 && grep -q 'An archive of wrapper/ alone' "$place/log" ||
    { cat "$place/log"; echo "it does not say what is missing"; exit 1; }

echo "uninstalling"
xargs rm <"$built/install_manifest.txt"
[ -z "$(find "$prefix" -type f -o -type l)" ] || { find "$prefix" -type f; echo "left behind"; exit 1; }
echo "install: ok"
