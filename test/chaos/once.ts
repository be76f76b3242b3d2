/** Variables that are each written once: an acknowledged one is there for ever, a refused one never is. */
import type { Reply } from './caller.ts';

interface Listed {
  readonly Path: string;
  readonly ModifyIndex: number;
}

export class Once {
  readonly #ask: (method: string, url: string, body?: object) => Promise<Reply | undefined>;
  readonly #written = new Map<string, number>();
  readonly #refused = new Set<string>();
  #serial = 0;

  constructor(ask: (method: string, url: string, body?: object) => Promise<Reply | undefined>) {
    this.#ask = ask;
  }

  get written(): number {
    return this.#written.size;
  }

  async turn(): Promise<void> {
    const path = `once/${++this.#serial}`;
    const reply = await this.#ask('PUT', `/v1/var/${path}?cas=0`, { Items: { value: path } });
    if (reply?.status === 200) this.#written.set(path, reply.json.ModifyIndex);
    else if (reply !== undefined && reply.json?.code !== 'outcome-unknown') this.#refused.add(path);
  }

  /** @param listed all variables */
  faults(listed: readonly Listed[]): string[] {
    const found = new Map(listed.map(({ Path, ModifyIndex }) => [Path, ModifyIndex]));
    const faults: string[] = [];
    for (const [path, index] of this.#written) {
      const there = found.get(path);
      if (there === undefined) faults.push(`the acknowledged write of ${path} at ${index} is lost`);
      else if (there !== index) faults.push(`${path} was written at ${index}, and has ${there}`);
    }
    for (const path of this.#refused) {
      if (found.has(path)) faults.push(`the write of ${path} was refused, and is there`);
    }
    return faults;
  }
}
