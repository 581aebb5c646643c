// The page of tags: a client of the server like any other, over its WebSocket endpoint.

import { ErrorCode, FastPortClient, FastPortError, TagClient, TagStatus, isGood, statusName, webSocket } from "./fastport.min.js";
import { byId, setText, show } from "./tables.js";
import { canWrite, quality, read, shown, time } from "./tag-values.js";

const PAGE = 50;
const MOST_NODES = 10_000;
const INTERVAL = 250;
const { server, tags: hasTags } = document.body.dataset;

let client;
let tags;
let credentials = "";
let path = "";
let nodes = [];
let limit = PAGE;
let opening = new AbortController();
let watching = new AbortController();
let rows = new Map();
let written;

const say = (state, text) => {
  byId("state").dataset.state = state;
  show("state-text", text);
};

// The table.

const makeRow = (name, label) => {
  const row = byId("tags").tBodies[0].insertRow();
  const heading = document.createElement("th");
  heading.scope = "row";
  heading.textContent = label;
  heading.title = name;
  row.append(heading);
  for (let i = 0; i < 5; i++) {
    row.insertCell().textContent = i < 4 ? "-" : "";
  }

  row.cells[1].className = "value";
  const badge = document.createElement("span");
  badge.className = "badge";
  badge.textContent = "-";
  row.cells[3].replaceChildren(badge);
  return row;
};

const update = ({ name, sample }) => {
  const row = rows.get(name);
  if (row) {
    const [kind, text] = quality(sample.status);
    setText(row.cells[1], shown(sample));
    setText(row.cells[3].firstChild, text);
    row.cells[3].firstChild.className = `badge ${kind}`;
    setText(row.cells[4], time(sample.sourceTime));
  }
};

const describe = (info) => {
  const row = rows.get(info.name);
  if (row) {
    setText(row.cells[2], info.unit || "-");
    row.cells[0].title = info.description ? `${info.name}: ${info.description}` : info.name;
    if (canWrite(info)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Write";
      button.setAttribute("aria-label", `Write ${info.name}`);
      button.addEventListener("click", () => askForValue(info, row.cells[1].textContent));
      row.cells[5].replaceChildren(button);
    }
  }
};

// Watches the tags on the page. The watch survives a reconnect and ends when the page shows other tags.
const watch = async () => {
  watching.abort();
  const { signal } = watching = new AbortController();
  const filter = byId("filter").value.toLowerCase();
  const found = nodes.filter(({ kind, name }) => kind === "tag" && name.toLowerCase().includes(filter));
  const present = found.slice(0, limit);
  byId("tags").tBodies[0].replaceChildren();
  rows = new Map(present.map(({ name, displayName }) => [name, makeRow(name, displayName || name)]));
  show("count", `${present.length} of ${found.length} tags${nodes.length >= MOST_NODES ? `, of the first ${MOST_NODES} nodes` : ""}`);
  byId("more").hidden = found.length <= limit;
  const names = [...rows.keys()];
  if (names.length === 0) {
    return;
  }

  try {
    (await tags.describe(names, { signal })).forEach(describe);
    for await (const change of tags.watch(names, { interval: INTERVAL, signal })) {
      update(change);
    }
  } catch (e) {
    if (!signal.aborted) {
      show("message", `The tags are not watched: ${e.message}`);
    }
  }
};

// Folders.

const button = (text, target, isHere) => {
  const item = document.createElement("li");
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  if (isHere) {
    made.setAttribute("aria-current", "page");
  }

  made.addEventListener("click", () => {
    byId("filter").value = "";
    void open(target);
  });
  item.append(made);
  return item;
};

const open = async (target) => {
  opening.abort();
  const { signal } = opening = new AbortController();
  const found = [];
  try {
    for await (const node of tags.browse(target, { signal })) {
      if (found.push(node) >= MOST_NODES) {
        break;
      }
    }
  } catch (e) {
    if (!signal.aborted) {
      show("message", `${e.message}`);
    }

    return;
  }

  // The root of most servers is one folder.
  if (target === "" && path === "" && found.length === 1 && found[0].kind === "folder") {
    path = found[0].name;
    return open(path);
  }

  path = target;
  nodes = found;
  limit = PAGE;
  show("message", "");
  const parts = path === "" ? [] : path.split("/");
  byId("path").replaceChildren(
    button("All", "", parts.length === 0),
    ...parts.map((part, i) => button(part, parts.slice(0, i + 1).join("/"), i === parts.length - 1)));
  byId("folders").replaceChildren(
    ...nodes.filter(({ kind }) => kind === "folder").map(({ name, displayName }) => button(displayName || name, name, false)));
  byId("folders").hidden = byId("folders").childElementCount === 0;
  await watch();
};

// Writing.

const askForValue = (info, text) => {
  written = info;
  show("write-title", `Write ${info.name}`);
  show("value-label", info.range ? `New value, ${info.range[0]} to ${info.range[1]}` : "New value");
  show("write-problem", "");
  byId("value").value = text;
  byId("write").showModal();
  byId("value").select();
};

const write = async () => {
  const { name, type } = written;
  try {
    const value = read(byId("value").value, type);
    const status = await tags.write(name, value);
    if (isGood(status)) {
      byId("write").close();
      show("message", `${name} was set to ${shown(value)}.`);
    } else {
      show("write-problem", status === TagStatus.BadUserAccessDenied
        ? "The server does not let you write this tag." : `It was not written: ${statusName(status)}.`);
    }
  } catch (e) {
    show("write-problem", e.failure === "connection-lost" ? "The connection was lost: it may have been written, or not." : e.message);
  }
};

byId("write-form").addEventListener("submit", (e) => {
  e.preventDefault();
  void write();
});
byId("write-cancel").addEventListener("click", () => byId("write").close());

// The connection.

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const askForUser = (problem) => {
  show("user-problem", problem);
  if (!byId("user").open) {
    byId("user").showModal();
  }
};

const connect = async () => {
  const url = new URL(server, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const transport = webSocket(url);
  const mine = client = new FastPortClient({
    transport,
    token: transport.isPlaintext ? undefined : () => credentials,
    clientName: "page of tags",
    retryConnect: true,
    onConnected: () => {
      say("running", "connected");
      show("message", "");
    },
    onDisconnected: () => {
      // Not the client of the user before.
      if (client === mine) {
        say("stopped", "connection lost, reconnecting");
      }
    },
    onConnectFailed: (e) => {
      const isUnknown = e instanceof FastPortError && e.code === ErrorCode.Unauthenticated;
      say("stopped", isUnknown ? "not logged in" : "not connected, trying again");
      if (!isUnknown) {
        show("message", `${url.href} does not answer, or its server does not accept pages of ${location.origin}.`);
      } else if (transport.isPlaintext) {
        show("message", `The server asks who you are. The page does not send that unencrypted: give the server a wss:// endpoint.`);
      } else {
        askForUser(credentials === "" ? "" : e.message);
      }
    },
  });
  tags = new TagClient(client);
  byId("log-in").hidden = transport.isPlaintext;
  try {
    await mine.connect();
  } catch (e) {
    // Closed for the next user.
    if (client === mine) {
      say("stopped", "not connected");
      show("message", e.message);
    }

    return;
  }

  await open(path);
};

byId("user-form").addEventListener("submit", async (e) => {
  e.preventDefault();
  const [name, secret] = [byId("name").value, byId("secret").value];
  credentials = name === "" ? secret : `Basic ${base64(`${name}:${secret}`)}`;
  byId("secret").value = "";
  byId("user").close();
  opening.abort();
  watching.abort();
  const old = client;
  void connect();
  await old.close();
});
byId("user-cancel").addEventListener("click", () => byId("user").close());
byId("log-in").addEventListener("click", () => askForUser(""));
byId("more").addEventListener("click", () => {
  limit += PAGE;
  void watch();
});
let typing;
byId("filter").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(watch, INTERVAL);
});

if (server !== "") {
  await connect();
} else {
  say("stopped", "no tags");
  byId("log-in").hidden = true;
  show("message", hasTags === "yes"
    ? "The server does not listen for browsers: it has not started yet, or it needs an endpoint such as ws://127.0.0.1:8080/tags."
    : "The server serves no tags.");
}
