import { StreamFault } from '../model/node-stream/byte-stream.ts';

/** The parameters that a server gave a stream, read one by one. Each throws {@link StreamFault}. */
export interface StreamParams {
  text(name: string): string;
  /** Empty when it is absent. */
  optional(name: string): string;
  /** The first word is the default. */
  choice<const T extends string>(name: string, words: readonly [T, ...T[]]): T;
  /** 0 when it is absent. */
  whole(name: string): number;
  flag(name: string): boolean;
}

export const streamParams = (given: Readonly<Record<string, unknown>>): StreamParams => ({
  text(name) {
    const value = given[name];
    if (typeof value === 'string' && value !== '') return value;
    throw invalidParam(name, 'is required');
  },
  optional: (name) => (typeof given[name] === 'string' ? given[name] : ''),
  choice(name, words) {
    const value = given[name] ?? words[0];
    const word = words.find((known) => known === value);
    if (word !== undefined) return word;
    throw invalidParam(name, `must be one of ${words.join(', ')}`);
  },
  whole(name) {
    const value = given[name] ?? 0;
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
    throw invalidParam(name, 'must be an integer that is not negative');
  },
  flag: (name) => given[name] === true,
});

const invalidParam = (name: string, fault: string): StreamFault =>
  new StreamFault({
    status: 400,
    code: 'invalid-query',
    message: `The query parameter "${name}" ${fault}.`,
  });
