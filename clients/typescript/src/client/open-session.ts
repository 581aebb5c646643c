import type { HelloMessage } from "../messages/control.js";
import { FrameSession } from "../session/session.js";
import { within } from "../session/time-limit.js";
import type { SessionSettings } from "../session/types.js";
import type { Transport } from "../transports/transport.js";

/**
 * Opens a session: connects, says Hello and waits for Welcome. If this fails, no connection is left behind.
 * @param timeout Milliseconds for all of it.
 */
export async function openSession(
  transport: Transport, settings: SessionSettings, hello: Omit<HelloMessage, "extensions">, timeout: number, signal: AbortSignal,
): Promise<FrameSession> {
  const session = new FrameSession(settings);
  const attempt = new AbortController();
  const connect = async () => {
    const connection = await transport.connect(session, attempt.signal);
    session.start(connection);
    if (attempt.signal.aborted) {
      connection.abort();
    }

    await session.hello(hello);
    return session;
  };
  try {
    return await within(
      connect(), timeout, signal, () => `${transport.endpoint} did not answer in ${timeout} ms. Is it a FastPort server?`);
  } catch (e) {
    attempt.abort(e);
    session.abort("The attempt to connect has failed.");
    throw e;
  }
}
