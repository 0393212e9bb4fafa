#!/usr/bin/env python3
"""Print ziggurat.h: the layers under the exponential and the normal density, from 40-digit arithmetic.

    python3 lib/stats/make_ziggurat.py >lib/stats/ziggurat.h

Marsaglia and Tsang, The Ziggurat Method for Generating Random Variables (2000). The edges follow from edge[1] alone:
layer 0, with the tail, gives the area of all layers, and each layer's area gives the next edge. Bisection finds the
edge[1] for which the last layer ends exactly at the top, f = 1.
"""

from decimal import Decimal, getcontext

LAYERS = 256
DIGITS = 40
COLUMNS = 5

HEAD = """\
/* Made by make_ziggurat.py; do not edit.
 *
 * The area under a density f that falls from f(0) = 1, cut into 256 layers of the same area. Layer i > 0 is the
 * rectangle from 0 to edge[i] and from f(edge[i]) to f(edge[i + 1]). Layer 0 is everything below f(edge[1]), the tail
 * included; edge[0] is the width it would have as a rectangle. test_lib_rng.c checks the edges. */
/* clang-format off */"""

getcontext().prec = DIGITS


class Exponential:
    name, formula = "exponential_edges", "exp(-x)"

    @staticmethod
    def density(x):
        return (-x).exp()

    @staticmethod
    def inverse(y):
        return -y.ln()

    @staticmethod
    def tail(x):
        return (-x).exp()


class Normal:
    name, formula = "normal_edges", "exp(-x^2 / 2)"

    @staticmethod
    def density(x):
        return (-x * x / 2).exp()

    @staticmethod
    def inverse(y):
        return (-2 * y.ln()).sqrt()

    @classmethod
    def tail(cls, x):
        """Return the area beyond x by Laplace's continued fraction; 600 terms give 40 digits for x > 3."""
        fraction = x
        for n in range(600, 0, -1):
            fraction = x + n / fraction
        return cls.density(x) / fraction


def layers(f, first):
    """Return edge[0] … edge[255], and how far the top of the last layer is above f = 1. The edges end early, and the
    excess is positive, if the layers reach the top before they are used up."""
    top = f.density(first)
    area = first * top + f.tail(first)
    edges = [area / top, first]
    while len(edges) < LAYERS:
        top += area / edges[-1]
        if top >= 1:
            return edges, top - 1
        edges.append(f.inverse(top))
    return edges, top + area / edges[-1] - 1


def solve(f):
    low, high = Decimal(2), Decimal(16)  # the further out the first edge, the smaller the layers
    while high - low > Decimal(10) ** (10 - DIGITS):
        middle = (low + high) / 2
        if layers(f, middle)[1] > 0:
            low = middle
        else:
            high = middle
    return layers(f, high)[0]


print(HEAD)
print("enum { LAYERS = %d };" % LAYERS)
for f in (Exponential, Normal):
    edges = [float(edge).hex() for edge in solve(f)] + ["0"]
    print("\n/* f(x) = %s */" % f.formula)
    print("static const double %s[LAYERS + 1] = {" % f.name)
    for i in range(0, len(edges), COLUMNS):
        print("\t" + " ".join(edge + "," for edge in edges[i:i + COLUMNS]))
    print("};")
