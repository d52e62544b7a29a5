#!/usr/bin/env bash
# Builds the command line with the feature `cuda`, where neither CUDA nor a GPU need be: the toolkit
# comes from PyPI and a stub takes the driver's place in the linker. Where a GPU is, its ranks of the
# bundled benchmark are compared with the processor's.
#
#   bench/cuda.sh [--check] [--release]
#
#   --check      `cargo check` alone
#   --release    in the release profile; without it, in the development profile
#
# The toolkit is in $CLEANHIT_CUDA (default: `cleanhit-cuda` in the user's cache folder) and the build
# in $CARGO_TARGET_DIR (default: target/cuda). What is there already is used again. $CUDA_COMPUTE_CAP
# is the GPU that the kernels are for (default: the GPU's that is here, or else 90, Hopper), and
# $CUDAFORGE_THREADS how many of them are compiled at a time. Needs Python 3 with `venv`, and g++.
set -euo pipefail
cd "$(dirname "$0")/.."

# A newer toolkit's PTX is refused by drivers of CUDA 13.0.
version=13.0.2
# The libraries that the program is linked with, and nvcc with all it calls.
parts=nvcc,cudart,cublas,curand,nvrtc,cccl,crt,nvvm

home=${CLEANHIT_CUDA:-${XDG_CACHE_HOME:-$HOME/.cache}/cleanhit-cuda}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target/cuda}

profile=dev folder=debug only_check=false
for argument in "$@"; do
    case $argument in
    --check) only_check=true ;;
    --release) profile=release folder=release ;;
    *)
        printf 'argument `%s` is unknown; expected `--check` or `--release`\n' "$argument" >&2
        exit 2
        ;;
    esac
done

# The toolkit. The mark is made last, so that an install that was cut off is done again.
mark=$home/toolkit-$version
if [[ ! -e $mark ]]; then
    python3 -m venv "$home/venv"
    "$home/venv/bin/python" -m pip install --quiet "cuda-toolkit[$parts]==$version"
    touch "$mark"
fi
toolkit=$(cd "$home"/venv/lib/python3*/site-packages/nvidia/cu13 && pwd)

# A library in the driver's place: every function of the driver, and each says that there is no
# device. It is in a folder of its own, which is on no search path where a driver is.
stub=$home/stub lib=$home/lib
mkdir -p "$stub" "$lib"
{
    # `cuda.h` declares older versions of a function on demand, and not the profiler's.
    "${CC:-gcc}" -E -P -D__CUDA_API_VERSION_INTERNAL "$toolkit/include/cuda.h" |
        grep -oE '\bcu[A-Z][A-Za-z0-9_]* *\(' | tr -d ' ('
    printf '%s\n' cuProfilerInitialize cuProfilerStart cuProfilerStop
} | sort -u | sed 's/.*/int &(void) { return 100; } \/* CUDA_ERROR_NO_DEVICE *\//' >"$stub/cuda.c"
"${CC:-gcc}" -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$stub/libcuda.so.1" "$stub/cuda.c"

# The linker asks for plain names, and the packages have those with a version.
for file in "$stub"/lib*.so.* "$toolkit"/lib/lib*.so.*; do
    name=${file##*/}
    ln -sfn "$file" "$lib/${name%%.so.*}.so"
done

gpu=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) || gpu=
export CUDA_HOME=$toolkit CUDA_PATH=$toolkit CUDA_ROOT=$toolkit CUDA_TOOLKIT_ROOT_DIR=$toolkit
export PATH=$toolkit/bin:$PATH NVCC_CCBIN=${NVCC_CCBIN:-$(command -v g++)}
export CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-${gpu:+${gpu/./}}}
export CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-90} CUDAFORGE_THREADS=${CUDAFORGE_THREADS:-2}
# `-L` for the linker alone: flags of the compiler would have every crate built again.
export LIBRARY_PATH=$lib${LIBRARY_PATH:+:$LIBRARY_PATH}

timed() {
    local began=$SECONDS
    "$@"
    printf '%s: %d s\n' "$*" $((SECONDS - began))
}

printf 'CUDA %s, compute capability %s, %s\n' "$version" "$CUDA_COMPUTE_CAP" "$home"
timed cargo check --locked --profile "$profile" --features cuda
if $only_check; then
    exit 0
fi
timed cargo build --locked --profile "$profile" --features cuda --bin cleanhit

binary=$CARGO_TARGET_DIR/$folder/cleanhit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
strip -o "$scratch/stripped" "$binary"
printf '%s: %d bytes, %d stripped\n' "$binary" "$(stat -c %s "$binary")" "$(stat -c %s "$scratch/stripped")"
export LD_LIBRARY_PATH=$toolkit/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
ldd "$binary"

if [[ -z $gpu ]]; then
    # On the stub the program starts, and the device is refused in one line.
    export LD_LIBRARY_PATH=$stub:$LD_LIBRARY_PATH
    "$binary" --version
    status=0
    "$binary" --device cuda:0 models check all-minilm-l6-v2 || status=$?
    if [[ $status -ne 2 ]]; then
        printf 'without a GPU the exit status was %d; expected 2\n' "$status" >&2
        exit 1
    fi
    echo 'skipped: no GPU'
    exit 0
fi

bench/weights.sh
for device in cpu cuda:0; do
    # Whole pools, so that nothing is lost at a cut, and no vectors of another run.
    CLEANHIT_CACHE=$scratch/cache timed "$binary" --quiet --device "$device" \
        rank -m all-minilm-l6-v2 --depth 1000 -o "$scratch/$device"
done
python3 bench/same_ranks.py "$scratch"/{cpu,cuda:0}/all-minilm-l6-v2/ranks.tsv
