const Max = 2 ** 31 - 1;

/** The credit of one direction of a stream, kept by the side that sends the items. */
export class Account {
  #messages = 0;
  #bytes = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Adds a grant. False if it lifts the account above what the protocol allows. */
  grant(messages: number, bytes: number): boolean {
    this.#messages += messages;
    this.#bytes += bytes;
    if (this.#isOpen) {
      this.#wake?.();
    }

    return this.#messages <= Max && this.#bytes <= Max;
  }

  /** Takes the credit for an item, when there is some. Also resolves when the account is closed. For one sender at a time. */
  async take(bytes: number): Promise<void> {
    while (!this.#isOpen && !this.#isClosed) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }

    this.#messages -= 1;
    this.#bytes -= bytes;
  }

  /** The stream has ended: nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  get #isOpen(): boolean {
    return this.#messages >= 1 && this.#bytes > 0;
  }
}
