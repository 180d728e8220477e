# Functions for other scripts. `make_venv FOLDER EXTRA` makes a virtual environment with this checkout and an extra.

# Keep bytecode. Otherwise, each of the hundreds of processes that the tests start would compile the package again.
unset PYTHONDONTWRITEBYTECODE

find_python() {
    for name in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11 python3.10 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "simdoc-search needs Python 3.10 or newer. Install it, or set PYTHON to its path." >&2
    return 1
}

# `find_version 3.12` prints the path of this version of Python, and fails if there is none. It searches PATH and the
# versions of pyenv, and then asks uv, which tries to download it.
find_version() {
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python \
        "$(uv python find "$1" 2>/dev/null || uv python install "$1" 2>/dev/null && uv python find "$1" 2>/dev/null)"; do
        if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

make_venv() {
    local folder=$1 extra=$2 python stamp
    python=$(find_python) || return 1
    # Make it again only if the dependencies or the Python have changed.
    stamp="$("$python" -V) $extra $PWD $(cksum pyproject.toml)"
    if [ "$(cat "$folder/installed" 2>/dev/null)" = "$stamp" ]; then
        return
    fi
    echo "Making a virtual environment in $folder ..." >&2
    if [ -e "$folder" ] && [ ! -e "$folder/installed" ]; then
        echo "$folder was not made by this script. Move it away, then run the same command again." >&2
        return 1
    fi
    rm -rf "$folder"
    mkdir -p "$folder"
    touch "$folder/installed"
    if ! "$python" -m venv "$folder" >&2; then
        echo "python -m venv failed. On Debian and Ubuntu, run: apt install python3-venv" >&2
        return 1
    fi
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".[$extra]" >&2 || return 1
    echo "$stamp" >"$folder/installed"
}

# `install_native FOLDER` builds the native kernel and installs it into a virtual environment, unless it is current.
install_native() {
    local folder=$1 stamp
    if ! cargo fetch --quiet --locked --manifest-path native/Cargo.toml 2>/dev/null; then
        echo "The native kernel is not tested: cargo is missing, or cannot download crates. See https://rustup.rs" >&2
        return
    fi
    stamp="$(cat native/Cargo.toml native/Cargo.lock native/src/*.rs | cksum) $(stat -c %Y "$folder/installed")"
    if [ "$(cat "$folder/native" 2>/dev/null)" = "$stamp" ]; then
        return
    fi
    # A running process that has loaded the old kernel would crash if its file were overwritten.
    rm -f "$folder"/lib/python3*/site-packages/simdoc_search_native/*.so
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check ./native >&2
    echo "$stamp" >"$folder/native"
}
