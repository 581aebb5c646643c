export const fromHex = (hex = "") => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
