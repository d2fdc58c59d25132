#!/bin/bash
# A sweep on all nodes of a Slurm job: sbatch examples/ray_on_slurm.sh plan.toml run
#
# The first node has the head of a Ray cluster and the driver, the others have workers.
# The folder of the sweep is on a file system that the first node sees. Shortly before
# the end of the job's time the driver ends the cells that run, and the job is put back
# into the queue, where it goes on; so it does after a node failed or the job was
# preempted. Whatever happens to it: the same command again, and nothing is repeated.
#
#SBATCH --job-name=simgap
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=12:00:00
#SBATCH --signal=B:USR1@600
#SBATCH --requeue
#SBATCH --open-mode=append
#   for training on GPUs: --gpus-per-node=2, and `gpus = 1` under [limits] in the plan
set -euo pipefail
plan=${1:-plan.toml}
run=${2:-run}
# source "$HOME/simgap/bin/activate"  # the same environment on every node

set -m # what runs in the background can be interrupted
umask 077
export RAY_AUTH_MODE=token        # nobody else on the network gets in
export RAY_USAGE_STATS_ENABLED=0  # nothing is sent to anybody
export RAY_TMPDIR=/tmp/ray-$SLURM_JOB_ID
ray get-auth-token --generate >/dev/null # in ~/.ray, which all nodes share

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=$(srun --nodes=1 --ntasks=1 --nodelist="${nodes[0]}" hostname --ip-address | awk '{print $1}')
address=$head:$((20000 + SLURM_JOB_ID % 10000))
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

srun --nodes=1 --ntasks=1 --overlap --nodelist="${nodes[0]}" \
  ray start --head --block --node-ip-address="$head" --port="${address#*:}" \
  --num-cpus="$SLURM_CPUS_PER_TASK" --include-dashboard=false &
until ray status --address "$address" >/dev/null 2>&1; do sleep 2; done
if ((${#nodes[@]} > 1)); then
  srun --nodes=$((${#nodes[@]} - 1)) --ntasks=$((${#nodes[@]} - 1)) --overlap --exclude="${nodes[0]}" \
    ray start --block --address="$address" --num-cpus="$SLURM_CPUS_PER_TASK" &
fi

simgap sweep "$plan" --out "$run" --engine ray --address "$address" &
driver=$!
trap 'kill -INT $driver' USR1 TERM
status=0
while kill -0 $driver 2>/dev/null; do
  status=0
  wait $driver || status=$?
done
if ((status == 130)); then scontrol requeue "$SLURM_JOB_ID"; fi
exit "$status"
