// node-opcua. At its import on Node 20 and 21 it makes an RSA key of 4,096 bits, which takes seconds of a core, to warn of what these
// versions cannot do with RSA PKCS #1 1.5; it is told of another version for so long.
const version = Object.getOwnPropertyDescriptor(process, "version");
Object.defineProperty(process, "version", { ...version, value: "v22.0.0" });
const { default: opcua } = await import("node-opcua");
Object.defineProperty(process, "version", version);
export default opcua;
