#!/usr/bin/env bash
# Makes examples/.sb3, an environment of its own for Stable-Baselines3 and PyTorch:
#
#     bash examples/sb3_environment.sh
#
# PyTorch is pinned to its CPU build. Where pip's own index does not have that build,
# name one that has: TORCH_INDEX=URL bash examples/sb3_environment.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
place=${1:-$here/.sb3}
torch=torch==2.13.0+cpu
python3 -m venv "$place"
"$place/bin/pip" install -q ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} "$torch" || {
  echo "pip found no $torch; name an index that has it: TORCH_INDEX=URL bash $0" >&2
  exit 1
}
"$place/bin/pip" install -q "$torch" stable-baselines3 sb3-contrib onnx "$here/..[continuous]"
"$place/bin/python" -c 'import simgap, stable_baselines3, torch; print("torch", torch.__version__)'
echo "ready: $place/bin/python examples/sb3_cartpole.py"
