#!/bin/bash
# A Slurm array that categorizes a list: each task asks for one shard of it, into a folder of a bucket, or a folder that
# all nodes share.
#
#   export BULKCAT_BASE_URL=http://gateway:8080 BULKCAT_API_KEY=...
#   export AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... AWS_REGION=...
#   export XDG_STATE_HOME=/scratch/$USER     # a local disk of each node, for the stores
#   sbatch array.sh product s3://lists/catalog.csv s3://lists/out/ [FLAGS...]
#   bulkcat finish s3://lists/out/ -o s3://lists/all.csv     # when all tasks are complete
#
# A task whose folder was lost runs again alone, with its shard by name:
#
#   SHARD=7/8 sbatch -a 7 array.sh product s3://lists/catalog.csv s3://lists/out/
#
#SBATCH --job-name=bulkcat
#SBATCH --array=1-8
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -u
kind=$1 input=$2 out=$3
shift 3

bulkcat "$kind" "$input" -o "$out" --shard "${SHARD:-auto}" --quiet "$@" &
run=$!
# SIGUSR1 arrives 120 seconds before the time limit: bulkcat stops, resumable, and the task continues later. SIGTERM is
# that of scancel, a requeue or a preemption, after which Slurm knows what to do.
limit='' signalled=''
trap 'limit=reached signalled=yes; kill -TERM "$run" 2> /dev/null' USR1
trap 'signalled=yes; kill -TERM "$run" 2> /dev/null' TERM
while :; do
  signalled=''
  wait "$run"
  status=$?
  [ -n "$signalled" ] || break # a signal ends wait, too
done

case $status$limit in
  0*) exit 0 ;;
  3*) echo "complete, but some records have no answer" >&2; exit 0 ;;
  75* | 137 | *reached) # quota, deadline or outage; killed, such as by a lack of memory; the time limit
    if [ "${SLURM_RESTART_COUNT:-0}" -lt 20 ]; then
      echo "bulkcat ended with status $status; the task continues later" >&2
      scontrol requeue "$SLURM_JOB_ID" && sleep 600 # Slurm ends the script
    fi ;;
esac
exit "$status"
