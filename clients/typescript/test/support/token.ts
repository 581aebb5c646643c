import { generateKeyPairSync, sign } from "node:crypto";

/** A service that issues tokens for FastPort.Server. */
export class TokenService {
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });

  /** What the server is told of it, as PEM. */
  get publicKey(): string {
    return this.#keys.publicKey.export({ type: "spki", format: "pem" }) as string;
  }

  /** A token that is good until the end of a second. */
  issue(user: string, expires: Date): string {
    const claims = { sub: user, aud: "fastport", exp: Math.floor(expires.getTime() / 1000) };
    const text = [{ alg: "ES256", typ: "JWT" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const signature = sign("sha256", Buffer.from(text), { key: this.#keys.privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${signature.toString("base64url")}`;
  }
}
