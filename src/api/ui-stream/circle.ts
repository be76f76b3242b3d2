import type { Reading } from './reading.ts';

/** A watch that may take the answers of another one. */
export interface Member {
  /** Its newest answer; `undefined`: it has to read again before it knows. */
  readonly newest: Reading | undefined;
  /** Takes the answer of the leader; `false`: it has other rights now. */
  hear(reading: Reading): boolean;
  /** It has to read by itself and leaves the circle, because its rights have changed, or the circle ends. */
  stand(): void;
  /** It leads from now on. */
  lead(): void;
}

/**
 * Watches of the same path by callers with the same rights. The first of them leads: it reads, and the others take its
 * answers, each after a look at its own rights.
 */
export class Circles {
  readonly #byKey = new Map<string, Set<Member>>();

  /** Joins the circle, or stays in it. Returns its leader. */
  join(key: string, member: Member): Member {
    const circle = this.#byKey.get(key);
    if (circle === undefined) this.#byKey.set(key, new Set([member]));
    else circle.add(member);
    return this.#leaderOf(key)!;
  }

  /** The next one leads then. */
  leave(key: string, member: Member): void {
    const circle = this.#byKey.get(key);
    const wasLeader = this.#leaderOf(key) === member;
    if (circle === undefined || !circle.delete(member)) return;
    if (circle.size === 0) this.#byKey.delete(key);
    else if (wasLeader) this.#leaderOf(key)!.lead();
  }

  /** Ends the circle: each of its members reads by itself. */
  dissolve(key: string): void {
    const members = [...(this.#byKey.get(key) ?? [])];
    this.#byKey.delete(key);
    for (const member of members) member.stand();
  }

  /** Hands the answer of the leader to the others. */
  share(key: string, leader: Member, reading: Reading): void {
    for (const member of [...(this.#byKey.get(key) ?? [])]) {
      if (member !== leader && !member.hear(reading)) member.stand();
    }
  }

  #leaderOf(key: string): Member | undefined {
    return this.#byKey.get(key)?.values().next().value;
  }
}
