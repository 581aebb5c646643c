// The stream of events. The browser's own reconnecting gives up on some errors; this one does not.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
// Events come once a second. A connection that died without an end is noticed after this time.
const SILENCE = 5000;

export class Stream {
  constructor({ onHistory, onFigures, onLost }) {
    this.handlers = { onHistory, onFigures, onLost };
    this.wait = FIRST_WAIT;
    this.open();
  }

  open() {
    const source = this.source = new EventSource("/events");
    const heard = () => {
      clearTimeout(this.silence);
      this.silence = setTimeout(() => this.lost(source), SILENCE);
    };
    heard();
    source.addEventListener("history", (e) => {
      heard();
      this.wait = FIRST_WAIT;
      this.handlers.onHistory(JSON.parse(e.data));
    });
    source.addEventListener("figures", (e) => {
      heard();
      this.handlers.onFigures(JSON.parse(e.data));
    });
    source.addEventListener("error", () => this.lost(source));
  }

  lost(source) {
    if (source !== this.source) {
      return;
    }

    source.close();
    this.source = null;
    clearTimeout(this.silence);
    this.handlers.onLost();
    setTimeout(() => this.reopen(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  async reopen() {
    try {
      // An event source does not tell why it fails. A token that was changed needs a new login.
      const answer = await fetch("/sessions", { cache: "no-store", signal: AbortSignal.timeout(SILENCE) });
      if (answer.status === 401) {
        location.assign("/login");
        return;
      }
    } catch {
      // Still away; the event source fails too, and waits longer.
    }

    this.open();
  }
}
