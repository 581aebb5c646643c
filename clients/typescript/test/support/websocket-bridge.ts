import { connect, type AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { Random } from "./random.js";

const random = new Random(7);

/** Forwards bytes between WebSockets and a TCP server, in messages that are cut anywhere. */
export function startBridge(target: URL, selected: string | false): WebSocketServer {
  const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => selected });
  sockets.on("connection", (webSocket) => {
    const tcp = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    webSocket.on("message", (data: Buffer) => tcp.write(data));
    webSocket.on("close", () => tcp.destroy());
    tcp.on("error", () => webSocket.terminate());
    tcp.on("close", () => webSocket.close());
    tcp.on("data", (data) => {
      for (let at = 0; at < data.length; ) {
        const end = at + 1 + random.below(data.length > 10_000 ? 5000 : 40);
        webSocket.send(data.subarray(at, end));
        at = end;
      }
    });
  });
  return sockets;
}

/** The address of a server of WebSockets. */
export function urlOf(sockets: WebSocketServer): string {
  return `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
}
