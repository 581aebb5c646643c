// The tags of the OPC UA comparison, as in benchmarks/OpcUaPeer/TagValues.cs: values from which index and generation can be told.
export const namespaceUri = "urn:fastport:simulation";
export const count = 2000;
export const texts = 1800;
const step = 1000;

export const typeOf = (tag) => (tag < 1000 ? "Int32" : tag < texts ? "Double" : "String");

const indexOf = (tag) => (tag < 1000 ? tag : tag < texts ? tag - 1000 : tag - texts);

export function valueAt(tag, generation) {
  const number = (tag < texts ? generation : generation % step) * step + indexOf(tag);
  return tag < texts ? number : `tag-value-${String(number).padStart(6, "0")}`;
}

// -1 if it is not a value of this tag.
export function generationOf(tag, value) {
  const number = tag < texts ? value : typeof value === "string" && value.length === 16 ? Number(value.slice(10)) : -1;
  return number >= 0 && number % step === indexOf(tag) ? Math.floor(number / step) : -1;
}
