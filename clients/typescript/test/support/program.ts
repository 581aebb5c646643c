import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const Root = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");

const running = new Set<Program>();

// A test that fails leaves none behind.
after(() => Promise.all([...running].map((program) => program.kill())));

/** A .NET program of the repository, which runs until `stop` or `kill`. */
export class Program {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #ended: Promise<void>;

  private constructor(process: ChildProcess, folder: string, readonly endpoints: string[]) {
    this.#process = process;
    this.#folder = folder;
    this.#ended = new Promise((done) => process.once("exit", () => done()));
    running.add(this);
  }

  /** Starts a program, and returns when it has said that it listens. */
  static async start(project: string, args: string[], environment: Record<string, string> = {}, endpoints = 1): Promise<Program> {
    const name = project.split("/").at(-1)!;
    const library = join(Root, project, "bin/Release/net10.0", `${name}.dll`);
    if (!existsSync(library)) {
      throw new Error(`${library} is missing; build it: dotnet build -c Release ${project}`);
    }

    const folder = mkdtempSync(join(tmpdir(), "fastport-ts-"));
    const env = { ...process.env, LatencyStats__EnableFileOutput: "false", ...environment };
    const child = spawn("dotnet", [library, ...args], { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"] });
    let output = "";
    child.stderr.on("data", (text) => (output += text));
    const found = await new Promise<string[]>((done, fail) => {
      child.once("exit", (code) => fail(new Error(`${name} ended with code ${code}:\n${output}`)));
      child.stdout.on("data", (text) => {
        output += text;
        const lines = [...output.matchAll(/^listening on (.+)\r?$/gm)].map(([, endpoint]) => endpoint!);
        if (lines.length >= endpoints) {
          done(lines);
        }
      });
    });
    child.removeAllListeners("exit");
    return new Program(child, folder, found);
  }

  /** A FastPort.Server. */
  static server(args: string[] = [], environment?: Record<string, string>): Promise<Program> {
    const endpoints = args.filter((arg) => arg === "--listen").length;
    return Program.start(
      "src/FastPort.Server", endpoints === 0 ? ["--listen", "tcp://127.0.0.1:0", ...args] : args, environment, endpoints || 1);
  }

  get endpoint(): string {
    return this.endpoints[0]!;
  }

  /** Stops it gracefully. */
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Stops or resumes its execution. */
  freeze(isFrozen: boolean): void {
    this.#process.kill(isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill(signal);
      await this.#ended;
    }

    running.delete(this);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
