#!/usr/bin/env python3
"""Print exp_table.h: exact_exp's powers of two, from 60-digit arithmetic.

    python3 lib/stats/make_exp_table.py >lib/stats/exp_table.h
"""

from decimal import Decimal, getcontext
from fractions import Fraction

STEPS = 64

HEAD = """\
/* Made by make_exp_table.py; do not edit.
 *
 * For 0 <= j < 64: 2^(j/64) rounded to the nearest double, and the rounding error, as a share of 2^(j/64). */
/* clang-format off */
static const struct {
	double power, missing;
} powers[] = {"""

getcontext().prec = 60


print(HEAD)
for j in range(STEPS):
    exact = Fraction(Decimal(2) ** (Decimal(j) / STEPS)) if j else Fraction(1)
    power = float(exact)
    missing = float((exact - Fraction(power)) / exact)
    print("\t{%s, %s}," % (power.hex(), missing.hex()))
print("};")
