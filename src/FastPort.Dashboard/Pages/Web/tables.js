// Tables that are updated in place: a cell changes only when its text does, so that nothing flickers and a selection stays.

export const setText = (element, text) => {
  if (element.textContent !== text) {
    element.textContent = text;
  }
};

export const byId = (id) => document.getElementById(id);

export const show = (id, text) => setText(byId(id), text);

// Shows one row for each item, and reuses existing rows.
// cells(item) returns a text per column; finish(row, item) changes what is not text.
export const fill = (body, items, cells, options = {}) => {
  const none = options.none ?? "None.";
  if (items.length === 0) {
    const columns = body.parentElement.tHead?.rows[0]?.cells.length ?? 1;
    body.replaceChildren(row([none], columns));
    return;
  }

  if (body.rows[0]?.dataset.none) {
    body.replaceChildren();
  }

  while (body.rows.length > items.length) {
    body.deleteRow(-1);
  }

  items.forEach((item, i) => {
    const texts = cells(item);
    let line = body.rows[i];
    if (!line || line.cells.length !== texts.length) {
      const made = makeRow(texts.length, options);
      line ? line.replaceWith(made) : body.append(made);
      line = made;
    }

    texts.forEach((text, column) => setText(line.cells[column].firstElementChild ?? line.cells[column], text));
    options.finish?.(line, item);
  });
};

const row = ([text], columns) => {
  const line = document.createElement("tr");
  const cell = line.insertCell();
  line.dataset.none = "true";
  cell.className = "none";
  cell.colSpan = columns;
  cell.textContent = text;
  return line;
};

const makeRow = (columns, { numbersFrom = 1, numbersTo = Infinity, long = [] }) => {
  const line = document.createElement("tr");
  for (let i = 0; i < columns; i++) {
    const cell = document.createElement(i === 0 ? "th" : "td");
    if (i === 0) {
      cell.scope = "row";
    }

    if (i >= numbersFrom && i <= numbersTo) {
      cell.classList.add("n");
    }

    if (long.includes(i)) {
      cell.classList.add("long");
    }

    line.append(cell);
  }

  return line;
};
