#!/bin/sh
# The manual pages as HTML pages that link to each other: html.sh FOLDER PAGE…
set -eu
folder=$1
shift
mkdir -p "$folder"
cat >"$folder/style.css" <<'X'
:root { color-scheme: light dark; }
body { max-width: 48em; margin: 2em auto; padding: 0 1em; font: 1rem/1.5 system-ui, sans-serif; }
table.head, table.foot { width: 100%; font-size: 0.85em; opacity: 0.7; }
td.head-vol { text-align: center; } td.head-rtitle, td.foot-os { text-align: right; }
h1, h2 { font-size: 1.15em; } code, pre { font-family: ui-monospace, monospace; font-size: 0.92em; }
pre, .Bd-indent { overflow-x: auto; margin-left: 2em; } dd { margin-bottom: 0.6em; }
a { text-underline-offset: 0.15em; } a.permalink { color: inherit; text-decoration: none; }
X
for page; do
	mandoc -T html -O style=style.css,man=%N.%S.html,toc -I os=ipf "$page" >"$folder/$(basename "$page").html"
done
# mandoc links every cross reference; pages that are not ours are not here.
for page in "$folder"/*.[1357].html; do
	grep -oE 'href="[^"#]+\.html"' "$page" | cut -d '"' -f 2 | sort -u | while read -r target; do
		[ -e "$folder/$target" ] || sed -i "s,<a class=\"Xr\" href=\"$target\"\\([^>]*\\)>\\([^<]*\\)</a>,\\2,g" "$page"
	done
done
{
	echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
	echo '<title>ipf: manual pages</title><link rel="stylesheet" href="style.css"></head><body><h1>ipf: manual pages</h1><dl>'
	for page; do
		name=$(basename "$page")
		printf '<dt><a href="%s.html">%s(%s)</a></dt><dd>%s</dd>\n' "$name" "${name%.*}" "${name##*.}" \
			"$(sed -n 's/^\.Nd //p' "$page" | sed 's/\\(..//g; s/&/\&amp;/g; s/</\&lt;/g')"
	done
	echo '</dl></body></html>'
} >"$folder/index.html"
echo "$folder/index.html"
