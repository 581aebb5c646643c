// What the dashboard's page of tags uses.
export { ErrorCode, FastPortClient, FastPortError, webSocket } from "fastport";
export { TagClient, TagStatus, TagType, dateOf, isBad, isGood, statusName, timeOf } from "fastport/tags";
