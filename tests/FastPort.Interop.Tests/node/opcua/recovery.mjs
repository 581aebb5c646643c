// node-opcua as a client that loses its connection or its server, and as a user with a certificate.
//   node opcua/recovery.mjs <scenario> <url> [<policy> <mode>]
// Prints a line of JSON where the test has something to do, and the result at the end.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// The package logs to standard output, which is for the result.
const print = console.log;
console.log = console.error;
const { default: opcua } = await import("./package.mjs");
const { OPCUACertificateManager, OPCUAClient, MessageSecurityMode, SecurityPolicy, AttributeIds, DataType, UserTokenType } = opcua;
const { ClientSubscription, ClientMonitoredItem, DataChangeFilter, DataChangeTrigger, DeadbandType, TimestampsToReturn } = opcua;

const [scenario, url, policy = "None", mode = "None"] = process.argv.slice(2);
const root = mkdtempSync(join(tmpdir(), "opcua-"));
const certificates = new OPCUACertificateManager({ rootFolder: root, automaticallyAcceptUnknownCertificate: true });
const client = OPCUAClient.create({
  clientCertificateManager: certificates,
  applicationName: "interop",
  endpointMustExist: false,
  securityMode: MessageSecurityMode[mode],
  securityPolicy: SecurityPolicy[policy],
  connectionStrategy: { maxRetry: -1, initialDelay: 50, maxDelay: 200 },
});

// Monitors a variable; `until` waits for a value.
async function watch(session, nodeId, filter) {
  const subscription = ClientSubscription.create(session, {
    requestedPublishingInterval: 50,
    requestedLifetimeCount: 1000,
    requestedMaxKeepAliveCount: 10,
    maxNotificationsPerPublish: 0,
    publishingEnabled: true,
  });
  await new Promise((resolve, reject) => subscription.once("started", resolve).once("error", reject));
  const seen = [];
  const waiting = new Map();
  // After a break this client sends Publish before it has the answers of Republish, and passes on a message that comes from both: what
  // came is counted by the messages' numbers.
  const messages = new Map();
  subscription.on("raw_notification", (message) => {
    const values = message.notificationData?.flatMap((data) => data.monitoredItems.map((item) => item.value.value.value)) ?? [];
    if (values.length > 0) messages.set(message.sequenceNumber, values);
  });
  const item = ClientMonitoredItem.create(
    subscription,
    { nodeId, attributeId: AttributeIds.Value },
    { samplingInterval: 0, queueSize: 100, discardOldest: true, filter },
    TimestampsToReturn.Both,
  );
  item.on("changed", (v) => {
    seen.push(v.value.value);
    waiting.get(v.value.value)?.();
  });
  const until = (value) => (seen.includes(value) ? Promise.resolve() : new Promise((resolve) => waiting.set(value, resolve)));
  await new Promise((resolve, reject) => item.once("initialized", resolve).once("err", (message) => reject(new Error(message))));
  return { subscription, seen, messages, until };
}

const nextLine = () => new Promise((resolve) => process.stdin.once("data", resolve));

const scenarios = {
  // The connection breaks while values change: the session goes on with its subscription, and every value comes.
  async break(session) {
    const watched = await watch(session, "ns=2;i=1000");
    await watched.until(0);
    const before = { session: session.sessionId.toString(), subscription: watched.subscription.subscriptionId };
    client._secureChannel.forceConnectionBreak();
    print(JSON.stringify("broken"));
    await nextLine();
    await Promise.all([1, 2, 3, 4, 5].map(watched.until));
    return {
      same: before.session === session.sessionId.toString() && before.subscription === watched.subscription.subscriptionId,
      values: [...watched.messages].sort(([a], [b]) => a - b).flatMap(([, values]) => values),
    };
  },

  // The server ends and comes again, without what it knew: the client makes everything anew.
  async restart(session) {
    const watched = await watch(session, "ns=2;i=1000");
    await watched.until(0);
    print(JSON.stringify("ready"));
    await nextLine();
    await watched.until(7);
    return { same: false, values: watched.seen };
  },

  // A deadband of 10 % of the range from 0 to 200.
  async percent(session) {
    const filter = new DataChangeFilter({ trigger: DataChangeTrigger.StatusValue, deadbandType: DeadbandType.Percent, deadbandValue: 10 });
    const watched = await watch(session, "ns=2;i=5", filter);
    for (const value of [20, 21, 41, 42, 100]) {
      await session.write({ nodeId: "ns=2;i=5", attributeId: AttributeIds.Value, value: { value: { dataType: DataType.Double, value } } });
    }
    await watched.until(100);
    return { same: true, values: watched.seen };
  },
};

await client.connect(url);
let user;
if (scenario === "user") {
  // The client's own certificate will do for its user.
  user = {
    type: UserTokenType.Certificate,
    certificateData: client.getCertificate(),
    privateKey: readFileSync(certificates.privateKey, "utf8"),
  };
}
const session = await client.createSession(user);
const result = user ? { same: true, values: [] } : await scenarios[scenario](session);
await session.close();
await client.disconnect();
rmSync(root, { recursive: true, force: true });
print(JSON.stringify(result));
process.exit(0);
