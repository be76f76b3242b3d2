import { below, type Report } from '../path.ts';
import { About, FullList, type Model, stamps, Type } from '../schema.ts';
import { entryFields } from './config-entry.ts';
import {
  checkServiceName,
  destinationFields,
  destinationOf,
  namedServices,
} from './destination.ts';
import { faultsOf } from './faults.ts';
import { checkHeaders, headerFields } from './header-changes.ts';
import type { ConfigKind } from './kind.ts';

/** A part of the traffic and its destination. Source: docs/behaviour/discovery.md#splitters. */
export const ServiceSplitSchema = Type.Object({
  Weight: About(
    'Percent of the traffic, in steps of 0.01.',
    Type.Number({ default: 0, minimum: 0, maximum: 100 }),
    { rules: 'all weights of a splitter have to add up to 100' },
  ),
  ...destinationFields,
  ...headerFields,
});
export type ServiceSplit = Model<typeof ServiceSplitSchema>;

export const ServiceSplitterSchema = Type.Object({
  ...entryFields,
  Splits: About(
    'The destinations of the traffic, with their shares.',
    FullList(ServiceSplitSchema),
    {
      rules: 'at least one; no two lead to the same place',
    },
  ),
  ...stamps,
});
export type ServiceSplitter = Model<typeof ServiceSplitterSchema> & {
  readonly Kind: 'service-splitter';
};

/** A weight in hundredths of a percent, the finest step. */
export const hundredths = (weight: number): number => Math.round(weight * 100);

/** Splits the traffic of a service by weight, among services or subsets. */
export const serviceSplitter: ConfigKind<ServiceSplitter> = {
  kind: 'service-splitter',
  summary: 'Divides the traffic of a service by weight, among its subsets or other services.',
  acts:
    'It is part of the discovery chain of the service ([the guide](../../guides/traffic.md)), ' +
    'which proxies apply. Roster runs none, so the entry alone moves no request.',
  deletion: {
    usedBy: 'chains that lead to its service',
    outcome: 'refused while a chain needs it',
  },
  schema: ServiceSplitterSchema,
  access: 'service',
  normalize: (entry) => ({
    ...entry,
    Splits: entry.Splits.map((split) => ({ ...split, Weight: hundredths(split.Weight) / 100 })),
  }),
  faults: (entry) => faultsOf((report) => check(entry, report)),
  services: (entry) => namedServices(entry, entry.Splits),
  example: {
    Kind: 'service-splitter',
    Name: 'checkout',
    Splits: [{ Weight: 90 }, { Weight: 10, Service: 'checkout-next' }],
  },
  exampleNeeds: [
    { Kind: 'service-defaults', Name: 'checkout', Protocol: 'http' },
    { Kind: 'service-defaults', Name: 'checkout-next', Protocol: 'http' },
  ],
};

function check(entry: ServiceSplitter, report: Report): void {
  const path = below(null, 'Splits');
  const { Splits } = entry;
  if (Splits.length === 0) {
    report(path, 'has no splits configured');
    return;
  }
  const first = new Map<string, number>();
  Splits.forEach((split, index) => {
    const at = below(path, index);
    checkServiceName(split.Service, below(at, 'Service'), report);
    checkHeaders(split, at, report);
    const { partition, namespace, name } = destinationOf(entry, split);
    const place = JSON.stringify([partition, namespace, name, split.ServiceSubset]);
    const before = first.get(place);
    if (before === undefined) first.set(place, index);
    else report(at, `leads to the same place as Splits[${before}]`);
  });
  const sum = Splits.reduce((total, { Weight }) => total + hundredths(Weight), 0);
  if (sum !== 100_00) {
    report(path, `must add up: the sum of all split weights must be 100, not ${sum / 100}`);
  }
}
