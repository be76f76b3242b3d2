import type { Family } from '../../contract/endpoint.ts';
import type { Dialect } from './dialect.ts';
import { registryDialect } from './registry.ts';
import { schedulerDialect } from './scheduler.ts';

/** The dialects of the contract. */
export const dialectOf: Readonly<Record<Family, Dialect>> = {
  registry: registryDialect,
  scheduler: schedulerDialect,
};

/** For requests without a route. */
export const defaultDialect: Dialect = schedulerDialect;
