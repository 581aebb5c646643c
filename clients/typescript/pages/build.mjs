// Bundles this client for the pages of the repository, which need neither Node.js nor a network: `npm run pages`, after the build.
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

// A copy of @bufbuild/protobuf keeps the notices of its authors, which are where its files begin.
const notice = `// FastPort's TypeScript client, written by clients/typescript/pages/build.mjs. It contains parts of @bufbuild/protobuf:
${["binary-encoding.js", "varint.js"].map((file) =>
    /^(\/\/.*\n)+/.exec(readFileSync(here(`../node_modules/@bufbuild/protobuf/dist/esm/wire/${file}`), "utf8"))[0]).join("//\n")}`;

const pages = [
  { entry: "entries/game.ts", output: "../../../samples/BrowserGame/wwwroot/fastport.min.js" },
  { entry: "entries/dashboard.ts", output: "../../../src/FastPort.Dashboard/Pages/Web/fastport.min.js" },
];

/** The bundles: where each is in the repository, and what it has to be. */
export async function bundles() {
  cpSync(here("../../../samples/BrowserGame/room.proto"), here("contracts/room.proto"));
  cpSync(here("../proto"), here("contracts"), { recursive: true });
  execFileSync(here("../node_modules/.bin/buf"), ["generate"], {
    cwd: here("."), stdio: "inherit", env: { ...process.env, PATH: `${here("../node_modules/.bin")}:${process.env.PATH}` },
  });
  return Promise.all(pages.map(async ({ entry, output }) => {
    const { outputFiles } = await build({
      entryPoints: [here(entry)], bundle: true, format: "esm", platform: "browser", target: "es2022", minify: true,
      charset: "utf8", legalComments: "none", write: false, absWorkingDir: here(".."),
      banner: { js: notice },
    });
    return { path: here(output), contents: outputFiles[0].text };
  }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, contents } of await bundles()) {
    writeFileSync(path, contents);
  }
}
