// node conformance/browser.mjs: the adapter of the client in Chromium. It serves a page, which a headless browser loads, and passes lines
// between its own input and output and the page, over a WebSocket.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { WebSocketServer } from "ws";

const Browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const Page = `
  import { webSocket } from "fastport";
  import { ClientAdapter } from "./client.mjs";
  const bridge = new WebSocket(location.href.replace("http", "ws"));
  bridge.onopen = () => {
    const adapter = new ClientAdapter(
      ({ endpoint }) => webSocket(endpoint), (event) => bridge.send(JSON.stringify(event)), ["tcp", "tls", "unix", "inproc", "wss"]);
    bridge.onmessage = ({ data }) => adapter.do(JSON.parse(data));
  };`;

const program = Browsers.find(existsSync);
if (!program) {
  throw new Error(`There is no browser: ${Browsers.join(", ")}.`);
}

const { outputFiles } = await build({
  stdin: { contents: Page, resolveDir: dirname(fileURLToPath(import.meta.url)) },
  bundle: true, format: "esm", write: false, platform: "browser",
});
const html = `<!doctype html><meta charset="utf-8"><title>conformance</title><script type="module">${outputFiles[0].text}</script>`;
const pages = createServer((_, response) => response.setHeader("content-type", "text/html").end(html)).listen(0, "127.0.0.1");
await once(pages, "listening");
const bridges = new WebSocketServer({ server: pages });
const profile = mkdtempSync(join(tmpdir(), "fastport-conformance-"));
const browser = spawn(program, [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`,
  `http://127.0.0.1:${pages.address().port}/`,
], { stdio: "ignore" });
const [bridge] = await once(bridges, "connection");
bridge.on("message", (event) => process.stdout.write(`${event}\n`));
for await (const line of createInterface({ input: process.stdin })) {
  bridge.send(line);
}

browser.kill("SIGKILL");
await once(browser, "exit");
rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
process.exit();
