#!/bin/sh
# From a fresh Debian machine to running samples: installs what is missing, builds, shows.
#
#     sh samples/quickstart.sh        as root, or with sudo; some minutes the first time
set -eu
cd "$(dirname "$0")/.."
build=build
log=$build/quickstart.log
packages="gcc cmake ninja-build python3 python3-dev python3-venv libopenblas0-serial"
mkdir -p "$build"
: >"$log"

step() { # what is done, command: quiet unless it fails
    printf '%s ... ' "$1"
    shift
    if "$@" >>"$log" 2>&1; then
        echo ok
    else
        echo "failed; the end of $log:"
        tail -n 30 "$log"
        exit 1
    fi
}

show() { # what it shows, a sample as it is called
    printf '\n# %s\n' "$1"
    shift
    printf '$ %s\n' "$*"
    "$@"
}

missing=
for package in $packages; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
        echo "Please install these packages first:$missing"
        exit 1
    fi
    step "looking up packages" $as_root apt-get -q update
    step "installing$missing" $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing
fi

step "configuring" cmake -S . -B "$build/quickstart" -G Ninja -DCMAKE_BUILD_TYPE=Release -DEVALLIB_SAMPLES=ON
step "building the library and the C samples" cmake --build "$build/quickstart"
step "making a Python environment" python3 -m venv "$build/quickstart-venv"
step "installing the Python package" "$build/quickstart-venv/bin/pip" install --disable-pip-version-check ./wrapper \
    --config-settings=cmake.define.EVALLIB_LIBRARY="$PWD/$build/quickstart/libevallib.so" # not built again

programs=$build/quickstart/samples
python=$build/quickstart-venv/bin/python
digits=samples/digits
show "The program of the README: an empty image" "$programs/hello"
show "C, linked with the library" "$programs/linked" $digits/digits.dnn $digits/images/3.pgm
show "C, the library opened at run time" "$programs/loaded" "$build/quickstart/libevallib.so" $digits/digits.onnx $digits/images/8.pgm
show "A recurrent network, whole and step by step" "$programs/sequence" samples/sequence.dnn
show "Python" "$python" samples/hello.py
show "Python, the script of the CNTK article" "$python" $digits/article.py

printf '\nAll samples ran. The programs are in %s, the Python environment is %s.\n' "$programs" "$build/quickstart-venv"
