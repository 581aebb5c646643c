// The page: takes the figures of each second from the stream and shows them in place.

import { Actions, kick } from "./actions.js";
import { bytes, capital, compact, count, dateAndTime, microseconds, percent, plural, rate, span, time, words } from "./format.js";
import { History } from "./history.js";
import { Sessions } from "./sessions.js";
import { Stream } from "./stream.js";
import { byId, fill, setText, show } from "./tables.js";

const MAX_WARNINGS = 100;

const past = new History();
const sessions = new Sessions(kick);
const actions = new Actions();
let version = null;
let columns = [];
let processors = 1;
let latest = null;

const setState = (state, text) => {
  byId("state").dataset.state = state;
  show("state-text", text);
  document.body.classList.toggle("old", state === "stopped");
};

const onHistory = (history) => {
  if (version !== null && version !== history.version) {
    // A newer server has a newer page.
    location.reload();
    return;
  }

  ({ version, columns, processors } = history);
  document.title = `${history.server} · FastPort`;
  show("server", history.server);
  show("endpoints", history.endpoints.join(", ") || "-");
  show("version", history.version);
  show("process", `${history.processId}`);
  show("runtime", history.runtime);
  byId("tags-link").hidden = !history.tags;
  byId("warnings").replaceChildren();
  addWarnings(history.warnings);
  past.start(history);
  sessions.allowKick(history.actions);
  actions.start(history);
};

const onFigures = (figures) => {
  latest = figures;
  setState(figures.state, figures.state);
  show("uptime", span(figures.uptimeSeconds));
  past.add(figures.point, figures.series);
  showTiles(figures);
  byId("until").dateTime = new Date(figures.point.at).toISOString();
  show("until", dateAndTime(figures.point.at));
  showLatencies();
  showNodes(figures);
  showSources(figures);
  showReasons(figures);
  addWarnings(figures.warnings);
  sessions.refresh(figures.point.at);
};

const showTiles = (figures) => {
  const value = (name) => figures.point.values[columns.indexOf(name)] ?? null;
  const all = figures.point.latencies[0];
  show("connections", count(figures.totals.connections));
  show("sessions-open", `${plural(figures.totals.sessions, "session")}, ${count(figures.totals.accepted)} accepted`);
  show("messages-in", `${compact(value("messagesIn"))}/s`);
  show("messages-out", `${compact(value("messagesOut"))}/s`);
  show("bytes-in", `${bytes(value("bytesIn"))}/s`);
  show("bytes-out", `${bytes(value("bytesOut"))}/s`);
  show("p99", all ? time(all[2]) : "-");
  show("p50", all ? `P50 ${time(all[1])}, max ${time(all[3])}` : "no messages in this second");
  show("loops", percent(value("loops")));
  show("loops-each", figures.loops.length === 0 ? "no event loops on this transport"
    : figures.loops.length <= 4 ? `each ${figures.loops.map(percent).join(", ")}`
    : `the busiest of ${figures.loops.length} ${percent(Math.max(...figures.loops))}`);
  show("cpu", value("cpu") === null ? "-" : value("cpu").toFixed(2));
  show("cpu-of", `of ${processors}, ${bytes(figures.workingSetBytes)} memory`);
  show("pending", bytes(value("pendingBytes")));
  show("slow", count(value("slowConsumers")));
  attend("slow", value("slowConsumers") > 0);
  for (const name of ["errors", "rejected", "dropped"]) {
    show(name, `${rate(value(name))}/s`);
    show(`${name}-all`, `${count(figures.totals[name])} since the start`);
    attend(name, past.hadInLastMinute(name));
  }

  show("buffered", bytes(figures.bufferedBytes));
  show("memory", `of ${bytes(figures.maxBufferedBytes)} budget`);
  show("counts", `${count(figures.totals.messagesIn)} messages in and ${count(figures.totals.messagesOut)} out since the start; `
    + `${count(figures.readersDropped)} slow pages dropped, ${count(figures.wrongTokens)} wrong tokens`);
};

const attend = (id, isTrouble) => byId(id).closest(".tile").classList.toggle("attention", isTrouble);

const latencyCells = (window) => (row) => {
  const of = row[window];
  return [
    row.name === "all" ? "All messages" : row.name, count(of.count), rate(of.rate),
    ...[of.p50, of.p90, of.p99, of.p999, of.max].map((us) => of.count === 0 ? "-" : microseconds(us)), count(row.errors),
  ];
};

const showLatencies = () => {
  if (latest) {
    const window = document.querySelector("input[name=window]:checked").value;
    fill(byId("latency").tBodies[0], latest.latencies, latencyCells(window));
    byId("operations-section").hidden = latest.operations.length === 0;
    fill(byId("operations").tBodies[0], latest.operations, latencyCells(window));
  }
};

const nodeState = ({ isSelf, leaseSeconds, isCompatible }) =>
  !isSelf ? isCompatible ? "up" : "runs another release"
  : leaseSeconds > 0 ? `this node, lease for ${leaseSeconds.toFixed(1)} s` : "this node, without its lease";

const showNodes = ({ nodes }) => {
  byId("nodes-section").hidden = nodes.length === 0;
  fill(byId("nodes").tBodies[0], nodes, (one) => one.isSelf ? [one.name, nodeState(one), "-", "-", "-", "-", "-"] : [
    one.name, nodeState(one), one.lagMicroseconds === null ? "-" : time(one.lagMicroseconds), bytes(one.queuedBytes), rate(one.relays),
    rate(one.batches), bytes(one.batchBytes),
  ], { numbersFrom: 2, finish: (line, one) => line.classList.toggle("attention", one.isSelf ? one.leaseSeconds <= 0 : !one.isCompatible) });
};

// A row for each owner, a column for each name.
const showSources = ({ counts }) => {
  byId("sources-section").hidden = counts.length === 0;
  if (counts.length === 0) {
    return;
  }

  const names = [...new Set(counts.map((one) => one.name))];
  const owners = group(counts);
  const head = byId("sources").tHead;
  if (head.dataset.names !== names.join()) {
    head.dataset.names = names.join();
    const line = document.createElement("tr");
    for (const name of ["Source", ...names.map((one) => capital(words(one)))]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.className = name === "Source" ? "" : "n";
      cell.textContent = name;
      line.append(cell);
    }

    head.replaceChildren(line);
  }

  fill(
    byId("sources").tBodies[0],
    [...owners],
    ([owner, own]) => [owner, ...names.map((name) => sourceText(own.find((one) => one.name === name)))]);
};

const group = (counts) => {
  const owners = new Map();
  counts.forEach((one) => owners.set(one.owner, [...owners.get(one.owner) ?? [], one]));
  return owners;
};

const sourceText = (one) => {
  if (!one) {
    return "-";
  }

  if (one.rate === null) {
    return one.ratio === null ? "-" : one.name.endsWith("_rate") ? percent(one.ratio) : one.ratio.toFixed(2);
  }

  return one.rate === 0 ? count(one.count) : `${count(one.count)} (${compact(one.rate)}/s)`;
};

const kinds = {
  closed: "Session closed", rejected: "Connection rejected", dropped: "Message dropped", timeouts: "Deadline passed",
  relays: "Relay failed", errors: "Error sent", oneWay: "One-way message failed", accepts: "Accept failed", replies: "Reply to nothing",
};

const showReasons = ({ reasons }) => fill(
  byId("reasons").tBodies[0],
  reasons,
  (one) => [kinds[one.kind] ?? one.kind, words(one.reason), count(one.count)],
  { numbersFrom: 2, none: "Nothing yet." });

const addWarnings = (warnings) => {
  const list = byId("warnings");
  if (warnings.length !== 0) {
    list.querySelector(".none")?.remove();
  }

  for (const warning of warnings) {
    const line = document.createElement("li");
    const at = document.createElement("time");
    at.dateTime = new Date(warning.at).toISOString();
    at.textContent = dateAndTime(warning.at);
    const level = document.createElement("span");
    level.className = warning.level === "Warning" ? "badge" : "badge error";
    level.textContent = warning.level;
    line.append(at, level, warning.text);
    line.title = warning.source;
    list.prepend(line);
  }

  while (list.children.length > MAX_WARNINGS) {
    list.lastElementChild.remove();
  }

  if (list.children.length === 0) {
    const line = document.createElement("li");
    line.className = "none";
    setText(line, "None.");
    list.append(line);
  }
};

document.querySelectorAll("input[name=window]").forEach((input) => input.addEventListener("change", showLatencies));

const onLost = (answers) => setState("stopped", answers ? "no figures, retrying" : "server stopped, reconnecting");

document.querySelectorAll(".scroll").forEach(charts.tellScrolling);

new Stream({ onHistory, onFigures, onLost });
