/* The requests behind points: the page has the slowest ones and failed ones. */
(() => {
	'use strict';
	const SAID_MOST = 3;

	/* "request 17 (low): due 3.2 s, 320 input and 12 output tokens, TTFT 130 ms and E2E 400 ms from the start" */
	plots.requestText = (r) => {
		const parts = [], tokens = [], latencies = [];
		if (r.due_s !== null)
			parts.push('due ' + plots.inUnit(r.due_s, 's'));
		else if (r.start_s !== null)
			parts.push('started ' + plots.inUnit(r.start_s, 's'));
		if (r.input_tokens !== null)
			tokens.push(plots.number(r.input_tokens) + ' input');
		if (r.output_tokens !== null)
			tokens.push(plots.number(r.output_tokens) + ' output');
		if (tokens.length)
			parts.push(tokens.join(' and ') + ' tokens');
		if (r.ttft_ms !== null)
			latencies.push('TTFT ' + plots.inUnit(r.ttft_ms, 'ms'));
		if (r.e2e_ms !== null)
			latencies.push('E2E ' + plots.inUnit(r.e2e_ms, 'ms'));
		if (latencies.length)
			parts.push(latencies.join(' and ') + ' from the start');
		if (!r.ok)
			parts.push('failed' + (r.error ? ': ' + r.error : ''));
		const part = r.part === null ? '' : ' of part ' + (r.part + 1);
		return 'request ' + r.n + part + (r.stage ? ' (' + r.stage + ')' : '') + ': ' + parts.join(', ');
	};

	/* A number alone says too little if several parts count from 0. */
	plots.requestOf = (n) => plots.requests.find((r) => r.n === n && r.part === null);

	/* The lines for those that are in these ranges of the axes; null: any. */
	plots.requestsIn = (panel, x, y, stage) => {
		const by = panel.requests;
		const inside = (value, range) => value !== null && value >= range[0] && value < range[1];
		if (!by)
			return [];
		const found = plots.requests.filter((r) =>
			!r.ok === Boolean(by.failed) && (!by.x || inside(r[by.x], x)) && (!by.y || !y || inside(r[by.y], y)) &&
			(stage === undefined || r.index === stage));
		found.sort((a, b) => b.e2e_due_ms - a.e2e_due_ms || b.e2e_ms - a.e2e_ms || a.n - b.n);
		const lines = found.slice(0, SAID_MOST).map(plots.requestText);
		if (found.length > SAID_MOST)
			lines.push('and ' + (found.length - SAID_MOST) + ' more listed requests');
		return lines;
	};

	/* Which requests the page has, and how to see them. */
	function note() {
		const failed = plots.requests.filter((r) => !r.ok).length, all = plots.outliers.failed || 0;
		const slow = plots.outliers.slowest_each;
		let text = 'Point at a plot, or focus it and use the arrow keys, to see its values.';
		if (plots.requests.length && slow)
			text += ' The requests behind them are listed if they are among the ' + slow + ' slowest of their stage by TTFT or E2E' +
				(all ? ', or among ' + failed + ' of ' + all + ' failed ones' : '') + '.';
		return plots.element('p', 'soft plots-note', text);
	}
	if (plots.list.length)
		plots.list[0].figure.parentNode.before(note());
})();
