"use strict";

// Charts of the report and of the live page, on uPlot. Colors come from the style sheet, so that light, dark and print differ only there.
const charts = (() => {
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const all = new Set();

  // A number with at least three significant digits.
  const number = value => {
    const size = Math.abs(value);
    const digits = size >= 1000 || size === 0 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };

  const count = value => value == null ? "-" : Math.round(value).toLocaleString("en-US");

  // Microseconds with the unit that fits.
  const time = us => us == null ? "-"
    : us < 1000 ? `${number(us)} µs`
    : us < 1e6 ? `${number(us / 1000)} ms`
    : `${number(us / 1e6)} s`;

  // The same for an axis: a round number.
  const timeTick = us => us < 1000 ? `${+us.toPrecision(3)} µs`
    : us < 1e6 ? `${+(us / 1000).toPrecision(3)} ms`
    : `${+(us / 1e6).toPrecision(3)} s`;

  const compact = value => value == null ? "-"
    : value >= 1e9 ? `${+(value / 1e9).toPrecision(3)} G`
    : value >= 1e6 ? `${+(value / 1e6).toPrecision(3)} M`
    : value >= 1e3 ? `${+(value / 1e3).toPrecision(3)} k`
    : `${+value.toPrecision(3)}`;

  // An axis that takes its colors from the style sheet.
  const axis = more => ({
    stroke: () => color("ink-soft"),
    grid: { stroke: () => color("grid"), width: 1 },
    ticks: { stroke: () => color("grid"), width: 1, size: 5 },
    font: "12px system-ui, sans-serif",
    ...more,
  });

  // Whole decades of microseconds around the values.
  const decades = (low, high) => {
    if (!(low > 0)) {
      return [0.1, 1000];
    }

    const from = 10 ** Math.floor(Math.log10(low));
    const to = 10 ** Math.ceil(Math.log10(high));
    return [from, to > from ? to : from * 10];
  };

  // 1, 10, 100, ...; with few decades 1, 2, 5, 10, ...
  const logSplits = (low, high) => {
    const steps = Math.log10(high / low) > 2.5 ? [1] : [1, 2, 5];
    const splits = [];
    for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade++) {
      splits.push(...steps.map(step => step * 10 ** decade));
    }

    return splits.filter(split => split >= low * 0.999 && split <= high * 1.001);
  };

  // Steps of an axis that counts: nothing is half there.
  const wholeSteps = Array.from({ length: 16 }, (_, i) => [1, 2, 5].map(step => step * 10 ** i)).flat();

  const latencyScale = { distr: 3, log: 10, range: (_, low, high) => decades(low, high) };

  const latencyAxis = more => axis({
    scale: "us",
    size: 64,
    splits: (_, __, low, high) => logSplits(low, high),
    filter: (_, splits) => splits,
    values: (_, splits) => splits.map(timeTick),
    ...more,
  });

  // Makes a chart that follows the width of its element.
  const draw = (element, height, options, data) => {
    // The key of a line is dashed as the line is.
    const legend = { markers: { dash: (plot, i) => plot.series[i].dash ? "dashed" : "solid" } };
    const make = () => new uPlot({ width: element.clientWidth || 300, height, legend, ...options }, data, element);
    const chart = { plot: make(), data };
    new ResizeObserver(() => {
      if (element.clientWidth && element.clientWidth !== chart.plot.width) {
        chart.plot.setSize({ width: element.clientWidth, height });
      }
    }).observe(element);
    chart.remake = () => {
      chart.plot.destroy();
      chart.plot = make();
    };
    all.add(chart);
    return chart;
  };

  // A table that is larger than its place says so: where scroll bars are hidden, nothing else does.
  const tellScrolling = place => {
    const hint = document.createElement("p");
    hint.className = "more";
    place.after(hint);
    const observer = new ResizeObserver(() => {
      const ways = [
        ...(place.scrollWidth > place.clientWidth + 1 ? ["sideways"] : []),
        ...(place.scrollHeight > place.clientHeight + 1 ? ["down"] : []),
      ];
      const text = ways.length ? `Scroll ${ways.join(" and ")} for more.` : "";
      if (hint.textContent !== text) {
        hint.textContent = text;
      }
    });
    observer.observe(place);
    observer.observe(place.firstElementChild);
  };

  // Other colors: everything is drawn again. Paper is white.
  const remakeAll = () => all.forEach(chart => chart.remake());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", remakeAll);
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    remakeAll();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.theme;
    remakeAll();
  });

  return { color, number, count, time, compact, axis, wholeSteps, latencyScale, latencyAxis, draw, tellScrolling };
})();
