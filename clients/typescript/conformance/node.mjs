// node conformance/node.mjs: the adapter of the client in Node.js. A line of JSON for each command on its input, and for each event on its
// output.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { webSocket } from "fastport";
import { socket } from "fastport/node";
import WebSocket from "ws";
import { ClientAdapter } from "./client.mjs";

function transportOf({ endpoint, authority }) {
  const ca = authority && readFileSync(authority);
  if (!endpoint.startsWith("ws")) {
    return socket(endpoint, ca ? { tls: { ca } } : {});
  }

  class Trusting extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, { ca });
    }
  }

  return webSocket(endpoint, { WebSocket: Trusting });
}

const adapter = new ClientAdapter(transportOf, (event) => process.stdout.write(`${JSON.stringify(event)}\n`), ["inproc"]);
for await (const line of createInterface({ input: process.stdin })) {
  adapter.do(JSON.parse(line));
}

process.exit();
