import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const Budget = 25 * 1024;

const sizeOf = async (contents: string, external: string[]) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd() }, bundle: true, minify: true, format: "esm", write: false, platform: "browser", external,
  });
  return gzipSync(outputFiles[0]!.contents).length;
};

test("the whole package is at most 25 KB, minified and compressed, without Protobuf", async () => {
  const all = `export * from "fastport"; export * from "fastport/tags"; export * from "fastport/node";`;
  const size = await sizeOf(all, ["@bufbuild/protobuf", "@bufbuild/protobuf/*", "node:*"]);
  assert.ok(size <= Budget, `${size} bytes`);
  console.log(`# the whole package: ${size} bytes`);
});

test("a browser needs nothing of Node.js", async () => {
  await assert.doesNotReject(sizeOf(`export * from "fastport"; export * from "fastport/tags";`, []));
});

test("Protobuf is the only dependency at run time", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, Record<string, string>>;
  assert.deepEqual(Object.keys(dependencies!), ["@bufbuild/protobuf"]);
  assert.ok(Object.values(devDependencies!).every((version) => /^\d/.test(version)), "development versions are exact");
});

test("lines have at most 140 characters", () => {
  const files = ["src", "test"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)));
  const own = files.filter((file) => file.endsWith(".ts") && !file.startsWith("test/generated"));
  assert.notEqual(own.length, 0);
  for (const file of own) {
    for (const [i, line] of readFileSync(file, "utf8").split("\n").entries()) {
      assert.ok(line.length <= 140, `${file}:${i + 1} has ${line.length} characters`);
    }
  }
});
