# How the three programs are run for a row of faults/*.tsv, and what is done to them meanwhile. Each function leaves r.records, r.results,
# report.text and what each program said in PROGRAM.said, and sets $statuses, "FIRE COLLECT REPORT"; 1: not here, for the reason in `cannot`.
# shellcheck shell=bash disable=SC2034,SC2154 # $statuses is for, and $fire is the command line, of matrix.t

after_fire() { # STATUS OF ipf-fire
	local collect report
	ipf-collect -o r.results r.records 2>collect.said
	collect=$?
	ipf-report r.results >report.text 2>report.said
	report=$?
	statuses="$1 $collect $report"
}

act_-() {
	"${fire[@]}" -o r.records 2>fire.said
	after_fire $?
}
