// node client.mjs <scenario> <port or WebSocket's URL> [<arguments as JSON>]: plays one scenario and writes what it saw as JSON.
import * as echo from './scenarios/echo.mjs';
import * as errors from './scenarios/errors.mjs';
import * as routing from './scenarios/routing.mjs';
import * as sessions from './scenarios/sessions.mjs';
import * as streams from './scenarios/streams.mjs';
import * as tags from './scenarios/tags.mjs';

const [scenario, target, json] = process.argv.slice(2);
const scenarios = { ...echo, ...errors, ...routing, ...sessions, ...streams, ...tags };
if (!Object.hasOwn(scenarios, scenario)) {
  throw new Error(`There is no scenario '${scenario}'; there are ${Object.keys(scenarios).join(', ')}.`);
}

const result = await scenarios[scenario](target.startsWith('ws') ? target : Number(target), json ? JSON.parse(json) : {});
process.stdout.write(JSON.stringify(result));
