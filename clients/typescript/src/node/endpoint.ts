import { isLoopback } from "../transports/loopback.js";

const DefaultPort = 6628;

/** Where a server listens. */
export type Endpoint =
  | { readonly scheme: "tcp" | "tls"; readonly host: string; readonly port: number }
  | { readonly scheme: "unix"; readonly path: string };

/** Reads `tcp://host:port`, `tls://host:port` or `unix:///path`. */
export function parseEndpoint(text: string): Endpoint {
  const { protocol, hostname, port, pathname } = new URL(text);
  switch (protocol) {
    case "tcp:":
    case "tls:":
      if (hostname === "") {
        throw new RangeError(`${text} names no host.`);
      }

      return {
        scheme: protocol === "tcp:" ? "tcp" : "tls",
        host: hostname.replace(/^\[|\]$/g, ""),
        port: port === "" ? DefaultPort : Number(port),
      };
    case "unix:":
      return { scheme: "unix", path: decodeURIComponent(pathname) };
    default:
      throw new RangeError(`${text} is not a tcp://, tls:// or unix:// endpoint.`);
  }
}

/** Whether others on the network could read what is sent there. */
export function isPlaintext(endpoint: Endpoint): boolean {
  return endpoint.scheme === "tcp" && !isLoopback(endpoint.host);
}
