// What a reader may do, where the server allows it. Each is asked about first.

import { byId, show } from "./tables.js";

// An answer that takes longer, in milliseconds, is not waited for.
const PATIENCE = 5000;

const post = async (path) => {
  try {
    const answer = await fetch(path, { method: "POST", signal: AbortSignal.timeout(PATIENCE) });
    show("action-result", await answer.text());
  } catch (error) {
    show("action-result", error.name === "TimeoutError"
      ? "The server has not answered; whether it has done it is not known." : "The server cannot be reached.");
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
  if (await confirmed(`Close session ${session}? Its client may connect again.`, "Close it")) {
    await post(`actions/kick?session=${session}`);
  }
};

export class Actions {
  constructor() {
    byId("drain").addEventListener("click", async () => {
      if (await confirmed("Drain the server? It accepts no more connections, answers what is in flight, and stops.", "Drain and stop")) {
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
