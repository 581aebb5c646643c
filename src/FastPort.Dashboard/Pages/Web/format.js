// How figures are shown. Texts of peers are only ever set as text, never as markup.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1, minimumFractionDigits: 1 });
const percents = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 0 });
const significant = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
// Swedish is the language that writes dates as ISO 8601 does.
const calendar = new Intl.DateTimeFormat("sv-SE", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});

const isNone = (value) => value === null || value === undefined;

// Figures that reports also show have the same format.
export const { compact, count, time } = charts;

export const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;

export const rate = (value) => isNone(value) ? "-" : value < 10 && value !== 0 ? tenths.format(value) : whole.format(value);

export const percent = (value) => isNone(value) ? "-" : percents.format(value);

export const timeOfDay = (milliseconds) => clock.format(new Date(milliseconds));

// With date and zone, for times that may be of another day or are read elsewhere.
export const dateAndTime = (milliseconds) => calendar.format(new Date(milliseconds));

// Microseconds as the latency reports show them. toFixed rounds the number, Intl its shortest decimals: 112.05 is a little less.
export const microseconds = (value) => isNone(value) ? "-"
  : value < 1 ? value.toFixed(3) : value < 100 ? value.toFixed(2) : tenths.format(value.toFixed(1));

export const bytes = (value) => {
  if (isNone(value)) {
    return "-";
  }

  // Powers of 1000, as in the reports and in top.
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }

  return `${unit === 0 ? whole.format(value) : significant.format(value)} ${units[unit]}`;
};

// Seconds as the two largest units.
export const span = (seconds) => {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([length]) => seconds >= length);
  if (first < 0) {
    return "0 s";
  }

  const shown = [];
  let left = seconds;
  for (const [length, name] of parts.slice(first, first + 2)) {
    const n = Math.floor(left / length);
    left -= n * length;
    if (n > 0 || shown.length === 0) {
      shown.push(`${n} ${name}`);
    }
  }

  return shown.join(" ");
};

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// "wordsTogether" as "words together", and "with_lines" as "with lines".
export const words = (name) => name.replace(/_/g, " ").replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);
