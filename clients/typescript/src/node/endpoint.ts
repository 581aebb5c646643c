import { isLoopback } from "../transports/loopback.js";

const DefaultPort = 6628;

/** Where a server listens. */
export type Endpoint =
  | { readonly scheme: "tcp" | "tls"; readonly host: string; readonly port: number }
  | { readonly scheme: "unix"; readonly path: string };

/**
 * Reads `tcp://host:port`, `tls://host:port` or `unix:///path`.
 * @throws RangeError It is none of them.
 */
export function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const { protocol, hostname = "", port, pathname = "" } = url ?? {};
  switch (protocol) {
    case "tcp:":
    case "tls:":
      if (hostname === "" || url!.href.replace(/\/$/, "") !== `${protocol}//${url!.host}`) {
        break;
      }

      return {
        scheme: protocol === "tcp:" ? "tcp" : "tls",
        host: hostname.replace(/^\[|\]$/g, ""),
        port: port ? Number(port) : DefaultPort,
      };
    case "unix:":
      if (hostname !== "") {
        break;
      }

      return { scheme: "unix", path: decodeURIComponent(pathname) };
    case "ws:":
    case "wss:":
      throw new RangeError(`'${text}' is for webSocket(url), not for socket(endpoint).`);
  }

  throw new RangeError(`'${text}' is no endpoint, such as tcp://host:6628, tls://host:6628 or unix:///run/fastport.sock.`);
}

/** Whether others on the network could read what is sent there. */
export function isPlaintext(endpoint: Endpoint): boolean {
  return endpoint.scheme === "tcp" && !isLoopback(endpoint.host);
}
