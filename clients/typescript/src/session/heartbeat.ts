import { MaxTimer } from "./time-limit.js";

/** A timer that comes later than this, in milliseconds: the process was suspended, or a page frozen or in the background. */
const Late = 1000;

/**
 * Asks a silent peer for a sign of life, and reports a peer that stays silent. While this side did not run, bytes may have arrived that it
 * could not read: it asks once more.
 */
export class Heartbeat {
  readonly #interval: number;
  readonly #ping: () => void;
  readonly #onSilence: () => void;
  #last = performance.now();
  #asked = 0;
  #isPaused = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = 0;

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
    this.#asked = 0;
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
    this.#due = performance.now() + time;
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.ceil(time), MaxTimer));
  }

  #look(): void {
    if (this.#isPaused) {
      this.onSign();
    }

    const limit = this.#asked ? this.#interval * 2 : this.#interval;
    const left = limit - (performance.now() - this.#last);
    if (left > 0) {
      this.#wait(left);
    } else if (this.#asked > 1 || (this.#asked === 1 && performance.now() - this.#due < Late)) {
      this.#onSilence();
    } else {
      this.#last = performance.now() - this.#interval;
      this.#asked += 1;
      this.#ping();
      this.#wait(this.#interval);
    }
  }
}
