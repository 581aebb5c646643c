import type { FastPortClient } from "../client/client.js";
import type { CallOptions } from "../session/request.js";
import type { Session } from "../session/types.js";
import { TagMessageType, WriteTags, WrittenTags } from "./messages.js";
import { samplesOf } from "./samples.js";
import { Publication, type PublishedTag, type TagPublication } from "./tag-publication.js";
import { TagStatus } from "./tag-type.js";

/** The publications of a client. */
export class TagPublications {
  readonly #client: FastPortClient;
  readonly #all = new Set<Publication>();

  constructor(client: FastPortClient) {
    this.#client = client;
    client.handle(TagMessageType.Write, (body, { session }) => this.#write(body, session));
  }

  async publish(tags: readonly PublishedTag[], options: CallOptions): Promise<TagPublication> {
    const publication = new Publication(this.#client, tags, () => this.#all.delete(publication));
    this.#all.add(publication);
    try {
      await publication.begin(options);
      return publication;
    } catch (e) {
      void publication.close();
      throw e;
    }
  }

  async #write(body: Uint8Array, session: Session): Promise<Uint8Array> {
    const { handles, samples } = WriteTags.decode(body);
    const values = samples ? samplesOf(samples) : [];
    const statuses: number[] = [];
    for (const [i, handle] of handles.entries()) {
      const owner = [...this.#all].find((publication) => publication.has(session, handle));
      const value = values[i];
      statuses.push(owner && value ? await owner.write(handle, value) : TagStatus.BadHandleInvalid);
    }

    // No client may read the old values after the reply.
    await Promise.all([...this.#all].map((publication) => publication.flush()));
    return WrittenTags.encode({ statuses });
  }
}
