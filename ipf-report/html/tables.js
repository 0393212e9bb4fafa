/* Tables of the page: their columns become buttons that sort, and long ones get a filter. Without script they are tables. */
(function () {
	'use strict';

	/* The value of a cell: data-v is the exact figure; a cell without a figure has none. */
	function valueOf(row, column) {
		var cell = row.cells[column];
		if (!cell.hasAttribute('data-v'))
			return cell.textContent === '' || cell.classList.contains('number') ? null : cell.textContent;
		return Number(cell.getAttribute('data-v').replace('inf', 'Infinity'));
	}

	function compare(a, b) {
		if (typeof a === 'number' && typeof b === 'number')
			return a - b;
		return String(a).localeCompare(String(b), 'en', { numeric: true });
	}

	function sort(table, column, descending) {
		var body = table.tBodies[0];
		var rows = Array.prototype.map.call(body.rows, function (row, i) {
			return { row: row, value: valueOf(row, column), at: i };
		});
		rows.sort(function (a, b) {
			if (a.value === null || b.value === null)
				return (a.value === null) - (b.value === null) || a.at - b.at; /* what does not exist comes last */
			return (descending ? compare(b.value, a.value) : compare(a.value, b.value)) || a.at - b.at;
		});
		rows.forEach(function (r) { body.appendChild(r.row); });
	}

	function makeSortable(table) {
		var heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
		Array.prototype.forEach.call(heads, function (head, column) {
			var button = document.createElement('button');
			button.type = 'button';
			while (head.firstChild)
				button.appendChild(head.firstChild);
			head.appendChild(button);
			button.addEventListener('click', function () {
				var descending = head.getAttribute('aria-sort') === 'ascending';
				Array.prototype.forEach.call(heads, function (other) { other.removeAttribute('aria-sort'); });
				head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
				sort(table, column, descending);
			});
		});
	}

	/* Shows the rows whose text has all the words. */
	function filter(table, words, said) {
		var rows = Array.prototype.slice.call(table.tBodies[0].rows);
		var shown = rows.filter(function (row) {
			var text = row.textContent.toLowerCase();
			row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
			return !row.hidden;
		});
		said.textContent = words.length ? shown.length + ' of ' + rows.length + ' rows' : '';
	}

	function makeFiltered(table) {
		var line = document.createElement('p'), label = document.createElement('label'), of = document.createElement('span');
		var field = document.createElement('input'), said = document.createElement('output');
		line.className = 'filter';
		of.className = 'unseen';
		of.textContent = ' of the table ' + table.caption.textContent;
		field.type = 'search';
		field.id = table.id + '-filter';
		label.htmlFor = field.id;
		label.append('Filter rows', of);
		line.append(label, ' ', field, ' ', said);
		table.parentNode.before(line);
		field.addEventListener('input', function () {
			filter(table, field.value.toLowerCase().split(/\s+/).filter(Boolean), said);
		});
	}

	Array.prototype.forEach.call(document.querySelectorAll('table'), function (table) {
		if (table.tBodies[0].rows.length > 8)
			makeFiltered(table);
	});
	Array.prototype.forEach.call(document.querySelectorAll('table.sortable'), function (table) {
		if (table.tBodies[0].rows.length > 1)
			makeSortable(table);
	});
})();
