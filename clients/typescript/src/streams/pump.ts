import type { Link } from "../session/link.js";
import type { Account } from "./account.js";

/** The items of a stream, from a generator or an array. */
export type Items<T> = AsyncIterable<T> | Iterable<T>;

/**
 * Sends items as fast as the peer and the connection take them.
 * @returns Whether all were sent: false if the account was closed before.
 */
export async function pump(items: Items<Uint8Array>, account: Account, link: Link, send: (item: Uint8Array) => void): Promise<boolean> {
  for await (const item of items) {
    await account.take(item.length);
    await link.whenWritable();
    if (account.isClosed) {
      return false;
    }

    send(item);
  }

  return !account.isClosed;
}

/** Items as another type. */
export async function* convert<T, R>(items: Items<T>, how: (item: T) => R): AsyncGenerator<R, void, undefined> {
  for await (const item of items) {
    yield how(item);
  }
}
