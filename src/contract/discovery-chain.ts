import { shownSchema } from '../model/config-entry/present.ts';
import {
  type ChainOverrides,
  ChainOverridesSchema,
  ChainStepSchema,
  DiscoveryChainSchema,
} from '../model/discovery-chain/discovery-chain.ts';
import { About, FullList, type Input, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { flag, text } from './query.ts';

/** The method with a body exists for overrides; it changes nothing either. */
const compile = {
  kind: 'read',
  path: '/v1/discovery-chain/:service',
  blocking: true,
  query: {
    'compile-dc': text('The datacenter of the chain; by default that of the server.'),
    explain: flag('Include every step of the compilation with its entry.'),
  },
  answer: Type.Object({
    Chain: Type.Unsafe<Readonly<Record<string, unknown>>>(shownSchema(DiscoveryChainSchema)),
    Steps: Type.Optional(
      About('The decisions, in their order; only with `explain`.', FullList(ChainStepSchema)),
    ),
  }),
  permission: {
    kind: 'named',
    resource: 'service',
    access: 'read',
    name: 'from-path:service',
    namespace: 'from-request',
    partition: 'from-request',
  },
} as const;

export const discoveryChainEndpoints = endpoints(
  { group: 'discovery-chains', noun: 'discovery-chain', family: 'registry' },
  {
    read: {
      ...compile,
      summary: 'Compile the discovery chain of a service',
    },
    readWith: {
      ...compile,
      methods: ['POST'],
      summary: 'Compile the discovery chain of a service with overrides',
      body: {
        schema: typed<Input<ChainOverrides>>(ChainOverridesSchema),
        unknown: 'refuse',
        optional: true,
      },
    },
  },
);
