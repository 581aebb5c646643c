// node-opcua as a server with 2,000 variables, an analog one and a method; prints its port and namespace as JSON, and ends with its input.
// "changed" is one without the array, and whose variable v8 is a text. "growing" is one that gets a variable with each line of its input,
// first w0, and tells its clients so in an event.
//   node opcua/server.mjs [port] [changed | growing]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// The package logs to standard output, which is for the result.
const print = console.log;
console.log = console.error;
const { default: opcua } = await import("./package.mjs");
const { OPCUAServer, OPCUACertificateManager, MessageSecurityMode, SecurityPolicy } = opcua;
const { DataType, Variant, VariantArrayType, StatusCodes, standardUnits } = opcua;

const root = mkdtempSync(join(tmpdir(), "opcua-"));
const server = new OPCUAServer({
  port: Number(process.argv[2] ?? 0),
  securityModes: [MessageSecurityMode.None, MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt],
  securityPolicies: [
    SecurityPolicy.None,
    SecurityPolicy.Basic256Sha256,
    SecurityPolicy.Aes128_Sha256_RsaOaep,
    SecurityPolicy.Aes256_Sha256_RsaPss,
  ],
  serverCertificateManager: new OPCUACertificateManager({ rootFolder: root, automaticallyAcceptUnknownCertificate: true }),
  serverCapabilities: { operationLimits: { maxNodesPerRead: 500, maxNodesPerWrite: 150 } },
});
await server.initialize();
const space = server.engine.addressSpace;
const own = space.getOwnNamespace();
const isChanged = process.argv[3] === "changed";
const folder = own.addObject({ organizedBy: space.rootFolder.objects, nodeId: "i=90000", browseName: "Simulation" });
for (let i = 0; i < 2000; i++) {
  const [dataType, value] =
    isChanged && i === 8 ? [DataType.String, "changed"] :
    i < 1000 ? [DataType.Int32, i] : i < 1800 ? [DataType.Double, i / 2] : [DataType.String, `tag-value-${i}`];
  own.addVariable({
    componentOf: folder,
    nodeId: `i=${1000 + i}`,
    browseName: `v${i}`,
    dataType: DataType[dataType],
    value: new Variant({ dataType, value }),
    minimumSamplingInterval: 0,
  });
}
own.addAnalogDataItem({
  componentOf: folder,
  nodeId: "i=5000",
  browseName: "Level",
  dataType: "Double",
  engineeringUnitsRange: { low: 0, high: 200 },
  engineeringUnits: standardUnits.degree_celsius,
  value: new Variant({ dataType: DataType.Double, value: 0 }),
  minimumSamplingInterval: 0,
});
if (!isChanged) {
  own.addVariable({
    componentOf: folder,
    nodeId: "i=6000",
    browseName: "Row",
    dataType: "Int32",
    valueRank: 1,
    value: new Variant({
      dataType: DataType.Int32,
      arrayType: VariantArrayType.Array,
      value: Int32Array.from({ length: 10 }, (_, i) => i),
    }),
    minimumSamplingInterval: 0,
  });
}
const method = own.addMethod(folder, {
  nodeId: "i=90001",
  browseName: "Sum",
  inputArguments: [
    { name: "a", dataType: DataType.Int32 },
    { name: "b", dataType: DataType.Int32 },
  ],
  outputArguments: [{ name: "sum", dataType: DataType.Int32 }],
});
method.bindMethod((inputs, context, callback) =>
  callback(null, {
    statusCode: StatusCodes.Good,
    outputArguments: [{ dataType: DataType.Int32, value: inputs[0].value + inputs[1].value }],
  }),
);
await server.start();
const { port } = server.endpoints[0];
print(JSON.stringify({ port, namespace: own.index, namespaceUri: own.namespaceUri }));
if (process.argv[3] === "growing") {
  const machine = own.addObject({ organizedBy: folder, nodeId: "i=90002", browseName: "Machine", nodeVersion: "0" });
  let count = 0;
  process.stdin.on("data", () =>
    own.addVariable({
      componentOf: machine,
      nodeId: `i=${7000 + count}`,
      browseName: `w${count}`,
      dataType: DataType.Int32,
      value: new Variant({ dataType: DataType.Int32, value: count++ }),
      minimumSamplingInterval: 0,
    }),
  );
}
process.stdin.resume();
process.stdin.on("end", async () => {
  await server.shutdown(0);
  rmSync(root, { recursive: true, force: true });
  process.exit(0);
});
