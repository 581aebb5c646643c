// The table of sessions. The server sorts, filters and pages; this page asks once a second, and at once after a change.

import { bytes, count, plural, rate, span } from "./format.js";
import { byId, fill, setText, show } from "./tables.js";

// Longest wait for an answer, in milliseconds.
const PATIENCE = 5000;

export class Sessions {
  constructor(onKick) {
    this.sort = "rate";
    this.isDescending = true;
    this.page = 0;
    this.onKick = onKick;
    this.canKick = false;
    this.now = 0;
    this.table = byId("sessions");
    this.body = this.table.tBodies[0];
    for (const header of this.table.querySelectorAll("th[data-sort]")) {
      header.querySelector("button").addEventListener("click", () => this.sortBy(header.dataset.sort));
    }

    byId("filter").addEventListener("input", () => this.turnTo(0));
    byId("previous").addEventListener("click", () => this.turnTo(this.page - 1));
    byId("next").addEventListener("click", () => this.turnTo(this.page + 1));
    this.body.addEventListener("click", (e) => {
      const id = e.target.closest("button")?.dataset.session;
      if (id) {
        this.onKick(id);
      }
    });
    this.showSort();
  }

  allowKick(isAllowed) {
    this.canKick = isAllowed;
    byId("action-column").hidden = !isAllowed;
    this.body.replaceChildren();
  }

  sortBy(name) {
    this.isDescending = this.sort === name ? !this.isDescending : !["id", "routingId", "name", "address", "opened"].includes(name);
    this.sort = name;
    this.showSort();
    this.turnTo(0);
  }

  showSort() {
    for (const header of this.table.querySelectorAll("th[data-sort]")) {
      header.setAttribute("aria-sort", header.dataset.sort !== this.sort ? "none" : this.isDescending ? "descending" : "ascending");
    }
  }

  turnTo(page) {
    this.page = Math.max(0, page);
    this.asked?.abort();
    this.asked = null;
    this.refresh();
  }

  // One request at a time: a slow answer is not requested twice. now is the server's clock: the reader's may differ.
  async refresh(now = this.now) {
    this.now = now;
    if (this.asked) {
      return;
    }

    const asked = this.asked = new AbortController();
    const query = new URLSearchParams({ sort: this.sort, desc: this.isDescending, filter: byId("filter").value, page: this.page });
    try {
      const answer = await fetch(`sessions?${query}`, { signal: AbortSignal.any([asked.signal, AbortSignal.timeout(PATIENCE)]) });
      if (answer.status === 401) {
        location.assign("login");
      } else if (answer.ok) {
        const sessions = await answer.json();
        if (this.asked === asked) {
          this.showPage(sessions);
        }
      }
    } catch {
      // The stream notices a server that is gone; or the answer took too long, or a newer request was made.
    } finally {
      if (this.asked === asked) {
        this.asked = null;
      }
    }
  }

  showPage(sessions) {
    this.page = sessions.page;
    fill(this.body, sessions.rows, (row) => [
      String(row.id), row.routingId || "-", row.name || "-", row.address || "-", span(Math.max(0, (this.now - row.opened) / 1000)),
      rate(row.rate), count(row.messagesIn), count(row.messagesOut), bytes(row.bytesIn), bytes(row.bytesOut), bytes(row.pendingBytes),
      count(row.dropped), ...(this.canKick ? ["Close"] : []),
    ], {
      none: byId("filter").value ? "No session matches the filter." : "No sessions.", numbersFrom: 4, numbersTo: 11, long: [1, 2],
      finish: (line, row) => this.finish(line, row),
    });
    const first = sessions.page * 100 + 1;
    show("sessions-status", sessions.matching === 0
      ? plural(sessions.total, "session")
      : `${count(first)} to ${count(first + sessions.rows.length - 1)} of `
        + (sessions.matching === sessions.total
          ? plural(sessions.total, "session") : `${count(sessions.matching)} that match, of ${plural(sessions.total, "session")}`));
    show("page", `Page ${sessions.page + 1} of ${sessions.pages}`);
    byId("previous").disabled = sessions.page === 0;
    byId("next").disabled = sessions.page >= sessions.pages - 1;
  }

  finish(line, row) {
    line.classList.toggle("slow", row.isSlow);
    line.cells[10].title = row.isSlow ? "Its peer reads more slowly than the server writes." : "";
    if (row.isSlow) {
      setText(line.cells[10], `${bytes(row.pendingBytes)} slow`);
    }

    if (this.canKick) {
      let button = line.cells[12].querySelector("button");
      if (!button) {
        button = document.createElement("button");
        button.type = "button";
        button.className = "danger";
        line.cells[12].replaceChildren(button);
        setText(button, "Close");
      }

      button.dataset.session = row.id;
      button.setAttribute("aria-label", `Close session ${row.id}`);
    }
  }
}
