import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A proxy of TCP connections, which may cut those that are idle, all of them, or forward nothing any more. */
export class Relay {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isSilent = false;

  /** @param idleTimeout Milliseconds without bytes after which a connection is cut; 0 for never. */
  private constructor(public target: URL, idleTimeout: number) {
    this.#server = createServer((near) => {
      const far = connect({ host: this.target.hostname, port: Number(this.target.port), noDelay: true });
      const pair = [near, far] as const;
      const idle = idleTimeout === 0 ? undefined : setTimeout(() => this.#cut(pair), idleTimeout);
      this.#pairs.add(pair);
      for (const [from, to] of [pair, [far, near] as const]) {
        from.setNoDelay(true);
        from.on("data", (data) => {
          if (!this.#isSilent) {
            to.write(data);
            idle?.refresh();
          }
        });
        from.on("error", () => {});
        from.on("close", () => this.#cut(pair));
        from.on("close", () => clearTimeout(idle));
      }
    });
  }

  /** Starts one in front of an endpoint. */
  static async start(endpoint: string, idleTimeout = 0): Promise<Relay> {
    const relay = new Relay(new URL(endpoint), idleTimeout);
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    return relay;
  }

  /** The target's address by way of the relay. */
  get url(): string {
    const url = new URL(this.target);
    url.port = `${(this.#server.address() as AddressInfo).port}`;
    return url.href;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Cuts all connections. */
  cut(): void {
    this.#pairs.forEach((pair) => this.#cut(pair));
  }

  /** Forwards nothing, and keeps the connections open: as a network that has forgotten them. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent;
  }

  /** Reads nothing more from the clients: as a network that is full. */
  hold(isHeld: boolean): void {
    this.#pairs.forEach(([near]) => isHeld ? near.pause() : near.resume());
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #cut(pair: readonly [Socket, Socket]): void {
    if (this.#pairs.delete(pair)) {
      pair.forEach((socket) => socket.destroy());
    }
  }
}
