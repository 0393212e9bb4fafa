# The settings of a measurement, as shell variables: copy this file, change it, and give it to submit.sh or
# interactive.sh. Lists in parentheses have one argument of a program in each element.
# shellcheck shell=bash disable=SC2034,SC2016

# The server: a command for the GPU node, which may use srun for several nodes. Empty if the server at URL is there already.
SERVER='vllm serve meta-llama/Llama-3.1-8B-Instruct --port 8000'
# Where the clients find it. $(hostname) is evaluated where the command runs.
URL='http://$(hostname):8000'
MODEL=meta-llama/Llama-3.1-8B-Instruct
# The longest time from the start of its job until the server is ready.
READY=30m

# The clients: tasks of the array, on one node each if CLIENT_JOB says so. STAGES is the load of all of them together.
SHARDS=4
TRACE=(synthetic -n 20000 --input-tokens 1024 --output-tokens 128)
STAGES=('poisson:rate=10,for=30s,warmup' 'poisson:rate=40,for=5m')
# Seconds between the moment when all clients are ready and the start. Files of one node must be visible on the others by then:
# up to a minute on NFS with its default caches, see actimeo in nfs(5).
START_IN=60

# More options of the programs, and of sbatch for the three jobs.
FIRE=()
COLLECT=()
REPORT=()
SERVER_JOB=(--nodes=1 --gres=gpu:1 --time=2:00:00)
CLIENT_JOB=(--nodes=1 --cpus-per-task=4 --exclusive --time=2:00:00)
REPORT_JOB=(--cpus-per-task=2 --time=1:00:00)

# The folder of all runs, on a file system common to all nodes. A run is in RUNS/JOBID.
RUNS=$HOME/ipf-runs
# Where the programs are, if they are not in PATH on the nodes.
#PATH=/opt/ipf/bin:$PATH
# The key of the server, if it wants one: a file only you can read.
#export IPF_FIRE_KEY_FILE=$HOME/server.key
