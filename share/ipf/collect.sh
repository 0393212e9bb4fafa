#!/bin/sh
# The results of a run: collect.sh RESULTS RECORDS OPTION-OF-ipf-collect…
# What was sampled while the run lasted is taken from the results of that time, if there are any; see measure.sh.
results=$1 records=$2
shift 2
live=${records%records.zst}live.zst
[ ! -e "$live" ] || set -- "$@" --samples "$live"
exec sh "$(dirname "$0")/step.sh" "$results" ipf-collect "$records" "$@"
