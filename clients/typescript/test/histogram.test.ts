import assert from "node:assert/strict";
import { test } from "node:test";
import { Histogram } from "fastport";
import { Latencies } from "../dist/latency/latencies.js";
import { Random } from "./support/random.js";

test("percentiles are those of the sorted values, at most 1/64 too high", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = new Random(seed);
    const histogram = new Histogram();
    const values = Array.from({ length: 1 + random.below(2000) }, () => Math.floor(2 ** (random.next() * 45)));
    values.forEach((value) => histogram.record(value));
    values.sort((a, b) => a - b);
    for (const percent of [0, 1, 50, 90, 99, 99.9, 100]) {
      const exact = values[Math.max(1, Math.ceil((values.length * percent) / 100)) - 1]!;
      const seen = histogram.percentile(percent);
      assert.ok(seen >= exact && seen <= exact * (1 + 1 / 64), `seed ${seed}, P${percent}: ${seen}, exactly ${exact}`);
    }

    assert.deepEqual(
      [histogram.count, histogram.min, histogram.max], [values.length, values[0], values.at(-1)], `seed ${seed}`);
  }
});

test("values at powers of two are in the right bucket", () => {
  for (let exponent = 0; exponent < 50; exponent++) {
    for (const value of [2 ** exponent - 1, 2 ** exponent, 2 ** exponent + 1]) {
      const histogram = new Histogram();
      histogram.record(value);
      histogram.record(2 ** 52);
      const seen = histogram.percentile(50);
      assert.ok(seen >= value && seen <= value * (1 + 1 / 64), `${value} is reported as ${seen}`);
    }
  }
});

test("an empty histogram, and one that was reset", () => {
  const histogram = new Histogram();
  histogram.record(5);
  histogram.reset();
  assert.deepEqual([histogram.count, histogram.min, histogram.max, histogram.mean, histogram.percentile(99)], [0, 0, 0, 0, 0]);
});

test("a timing block separates the server's time from the network's", () => {
  const latencies = new Latencies();
  latencies.record(10_000, { received: 1000n, sent: 1030n });
  latencies.record(20);
  assert.deepEqual([latencies.server.max, latencies.network.max, latencies.roundTrip.count, latencies.server.count], [30, 9970, 2, 1]);
});
