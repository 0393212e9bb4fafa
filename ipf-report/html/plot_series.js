/* Buttons below a plot that hide and show its series, and buttons above all plots that do so with stages. */
(() => {
	'use strict';
	const buttons = [];

	/* Updates pictures and buttons. A button stands for several series if these have one name. */
	function renew(changed) {
		changed.forEach((series) => series.drawn.forEach((element) => element.classList.toggle('off', !series.shown)));
		buttons.forEach((b) => b.element.setAttribute('aria-pressed', String(b.series.some((s) => s.shown))));
		plots.list.forEach((plot) => {
			if (plot.panels.some((panel) => panel.series.some((s) => changed.includes(s))))
				plot.probe.renew();
		});
	}

	/* A piece of the line, as it is drawn; nothing for points alone. */
	function sample(series) {
		const path = series.drawn.map((g) => g.querySelector('path[class*="s-"]')).find(Boolean);
		const svg = plots.svgElement('svg', { class: 'ipf-plot', width: 24, height: 8, 'aria-hidden': 'true' });
		if (!path)
			return '';
		const line = path.cloneNode(false);
		line.setAttribute('d', 'M0 4H24');
		line.setAttribute('stroke-width', '2.2');
		svg.append(line);
		return svg;
	}

	function addButton(group, name, series) {
		const element = plots.element('button', 'toggle');
		element.type = 'button';
		element.append(sample(series[0]), name);
		element.addEventListener('click', () => {
			const shown = element.getAttribute('aria-pressed') !== 'true';
			series.forEach((s) => { s.shown = shown; });
			renew(series);
		});
		buttons.push({ element: element, series: series });
		group.append(element);
	}

	function addGroup(title, seriesByName) {
		const group = plots.element('div', 'series');
		group.setAttribute('role', 'group');
		group.setAttribute('aria-label', title);
		seriesByName.forEach((series, name) => addButton(group, name, series));
		return group;
	}

	function collect(list, keyOf) {
		const found = new Map();
		list.forEach((s) => found.set(keyOf(s), (found.get(keyOf(s)) || []).concat(s)));
		return found;
	}

	const drawable = (plot) => plot.panels.flatMap((panel) => panel.series).filter((s) => s.drawn.length);

	plots.list.forEach((plot) => {
		/* the only line of a panel stays */
		const several = plot.panels.filter((panel) => panel.series.length > 1).flatMap((panel) => panel.series);
		const byName = collect(several.filter((s) => s.drawn.length), (s) => s.name);
		if (byName.size > 1)
			plot.figure.append(addGroup('Series of the plot: ' + plot.title, byName));
	});

	const ofStages = collect(plots.list.flatMap(drawable).filter((s) => s.stage !== undefined), (s) => s.stage);
	if (ofStages.size > 1) {
		const byName = new Map(Array.from(ofStages.values(), (series) => [series[0].name, series]));
		const group = addGroup('Stages in all plots', byName);
		group.classList.add('of-all');
		group.prepend(plots.element('span', 'soft', 'Stages in all plots'));
		plots.list[0].figure.parentNode.before(group);
	}
	renew([]);
})();
