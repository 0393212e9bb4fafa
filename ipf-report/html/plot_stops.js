/* The places of a plot where a reader can stop: steps of time, points, cells, lanes. A track is a row of stops, in the order
   of the left and right arrow keys; a plot has one for each panel or, if its series have points of their own, for each series.
   A stop has its place in the picture, what is said there (a list of lines) and what is marked. */
(() => {
	'use strict';
	const shownSeries = (panel) => panel.series.filter((s) => s.shown);
	const has = (s, i) => Number.isFinite(s.x[i]) && Number.isFinite(s.y[i]);
	const between = (range, unit) => plots.inUnit(range[0], unit) + ' to ' + plots.inUnit(range[1], unit);

	const dot = (panel, series, i) => ({ x: plots.placeX(panel, series.x[i]), y: plots.placeY(panel, series.y[i]) });

	/* The middle of a step is drawn, and the step is said. */
	function sayX(panel, x, offset) {
		return panel.x.name + ' ' + (offset ? between([x - offset, x + offset], panel.x.unit) : plots.inUnit(x, panel.x.unit));
	}

	function stepStop(panel, i) {
		const series = shownSeries(panel), x = panel.series[0].x[i], half = panel.series[0].offset;
		return {
			x: plots.placeX(panel, x),
			y: null,
			say: () => [panel.y.name + ', ' + sayX(panel, x, half)]
				.concat(series.map((s) => (panel.series.length > 1 ? s.name + ' ' : '') +
					(has(s, i) ? plots.inUnit(s.y[i], panel.y.unit) : '–')))
				.concat(half ? plots.requestsIn(panel, [x - half, x + half]) : []),
			dots: () => series.filter((s) => has(s, i)).map((s) => dot(panel, s, i)),
		};
	}

	/* The point of a series that is nearest in the picture. */
	function nearest(panel, series, x, y) {
		let found = -1, least = Infinity;
		series.x.forEach((_, i) => {
			if (!has(series, i))
				return;
			const at = dot(panel, series, i), distance = Math.hypot(at.x - x, at.y - y);
			if (distance < least) {
				least = distance;
				found = i;
			}
		});
		return found;
	}

	function requestsAt(panel, series, i) {
		if (series.n) {
			const found = plots.requestOf(series.n[i]);
			return [found ? plots.requestText(found) : 'request ' + series.n[i]];
		}
		/* values in the page have six digits */
		const x = series.x[i];
		return panel.requests && panel.requests.y ? [] : plots.requestsIn(panel, [x * 0.99999, x * 1.00001], null, series.stage);
	}

	const sayPoint = (panel, series, i) => panel.x.name + ' ' + plots.inUnit(series.x[i], panel.x.unit) + ', ' +
		panel.y.name + ' ' + plots.inUnit(series.y[i], panel.y.unit);

	function pointStop(panel, series, i) {
		const at = dot(panel, series, i);
		const others = () => shownSeries(panel).filter((s) => s !== series)
			.map((s) => [s, nearest(panel, s, at.x, at.y)]).filter((pair) => pair[1] >= 0);
		return {
			x: at.x,
			y: at.y,
			say: () => [series.name + ': ' + sayPoint(panel, series, i)]
				.concat(requestsAt(panel, series, i))
				.concat(others().map(([s, k]) => s.name + ': ' + sayPoint(panel, s, k))),
			dots: () => [at].concat(others().map(([s, k]) => dot(panel, s, k))),
		};
	}

	function cellStop(panel, cell) {
		const left = plots.placeX(panel, cell.x[0]), right = plots.placeX(panel, cell.x[1]);
		const low = plots.placeY(panel, cell.y[0]), high = plots.placeY(panel, cell.y[1]);
		return {
			x: (left + right) / 2,
			y: (low + high) / 2,
			say: () => [panel.y.name + ' ' + between(cell.y, panel.y.unit) + ', ' + panel.x.name + ' ' +
				between(cell.x, panel.x.unit) + ': ' + plots.number(cell.count) + ' ' +
				(cell.count === 1 ? panel.of.replace(/s$/, '') : panel.of)]
				.concat(plots.requestsIn(panel, cell.x, cell.y)),
			dots: () => [],
			box: { x: left, y: high, width: right - left, height: low - high },
		};
	}

	/* The times of a lane are those of its request, which may be listed with more. */
	function laneStop(panel, i) {
		const known = panel.series.filter((s) => has(s, i)), n = panel.series[0].n[i], listed = plots.requestOf(n);
		const places = known.map((s) => dot(panel, s, i));
		return {
			x: null,
			y: places[0].y,
			say: () => ['request ' + n + ': ' + known.map((s) => s.name + ' ' + plots.inUnit(s.x[i], panel.x.unit)).join(', ')]
				.concat(listed ? plots.requestText(listed) : []),
			dots: () => places,
		};
	}

	const range = (count) => Array.from({ length: count }, (_, i) => i);

	function tracksOf(panel) {
		const tracks = [];
		const add = (stops) => { if (stops.length) tracks.push({ panel: panel, stops: stops }); };
		if (panel.cells)
			add(panel.cells.map((cell) => cellStop(panel, cell)));
		if (panel.kind === 'lanes' && panel.series.length)
			add(range(panel.series[0].x.length).filter((i) => panel.series.some((s) => has(s, i))).map((i) => laneStop(panel, i)));
		else if (panel.kind === 'steps' && shownSeries(panel).length)
			add(range(panel.series[0].x.length).filter((i) => panel.series[0].x[i] !== null).map((i) => stepStop(panel, i)));
		else if (panel.kind !== 'steps' && panel.kind !== 'lanes')
			shownSeries(panel).forEach((s) =>
				add(range(s.x.length).filter((i) => has(s, i)).map((i) => pointStop(panel, s, i))));
		return tracks;
	}

	plots.tracks = (plot) => plot.panels.flatMap(tracksOf);

	/* How far a stop is from a place; a stop without an x or a y is a line across the panel. */
	function distance(track, stop, x, y) {
		if (stop.box && x >= stop.box.x && x < stop.box.x + stop.box.width && y >= stop.box.y && y < stop.box.y + stop.box.height)
			return 0;
		const [, top, , bottom] = track.panel.area;
		const outside = Math.max(top - y, y - bottom, 0) * 1000; /* another panel's */
		return outside + Math.hypot(stop.x === null ? 0 : stop.x - x, stop.y === null ? 0 : stop.y - y);
	}

	/* The stop nearest to a place in the picture: [track, stop], as numbers. */
	plots.nearestStop = (tracks, x, y) => {
		let found = [0, 0], least = Infinity;
		tracks.forEach((track, t) => track.stops.forEach((stop, i) => {
			const far = distance(track, stop, x, y);
			if (far < least) {
				least = far;
				found = [t, i];
			}
		}));
		return found;
	};
})();
