/**
 * The history of clients that write and read registers, and its faults.
 *
 * Each answered write names its index, which orders all writes. So the history is linearizable exactly if
 * these rules hold, and each operation is checked once.
 *
 * Rules
 *  L1. Each index of a register has a single value, and each value a single index.
 *  L2. An operation that begins after another one has ended sees its write: a write has a greater index, a
 *      read no smaller one.
 *  L3. A read sees a value that somebody has sent, and none whose write was refused.
 *  L4. A write on condition of an index follows that index: no other write lies between them.
 *
 * A write without an answer may take effect at any later time, or never.
 */

/** An operation that has begun. */
export interface Begun {
  readonly register: string;
  /** Greatest index that an operation of the register had when this one began. */
  readonly floor: number;
  /** The value that it writes; absent in a read. Each value is written by one operation alone. */
  readonly value?: string;
}

interface Sent {
  readonly floor: number;
  index?: number;
  isRefused?: boolean;
}

class Register {
  floor = 0;
  readonly sent = new Map<string, Sent>();
  readonly values = new Map<number, string>();
  /** All known indexes of writes, in order. */
  readonly indexes: number[] = [];
  /** Index that a write was on condition of, by its own index. */
  readonly conditions = new Map<number, number>();
}

export class RegisterHistory {
  /** Number of operations by outcome. */
  readonly counts = { written: 0, refused: 0, unknown: 0, read: 0 };
  readonly #registers = new Map<string, Register>();
  readonly #fault: (sentence: string) => void;

  /** @param fault takes each fault of the history */
  constructor(fault: (sentence: string) => void) {
    this.#fault = fault;
  }

  begin(name: string, value?: string): Begun {
    const register = this.#registerOf(name);
    const { floor } = register;
    if (value === undefined) return { register: name, floor };
    register.sent.set(value, { floor });
    return { register: name, floor, value };
  }

  /** The write was done. @param condition the index that it was on condition of; 0: the register was empty */
  wrote({ register: name, floor, value = '' }: Begun, index: number, condition?: number): void {
    this.counts.written++;
    const register = this.#registerOf(name);
    if (index <= floor) {
      this.#fault(`${name}: a write has index ${index}, though ${floor} was seen before it began`);
    }
    if (condition !== undefined) register.conditions.set(index, condition);
    this.#learnIndex(name, index, value);
    this.#checkCondition(name, index);
    register.floor = Math.max(register.floor, index);
  }

  /** The write was certainly not done. */
  refused({ register: name, value = '' }: Begun): void {
    this.counts.refused++;
    const sent = this.#registerOf(name).sent.get(value)!;
    sent.isRefused = true;
    if (sent.index !== undefined) this.#tellRefused(name, value, sent.index);
  }

  /** The write had no answer. */
  unknown(_begun: Begun): void {
    this.counts.unknown++;
  }

  /** @param value what the register holds, written at the index; `undefined` at 0: it is empty */
  read({ register: name, floor }: Begun, index: number, value: string | undefined): void {
    this.counts.read++;
    const register = this.#registerOf(name);
    if (index < floor) {
      this.#fault(`${name}: a read sees index ${index}, though ${floor} was seen before it began`);
    }
    if (value !== undefined) this.#learnIndex(name, index, value);
    register.floor = Math.max(register.floor, index);
  }

  #registerOf(name: string): Register {
    const register = this.#registers.get(name) ?? new Register();
    this.#registers.set(name, register);
    return register;
  }

  #learnIndex(name: string, index: number, value: string): void {
    const { sent: allSent, values, indexes } = this.#registerOf(name);
    const other = values.get(index);
    if (other !== undefined && other !== value) {
      this.#fault(`${name}: index ${index} has the values ${other} and ${value}`);
    }
    const sent = allSent.get(value);
    if (sent === undefined) {
      this.#fault(`${name}: nobody has sent the value ${value}`);
      return;
    }
    if (sent.index === index) return;
    if (sent.index !== undefined) {
      this.#fault(`${name}: the value ${value} has the indexes ${sent.index} and ${index}`);
    }
    if (sent.isRefused === true) this.#tellRefused(name, value, index);
    if (index <= sent.floor) {
      this.#fault(
        `${name}: ${value} has index ${index}, but was sent after ${sent.floor} was seen`,
      );
    }
    sent.index = index;
    values.set(index, value);
    let place = indexes.length;
    while (place > 0 && indexes[place - 1]! > index) place--;
    indexes.splice(place, 0, index);
    const next = indexes[place + 1];
    if (next !== undefined) this.#checkCondition(name, next);
  }

  #checkCondition(name: string, index: number): void {
    const { conditions, indexes } = this.#registerOf(name);
    const condition = conditions.get(index);
    if (condition === undefined) return;
    const before = indexes[indexes.lastIndexOf(index) - 1] ?? 0;
    if (before > condition) {
      this.#fault(`${name}: ${index} was on condition of ${condition}, but ${before} lies between`);
    }
  }

  #tellRefused(name: string, value: string, index: number): void {
    this.#fault(`${name}: the write of ${value} was refused, and is there at index ${index}`);
  }
}
