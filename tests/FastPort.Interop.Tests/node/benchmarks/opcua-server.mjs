// node-opcua as the server of the OPC UA comparison: benchmarks/OpcUaPeer's tags and methods.
//   node benchmarks/opcua-server.mjs <folder for certificates> changing|still
import { randomBytes } from "node:crypto";
import { count, namespaceUri, typeOf, valueAt } from "./opcua-tags.mjs";

// The package logs to standard output, which is for what the comparison reads.
const print = console.log;
console.log = console.error;
const { default: opcua } = await import("../opcua/package.mjs");
const { OPCUAServer, OPCUACertificateManager, MessageSecurityMode, SecurityPolicy, DataType, Variant, StatusCodes } = opcua;

// By default no byte string may have more than 16 MiB; the largest package has 100.
opcua.BinaryStream.maxByteStringLength = 256 * 1024 * 1024;

const [root, mode] = process.argv.slice(2);
const periodMs = 250;
const server = new OPCUAServer({
  port: 0,
  securityModes: [MessageSecurityMode.None, MessageSecurityMode.SignAndEncrypt],
  securityPolicies: [SecurityPolicy.None, SecurityPolicy.Basic256Sha256],
  serverCertificateManager: new OPCUACertificateManager({ rootFolder: root, automaticallyAcceptUnknownCertificate: true }),
  serverCapabilities: { operationLimits: { maxNodesPerRead: 10_000, maxNodesPerWrite: 10_000 } },
  transportSettings: { maxMessageSize: 256 * 1024 * 1024, maxChunkCount: 65_536 },
});
await server.initialize();
const space = server.engine.addressSpace;
const own = space.registerNamespace(namespaceUri);
const simulation = own.addObject({ organizedBy: space.rootFolder.objects, nodeId: "i=90000", browseName: "Simulation" });
const tags = Array.from({ length: count }, (_, tag) =>
  own.addVariable({
    componentOf: simulation,
    nodeId: `i=${1000 + tag}`,
    browseName: `Tag.${tag}`,
    dataType: typeOf(tag),
    value: new Variant({ dataType: DataType[typeOf(tag)], value: valueAt(tag, 0) }),
    minimumSamplingInterval: 0,
  }),
);
let packageBytes = Buffer.alloc(0);
const set = own.addMethod(simulation, {
  nodeId: "i=90001",
  browseName: "SetPackageSize",
  inputArguments: [{ name: "Size", dataType: DataType.UInt32 }],
  outputArguments: [],
});
set.bindMethod((inputs, context, callback) => {
  packageBytes = randomBytes(inputs[0].value);
  callback(null, { statusCode: StatusCodes.Good, outputArguments: [] });
});
const get = own.addMethod(simulation, {
  nodeId: "i=90002",
  browseName: "GetPackage",
  inputArguments: [],
  outputArguments: [{ name: "Package", dataType: DataType.ByteString }],
});
get.bindMethod((inputs, context, callback) =>
  callback(null, { statusCode: StatusCodes.Good, outputArguments: [{ dataType: DataType.ByteString, value: packageBytes }] }),
);
await server.start();
if (mode === "changing") {
  let generation = 0;
  setInterval(() => {
    generation++;
    for (let tag = 0; tag < count; tag++) {
      tags[tag].setValueFromSource({ dataType: DataType[typeOf(tag)], value: valueAt(tag, generation) });
    }
  }, periodMs);
}
print(`listening on opc.tcp://127.0.0.1:${server.endpoints[0].port}`);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
