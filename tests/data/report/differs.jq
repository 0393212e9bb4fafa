# jq -n --slurpfile want A --slurpfile got B -f differs.jq: every figure of A that B does not have or that is more than a rounding away.
[$want[0] | paths(type == "number" or type == "string")] | map(. as $p | ($want[0] | getpath($p)) as $a | ($got[0] | try getpath($p) catch null) as $b
	| select(($b | type) != ($a | type) or (if ($a | type) == "number" then ($a - $b | fabs) > 2e-6 * (1 + ($a | fabs)) else $a != $b end))
	| "\($p | map(tostring) | join(".")): expected \($a), got \($b)") | .[]
