import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocketServer } from "ws";
import { Browser, NeedsBrowser, type Page } from "./support/browser.js";
import { until } from "./support/patience.js";
import { Program } from "./support/program.js";
import { Relay } from "./support/relay.js";
import { urlOf } from "./support/websocket-bridge.js";

const Script = `
  import { FastPortClient, webSocket } from "fastport";
  globalThis.received = 0;
  class Counted extends WebSocket {
    constructor(...args) {
      super(...args);
      globalThis.socket = this;
      this.addEventListener("message", () => received += 1);
    }
  }
  globalThis.connect = async (url) => {
    globalThis.ends = [];
    globalThis.client = new FastPortClient({
      transport: webSocket(url, { WebSocket: Counted }), sendQueueBytes: 65536, onDisconnected: (_, end) => ends.push(end.message),
    });
    await client.connect();
    globalThis.lost = client.session.closed;
  };
  globalThis.echo = async () => [...await client.request(0x0100, Uint8Array.of(0x0a, 2, 104, 105))];
  globalThis.flood = async (messages) => {
    await Promise.all(Array.from({ length: messages }, () => client.send(0x0101, new Uint8Array(16384))));
    const [, low, high] = await client.request(0x0102);
    return (low & 0x7f) | (high << 7);
  };
  globalThis.isReady = true;`;

const Echoed = [0x0a, 2, 104, 105];

let browser: Browser;
let server: Program;
let relay: Relay;

// Tabs in the background are throttled as hard as Chromium does after five minutes: some timers run once a minute.
before(async () => {
  if (NeedsBrowser.skip) {
    return;
  }

  browser = await Browser.start(Script, ["--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/1"]);
  server = await Program.server(["--listen", "ws://127.0.0.1:0/game"], {
    FastPort__WebSocket__AllowedOrigins__0: browser.origin, FastPort__Session__HeartbeatInterval: "00:00:01",
  });
  relay = await Relay.start(server.endpoint);
});
after(async () => {
  relay?.close();
  await server?.stop();
  await browser?.close();
});

async function connect(): Promise<Page> {
  const page = await browser.open();
  await see(page, "globalThis.isReady === true");
  await page.run(`connect("${relay.url}")`);
  return page;
}

/** Looks until a condition holds in the page. */
async function see(page: Page, condition: string): Promise<void> {
  while (!(await page.run(condition)));
}

test("in a browser: a request, a flood that waits, and a Goodbye", NeedsBrowser, async () => {
  const page = await connect();
  assert.deepEqual(await page.run("echo()"), Echoed);
  assert.equal(await page.run("flood(200)"), 200);
  await page.run("client.close()");
  assert.equal(await page.run("client.session === undefined"), true);
});

test("in a browser: a server that sends text is no FastPort server", NeedsBrowser, async () => {
  const text = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "fastport.v1" });
  text.on("connection", (socket) => socket.send("hello"));
  await once(text, "listening");
  const page = await browser.open();
  await see(page, "globalThis.isReady === true");
  assert.match(await page.run(`connect("${urlOf(text)}").catch((e) => e.message)`), /A text message came/);
  await until("the WebSocket is closed", () => text.clients.size === 0);
  text.close();
  await page.close();
});

test("a tab in the background keeps its session, sends a flood, and is back after its connection was cut", NeedsBrowser, async () => {
  const page = await connect();
  const front = await browser.open();
  await see(page, "document.visibilityState === 'hidden'");
  const before = await page.run<number>("received");
  await see(page, `received >= ${before + 3}`); // Pings. The server would give the session up at the second one.
  assert.deepEqual(await page.run("ends"), []);
  relay.hold(true);
  await page.run("{ globalThis.flooding = flood(1000); }");
  await see(page, "socket.bufferedAmount >= 65536");
  relay.hold(false);
  assert.equal(await page.run("flooding"), 1000);
  relay.cut();
  await page.run("lost");
  assert.deepEqual(await page.run("echo()"), Echoed);
  assert.equal(await page.run("ends.length"), 1);
  await page.close();
  await front.close();
});

test("a page that was frozen is back, and is told what happened to its request", NeedsBrowser, async () => {
  const page = await connect();
  relay.silence(true);
  await page.run("{ globalThis.inFlight = echo().catch((e) => e.failure); }");
  await page.freeze(true);
  await until("the server has given the page up", () => relay.connections === 0);
  relay.silence(false);
  await page.freeze(false);
  assert.equal(await page.run("inFlight"), "connection-lost");
  assert.deepEqual(await page.run("echo()"), Echoed);
  assert.match(await page.run("ends[0]"), /The connection was lost: /);
  await page.close();
});
