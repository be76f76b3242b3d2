import type { HclFunction } from '../scope.ts';
import type { FunctionPorts } from './ports.ts';

/** The functions that job files may call, by name. */
export function standardFunctions(_ports: FunctionPorts): ReadonlyMap<string, HclFunction> {
  return new Map();
}
