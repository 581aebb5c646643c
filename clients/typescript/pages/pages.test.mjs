import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bundles } from "./build.mjs";

test("the scripts of the pages are bundles of this client", async () => {
  for (const { path, contents } of await bundles()) {
    assert.ok(readFileSync(path, "utf8") === contents, `${path} is another one: run \`npm run build && npm run pages\``);
  }
});
