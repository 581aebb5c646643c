import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";

// The options of fastport/options.proto, by their field numbers.
const FirstType = 66280;
const Type = 66281;

const FirstNumber = 0x1000;
const LastNumber = 0xffff;

/**
 * The message types of the methods of services.
 * @throws Error A method has none, one that is out of range, or that of another method.
 */
export function numbersOf(services: readonly DescService[]): Map<DescMethod, number> {
  const numbers = new Map<DescMethod, number>();
  const owners = new Map<number, string>();
  for (const service of services) {
    const first = optionOf(service.proto.options, FirstType);
    for (const [i, method] of service.methods.entries()) {
      const name = `${service.typeName}/${method.name}`;
      const number = optionOf(method.proto.options, Type) ?? (first === undefined ? undefined : first + i);
      if (number === undefined) {
        throw new Error(`${name} has no message type; add 'option (fastport.first_type) = 0x1000;' to the service, with a free number.`);
      }

      if (number < FirstNumber || number > LastNumber) {
        throw new Error(`${name} has message type ${hex(number)}; choose one from ${hex(FirstNumber)} to ${hex(LastNumber)}.`);
      }

      if (owners.has(number)) {
        throw new Error(`${name} and ${owners.get(number)} both have message type ${hex(number)}.`);
      }

      owners.set(number, name);
      numbers.set(method, number);
    }
  }

  return numbers;
}

/** As it is written in contracts. */
export function hex(number: number): string {
  return `0x${number.toString(16).toUpperCase().padStart(4, "0")}`;
}

function optionOf(options: DescService["proto"]["options"] | DescMethod["proto"]["options"], number: number): number | undefined {
  const field = options?.$unknown?.findLast(({ no }) => no === number);
  return field && new BinaryReader(field.data).uint32();
}
