import type { Timing } from "../frames/frame.js";
import { Histogram } from "./histogram.js";

/** The latencies of a client's requests, in nanoseconds. */
export class Latencies {
  /** From the request to its reply. */
  readonly roundTrip = new Histogram();
  /** The server's part: of replies with a timing block. */
  readonly server = new Histogram();
  /** The rest of the round trip: of replies with a timing block. */
  readonly network = new Histogram();

  /** Counts a reply. */
  record(roundTrip: number, timing?: Timing): void {
    this.roundTrip.record(roundTrip);
    if (timing) {
      const server = Number(timing.sent - timing.received);
      this.server.record(server);
      this.network.record(roundTrip - server);
    }
  }

  reset(): void {
    this.roundTrip.reset();
    this.server.reset();
    this.network.reset();
  }
}
