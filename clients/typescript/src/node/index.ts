export { socket, type SocketOptions } from "./socket.js";
