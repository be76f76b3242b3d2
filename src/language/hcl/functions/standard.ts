import type { HclFunction } from '../scope.ts';
import { addressFunctions } from './addresses.ts';
import { collectionFunctions } from './collections.ts';
import { conversionFunctions } from './conversion.ts';
import { dateFunctions } from './dates.ts';
import { define } from './define.ts';
import { encodingFunctions } from './encoding.ts';
import { fileFunctions, pathFunctions, refusedFileFunctions } from './files.ts';
import { hashFunctions } from './hashes.ts';
import { numberFunctions } from './numbers.ts';
import { patternFunctions } from './patterns.ts';
import type { FunctionPorts } from './ports.ts';
import { setFunctions } from './sets.ts';
import { textFunctions } from './text.ts';

/**
 * The functions that job files may call, by name. docs/reference/hcl.md has an example of each. They keep
 * no state between calls, so make them once.
 */
export function standardFunctions(ports: FunctionPorts): ReadonlyMap<string, HclFunction> {
  const groups: readonly Readonly<Record<string, HclFunction>>[] = [
    numberFunctions,
    textFunctions,
    patternFunctions,
    collectionFunctions,
    setFunctions,
    encodingFunctions,
    dateFunctions(ports.clock),
    hashFunctions,
    addressFunctions,
    conversionFunctions,
    pathFunctions,
    ports.files === undefined ? refusedFileFunctions : fileFunctions(ports.files),
    { uuidv4: define([], () => ports.ids.uuid()) },
  ];
  return new Map(groups.flatMap((group) => Object.entries(group)));
}
