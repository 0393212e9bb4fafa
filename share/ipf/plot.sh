#!/bin/sh
# Draws a plot, if gnuplot is installed: plot.sh SCRIPT.gp. A plot that fails does not make the figures wrong: it is only reported.
if ! command -v gnuplot >/dev/null; then
	echo "gnuplot is not installed: no plot; later: cd $(dirname "$1") && gnuplot $(basename "$1")" >&2
	exit 0
fi
cd "$(dirname "$1")" || exit
gnuplot "$(basename "$1")" || echo "gnuplot: $1: no plot" >&2
