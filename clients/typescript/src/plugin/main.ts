#!/usr/bin/env node
import { readFileSync } from "node:fs";
import type { DescMethod } from "@bufbuild/protobuf";
import { createEcmaScriptPlugin, runNodeJs, safeIdentifier, type GeneratedFile, type Printable, type Schema } from "@bufbuild/protoplugin";
import type { MethodKind } from "../session/handlers.js";
import { hex, numbersOf } from "./numbers.js";

const Kinds: Record<DescMethod["methodKind"], MethodKind> = {
  unary: "unary",
  server_streaming: "server-stream",
  client_streaming: "client-stream",
  bidi_streaming: "duplex",
};

/** For each file with services a file beside that of protoc-gen-es, with what `serviceClient` and `handleService` take. */
function generate(schema: Schema): void {
  const numbers = numbersOf(schema.files.flatMap((file) => file.services));
  for (const file of schema.files) {
    if (file.services.length === 0) {
      continue;
    }

    const f = schema.generateFile(`${file.name}_fastport.ts`);
    f.preamble(file);
    const methodType = f.import("Method", "fastport", true);
    for (const service of file.services) {
      f.print(f.jsDoc(service));
      f.print(f.export("const", safeIdentifier(service.name)), ": {");
      f.print("  readonly typeName: ", f.string(service.typeName), ";");
      f.print("  readonly methods: {");
      for (const method of service.methods) {
        f.print(f.jsDoc(method, "    "));
        f.print(
          "    readonly ", method.localName, ": ", methodType, "<", f.string(Kinds[method.methodKind]),
          ", typeof ", f.importSchema(method.input, true), ", typeof ", f.importSchema(method.output, true), ">;");
      }

      f.print("  };");
      f.print("} = {");
      f.print("  typeName: ", f.string(service.typeName), ",");
      f.print("  methods: {");
      for (const method of service.methods) {
        f.print("    ", method.localName, ": { ", ...valueOf(f, method, numbers.get(method)!), " },");
      }

      f.print("  },");
      f.print("};");
      f.print();
    }
  }
}

function valueOf(f: GeneratedFile, method: DescMethod, number: number): Printable[] {
  return [
    "kind: ", f.string(Kinds[method.methodKind]), ", name: ", f.string(`${method.parent.typeName}/${method.name}`), ", type: ", hex(number),
    ", input: ", f.importSchema(method.input), ", output: ", f.importSchema(method.output),
  ];
}

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
runNodeJs(createEcmaScriptPlugin({ name: "protoc-gen-fastport", version: `v${version}`, generateTs: generate }));
