/* The values behind the plots. Reads the data of the page (plot_values.h), and finds the place of a value in a picture.
   Each file of the plots adds to `plots`, in this order: values, requests, probe, series, range. */
const plots = { list: [], requests: [], outliers: {} };
(() => {
	'use strict';
	const source = document.getElementById('plot-values');
	if (!source)
		return;
	const data = JSON.parse(source.textContent);

	/* How far a value is along an axis, from 0 to 1. Values beyond its ends are drawn at these, or not at all. */
	plots.share = (axis, value) => {
		const share = axis.log
			? Math.log(Math.max(value, 1e-300) / axis.low) / Math.log(axis.high / axis.low)
			: (value - axis.low) / (axis.high - axis.low);
		return Math.min(Math.max(share, 0), 1);
	};
	plots.unshare = (axis, share) => axis.log
		? axis.low * Math.pow(axis.high / axis.low, share)
		: axis.low + share * (axis.high - axis.low);

	/* The place in the picture, in its own units. */
	plots.placeX = (panel, value) => panel.area[0] + plots.share(panel.x, value) * (panel.area[2] - panel.area[0]);
	plots.placeY = (panel, value) => panel.area[3] - plots.share(panel.y, value) * (panel.area[3] - panel.area[1]);

	/* Three significant digits, as in the rest of the page; whole numbers in full. */
	plots.number = (value) => {
		if (Number.isInteger(value) || Math.abs(value) >= 1000)
			return Math.round(value).toLocaleString('en');
		const text = value.toPrecision(3);
		return text.includes('e') ? String(Number(text)) : text;
	};
	/* Shares and times of the run have the decimals that tell neighbours apart. */
	plots.decimal = (value, decimals) => String(Number(value.toFixed(decimals)));
	plots.inUnit = (value, unit) => {
		if (unit === 'share')
			return plots.decimal(value * 100, 2) + '\u00a0%';
		if (unit === 's')
			return plots.decimal(value, 3) + '\u00a0s';
		if (unit !== 'ms')
			return plots.number(value);
		if (value < 1)
			return plots.number(value * 1000) + '\u00a0µs';
		return value < 1000 ? plots.number(value) + '\u00a0ms' : plots.number(value / 1000) + '\u00a0s';
	};

	/* An element with text. Texts from outside are only ever set as text. */
	plots.element = (name, className, text) => {
		const element = document.createElement(name);
		if (className)
			element.className = className;
		if (text !== undefined)
			element.textContent = text;
		return element;
	};
	plots.svgElement = (name, attributes) => {
		const element = document.createElementNS(document.querySelector('svg').namespaceURI, name);
		Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
		return element;
	};

	function makeSeries(plot, panel, about) {
		const step = about.step_s || 1;
		return {
			name: about.name,
			offset: about.offset || 0,
			stage: about.stage,
			x: plot.columns[about.x].map((x) => x === null ? null : x + (about.offset || 0)),
			y: plot.columns[about.y].map((y) => y === null ? null : y / step),
			n: about.n === undefined ? null : plot.columns[about.n],
			drawn: about.drawn.map((i) => document.getElementById(plot.name + '-gnuplot_plot_' + i + (panel.letter || '')))
				.filter(Boolean),
			shown: true,
		};
	}

	/* The cells as the middles of their ranges, column by column. */
	function makeCells(panel) {
		const cells = [], about = panel.cells;
		for (let i = 0; i + 2 < about.at.length; i += 3) {
			const range = (axis, at, of) => [plots.unshare(axis, at / of), plots.unshare(axis, (at + 1) / of)];
			cells.push({
				column: about.at[i],
				row: about.at[i + 1],
				x: range(panel.x, about.at[i], about.columns),
				y: range(panel.y, about.at[i + 1], about.rows),
				count: about.at[i + 2],
			});
		}
		return cells.sort((a, b) => a.column - b.column || a.row - b.row);
	}

	function makePlot(name) {
		const title = document.getElementById(name + '-title');
		const plot = Object.assign({ name: name }, data.plots[name]);
		plot.svg = title.parentNode;
		plot.figure = plot.svg.parentNode;
		plot.title = title.textContent;
		plot.panels.forEach((panel) => {
			panel.series = panel.series.map((about) => makeSeries(plot, panel, about));
			panel.of = panel.cells && panel.cells.of;
			panel.cells = panel.cells && makeCells(panel);
		});
		return plot;
	}

	plots.outliers = data.outliers;
	plots.requests = data.outliers.rows.map((row) =>
		Object.fromEntries(data.outliers.keys.map((key, i) => [key, row[i]])));
	plots.list = Object.keys(data.plots).filter((name) => document.getElementById(name + '-title')).map(makePlot);
})();
