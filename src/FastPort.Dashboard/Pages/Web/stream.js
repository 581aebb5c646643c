// The stream of events. The browser's own reconnecting gives up on some errors; this one does not.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
// Events come once a second. A connection that died without an end is noticed after this time.
const SILENCE = 5000;

export class Stream {
  constructor({ onHistory, onFigures, onLost }) {
    this.handlers = { onHistory, onFigures, onLost };
    this.wait = FIRST_WAIT;
    this.answers = false;
    // Over http:// a browser opens six connections to a server, and a stream holds one: a hidden page closes its stream.
    document.addEventListener("visibilitychange", () => document.hidden ? this.close() : this.open());
    this.open();
  }

  open() {
    if (this.source || document.hidden) {
      return;
    }

    const source = this.source = new EventSource("events");
    const heard = () => {
      clearTimeout(this.silence);
      this.silence = setTimeout(() => this.silent(source), SILENCE);
    };
    heard();
    source.addEventListener("history", (e) => {
      heard();
      this.wait = FIRST_WAIT;
      this.answers = false;
      this.handlers.onHistory(JSON.parse(e.data));
    });
    source.addEventListener("figures", (e) => {
      heard();
      this.handlers.onFigures(JSON.parse(e.data));
    });
    source.addEventListener("error", () => this.lost(source));
  }

  close() {
    clearTimeout(this.silence);
    this.source?.close();
    this.source = null;
  }

  // No events, and no end: the server may have stopped, or a proxy delays the events. The page checks the server.
  silent(source) {
    if (source === this.source) {
      this.close();
      this.reopen();
    }
  }

  lost(source) {
    if (source !== this.source) {
      return;
    }

    this.close();
    this.handlers.onLost(this.answers);
    setTimeout(() => this.reopen(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  async reopen() {
    if (this.source || document.hidden) {
      return;
    }

    this.answers = false;
    try {
      // An event source does not report why it fails. A changed token needs a new login.
      const answer = await fetch("sessions", { cache: "no-store", signal: AbortSignal.timeout(SILENCE) });
      if (answer.status === 401) {
        location.assign("login");
        return;
      }

      this.answers = answer.ok;
    } catch {
      // Still unreachable; the event source also fails, and waits longer.
    }

    if (!this.source) {
      this.handlers.onLost(this.answers);
      this.open();
    }
  }
}
