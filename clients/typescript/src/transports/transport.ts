/** A way to connect to one server. */
export interface Transport {
  /** The server, for messages. */
  readonly endpoint: string;
  /** Whether others on the network could read what is sent. A client sends no token over such a connection. */
  readonly isPlaintext: boolean;
  /** Connects. An aborted attempt leaves no connection behind. */
  connect(events: ConnectionEvents, signal: AbortSignal): Promise<Connection>;
}

/** An open connection: a stream of bytes in both directions. */
export interface Connection {
  /** Bytes that were passed to `send` and have not left the process. */
  readonly bufferedBytes: number;
  /** Sends bytes: a view, whose buffer holds others, too. They do not change afterwards. */
  send(bytes: Uint8Array): void;
  /** Resolves when the buffered bytes have left the process, or the connection has ended. */
  drained(): Promise<void>;
  /** Stops reading until `resume`. Bytes that have arrived may still be reported where the transport cannot stop. */
  pause(): void;
  resume(): void;
  /** Ends the output after the buffered bytes. */
  end(): void;
  /** Ends the connection at once. */
  abort(): void;
}

/** What a connection reports: `onData` and `onEnd` in order, then `onClosed` once. */
export interface ConnectionEvents {
  /** Bytes have arrived. They do not change afterwards. */
  onData(bytes: Uint8Array): void;
  /** The peer has ended its output. Not every transport knows this before the connection has ended. */
  onEnd(): void;
  /** The connection has ended. */
  onClosed(error?: Error): void;
}
