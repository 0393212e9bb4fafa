"""Opens pages in Chromium: html_browser.py PAGE…. Prints, a line each, the console's messages, which requests a page makes, which
width needs more room than the window, which texts are over each other, which has too little contrast, the errors of the buttons of its tables, and texts that became elements while plots were used."""
import chromium, sys

CHECKS = """(() => {
  const wrong = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push('needs ' + wide + ' pixels of ' + innerWidth);
  for (const svg of document.querySelectorAll('svg')) if (svg.getBoundingClientRect().right > innerWidth) wrong.push('a plot is too wide');
  for (const note of document.querySelectorAll('.note'))
    if (note.getBoundingClientRect().top < note.previousElementSibling.getBoundingClientRect().bottom) wrong.push('covered by a note: ' + note.textContent);
  for (const svg of document.querySelectorAll('figure svg')) {
    const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
        wrong.push('texts of a plot over each other: ' + one + ' and ' + other);
    }));
  }
  const light = c => { const v = c.match(/[\\d.]+/g).map(Number).slice(0, 3).map(x => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
  const seen = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg, script') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const fore = getComputedStyle(e).color, back = behind(e), key = fore + back;
    if (seen.has(key)) continue;
    seen.add(key);
    const [a, b] = [light(fore), light(back)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) wrong.push('contrast of ' + e.tagName + ' ' + e.className + ': ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return wrong;
})()"""

SORTING = """(() => {
  const wrong = [], table = document.querySelector('table.sortable');
  if (!table) return wrong;
  const body = table.tBodies[0];
  if (body.rows.length < 2) return table.querySelector('button') ? ['a table of one row has buttons'] : [];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const full = c => c > 0 && [...body.rows].every(r => 'v' in r.cells[c].dataset);
  const column = heads.findIndex((_, c) => full(c)); // closed loops have no offered rate
  if (column < 0) return wrong;
  const head = heads[column], button = head.querySelector('button');
  if (!button) return ['there are no buttons'];
  const values = () => [...body.rows].map(r => Number(r.cells[column].dataset.v));
  const rising = v => v.every((x, i) => i === 0 || v[i - 1] <= x);
  button.focus();
  if (document.activeElement !== button) wrong.push('the keyboard cannot reach a button');
  button.click();
  if (!rising(values()) || head.getAttribute('aria-sort') !== 'ascending') wrong.push('the first click: ' + values());
  button.click();
  if (!rising(values().reverse()) || head.getAttribute('aria-sort') !== 'descending') wrong.push('the second click: ' + values());
  if (table.querySelectorAll('[aria-sort]').length !== 1) wrong.push('aria-sort is set ' + table.querySelectorAll('[aria-sort]').length + ' times');
  return wrong;
})()"""


# Plots and buttons in use make no element of a text.
EXPLORING = """(() => {
  for (const probe of document.querySelectorAll('.probe')) {
    probe.focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight', 'PageDown', 'End']) probe.dispatchEvent(new KeyboardEvent('keydown', {key: key}));
    if (!probe.getAttribute('aria-valuetext')) return ['a plot does not say its values'];
  }
  for (const button of document.querySelectorAll('.toggle')) { button.click(); button.click(); }
  return document.querySelectorAll('img, b, main script:not([type="application/json"])').length ? ['a text became an element'] : [];
})()"""

# Texts squeezed into columns of a few characters.
SQUEEZED = """[...document.querySelectorAll('dd, td')].filter(e => e.textContent.length > 80 && e.getClientRects().length && e.clientWidth < 80)
  .map(e => 'squeezed: ' + e.textContent.slice(0, 30))"""


def look_at(browser, page):
    for width, dark in ((1200, False), (400, False), (1200, True)):
        if width == 1200 and not dark: browser.open(page)
        browser.look(width, dark)
        for line in browser.evaluate(CHECKS): print(f"{page}: {width} pixels{', dark' if dark else ''}: {line}")
    for line in browser.evaluate(SORTING) + browser.evaluate(EXPLORING) + browser.evaluate(SQUEEZED): print(f"{page}: {line}")
    browser.look(700, media="print", height=1000)
    for line in browser.evaluate(SQUEEZED): print(f"{page}: on paper: {line}")
    browser.look(700)
    for line in browser.told(): print(f"{page}: {line}")


with chromium.opened() as browser:
    for page in sys.argv[1:]: look_at(browser, page)
