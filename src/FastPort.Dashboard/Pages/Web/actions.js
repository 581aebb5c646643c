// Actions of a reader, if the server allows them. Each one needs a confirmation.

import { byId, show } from "./tables.js";

// Longest wait for an answer, in milliseconds.
const PATIENCE = 5000;

const post = async (path) => {
  try {
    const answer = await fetch(path, { method: "POST", signal: AbortSignal.timeout(PATIENCE) });
    show("action-result", await answer.text());
  } catch (error) {
    show("action-result", error.name === "TimeoutError"
      ? "The server did not answer; it is unknown whether it has done this." : "The server cannot be reached.");
  }
};

const confirmed = (question, yes) => new Promise((resolve) => {
  const dialog = byId("confirm");
  show("confirm-text", question);
  show("confirm-yes", yes);
  dialog.returnValue = "no";
  dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  dialog.showModal();
});

export const kick = async (session) => {
  if (await confirmed(`Close session ${session}? Its client may reconnect.`, "Close it")) {
    await post(`actions/kick?session=${session}`);
  }
};

export class Actions {
  constructor() {
    byId("drain").addEventListener("click", async () => {
      if (await confirmed("Drain the server? It accepts no more connections, answers requests in flight, and stops.", "Drain and stop")) {
        await post("actions/drain");
      }
    });
    byId("log-level").addEventListener("change", (e) => post(`actions/log-level?level=${e.target.value}`));
  }

  start(history) {
    byId("actions").hidden = !history.actions;
    byId("log-level-label").hidden = !history.logLevel;
    if (history.logLevel) {
      byId("log-level").value = history.logLevel;
    }
  }
}
