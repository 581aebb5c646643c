import { FastPortClient, serviceClient } from "fastport";
import { socket } from "fastport/node";
import { Speller } from "../generated/spelling_fastport.js";

export async function spell(endpoint: string, word: string): Promise<string> {
  const client = new FastPortClient({ transport: socket(endpoint) }); // Such as tcp://127.0.0.1:6628.
  try {
    await client.connect();
    let letters = "";
    for await (const { text } of serviceClient(client, Speller).spell({ text: word })) {
      letters += text;
    }

    return letters;
  } finally {
    await client.close();
  }
}
