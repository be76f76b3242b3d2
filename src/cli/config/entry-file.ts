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
import { CliError } from '../errors.ts';
import { EntryReader, type Written } from './entry-reader.ts';

/** A configuration entry as a file has it. */
export interface EntryFile {
  readonly entry: Readonly<Record<string, unknown>>;
  /** An error of the API about the entry with the lines of the file; any other one as it is. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * The entry that a file describes, in HCL or JSON. What stands in blocks is put where the schema of
 * the kind has it; whether fields and values are right is the server's to say.
 * @throws CliError naming the file and the place
 */
export function entryFileOf(text: string, path: string): EntryFile {
  const name = path === '-' ? 'Standard input' : `"${path}"`;
  return text.trimStart().startsWith('{') ? fromJson(text, name) : fromHcl(text, name);
}

function fromJson(text: string, name: string): EntryFile {
  try {
    return { entry: JSON.parse(text), explain: (error) => error };
  } catch {
    // The parser's own sentence quotes the text, which may be a private key.
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
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    return new CliError(`The entry of ${name} has ${count}:\n\n${faults.join('\n\n')}\n`);
  };
  return { entry: record, explain };
}

const isPlaced = ({ code, errors }: ApiError): boolean =>
  code === 'invalid-body' && errors.some(({ pointer }) => pointer.startsWith('/'));

/** `undefined`: the file names no kind that there is, which the server tells best. */
function schemaFor({ items }: HclBody, source: Source): Type.TSchema | undefined {
  for (const item of items) {
    if (item.kind !== 'attribute' || item.name.toLowerCase() !== 'kind') continue;
    const value = evaluateConstant(item.value, source);
    return typeof value === 'string' ? findKind(value)?.schema : undefined;
  }
  return undefined;
}
