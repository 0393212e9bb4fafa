#!/usr/bin/env python3
"""Print log_table.h: exact_log's logarithms, from 60-digit arithmetic.

    python3 lib/stats/make_log_table.py >lib/stats/log_table.h
"""

from decimal import Decimal, getcontext

STEPS = 128
FIRST, LAST = 91, 181  # the multiples of 1/128 nearest to the roots of 1/2 and of 2

HEAD = """\
/* Made by make_log_table.py; do not edit.
 *
 * For 91 <= k <= 181: 128/k and ln(k/128), each rounded to the nearest double. Every k/128 is a double, and every x
 * between the roots of 1/2 and of 2 is within 1/256 of one. */
/* clang-format off */
static const struct {
	double inverse, log;
} near_one[] = {"""

getcontext().prec = 60


print(HEAD)
for k in range(FIRST, LAST + 1):
    print("\t{%s, %s}," % ((STEPS / k).hex(), float((Decimal(k) / STEPS).ln()).hex()))
print("};")
