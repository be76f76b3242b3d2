import type { Family } from '../../contract/endpoint.ts';
import type { Dialect } from './dialect.ts';
import { registryDialect } from './registry.ts';
import { schedulerDialect } from './scheduler.ts';

/** The dialects that the contract has. */
export const dialectOf: Readonly<Record<Family, Dialect>> = {
  registry: registryDialect,
  scheduler: schedulerDialect,
};

/** Of requests that reach no route. */
export const defaultDialect: Dialect = schedulerDialect;
