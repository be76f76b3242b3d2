/** Checks of values that only containers have. Each returns the fault, or nothing. */
import { type Check, type ConfigFields, type ConfigOf, configFaults, text } from '../config.ts';

/** A block of a job file arrives as an object or as a list of objects. */
export type Block<T> = T | readonly T[];
type TextMap = Readonly<Record<string, string>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const blocksOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Blocks of these fields, repeated or not. */
export const blocks =
  <const F extends ConfigFields>(fields: F): Check<Block<ConfigOf<F>>> =>
  (value) => {
    const given = blocksOf(value);
    const wrong = given.flatMap((entry, index) => {
      const place = given.length > 1 ? `[${index}]` : '';
      if (!isObject(entry)) return [`${place} must be a block`.trim()];
      return configFaults(entry, fields).map(
        ({ message }) => `${place}${message.replace(/^Config/, '')}`,
      );
    });
    return wrong.length === 0 ? undefined : `has faults: ${wrong.join('; ')}`;
  };

export const block =
  <const F extends ConfigFields>(fields: F): Check<Block<ConfigOf<F>>> =>
  (value) =>
    blocksOf(value).length > 1 ? 'must be one block' : blocks(fields)(value);

export const textMap: Check<Block<TextMap>> = (value) =>
  blocksOf(value).every(
    (entry) => isObject(entry) && Object.values(entry).every((one) => typeof one === 'string'),
  )
    ? undefined
    : 'must be names with texts';

export const oneOf =
  <const W extends string>(...words: readonly W[]): Check<W> =>
  (value) =>
    words.includes(value as W) ? undefined : `must be ${words.join(', ')}`;

export const absolutePath: Check<string> = (value) =>
  typeof value === 'string' && value.startsWith('/') && !value.includes('\0')
    ? undefined
    : 'must be an absolute path';

export const natural: Check<number> = (value) =>
  Number.isSafeInteger(value) && (value as number) > 0 ? undefined : 'must be a positive integer';

export const cfsPeriod: Check<number> = (value) =>
  Number.isInteger(value) && (value as number) >= 1000 && (value as number) <= 1_000_000
    ? undefined
    : 'must be microseconds from 1000 to 1000000';

export const textOrList: Check<string | readonly string[]> = (value) =>
  text(value) === undefined ||
  (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'))
    ? undefined
    : 'must be a text or a list of texts';

const reference = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,511}(@sha256:[0-9a-f]{64})?$/;

/** A scheme before a path would make the runtime read the machine's files as an image. */
const isPath = (text: string): boolean => text.includes(':/');

const isImage = (text: string): boolean => reference.test(text) && !isPath(text);

export const image: Check<string> = (value) =>
  typeof value === 'string' && isImage(value.replace(/^https?:\/\//, ''))
    ? undefined
    : 'must be the name of an image, such as "redis:7"';

export const devicePermissions: Check<string> = (value) =>
  typeof value === 'string' && /^r?w?m?$/.test(value) && value !== ''
    ? undefined
    : 'must be of the letters r, w and m';

/** `source:/target` or `source:/target:options`. */
export function parseBind(
  bind: string,
):
  | { readonly source: string; readonly target: string; readonly options: readonly string[] }
  | undefined {
  const [source, target, options, ...rest] = bind.split(':');
  if (!source || !target?.startsWith('/') || rest.length > 0) return undefined;
  return { source, target, options: options ? options.split(',') : [] };
}

const bindOptions = [
  'ro',
  'rw',
  'z',
  'Z',
  'private',
  'rprivate',
  'shared',
  'rshared',
  'slave',
  'rslave',
];

export const binds: Check<readonly string[]> = (value) => {
  const form = 'must be a list of texts "source:/target" or "source:/target:ro"';
  if (!Array.isArray(value)) return form;
  const wrong = value.filter((bind) => {
    const parsed = typeof bind === 'string' ? parseBind(bind) : undefined;
    return parsed === undefined || parsed.options.some((option) => !bindOptions.includes(option));
  });
  return wrong.length === 0 ? undefined : `${form}, got ${JSON.stringify(wrong)}`;
};

export const extraHosts: Check<readonly string[]> = (value) =>
  Array.isArray(value) &&
  value.every((entry) => typeof entry === 'string' && /^[^:\s]+:[^\s]+$/.test(entry))
    ? undefined
    : 'must be a list of texts "name:address"';

export const ulimits: Check<Block<TextMap>> = (value) => {
  const form = 'must be names with limits, such as nofile = "1024:2048"';
  if (textMap(value) !== undefined) return form;
  const wrong = blocksOf(value)
    .flatMap((entry) => Object.entries(entry as Record<string, string>))
    .filter(([, limit]) => parseUlimit(limit) === undefined);
  return wrong.length === 0
    ? undefined
    : `${form}; wrong are ${wrong.map(([name]) => name).join(', ')}`;
};

/** `soft` or `soft:hard`. */
export function parseUlimit(
  limit: string,
): { readonly soft: number; readonly hard: number } | undefined {
  const match = /^(-1|\d{1,15})(?::(-1|\d{1,15}))?$/.exec(limit);
  if (match === null) return undefined;
  const soft = Number(match[1]);
  return { soft, hard: Number(match[2] ?? soft) };
}
