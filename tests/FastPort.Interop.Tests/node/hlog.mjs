// node hlog.mjs <file>: reads an interval log with hdr-histogram-js and writes what it holds as JSON.
import fs from 'node:fs';
import hdr from 'hdr-histogram-js';

const reader = new hdr.HistogramLogReader(fs.readFileSync(process.argv[2], 'utf8'), 64);
const intervals = [];
for (let h = reader.nextIntervalHistogram(); h !== null; h = reader.nextIntervalHistogram()) {
  intervals.push({
    tag: h.tag,
    start: Math.round(h.startTimeStampMsec),
    end: Math.round(h.endTimeStampMsec),
    count: h.totalCount,
    min: h.minNonZeroValue,
    max: h.maxValue,
    percentiles: [50, 90, 99, 99.9].map((p) => h.getValueAtPercentile(p)),
  });
}

process.stdout.write(JSON.stringify({ intervals }));
