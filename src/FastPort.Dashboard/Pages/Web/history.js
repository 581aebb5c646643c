// The charts of the last minutes: a point a second, drawn by the charts of the reports (charts.js).

import { bytes, compact, percent, time, timeOfDay } from "./format.js";
import { byId, setText } from "./tables.js";

const HEIGHT = 168;

// Widths and dashes distinguish the lines, not only colors.
const dashes = [[], [8, 5], [2, 4]];

// A value between two gaps, for example of occasional messages, has no line: it is a dot.
const alone = (u, i) => u.data[i].flatMap((value, at, all) =>
  value != null && all[at - 1] == null && all[at + 1] == null ? [at] : []);

// Steps between the times on an axis, in seconds.
const timeSteps = [5, 10, 15, 30, 60, 120, 300, 600];

// Points are drawn by the monotonic clock of the server, and labeled with its current wall clock.
class Chart {
  constructor(definition, times) {
    this.definition = definition;
    this.data = [times, ...definition.lines.map(() => [])];
    this.range = 600;
    this.wallClock = 0;
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const title = document.createElement("h3");
    title.textContent = definition.title;
    title.id = `chart-${definition.id}`;
    figure.setAttribute("aria-labelledby", title.id);
    caption.append(title);
    this.plotElement = document.createElement("div");
    this.plotElement.className = "plot";
    this.plotElement.setAttribute("aria-hidden", "true");
    this.values = this.makeLegend();
    figure.append(caption, this.plotElement, this.values.list);
    this.caption = caption;
    this.figure = figure;
  }

  makeLegend() {
    const list = document.createElement("ul");
    list.className = "legend";
    const values = this.definition.lines.map((line, i) => {
      const item = document.createElement("li");
      const key = document.createElement("span");
      key.className = `key k${i + 1}`;
      const value = document.createElement("b");
      value.dataset.figure = `${this.definition.id}-${line.name}`;
      item.append(key, `${line.title} `, value);
      list.append(item);
      return { item, value };
    });
    return { list, values };
  }

  draw() {
    const { unit, log, max } = this.definition;
    const scale = log ? "us" : "y";
    this.chart = charts.draw(this.plotElement, HEIGHT, {
      legend: { show: false },
      cursor: { y: false, sync: { key: "time" }, points: { size: 6 }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: () => this.window() },
        [scale]: log ? charts.latencyScale : { range: (_, low, high) => [0, Math.max(high ?? 0, max ?? 1) * 1.05] },
      },
      axes: [
        charts.axis({
          size: 26, space: 70, incrs: timeSteps, splits: (_, __, low, high, step) => this.roundTimes(low, high, step),
          values: (_, splits) => splits.map((s) => timeOfDay(Math.round((s + this.wallClock) * 1000))),
        }),
        log ? charts.latencyAxis() : charts.axis({
          size: 62, space: 32, values: (_, splits) => splits.map((s) => unit(s)), ...(unit === percent ? {} : { incrs: charts.wholeSteps }),
        }),
      ],
      series: [
        {},
        ...this.definition.lines.map((_, i) => ({
          scale, stroke: () => charts.color(`c${i + 1}`), width: 2, dash: dashes[i], spanGaps: false,
          points: { show: false, filter: alone, size: 5, fill: () => charts.color(`c${i + 1}`) },
          ...(i === 0 && !log ? { fill: () => `${charts.color("c1")}22` } : {}),
        })),
      ],
      hooks: { setCursor: [(u) => this.showAt(u.cursor.idx)] },
    }, this.data);
  }

  roundTimes(low, high, step) {
    const first = Math.ceil((low + this.wallClock) / step) * step - this.wallClock;
    return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, i) => first + i * step);
  }

  window() {
    const last = this.data[0].at(-1) ?? 0;
    const first = this.data[0][0] ?? last;

    // A server that has just started is not shown at the edge of an empty chart.
    return [Math.min(Math.max(last - this.range, first), last - 60), last];
  }

  update() {
    this.chart.plot.setData(this.data);
    const hasValues = this.data.slice(1).map((values) => values.some((value) => value !== null));
    this.values.values.forEach(({ item }, i) => {
      // Without a line there is nothing to explain, for example on a transport without event loops.
      item.hidden = !hasValues[i] && hasValues.includes(true);
    });
    this.showAt(this.chart.plot.cursor.idx);
  }

  // The values under the cursor; without one the latest.
  showAt(index) {
    const at = index ?? this.data[0].length - 1;
    this.values.values.forEach(({ value }, i) => setText(value, this.definition.unit(this.data[i + 1][at])));
  }
}

const definitions = [
  {
    id: "messages", title: "Messages per second", unit: compact,
    lines: [{ name: "messagesIn", title: "in" }, { name: "messagesOut", title: "out" }],
  },
  {
    id: "latency", title: "Latency", unit: time, log: true, latency: true,
    lines: [{ name: "p50", title: "P50" }, { name: "p99", title: "P99" }, { name: "max", title: "max" }],
  },
  {
    id: "busy", title: "Busy", unit: percent, max: 1,
    lines: [{ name: "loops", title: "event loops" }, { name: "cpu", title: "processors" }],
  },
  {
    id: "bytes", title: "Bytes per second", unit: bytes,
    lines: [{ name: "bytesIn", title: "received" }, { name: "bytesOut", title: "sent" }],
  },
  {
    id: "connections", title: "Connections", unit: compact, max: 4,
    lines: [{ name: "connections", title: "connections" }, { name: "sessions", title: "sessions" }],
  },
  {
    id: "queues", title: "Waiting to be sent", unit: bytes, max: 1000,
    lines: [{ name: "pendingBytes", title: "send queues" }],
  },
];

export class History {
  constructor() {
    this.times = [];
    this.columns = [];
    this.points = [];
    this.series = ["all"];
    this.shown = "all";
    this.charts = definitions.map((definition) => new Chart(definition, this.times));
    byId("charts").append(...this.charts.map((chart) => chart.figure));
    this.addSeriesChoice();
    byId("range").addEventListener("change", (e) => {
      this.charts.forEach((chart) => {
        chart.range = Number(e.target.value);
        chart.update();
      });
    });
    this.charts.forEach((chart) => chart.draw());
  }

  // Replaces everything: a restarted server has a new history.
  start(history) {
    this.seconds = history.seconds;
    this.columns = history.columns;
    this.processors = history.processors;
    this.points = history.points.slice(-this.seconds);
    this.rebuild();
  }

  add(point, series) {
    this.points.push(point);
    while (this.points.length > this.seconds) {
      this.points.shift();
    }

    if (series.length !== this.series.length || series.some((name, i) => name !== this.series[i])) {
      this.series = series;
      this.fillSeriesChoice();
    }

    this.rebuild();
  }

  // The drawn data, for tests and debugging: the number of points, and the time of the last one.
  tell() {
    const { dataset } = byId("charts");
    dataset.points = this.points.length;
    dataset.last = this.points.at(-1)?.at ?? "";
  }

  // 600 points of a few numbers: rebuilt faster than kept in step.
  rebuild() {
    this.times.length = 0;
    this.points.forEach((point) => this.times.push(point.seconds));
    const last = this.points.at(-1);
    for (const chart of this.charts) {
      chart.wallClock = last ? last.at / 1000 - last.seconds : 0;
      chart.definition.lines.forEach((line, i) => {
        const values = chart.data[i + 1];
        values.length = 0;
        this.points.forEach((point) => values.push(this.value(chart.definition, line.name, point)));
      });
      chart.update();
    }

    this.tell();
  }

  // A problem that lasts a second would otherwise disappear unseen.
  hadInLastMinute(name) {
    const column = this.columns.indexOf(name);
    const since = this.points.at(-1).seconds - 60;
    return this.points.some((point) => point.seconds > since && point.values[column] > 0);
  }

  value(definition, name, point) {
    if (definition.latency) {
      return point.latencies[this.series.indexOf(this.shown)]?.[["rate", "p50", "p99", "max"].indexOf(name)] ?? null;
    }

    const value = point.values[this.columns.indexOf(name)] ?? null;
    return name === "cpu" && value !== null ? value / this.processors : value;
  }

  addSeriesChoice() {
    const label = document.createElement("label");
    this.choice = document.createElement("select");
    this.choice.id = "series";
    label.append("of ", this.choice);
    this.choice.addEventListener("change", () => {
      this.shown = this.choice.value;
      this.rebuild();
    });
    this.charts.find((chart) => chart.definition.latency).caption.append(label);
    this.fillSeriesChoice();
  }

  fillSeriesChoice() {
    // By name: a restarted server has its series in a different order, and the chosen one only after its first message.
    const names = this.series.includes(this.shown) ? this.series : [...this.series, this.shown];
    const option = (name) => new Option(name === "all" ? "all messages" : name, name, false, name === this.shown);
    this.choice.replaceChildren(...names.map(option));
  }
}
