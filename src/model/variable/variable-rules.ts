import { checkValues } from '../check-values.ts';
import { type Fault, invalid, refusal } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, quote } from '../path.ts';
import { type Variable, type VariableRequest, VariableSchema } from './variable.ts';

/** The first part of the paths that workloads read. Other paths below it are reserved. */
const reservedRoot = 'roster';
const jobsRoot = `${reservedRoot}/jobs`;

/**
 * The paths of the variables that a workload may read without a policy: those of all jobs of its namespace,
 * of its job, of its group, and its own. Source: docs/reference/environment.md#variables.
 */
export const workloadPaths = (job: string, group: string, task: string): readonly string[] => [
  jobsRoot,
  `${jobsRoot}/${job}`,
  `${jobsRoot}/${job}/${group}`,
  `${jobsRoot}/${job}/${group}/${task}`,
];

/** The fault of a path, as the end of a sentence; `undefined` if it has none. */
export function variablePathFault(path: string): string | undefined {
  const { pathLengthMax } = limits.variable;
  if (path === '') return 'is required';
  if (path.length > pathLengthMax) return `must be at most ${pathLengthMax} characters long`;
  if (!/^[A-Za-z0-9._~/-]+$/.test(path)) {
    return 'must be made of letters, digits, "-", "_", ".", "~" and "/"';
  }
  const parts = path.split('/');
  if (parts.includes('')) return 'must not begin or end with "/", nor hold "//"';
  if (parts.includes('.') || parts.includes('..')) return 'must not hold "." or ".." as a part';
  const isReserved = parts[0] === reservedRoot && path !== jobsRoot;
  if (isReserved && !path.startsWith(`${jobsRoot}/`)) {
    return `must not begin with "${reservedRoot}", except "${jobsRoot}" and the paths below it`;
  }
  return undefined;
}

/** Bytes of names and texts in UTF-8. */
export const bytesOfItems = (items: Readonly<Record<string, string>>): number =>
  Object.entries(items).reduce(
    (bytes, [name, text]) => bytes + Buffer.byteLength(name) + Buffer.byteLength(text),
    0,
  );

/**
 * The checked items of a request, and their path. No message repeats a text.
 * @throws RosterError `id-mismatch`, `invalid-body` with every fault
 */
export function checkedItems(path: string, request: VariableRequest): Variable['Items'] {
  if (request.Path && request.Path !== path) {
    throw refusal('id-mismatch', { noun: 'variable', body: request.Path, path });
  }
  const faults: Fault[] = checkValues(VariableSchema, request);
  const fault = (keys: readonly string[], message: string) => {
    if (faults.length < limits.fault.listedMax) faults.push(faultAt(below(null, ...keys), message));
  };
  const pathFault = variablePathFault(path);
  if (pathFault !== undefined) fault(['Path'], pathFault);
  const items = (request.Items ?? {}) as Readonly<Record<string, string>>;
  const { itemsBytesMax, itemsMax, nameLengthMax } = limits.variable;
  const names = Object.keys(items);
  if (names.length === 0) fault(['Items'], 'must hold at least one item');
  if (names.length > itemsMax) fault(['Items'], `must hold at most ${itemsMax} items`);
  for (const name of names) {
    if (name === '') fault(['Items'], 'must not hold an item without a name');
    else if (name.length > nameLengthMax) {
      fault(
        ['Items'],
        `must not hold ${quote(name)}: a name has at most ${nameLengthMax} characters`,
      );
    }
  }
  const bytes = bytesOfItems(items);
  if (bytes > itemsBytesMax) {
    fault(['Items'], `must have at most ${itemsBytesMax} bytes together, and has ${bytes}`);
  }
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return items;
}
