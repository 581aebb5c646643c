// node-opcua as a client: plays one scenario against the server at a URL and prints what it saw as JSON.
//   node opcua/client.mjs <scenario> <url> [<policy> <mode> [<user> <password>]]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// The package logs to standard output, which is for the result.
const print = console.log;
console.log = console.error;
const { default: opcua } = await import("./package.mjs");
const { OPCUACertificateManager, OPCUAClient, MessageSecurityMode, SecurityPolicy, UserTokenType } = opcua;
const { AttributeIds, DataType, BrowseDirection, StatusCodes, VariantArrayType } = opcua;
const { ClientSubscription, ClientMonitoredItem, DataChangeFilter, DataChangeTrigger, DeadbandType, TimestampsToReturn } = opcua;

const [scenario, url, policy = "None", mode = "None", userName, password] = process.argv.slice(2);
const root = mkdtempSync(join(tmpdir(), "opcua-"));
const client = OPCUAClient.create({
  clientCertificateManager: new OPCUACertificateManager({ rootFolder: root, automaticallyAcceptUnknownCertificate: true }),
  applicationName: "interop",
  endpointMustExist: false,
  securityMode: MessageSecurityMode[mode],
  securityPolicy: SecurityPolicy[policy],
  connectionStrategy: { maxRetry: 0 },
});

// The variables of samples/OpcUaServer.
const idOf = (machine, variable) => `ns=2;s=Machine${machine}/${variable}`;
const variables = ["Name", ...[0, 1, 2, 3, 4].map((i) => `Parts${i}`), ...[0, 1, 2, 3].map((i) => `Temperature${i}`)];

const scenarios = {
  // All nodes that can be reached from the root by hierarchical references.
  async browse(session) {
    const seen = new Map();
    const left = ["i=84"];
    while (left.length > 0) {
      const nodeId = left.pop();
      if (seen.has(nodeId)) continue;
      const found = [];
      let result = await session.browse({
        nodeId,
        browseDirection: BrowseDirection.Forward,
        referenceTypeId: "HierarchicalReferences",
        includeSubtypes: true,
        resultMask: 63,
      });
      for (;;) {
        if (!result.statusCode.isGood()) throw new Error(`${nodeId}: ${result.statusCode}`);
        found.push(...(result.references ?? []));
        if (!result.continuationPoint?.length) break;
        result = await session.browseNext(result.continuationPoint, false);
      }
      seen.set(nodeId, found.length);
      for (const reference of found) left.push(reference.nodeId.toString().replace(/^ns=0;/, ""));
    }
    return { nodes: seen.size, plant: seen.get("ns=2;s=Plant") ?? 0 };
  },

  // The 2,000 variables at once: sums of what they hold.
  async read(session) {
    const ids = Array.from({ length: 200 }, (_, machine) => variables.map((name) => idOf(machine, name))).flat();
    const values = await session.read(ids.map((nodeId) => ({ nodeId, attributeId: AttributeIds.Value })));
    const of = (type) => values.filter((v) => v.value.dataType === type);
    return {
      good: values.filter((v) => v.statusCode === StatusCodes.Good).length,
      int32: of(DataType.Int32).reduce((sum, v) => sum + v.value.value, 0),
      double: of(DataType.Double).reduce((sum, v) => sum + v.value.value, 0),
      strings: of(DataType.String).map((v) => v.value.value).slice(0, 2),
      timestamps: values.filter((v) => v.sourceTimestamp instanceof Date && v.serverTimestamp instanceof Date).length,
    };
  },

  // The status as structures that the package decodes, and parts of arrays and texts.
  async status(session) {
    const [status, build, part, text, nothing] = await session.read([
      { nodeId: "i=2256", attributeId: AttributeIds.Value },
      { nodeId: "i=2260", attributeId: AttributeIds.Value },
      { nodeId: "i=2255", attributeId: AttributeIds.Value, indexRange: "0:1" },
      { nodeId: idOf(0, "Name"), attributeId: AttributeIds.Value, indexRange: "0:2" },
      { nodeId: "i=2255", attributeId: AttributeIds.Value, indexRange: "90" },
    ]);
    const limits = await session.read([11705, 11707, 11710, 2735].map((i) => ({ nodeId: `i=${i}`, attributeId: AttributeIds.Value })));
    return {
      state: status.value.value.state,
      started: status.value.value.startTime <= status.value.value.currentTime,
      product: status.value.value.buildInfo.productName,
      uri: build.value.value.productUri,
      namespaces: part.value.value,
      text: text.value.value,
      nothing: nothing.statusCode.name,
      limits: limits.map((v) => v.value.value),
    };
  },

  async write(session) {
    const writes = Array.from({ length: 200 }, (_, i) => ({
      nodeId: idOf(i, "Parts0"),
      attributeId: AttributeIds.Value,
      value: { value: { dataType: DataType.Int32, value: -i } },
    }));
    const statuses = await session.write(writes);
    const values = await session.read(writes.map(({ nodeId, attributeId }) => ({ nodeId, attributeId })));
    const wrong = await session.write({
      nodeId: idOf(0, "Parts0"),
      attributeId: AttributeIds.Value,
      value: { value: { dataType: DataType.String, value: "x" } },
    });
    return {
      good: statuses.filter((s) => s === StatusCodes.Good).length,
      sum: values.reduce((sum, v) => sum + v.value.value, 0),
      wrongType: wrong.name,
    };
  },

  async call(session) {
    const recipe = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251));
    const call = async (method, ...inputArguments) =>
      (await session.call([{ objectId: "ns=2;s=Plant", methodId: `ns=2;s=${method}`, inputArguments }]))[0];
    const stored = await call("StoreRecipe", { dataType: DataType.ByteString, value: recipe });
    const loaded = await call("LoadRecipe");
    const described = await session.getArgumentDefinition("ns=2;s=StoreRecipe");
    if (!loaded.outputArguments[0].value.equals(recipe)) throw new Error("another recipe");
    return {
      stored: stored.statusCode.name,
      loaded: loaded.statusCode.name,
      bytes: loaded.outputArguments[0].value.length,
      inputs: described.inputArguments.map((a) => a.name),
    };
  },

  // Two variables, one with a deadband: every change that is written is seen, in order, and small ones are left out. Then keep-alives.
  async subscribe(session) {
    const subscription = ClientSubscription.create(session, {
      requestedPublishingInterval: 20,
      requestedLifetimeCount: 1000,
      requestedMaxKeepAliveCount: 5,
      maxNotificationsPerPublish: 0,
      publishingEnabled: true,
    });
    await new Promise((resolve, reject) => subscription.once("started", resolve).once("error", reject));
    const watch = (nodeId, last, filter) => {
      const seen = [];
      const item = ClientMonitoredItem.create(
        subscription,
        { nodeId, attributeId: AttributeIds.Value },
        { samplingInterval: 0, queueSize: 10, discardOldest: true, filter },
        TimestampsToReturn.Both,
      );
      const failed = new Promise((_, reject) => item.once("err", (message) => reject(new Error(message))));
      const ready = new Promise((resolve) => item.once("initialized", resolve));
      const all = new Promise((resolve) => {
        item.on("changed", (v) => {
          seen.push(v.value.value);
          if (v.value.value === last) resolve(seen);
        });
      });
      return { ready: Promise.race([ready, failed]), all: Promise.race([all, failed]) };
    };
    const ints = watch(idOf(0, "Parts0"), 30);
    const doubles = watch(
      idOf(0, "Temperature0"),
      24,
      new DataChangeFilter({ trigger: DataChangeTrigger.StatusValue, deadbandType: DeadbandType.Absolute, deadbandValue: 1 }),
    );
    // What is written before the server has made the items is not seen.
    await Promise.all([ints.ready, doubles.ready]);
    const write = (nodeId, dataType, value) =>
      session.write({ nodeId, attributeId: AttributeIds.Value, value: { value: { dataType, value } } });
    for (const value of [10, 20, 30]) await write(idOf(0, "Parts0"), DataType.Int32, value);
    for (const value of [20.5, 22, 22.5, 24]) await write(idOf(0, "Temperature0"), DataType.Double, value);
    const result = { ints: await ints.all, doubles: await doubles.all };
    await new Promise((resolve) => subscription.once("keepalive", resolve));
    await subscription.terminate();
    return result;
  },

  // A variable that a FastPort client publishes, until that has gone.
  async published(session) {
    const namespaces = await session.readNamespaceArray();
    const id = (name) => `ns=${namespaces.indexOf("urn:fastport:published")};s=${name}`;
    const subscription = ClientSubscription.create(session, {
      requestedPublishingInterval: 20, requestedLifetimeCount: 1000, requestedMaxKeepAliveCount: 5, publishingEnabled: true,
    });
    const item = ClientMonitoredItem.create(
      subscription,
      { nodeId: id("press/speed"), attributeId: AttributeIds.Value },
      { samplingInterval: 0, queueSize: 10 },
      TimestampsToReturn.Both,
    );
    const waiting = [];
    const changes = [];
    item.on("changed", (v) => {
      changes.push(v);
      waiting.splice(0).forEach((wake) => wake());
    });
    const until = async (condition) => {
      while (!changes.some(condition)) await new Promise((resolve) => waiting.push(resolve));
    };
    await until((v) => v.statusCode === StatusCodes.Good && v.value.value === 12.5);
    const [state, table, type, access] = await session.read([
      { nodeId: id("press/state"), attributeId: AttributeIds.Value },
      { nodeId: id("press/table"), attributeId: AttributeIds.Value },
      { nodeId: id("press/speed"), attributeId: AttributeIds.DataType },
      { nodeId: id("press/state"), attributeId: AttributeIds.AccessLevel },
    ]);
    const write = (name, value) => session.write({ nodeId: id(name), attributeId: AttributeIds.Value, value: { value } });
    const taken = await write("press/speed", { dataType: DataType.Double, value: 50 });
    await until((v) => v.value.value === 50);
    const wrongType = await write("press/speed", { dataType: DataType.String, value: "x" });
    const readOnly = await write("press/state", { dataType: DataType.String, value: "x" });
    const refused = await write("press/table", { dataType: DataType.Int32, arrayType: VariantArrayType.Array, value: new Int32Array([9]) });
    await until((v) => v.statusCode === StatusCodes.BadNoCommunication);
    return {
      state: state.value.value, table: [...table.value.value], type: type.value.value.value, access: access.value.value,
      writes: [taken, wrongType, readOnly, refused].map((s) => s.name), last: changes.at(-1).value.value,
    };
  },

  async endpoints() {
    const found = await client.getEndpoints();
    const servers = await client.findServers();
    return {
      policies: found.map((e) => e.securityPolicyUri),
      urls: found.map((e) => e.endpointUrl),
      servers: servers.map((s) => s.applicationUri),
    };
  },
};

await client.connect(url);
const session = await client.createSession(userName && { type: UserTokenType.UserName, userName, password });
const result = await scenarios[scenario](session);
await session.close();
await client.disconnect();
rmSync(root, { recursive: true, force: true });
print(JSON.stringify(result));
process.exit(0);
