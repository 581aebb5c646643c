/** Asks a silent peer for a sign of life, and reports a peer that stays silent. */
export class Heartbeat {
  readonly #interval: number;
  readonly #ping: () => void;
  readonly #onSilence: () => void;
  #last = performance.now();
  #hasAsked = false;
  #isPaused = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param interval Milliseconds of silence after which the peer is asked, and again after which it is given up.
   * @param ping Asks the peer.
   * @param onSilence The peer is given up. Called once.
   */
  constructor(interval: number, ping: () => void, onSilence: () => void) {
    this.#interval = interval;
    this.#ping = ping;
    this.#onSilence = onSilence;
    this.#wait(interval);
  }

  /** Bytes have arrived. */
  onSign(): void {
    this.#last = performance.now();
    this.#hasAsked = false;
  }

  /** While nothing is read, silence means nothing. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.onSign();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(time: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.ceil(time));
  }

  #look(): void {
    if (this.#isPaused) {
      this.onSign();
    }

    const limit = this.#hasAsked ? this.#interval * 2 : this.#interval;
    const left = limit - (performance.now() - this.#last);
    if (left > 0) {
      this.#wait(left);
    } else if (this.#hasAsked) {
      this.#onSilence();
    } else {
      this.#hasAsked = true;
      this.#ping();
      this.#wait(this.#interval);
    }
  }
}
