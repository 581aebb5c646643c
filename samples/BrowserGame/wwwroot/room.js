// The room as a page sees it. fastport.min.js is the TypeScript client with the service of room.proto, which clients/typescript bundles.
import { FastPortClient, Room, serviceClient, webSocket } from "./fastport.min.js";

const SendEvery = 50;
const LatenciesOf = 10;
const RetryAfter = 500;
const LongestWay = 200;
const MaxUnderWay = 10;

const byId = (id) => document.getElementById(id);
const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));

const animals = ["Badger", "Crane", "Fox", "Hare", "Heron", "Lynx", "Otter", "Wren"];
const name = new URLSearchParams(location.search).get("name")?.slice(0, 20)
  || `${animals[Math.floor(Math.random() * animals.length)]} ${Math.floor(Math.random() * 100)}`;

// What is shown.

const dots = new Map();

function say(state, text) {
  byId("state").dataset.state = state;
  if (byId("state").textContent !== text) {
    byId("state").textContent = text;
  }
}

function makeDot({ id, name, color }, isYou) {
  const dot = document.createElementNS("http://www.w3.org/2000/svg", "g");
  dot.setAttribute("class", `dot c${color}${isYou ? " you" : ""}`);
  dot.dataset.id = id;
  const circle = document.createElementNS(dot.namespaceURI, "circle");
  circle.setAttribute("r", "16");
  const label = document.createElementNS(dot.namespaceURI, "text");
  label.setAttribute("y", "-30");
  label.textContent = name;
  dot.append(circle, label);
  const person = document.createElement("li");
  person.className = `c${color}`;
  person.textContent = isYou ? `${name} (you)` : name;
  byId("dots").append(dot);
  byId("people").append(person);
  return { dot, person, name };
}

function show({ you, dots: present }) {
  for (const one of present) {
    let shown = dots.get(one.id);
    if (!shown) {
      shown = makeDot(one, one.id === you);
      tell(dots.size > 0 ? `${one.name} came.` : "");
      dots.set(one.id, shown);
    }

    shown.dot.setAttribute("transform", `translate(${one.place.x.toFixed(1)} ${one.place.y.toFixed(1)})`);
  }

  const ids = new Set(present.map(({ id }) => id));
  [...dots.keys()].filter((id) => !ids.has(id)).forEach((id) => {
    tell(`${dots.get(id).name} left.`);
    remove(id);
  });
}

function remove(id) {
  const { dot, person } = dots.get(id);
  dots.delete(id);
  dot.remove();
  person.remove();
}

function tell(news) {
  byId("news").textContent = news;
}

function showLatencies({ latencies }, seconds) {
  byId("span").textContent = seconds;
  for (const part of ["roundTrip", "server", "network"]) {
    const figures = latencies[part];
    [50, 90, 99].forEach((percent, i) => {
      byId(part).cells[i + 1].textContent = figures.count === 0 ? "-" : (figures.percentile(percent) / 1e6).toFixed(3);
    });
  }
}

// Where your dot is, and where it is to go.

const keys = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
  KeyA: [-1, 0], KeyD: [1, 0], KeyW: [0, -1], KeyS: [0, 1],
};
const held = new Set();
let place;
let target;

function setTarget(x, y) {
  target = { x: Math.min(Math.max(x, 0), 1000), y: Math.min(Math.max(y, 0), 600) };
  byId("target").setAttribute("cx", target.x);
  byId("target").setAttribute("cy", target.y);
}

// The way is long enough for the dot to be under way until the next place is sent, also over a slow network.
function steer() {
  if (place && held.size > 0) {
    const [x, y] = [...held].reduce(([x, y], key) => [x + keys[key][0], y + keys[key][1]], [0, 0]);
    setTarget(place.x + x * LongestWay, place.y + y * LongestWay);
  }
}

function stop() {
  held.clear();
  if (place) {
    setTarget(place.x, place.y);
  }
}

const room = byId("room");
room.addEventListener("keydown", (e) => {
  if (e.code in keys && !e.ctrlKey && !e.altKey && !e.metaKey) {
    e.preventDefault();
    held.add(e.code);
    steer();
  }
});
room.addEventListener("keyup", (e) => held.delete(e.code) && (held.size > 0 ? steer() : stop()));
room.addEventListener("blur", () => held.size > 0 && stop());
const point = (e) => {
  const { left, top, width, height } = room.firstElementChild.getBoundingClientRect();
  setTarget((e.clientX - left) / width * 1000, (e.clientY - top) / height * 600);
};
room.addEventListener("pointerdown", (e) => {
  room.setPointerCapture(e.pointerId);
  point(e);
});
room.addEventListener("pointermove", (e) => room.hasPointerCapture(e.pointerId) && point(e));

// The server.

async function findServer() {
  for (;;) {
    try {
      const endpoint = await (await fetch("endpoint")).text();
      if (endpoint !== "") {
        const url = new URL(endpoint);
        url.hostname = location.hostname;
        return url;
      }
    } catch {
      // It is not there yet.
    }

    await wait(RetryAfter);
  }
}

// docs: play

// A dot is in the room as long as the call of Enter. The client connects again by itself; the page enters again.
async function play(client, game) {
  for (;;) {
    try {
      for await (const scene of game.enter({ name })) {
        show(scene);
        say("here", `You are ${name}`);
        place = scene.dots.find(({ id }) => id === scene.you)?.place ?? place;
        target ?? setTarget(place.x, place.y);
        byId("target").toggleAttribute("hidden", Math.hypot(place.x - target.x, place.y - target.y) < 1);
        steer();
      }
    } catch (e) {
      say("lost", client.session ? `${e.message} Trying again` : "The connection is lost. Trying again");
    }

    [...dots.keys()].forEach(remove);
    byId("target").toggleAttribute("hidden", true);
    place = target = undefined;
    await wait(RetryAfter);
  }
}

// docs: end

// docs: client
const client = new FastPortClient({
  transport: webSocket(await findServer()),
  clientName: name,
  retryConnect: true,
  timing: true,
  onConnectFailed: () => say("lost", "The server does not answer. Trying again"),
});
const game = serviceClient(client, Room);

// docs: end

let underWay = 0;
setInterval(async () => {
  if (client.session && target && underWay < MaxUnderWay) {
    underWay++;
    // A place that is lost is followed by the next one.
    await game.go(target).catch(() => {});
    underWay--;
  }
}, SendEvery);

let seconds = 0;
setInterval(() => {
  showLatencies(client, ++seconds);
  if (seconds === LatenciesOf) {
    client.latencies.reset();
    seconds = 0;
  }
}, 1000);

void client.connect();
await play(client, game);
