/* A range of the time line, by dragging over it or by its fields: a table of the figures that add up over its steps. The page has no
   percentiles of other ranges than its own, so the table has none. */
(() => {
	'use strict';
	const plot = plots.list.find((p) => p.range);
	if (!plot || !plot.columns[plot.range.x].length || plot.columns[plot.range.x].includes(null))
		return;
	const starts = plot.columns[plot.range.x], step = plot.range.step_s, last = starts.length - 1, end = plot.range.end_s;
	const second = (value) => plots.decimal(value, 3);
	/* The last step may be longer than the windows in it. */
	const endOf = (i) => i === last ? end : starts[i + 1];

	const box = plots.element('div', 'range');
	const said = plots.element('p', 'soft');
	const table = plots.element('table');
	const tableBox = plots.element('div', 'box');
	const select = plots.svgElement('rect', { class: 'selected' });
	let fields;
	let chosen = null;

	function addField(name, value) {
		const label = plots.element('label', '', name + ' '), field = plots.element('input');
		Object.assign(field, { type: 'number', min: starts[0], max: end, step: 'any', value: second(value) });
		label.append(field, ' s');
		box.append(label);
		field.addEventListener('change', () => choose(stepAt(Number(fields[0].value)), stepBefore(Number(fields[1].value))));
		return field;
	}

	/* The step in which a time is, and the one that a time ends. */
	const within = (i) => Math.min(Math.max(i, 0), last);
	const stepAt = (time) => within(Math.floor((time - starts[0]) / step + 1e-6));
	const stepBefore = (time) => within(Math.ceil((time - starts[0]) / step - 1e-6) - 1);

	/* Whole counts; means of steps of one length, except the last. */
	function totalOf(total, from, to) {
		let sum = 0;
		for (let i = from; i <= to; i++)
			sum += (plot.columns[total.y][i] || 0) * (total.mean ? step : 1);
		return sum;
	}

	function addRow(body, total, from, to) {
		const row = body.insertRow(), head = plots.element('th', '', total.name), sum = totalOf(total, from, to);
		const seconds = Math.round((endOf(to) - starts[from]) * 1e9) / 1e9; /* as whole nanoseconds */
		const cell = (value) => {
			const made = row.insertCell();
			made.className = 'number';
			made.textContent = value === null ? '–' : plots.number(value);
			if (value !== null)
				made.dataset.v = value;
		};
		head.scope = 'row';
		row.append(head);
		cell(total.mean ? null : sum);
		cell(total.mean ? null : sum / seconds);
		cell(total.mean ? sum / seconds : null);
	}

	function renewTable(from, to) {
		const body = plots.element('tbody');
		plot.range.totals.filter((total) => plot.columns[total.y].some((value) => value !== null))
			.forEach((total) => addRow(body, total, from, to));
		table.tBodies[0].replaceWith(body);
		table.caption.textContent = 'From ' + second(starts[from]) + ' s to ' + second(endOf(to)) + ' s of the run';
	}

	function mark(from, to) {
		const panels = plot.panels, first = panels[0];
		const left = plots.placeX(first, starts[from]), right = plots.placeX(first, endOf(to));
		const top = first.area[1], bottom = panels[panels.length - 1].area[3];
		Object.entries({ x: left, y: top, width: right - left, height: bottom - top })
			.forEach(([name, value]) => select.setAttribute(name, value));
		plot.svg.append(select);
	}

	/* From one step to another, both included. */
	function choose(from, to) {
		chosen = [Math.min(from, to), Math.max(from, to)];
		fields[0].value = second(starts[chosen[0]]);
		fields[1].value = second(endOf(chosen[1]));
		renewTable(chosen[0], chosen[1]);
		mark(chosen[0], chosen[1]);
		tableBox.hidden = said.hidden = whole.hidden = false;
	}

	function clear() {
		chosen = null;
		fields[0].value = second(starts[0]);
		fields[1].value = second(end);
		select.remove();
		tableBox.hidden = said.hidden = whole.hidden = true;
	}

	function makeTable() {
		const head = table.createTHead().insertRow();
		['figure', 'total', 'per second', 'mean'].forEach((name, i) => {
			const cell = plots.element('th', i ? 'number' : '', name);
			cell.scope = 'col';
			head.append(cell);
		});
		table.createCaption().id = 'range-caption';
		table.createTBody();
		table.id = 'range-table';
		tableBox.tabIndex = 0;
		tableBox.setAttribute('role', 'region');
		tableBox.setAttribute('aria-labelledby', 'range-caption');
		table.caption.setAttribute('aria-live', 'polite');
		tableBox.append(table);
		said.textContent = 'Steps are ' + second(step) + ' s long. Each part of a request counts in the step in which it happened. ' +
			'Percentiles of a range do not follow from those of its steps: ipf-report --by time=10s computes them.';
	}

	/* A drag of the mouse; a finger scrolls the page and moves the probe. */
	function listen() {
		let begin = null;
		const stepOf = (event) => stepAt(plots.unshare(plot.panels[0].x,
			(plot.probe.place(event)[0] - plot.panels[0].area[0]) / (plot.panels[0].area[2] - plot.panels[0].area[0])));
		plot.probe.layer.addEventListener('pointerdown', (event) => {
			if (event.pointerType === 'mouse' && event.button === 0)
				begin = { x: event.clientX, step: stepOf(event) };
		});
		plot.probe.layer.addEventListener('pointermove', (event) => {
			if (begin && event.buttons === 1 && Math.abs(event.clientX - begin.x) > 4)
				choose(begin.step, stepOf(event));
		});
		window.addEventListener('pointerup', () => { begin = null; });
	}

	const whole = plots.element('button', 'toggle', 'Whole run');
	box.append(plots.element('span', 'soft', 'Range of the run'));
	box.setAttribute('role', 'group');
	box.setAttribute('aria-label', 'Range of the run');
	fields = [addField('from', starts[0]), addField('to', end)];
	whole.type = 'button';
	whole.addEventListener('click', () => {
		fields[0].focus();
		clear();
	});
	box.append(whole);
	makeTable();
	plot.figure.append(box, tableBox, said);
	clear();
	listen();
})();
