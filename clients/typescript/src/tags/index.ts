export { TagClient, type TagCallOptions, type TagInfo, type TagNode, type TagReadOptions } from "./tag-client.js";
export type { PublishedTag, TagPublication } from "./tag-publication.js";
export { TagStatus, TagType, dateOf, isBad, isGood, statusName, timeOf } from "./tag-type.js";
export type { TagChange, WatchOptions } from "./tag-updates.js";
export type { TagSample, TagScalar, TagValue } from "./tag-value.js";
