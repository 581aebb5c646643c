import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { build } from "esbuild";
import { Program } from "./support/program.js";

const Browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

const page = (url: string) => `
  import { FastPortClient, webSocket } from "fastport";
  const report = (result) => fetch("/result", { method: "POST", body: JSON.stringify(result) });
  try {
    const client = new FastPortClient({ transport: webSocket("${url}"), sendQueueBytes: 65536 });
    await client.connect();
    const body = Uint8Array.of(0x0a, 2, 104, 105);
    const reply = await client.request(0x0100, body);
    await Promise.all(Array.from({ length: 200 }, () => client.send(0x0101, new Uint8Array(16384))));
    const [, low, high] = await client.request(0x0102);
    await client.close();
    await report({ reply: [...reply], counted: (low & 0x7f) | (high << 7), session: client.session ?? null });
  } catch (e) {
    await report({ error: String(e) });
  }`;

test("in a browser: a request, a flood that waits, and a Goodbye", { skip: Browser ? false : "no browser is installed" }, async () => {
  let script = "";
  let resolve!: (result: string) => void;
  const result = new Promise<string>((done) => (resolve = done));
  const pages = createServer(async (request, response) => {
    if (request.method === "POST") {
      resolve(await text(request));
      response.end();
    } else {
      response.setHeader("content-type", "text/html").end(`<script type="module">${script}</script>`);
    }
  }).listen(0, "127.0.0.1");
  await once(pages, "listening");
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const server = await Program.server(["--listen", "ws://127.0.0.1:0/game"], { FastPort__WebSocket__AllowedOrigins__0: origin });
  const { outputFiles } = await build({
    stdin: { contents: page(server.endpoint), resolveDir: process.cwd() }, bundle: true, format: "esm", write: false, platform: "browser",
  });
  script = outputFiles[0]!.text;
  const profile = mkdtempSync(join(tmpdir(), "fastport-ts-"));
  const browser = spawn(Browser!, [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`,
    `${origin}/`,
  ], { stdio: "ignore" });
  try {
    assert.deepEqual(JSON.parse(await result), { reply: [0x0a, 2, 104, 105], counted: 200, session: null });
  } finally {
    browser.kill("SIGKILL");
    await once(browser, "exit");
    pages.close();
    pages.closeAllConnections();
    await server.stop();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});
