// What the page of samples/BrowserGame uses.
export { FastPortClient, serviceClient, webSocket } from "fastport";
export { Room } from "../generated/room_fastport.js";
