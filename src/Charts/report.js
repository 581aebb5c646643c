"use strict";

// Draws the report from the data in the page: one measurement, or one before and one after.
(() => {
  const { before, after, differences } = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("report");
  const { color, number, count, time, compact } = charts;

  // ---- elements ----

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      made.setAttribute(key, value);
    }

    made.append(...children);
    return made;
  };

  const section = (title, note) => {
    const made = element("section", {}, element("h2", {}, title));
    if (note) {
      made.append(element("p", {}, note));
    }

    root.append(made);
    return made;
  };

  const table = (caption, headings, rows) => {
    const head = element("tr", {}, ...headings.map(heading => element("th", { scope: "col" }, heading)));
    const body = rows.map(row => element("tr", {}, ...row.map((cell, i) =>
      element(i ? "td" : "th", i ? {} : { scope: "row" }, cell))));
    const made = element("table", { class: "figures" },
      element("caption", {}, element("span", {}, caption)), element("thead", {}, head), element("tbody", {}, ...body));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, made);
  };

  // The figures of a chart as a table, for readers who cannot see it; created when it is opened.
  const asTable = (caption, headings, rows, which = "") => {
    const made = element("details", {}, element("summary", {}, `As a table${which}`));
    made.addEventListener("toggle", () => {
      if (made.open && made.children.length === 1) {
        const shown = table(caption, headings, rows());
        made.append(shown);
        charts.tellScrolling(shown);
      }
    });
    return made;
  };

  const chartIn = (parent, label) => {
    const made = element("div", { class: "chart", role: "img", "aria-label": label });
    parent.append(made);
    return made;
  };

  // ---- figures ----

  const percentiles = [
    ["min", "min"], ["avg", "avg"], ["p50", "P50"], ["p90", "P90"], ["p95", "P95"], ["p99", "P99"], ["p999", "P99.9"], ["max", "max"],
  ];

  const change = (from, to) => from == null || to == null ? null : from === to ? 0 : from === 0 ? null : (to - from) / from * 100;

  const changeText = (percent, moreIsBetter) => {
    if (percent == null) {
      return "-";
    }

    const sign = percent > 0 ? "+" : percent < 0 ? "−" : "";
    const text = `${sign}${Math.abs(percent).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} %`;
    if (moreIsBetter == null || Math.abs(percent) < 0.05) {
      return text;
    }

    const better = percent > 0 === moreIsBetter;
    return element("span", { class: better ? "better" : "worse" }, `${text} ${better ? "better" : "worse"}`);
  };

  // Figures that should be 0.
  const alarmsOf = run => [{ name: "errors", count: run.errors }, ...run.alarms];
  const alarm = (run, name) => run && alarmsOf(run).find(one => one.name === name)?.count;

  const tiles = () => {
    const list = element("ul", { class: "tiles" });
    const add = (name, value, from, to, moreIsBetter, alarms) => {
      const tile = element("li", alarms ? { class: "alarm" } : {}, element("span", { class: "name" }, name), element("b", {}, value));
      if (before) {
        tile.append(changeText(change(from, to), moreIsBetter));
      }

      list.append(tile);
    };
    // A rate this close to the requested one counts as reached.
    add("messages/s", count(after.per_s), before?.per_s, after.per_s, true, after.per_s < 0.99 * (after.asked_per_s ?? 0));
    if (after.asked_per_s != null || before?.asked_per_s != null) {
      add("messages/s asked for", count(after.asked_per_s), before?.asked_per_s, after.asked_per_s, null);
    }

    for (const { name, count: value } of alarmsOf(after)) {
      add(name, count(value), alarm(before, name), value, false, value > 0);
    }

    const main = after.latencies[0];
    const old = before?.latencies[0];
    if (main) {
      add(`${main.name} P50`, time(main.us.p50), old?.us.p50, main.us.p50, false);
      add(`${main.name} P99`, time(main.us.p99), old?.us.p99, main.us.p99, false);
      add(`${main.name} max`, time(main.us.max), old?.us.max, main.us.max, false);
      add("P99/avg", number(main.us.p99_over_avg), old?.us.p99_over_avg, main.us.p99_over_avg, false);
    }

    add("messages", compact(after.messages), before?.messages, after.messages, null);
    root.append(list);
  };

  // ---- the percentile curve ----

  const points = 400;

  // The value below which a share of 1 - 10^-nines of the values lies.
  const curve = histogram => {
    const total = histogram.counts.reduce((sum, n) => sum + n, 0);
    return xs => {
      let i = 0;
      let seen = histogram.counts[0];
      return xs.map(nines => {
        if (nines > Math.log10(total) + 1e-9) {
          return null;
        }

        const rank = Math.ceil(total * (1 - 10 ** -nines));
        while (seen < rank && i + 1 < histogram.counts.length) {
          seen += histogram.counts[++i];
        }

        return histogram.us[i];
      });
    };
  };

  const percentileName = nines => nines < 0.5 ? `${Math.round((1 - 10 ** -nines) * 100)} %`
    : `${(100 * (1 - 10 ** -nines)).toFixed(Math.max(0, Math.round(nines) - 2))} %`;

  const lines = ["c1", "c2", "c3", "c4"];

  // The network time is often nearly the whole round trip: a broad pale line under it lets both be seen.
  const pale = { width: 7, alpha: "66" };

  const curvesOf = run => (run?.latencies ?? []).map((latency, i) => ({
    run, latency, color: lines[i], width: run === before ? 1.5 : 2, dash: run === before ? [7, 4] : undefined,
    ...(i === 2 && !before ? pale : {}),
  })).filter(({ latency }) => latency.histogram?.counts.length);

  // Labels that do not touch each other; 50 % only where there is much room.
  const percentileLabels = (u, splits) => {
    const room = u.bbox.width / devicePixelRatio / (u.scales.x.max - u.scales.x.min);
    const every = Math.max(1, Math.ceil(76 / room));
    return splits.map(nines => (Number.isInteger(nines) ? nines % every === 0 : room > 100) ? percentileName(nines) : "");
  };

  const percentileChart = (parent, drawn) => {
    const nines = Math.max(1, Math.log10(Math.max(...drawn.map(({ latency }) => latency.us.count))));
    const xs = Array.from({ length: points + 1 }, (_, i) => nines * i / points);
    const label = ({ latency, run }) => before ? `${latency.name}, ${run === before ? "before" : "after"}` : latency.name;
    const labels = drawn.map(label);

    // The first latency is painted last, over the others.
    const painted = before ? drawn : drawn.toReversed();
    charts.draw(chartIn(parent, `Percentile curve on logarithmic axes: ${labels.join("; ")}`), before ? 240 : 340, {
      scales: { x: { time: false, range: [0, nines] }, us: charts.latencyScale },
      axes: [
        charts.axis({
          splits: () => [0, Math.log10(2), ...Array.from({ length: Math.floor(nines) }, (_, i) => i + 1)], values: percentileLabels,
        }),
        charts.latencyAxis(),
      ],
      series: [
        { label: "percentile", value: (_, x) => x == null ? "" : `${+(100 * (1 - 10 ** -x)).toFixed(Math.max(1, Math.ceil(x) - 1))} %` },
        ...painted.map(one => ({
          label: label(one), scale: "us", stroke: () => color(one.color) + (one.alpha ?? ""), width: one.width, dash: one.dash,
          points: { show: false }, value: (_, us) => us == null ? "" : time(us),
        })),
      ],
    }, [xs, ...painted.map(({ latency }) => curve(latency.histogram)(xs))]);
    const shares = [0, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999];
    parent.append(asTable("Latency by percentile", ["percentile", ...labels], () => [
      ...shares.map(share => [
        `${share} %`, ...drawn.map(({ latency }) => time(curve(latency.histogram)([-Math.log10(1 - share / 100)])[0])),
      ]),
      ["100 %", ...drawn.map(({ latency }) => time(latency.us.max))],
    ]));
  };

  const percentileCurves = () => {
    const drawn = [...curvesOf(before), ...curvesOf(after)];
    if (!drawn.length) {
      return;
    }

    const made = section("Latency by percentile", "Each step to the right is ten times rarer: one message in 10, in 100, in 1,000."
      + (before ? " Dashed: before." : ""));
    if (!before) {
      percentileChart(made, drawn);
      return;
    }

    // Six curves in one chart would cover each other.
    for (const name of new Set(drawn.map(({ latency }) => latency.name))) {
      percentileChart(made, drawn.filter(({ latency }) => latency.name === name));
    }
  };

  // ---- over time ----

  const starts = timeline => {
    const last = timeline.start_s.length - 1;
    return [...timeline.start_s, timeline.start_s[last] + timeline.seconds[last]];
  };

  // Each value holds from the beginning of its column to just before that of the next: two points of a line.
  const edges = timeline => {
    const all = starts(timeline);
    return timeline.start_s.flatMap((start, i, { length }) =>
      [start, i + 1 < length ? Math.max(start, all[i + 1] - 1e-6) : all[i + 1]]);
  };

  const held = values => values.flatMap(value => [value, value]);

  const seconds = charts.axis({ values: (_, splits) => splits.map(split => `${split} s`) });
  const secondsSeries = { label: "time", value: (_, x) => x == null ? "" : `${number(x)} s` };
  const cursor = { sync: { key: "time" } };

  const empty = values => values.map(value => value > 0 ? value : null);

  const rates = timeline => timeline.messages.map((messages, i) => timeline.seconds[i] > 0 ? messages / timeline.seconds[i] : 0);

  // Two runs are drawn over each other: their columns are at other times, and uPlot joins the tables. A run has no value (undefined) at
  // the times of the other one, and its line continues; in a column without messages (null) it does not, at whichever times.
  const overTime = runs => {
    const joined = uPlot.join(runs.map(({ timeline, series }) => [edges(timeline), ...series.map(({ values }) => held(values))]));
    for (const values of joined.slice(1)) {
      for (let i = 1; i < values.length; i++) {
        values[i] = values[i] === undefined && values[i - 1] === null ? null : values[i];
      }
    }

    return joined;
  };

  const runsWith = series => [before, after].filter(run => run?.timeline?.start_s.length).map(run => ({
    run, timeline: run.timeline, series: series(run.timeline),
  }));

  const timeSeries = (runs, more) => runs.flatMap(({ run, series }) => series.map(one => ({
    label: before ? `${one.label}, ${run === before ? "before" : "after"}` : one.label,
    stroke: () => color(one.color), width: run === before ? 1.2 : 1.8, dash: run === before ? [6, 4] : undefined,
    points: { show: false }, ...more(one, run),
  })));

  // Of the axis of errors. The chart above is as much narrower, so that its times are above the same ones.
  const errorsWidth = 52;

  const timeCharts = () => {
    const hasErrors = [before, after].some(run => run?.errors);
    const latencies = runsWith(timeline => timeline.p50_us ? [
      { label: "P50", color: "c1", values: empty(timeline.p50_us) },
      { label: "P99", color: "c2", values: empty(timeline.p99_us) },
      { label: "max", color: "c4", values: empty(timeline.max_us) },
    ] : []);
    const throughput = runsWith(timeline => [
      { label: "messages/s", color: "c3", values: rates(timeline) },
      ...(hasErrors ? [{ label: "errors", color: "c2", values: timeline.errors, scale: "errors" }] : []),
    ]);
    if (!throughput.length) {
      return;
    }

    const timeline = after.timeline;
    const made = section(
      "Over time",
      timeline && `${capital([after.latencies[0]?.name, "throughput and errors"].filter(Boolean).join(", "))}; `
        + `a column is ${+Math.max(...timeline.seconds).toPrecision(2)} s long.`);
    if (latencies.some(({ series }) => series.length)) {
      charts.draw(chartIn(made, "P50, P99 and maximum over time"), 260, {
        cursor, scales: { x: { time: false }, us: charts.latencyScale },
        axes: [seconds, charts.latencyAxis()],
        padding: [null, hasErrors ? errorsWidth : null, null, null],
        series: [secondsSeries, ...timeSeries(latencies, () => ({ scale: "us", value: (_, us) => us == null ? "" : time(us) }))],
      }, overTime(latencies));
    }

    charts.draw(chartIn(made, "Messages per second and errors over time"), 180, {
      cursor,
      scales: {
        x: { time: false },
        y: { range: (_, low, high) => [0, high * 1.1 || 1] },
        errors: { range: (_, low, high) => [0, Math.max(1, high)] },
      },
      axes: [
        seconds,
        charts.axis({ size: 64, incrs: charts.wholeSteps, values: (_, splits) => splits.map(compact) }),
        // Few errors would be invisible on the scale of the messages.
        ...(hasErrors ? [charts.axis({
          scale: "errors", side: 1, size: errorsWidth, stroke: () => color("c2"), grid: { show: false }, incrs: charts.wholeSteps,
          values: (_, splits) => splits.map(compact),
        })] : []),
      ],
      series: [secondsSeries, ...timeSeries(throughput, (one, run) => ({
        scale: one.scale ?? "y", value: (_, value) => value == null ? "" : count(value),
        fill: one.scale || run === before ? undefined : () => `${color("c3")}22`,
      }))],
    }, overTime(throughput));

    for (const { run, timeline, series } of runsWith(({ p50_us, p99_us, max_us }) =>
      // One-way loads have no latencies.
      p50_us ? [["P50", empty(p50_us)], ["P99", empty(p99_us)], ["max", empty(max_us)]] : [])) {
      const which = before ? run === before ? ", before" : ", after" : "";
      const perSecond = rates(timeline);
      made.append(asTable(`Over time${which}`, ["time", "messages/s", "errors", ...series.map(([name]) => name)],
        () => timeline.start_s.map((start, i) => [
          `${number(start)} s`, count(perSecond[i]), count(timeline.errors[i]), ...series.map(([, values]) => time(values[i])),
        ]), which));
    }
  };

  // ---- the heat map ----

  const heatColors = ["heat0", "heat1", "heat2", "heat3", "heat4"];

  // Between the two nearest colors of the ramp; 0 to 1.
  const mix = (ramp, share) => {
    const at = share * (ramp.length - 1);
    const low = Math.min(Math.floor(at), ramp.length - 2);
    return `rgb(${ramp[low].map((part, i) => Math.round(part + (ramp[low + 1][i] - part) * (at - low))).join(",")})`;
  };

  const capital = text => text[0].toUpperCase() + text.slice(1);

  const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));

  const heatMap = run => {
    const timeline = run?.timeline;
    const cells = timeline?.heat?.some(column => column.length) ? timeline.heat : null;
    if (!cells) {
      return;
    }

    // A row is a share of a power of two, from 1 ns.
    const edge = row => 2 ** (row / timeline.rows_per_octave) / 1000;
    const rows = cells.flatMap(column => column.filter((_, i) => i % 2 === 0));
    const [low, high] = rows.reduce(([least, most], row) => [Math.min(least, row), Math.max(most, row + 1)], [Infinity, 0]);
    // Columns of different lengths are compared by their rates per second.
    const densest = Math.max(...cells.map((column, c) =>
      Math.max(0, ...column.filter((_, i) => i % 2)) / Math.max(timeline.seconds[c], 1e-3)));
    const made = section(
      `${capital(run.latencies[0]?.name ?? "latency")} over time, all messages${before ? run === before ? ", before" : ", after" : ""}`,
      "Each cell counts the messages of a time and a latency; the scale of the colors is logarithmic.");
    const under = element("div", { class: "under", "aria-hidden": "true" });
    const legend = () => {
      under.replaceChildren("1 message/s", element("span", { class: "ramp" }), `${count(densest)} messages/s`);
    };
    const share = (n, c) => Math.log1p(n / Math.max(timeline.seconds[c], 1e-3)) / Math.log1p(densest);
    const paint = u => {
      const ramp = heatColors.map(name => rgb(color(name)));
      u.ctx.save();
      u.ctx.beginPath();
      u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      u.ctx.clip();
      cells.forEach((column, c) => {
        const left = Math.floor(u.valToPos(timeline.start_s[c], "x", true));
        const right = Math.ceil(u.valToPos(timeline.start_s[c] + timeline.seconds[c], "x", true));
        for (let i = 0; i < column.length; i += 2) {
          const top = Math.floor(u.valToPos(edge(column[i] + 1), "us", true));
          const bottom = Math.ceil(u.valToPos(edge(column[i]), "us", true));
          u.ctx.fillStyle = mix(ramp, share(column[i + 1], c));
          u.ctx.fillRect(left, top, right - left, bottom - top);
        }
      });
      u.ctx.restore();
    };
    const tell = u => {
      const x = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null;
      const c = x == null ? -1 : timeline.start_s.findLastIndex(start => start <= x);
      if (c < 0 || x > timeline.start_s[c] + timeline.seconds[c]) {
        legend();
        return;
      }

      const row = Math.floor(Math.log2(u.posToVal(u.cursor.top, "us") * 1000) * timeline.rows_per_octave);
      const found = cells[c].findIndex((value, i) => i % 2 === 0 && value === row);
      under.textContent = `${number(timeline.start_s[c])} s, ${time(edge(row))} to ${time(edge(row + 1))}: `
        + `${count(found < 0 ? 0 : cells[c][found + 1])} messages`;
    };
    const xs = starts(timeline);
    charts.draw(chartIn(made, "Heat map of the latencies over time"), 320, {
      cursor: { ...cursor, points: { show: false } }, legend: { show: false },
      scales: { x: { time: false }, us: { distr: 3, log: 10, range: [edge(low), edge(high)] } },
      axes: [{ ...seconds, grid: { show: false } }, charts.latencyAxis({ grid: { show: false } })],
      series: [secondsSeries, { scale: "us", stroke: "transparent", points: { show: false } }],
      hooks: { drawClear: [paint], setCursor: [tell] },
    }, [xs, xs.map(() => edge(low))]);
    made.append(under);
    legend();
  };

  // ---- tables ----

  const comparison = () => {
    const rows = [["messages/s", count(before.per_s), count(after.per_s), changeText(change(before.per_s, after.per_s), true)]];
    const names = [...new Set([...after.latencies, ...before.latencies].map(latency => latency.name))];
    for (const name of names) {
      const [from, to] = [before, after].map(run => run.latencies.find(latency => latency.name === name)?.us);
      for (const [key, shown] of percentiles) {
        rows.push([`${name} ${shown}`, time(from?.[key]), time(to?.[key]), changeText(change(from?.[key], to?.[key]), false)]);
      }

      const [p, q] = [from?.p99_over_avg, to?.p99_over_avg];
      rows.push([`${name} P99/avg`, p == null ? "-" : number(p), q == null ? "-" : number(q), changeText(change(p, q), false)]);
    }

    if (after.asked_per_s != null || before.asked_per_s != null) {
      rows.splice(1, 0, ["messages/s asked for", count(before.asked_per_s), count(after.asked_per_s),
        changeText(change(before.asked_per_s, after.asked_per_s), null)]);
    }

    const alarming = value => value > 0 ? element("span", { class: "alarm" }, count(value)) : count(value);
    for (const name of new Set([...alarmsOf(after), ...alarmsOf(before)].map(one => one.name))) {
      const [from, to] = [before, after].map(run => alarm(run, name));
      rows.push([name, alarming(from), alarming(to), changeText(change(from, to), false)]);
    }

    section("Before and after").append(table(
      "Figures before and after, and the change in %", ["figure", "before", "after", "change"], rows));
  };

  const figures = us => [...percentiles.map(([key]) => time(us[key])), number(us.p99_over_avg)];

  const latencyTable = () => {
    if (after.latencies.length) {
      section("Latencies").append(table(
        after.latencies_of ? `Of the ${count(after.latencies[0].us.count)} ${after.latencies_of}`
          : `All ${count(after.messages)} messages of ${number(after.seconds)} s`,
        ["latency", ...percentiles.map(([, shown]) => shown), "P99/avg"],
        after.latencies.map(latency => [latency.name, ...figures(latency.us)])));
    }
  };

  const scopeTable = (title, heading, caption, scopes) => {
    if (scopes.length) {
      section(title).append(table(
        caption,
        [heading, "count", "per s", "errors", ...percentiles.map(([, shown]) => shown), "P99/avg"],
        scopes.map(scope => [
          scope.name, count(scope.messages), number(scope.per_s), count(scope.errors),
          ...(scope.latencies.length ? figures(scope.latencies[0].us) : Array(percentiles.length + 1).fill("-")),
        ])));
    }
  };

  const factTable = () => {
    const named = run => run.facts.map(([name]) => name);
    const names = [...new Set([...named(after), ...(before ? named(before) : [])])];
    const value = (run, name) => run.facts.find(fact => fact[0] === name)?.[1] ?? "-";
    const made = table("Settings and environment", before ? ["setting", "before", "after"] : ["setting", "value"],
      names.map(name => before ? [name, value(before, name), value(after, name)] : [name, value(after, name)]));
    made.firstChild.classList.add("facts");
    section("Settings and environment").append(made);
  };

  // ---- the page ----

  const headline = run => `${count(run.messages)} messages in ${number(run.seconds)} s`
    + (run.bound_by ? `, bound by ${run.bound_by}` : "");
  root.append(element("h1", {}, document.title), element("p", {}, before ? `After: ${headline(after)}` : headline(after)));
  if (before) {
    root.append(element("p", {}, `Before: ${headline(before)}`));
  }

  if (differences.length) {
    root.append(element("div", { class: "warning" }, element("b", {}, "The two runs are not the same test:"),
      element("ul", {}, ...differences.map(difference => element("li", {}, difference)))));
  }

  tiles();
  percentileCurves();
  timeCharts();
  heatMap(before);
  heatMap(after);
  if (before) {
    comparison();
  } else {
    latencyTable();
  }

  const first = after.latencies[0]?.name ?? "latency";
  scopeTable("Message types", "type", `${first} by message type, and calls of operations`, after.types);
  scopeTable(
    "Worst sessions",
    "session",
    `${first} of the ${count(after.sessions.length)} sessions with the highest P99, of ${count(after.sessions_measured)}`,
    after.sessions);
  factTable();
  root.querySelectorAll(".scroll").forEach(charts.tellScrolling);
  root.append(element("footer", {}, "Created by FastPort from its JSON. Charts: uPlot, MIT license."));
})();
