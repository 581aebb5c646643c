import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { WebSocket } from "ws";

const Program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** For tests that need a browser. */
export const NeedsBrowser = { skip: Program ? false : "no browser is installed" };

type Answer = { readonly id: number; readonly result?: unknown; readonly error?: { readonly message: string } };

/** Chromium with pages of one origin, all with the same script, driven by its DevTools protocol. */
export class Browser {
  readonly #calls = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  #id = 0;

  private constructor(
    readonly origin: string, readonly pages: Server, readonly process: ChildProcess, readonly profile: string, readonly devTools: WebSocket,
  ) {
    devTools.on("message", (data: Buffer) => {
      const { id, result, error } = JSON.parse(data.toString()) as Answer;
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error) {
        call?.reject(new Error(error.message));
      } else {
        call?.resolve(result as never);
      }
    });
  }

  /**
   * Starts one.
   * @param script A module, which may import `fastport`. What it assigns to `globalThis`, calls can use.
   */
  static async start(script: string, args: string[] = []): Promise<Browser> {
    const { outputFiles } = await build({
      stdin: { contents: script, resolveDir: process.cwd() }, bundle: true, format: "esm", write: false, platform: "browser",
    });
    const pages = createServer((_, response) => {
      response.setHeader("content-type", "text/html").end(`<script type="module">${outputFiles[0]!.text}</script>`);
    }).listen(0, "127.0.0.1");
    await once(pages, "listening");
    const profile = mkdtempSync(join(tmpdir(), "fastport-ts-"));
    const browser = spawn(Program!, [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
      `--user-data-dir=${profile}`, ...args, "about:blank",
    ], { stdio: ["ignore", "ignore", "pipe"] });
    const address = await new Promise<string>((resolve, reject) => {
      let output = "";
      browser.stderr!.on("data", (data) => {
        output += data;
        const found = /DevTools listening on (\S+)/.exec(output);
        if (found) {
          resolve(found[1]!);
        }
      });
      browser.once("exit", () => reject(new Error(output)));
    });
    const devTools = new WebSocket(address);
    await once(devTools, "open");
    return new Browser(`http://127.0.0.1:${(pages.address() as AddressInfo).port}`, pages, browser, profile, devTools);
  }

  /** Opens a page in a tab, in front of the others. */
  async open(): Promise<Page> {
    const { targetId } = await this.send<{ targetId: string }>("Target.createTarget", { url: this.origin });
    const { sessionId } = await this.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
    return new Page(this, targetId, sessionId);
  }

  send<T>(method: string, params: object, sessionId?: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const id = ++this.#id;
      this.#calls.set(id, { resolve, reject });
      this.devTools.send(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  async close(): Promise<void> {
    this.devTools.terminate();
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
    this.pages.close();
    this.pages.closeAllConnections();
    await this.#removeProfile();
  }

  /** Processes of the browser may write to it until they have seen its end; rmSync's own retries do not remove what is new. */
  async #removeProfile(): Promise<void> {
    for (let left = 50; ; left--) {
      try {
        rmSync(this.profile, { recursive: true, force: true });
        return;
      } catch (e) {
        if (left === 0) {
          throw e;
        }

        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

/** A page of a browser. */
export class Page {
  constructor(readonly browser: Browser, readonly target: string, readonly session: string) {}

  /** Runs code in the page, and returns what its promise resolves with. */
  async run<T>(code: string): Promise<T> {
    type Evaluated = { result: { value: T }; exceptionDetails?: { text: string; exception?: { description?: string } } };
    const expression = `(async () => ${code.startsWith("{") ? code : `(${code})`})()`;
    const { result, exceptionDetails } = await this.browser.send<Evaluated>(
      "Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, this.session);
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }

    return result.value;
  }

  async close(): Promise<void> {
    await this.browser.send("Target.closeTarget", { targetId: this.target });
  }

  /** Freezes its timers and what it receives, as a browser does with a tab that it has put to sleep; or resumes them. */
  async freeze(isFrozen: boolean): Promise<void> {
    await this.browser.send("Page.setWebLifecycleState", { state: isFrozen ? "frozen" : "active" }, this.session);
  }
}
