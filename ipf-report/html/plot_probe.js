/* The probe of a plot: a layer over its picture that shows the values where the pointer is or, by the arrow keys, at any
   stop. For screen readers it is a slider, whose text is what is shown. */
(() => {
	'use strict';
	const PAGE = 10;

	/* The marks are in the picture, which scales them; the words are above the page. */
	function draw(probe) {
		const stop = probe.stop(), panel = probe.track().panel, [left, top, right, bottom] = panel.area;
		const line = (x1, y1, x2, y2) => plots.svgElement('line', { x1: x1, y1: y1, x2: x2, y2: y2 });
		const marks = stop.dots().map((at) => plots.svgElement('circle', { cx: at.x, cy: at.y, r: 5 }));
		if (stop.box)
			marks.unshift(plots.svgElement('rect', stop.box));
		else if (stop.y === null)
			marks.unshift(line(stop.x, top, stop.x, bottom));
		else if (stop.x === null)
			marks.unshift(line(left, stop.y, right, stop.y));
		probe.marks.replaceChildren(...marks);
	}

	/* Beside the stop, where there is more room. */
	function placeWords(probe) {
		const stop = probe.stop(), [left, top, right] = probe.track().panel.area, box = probe.plot.svg.viewBox.baseVal;
		const x = stop.x === null ? left : stop.x, y = stop.y === null ? top : stop.y;
		const style = probe.words.style, onRight = x < (left + right) / 2;
		style.left = onRight ? 'calc(' + x / box.width * 100 + '% + 1rem)' : '';
		style.right = onRight ? '' : 'calc(' + (1 - x / box.width) * 100 + '% + 1rem)';
		style.maxWidth = 'calc(' + (onRight ? 1 - x / box.width : x / box.width) * 100 + '% - 1rem)';
		style.top = y / box.height * 100 + '%';
	}

	function show(probe) {
		const lines = probe.stop().say();
		probe.words.replaceChildren(...lines.map((text, i) => plots.element('p', i ? '' : 'head', text)));
		probe.words.hidden = false;
		placeWords(probe);
		draw(probe);
		probe.layer.setAttribute('aria-valuetext', lines.join('; '));
		probe.layer.setAttribute('aria-valuenow', probe.at[1]);
		probe.layer.setAttribute('aria-valuemax', probe.track().stops.length - 1);
	}

	function hide(probe) {
		probe.words.hidden = true;
		probe.marks.replaceChildren();
	}

	/* The same place in the next track or the one before. */
	function changeTrack(probe, by) {
		const to = Math.min(Math.max(probe.at[0] + by, 0), probe.tracks.length - 1), from = probe.stop();
		const stops = probe.tracks[to].stops, distance = (s) => Math.abs((s.x === null ? 0 : s.x) - from.x);
		const best = stops.reduce((found, s, i) => distance(s) < distance(stops[found]) ? i : found, 0);
		probe.at = [to, best];
	}

	/* Lanes are one below the other, so the keys up and down are theirs. */
	function move(probe, key) {
		const last = probe.track().stops.length - 1, lanes = probe.track().panel.kind === 'lanes';
		const to = (i) => { probe.at[1] = Math.min(Math.max(i, 0), last); };
		switch (key) {
		case 'ArrowLeft': return to(probe.at[1] - 1);
		case 'ArrowRight': return to(probe.at[1] + 1);
		case 'PageUp': return to(probe.at[1] - PAGE);
		case 'PageDown': return to(probe.at[1] + PAGE);
		case 'Home': return to(0);
		case 'End': return to(last);
		case 'ArrowUp': return lanes ? to(probe.at[1] - 1) : changeTrack(probe, -1);
		case 'ArrowDown': return lanes ? to(probe.at[1] + 1) : changeTrack(probe, 1);
		default: return undefined;
		}
	}

	const KEYS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End'];

	function listen(probe) {
		const layer = probe.layer;
		layer.addEventListener('keydown', (event) => {
			if (event.key === 'Escape')
				return hide(probe);
			if (!KEYS.includes(event.key) || event.ctrlKey || event.altKey || event.metaKey || !probe.tracks.length)
				return undefined;
			event.preventDefault();
			move(probe, event.key);
			return show(probe);
		});
		layer.addEventListener('focus', () => { if (probe.tracks.length && layer.matches(':focus-visible')) show(probe); });
		layer.addEventListener('blur', () => hide(probe));
		layer.addEventListener('pointerleave', () => { if (document.activeElement !== layer) hide(probe); });
		['pointerdown', 'pointermove'].forEach((name) => layer.addEventListener(name, (event) => {
			if (!probe.tracks.length)
				return;
			const [x, y] = probe.place(event);
			probe.at = plots.nearestStop(probe.tracks, x, y);
			show(probe);
		}));
	}

	function makeProbe(plot) {
		const probe = {
			plot: plot,
			tracks: plots.tracks(plot),
			at: [0, 0],
			layer: plots.element('div', 'probe'),
			words: plots.element('div', 'words'),
			marks: plots.svgElement('g', { class: 'marks' }),
			track: () => probe.tracks[probe.at[0]],
			stop: () => probe.track().stops[probe.at[1]],
			/* The place of the pointer, in the units of the picture. */
			place: (event) => {
				const box = plot.svg.getBoundingClientRect(), view = plot.svg.viewBox.baseVal;
				return [(event.clientX - box.left) / box.width * view.width, (event.clientY - box.top) / box.height * view.height];
			},
			/* After series were hidden or shown. */
			renew: () => {
				probe.tracks = plots.tracks(plot);
				probe.at = [0, 0];
				hide(probe);
			},
		};
		const frame = plots.element('div', 'frame');
		const attributes = { role: 'slider', tabindex: '0', 'aria-label': 'Values of the plot: ' + plot.title,
			'aria-valuemin': '0', 'aria-valuenow': '0', 'aria-valuemax': '0', 'aria-valuetext': 'use the arrow keys' };
		Object.entries(attributes).forEach(([name, value]) => probe.layer.setAttribute(name, value));
		plot.svg.before(frame);
		plot.svg.append(probe.marks);
		probe.words.hidden = true;
		frame.append(plot.svg, probe.layer, probe.words);
		listen(probe);
		return probe;
	}

	plots.list.forEach((plot) => { plot.probe = makeProbe(plot); });
})();
