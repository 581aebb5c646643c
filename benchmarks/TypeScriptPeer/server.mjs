// The servers that are not FastPort's. Each prints where it listens and ends with its standard input.
//   node server.mjs ws|socket.io
import { createServer } from "node:http";
import { Server } from "socket.io";
import { WebSocketServer } from "ws";

const library = process.argv[2];
const http = createServer();
if (library === "ws") {
  new WebSocketServer({ server: http }).on("connection", (socket) => {
    socket.on("message", (message) => {
      const { id, payload } = JSON.parse(message);
      socket.send(JSON.stringify({ id, payload }));
    });
  });
} else if (library === "socket.io") {
  new Server(http).on("connection", (socket) => socket.on("echo", (payload, answer) => answer(payload)));
} else {
  console.error(`server.mjs: ${library}: expected ws or socket.io.`);
  process.exit(2);
}

http.listen(0, "127.0.0.1", () => console.log(`listening on ws://127.0.0.1:${http.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
