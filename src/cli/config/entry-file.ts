import { evaluateConstant } from '../../language/hcl/constant.ts';
import { renderFault } from '../../language/hcl/errors.ts';
import { parseHcl } from '../../language/hcl/parse.ts';
import { Source } from '../../language/hcl/source.ts';
import type { HclBody } from '../../language/hcl/syntax.ts';
import { placeOf } from '../../language/jobspec/places.ts';
import { findKind } from '../../model/config-entry/kinds.ts';
import type { Type } from '../../model/schema.ts';
import { ApiError } from '../../sdk/client.ts';
import { understood } from '../acl/policy-files.ts';
import { CliError, refusalOf } from '../errors.ts';
import { plural } from '../render/text.ts';
import { EntryReader, type Written } from './entry-reader.ts';

/** A configuration entry of a file. */
export interface EntryFile {
  readonly entry: Readonly<Record<string, unknown>>;
  /** Adds the lines of the file to an error of the API about the entry; other errors stay. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * Reads an entry from a file in HCL or JSON. The schema of the kind says where blocks belong; the
 * server checks fields and values.
 * @throws CliError with the file and the place
 */
export function entryFileOf(text: string, path: string): EntryFile {
  const name = path === '-' ? 'Standard input' : `"${path}"`;
  return text.trimStart().startsWith('{') ? fromJson(text, name) : fromHcl(text, name);
}

function fromJson(text: string, name: string): EntryFile {
  try {
    return { entry: JSON.parse(text), explain: (error) => error };
  } catch {
    // The parser's message quotes the text, which may be a private key.
    throw new CliError(`${name} is not JSON.`);
  }
}

function fromHcl(text: string, name: string): EntryFile {
  const source = new Source(text, name);
  const { record, places } = understood(name, (): Written => {
    const body = parseHcl(text, { hcl1Blocks: true });
    return new EntryReader(source).read(body, schemaFor(body, source));
  });
  const explain = (error: unknown) => {
    if (!(error instanceof ApiError) || !isPlaced(error)) return error;
    const faults = error.errors.map(({ pointer, message }) => {
      const place = placeOf(places, pointer);
      return place === undefined ? message : renderFault(source.fault(message, place.offset));
    });
    const count = plural(faults.length, 'fault');
    return new CliError(`The entry of ${name} has ${count}:\n\n${faults.join('\n\n')}\n`, {
      refusal: refusalOf(error),
    });
  };
  return { entry: record, explain };
}

const isPlaced = ({ code, errors }: ApiError): boolean =>
  code === 'invalid-body' && errors.some(({ pointer }) => pointer.startsWith('/'));

/** `undefined` if the file names no known kind; then the server reports that. */
function schemaFor({ items }: HclBody, source: Source): Type.TSchema | undefined {
  for (const item of items) {
    if (item.kind !== 'attribute' || item.name.toLowerCase() !== 'kind') continue;
    const value = evaluateConstant(item.value, source);
    return typeof value === 'string' ? findKind(value)?.schema : undefined;
  }
  return undefined;
}
