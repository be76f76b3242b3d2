import { shownSchema } from '../model/config-entry/present.ts';
import {
  type ChainOverrides,
  ChainOverridesSchema,
  ChainStepSchema,
  DiscoveryChainSchema,
} from '../model/discovery-chain/discovery-chain.ts';
import { About, FullList, type Input, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';

/** Asking with a body changes nothing: it is for overrides. */
const compile = {
  kind: 'read',
  path: '/v1/discovery-chain/:service',
  blocking: true,
  query: {
    'compile-dc': {
      kind: 'string',
      default: '',
      description: 'The datacenter that the chain is made for; absent: that of the server.',
    },
    explain: {
      kind: 'boolean',
      default: false,
      description: 'Tell what was decided, step by step, and by which entry.',
    },
  },
  answer: Type.Object({
    Chain: Type.Unsafe<Readonly<Record<string, unknown>>>(shownSchema(DiscoveryChainSchema)),
    Steps: Type.Optional(
      About(
        'What was decided, in the order in which it was; only with `explain`.',
        FullList(ChainStepSchema),
      ),
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

/** The chain that the routing entries of a service make. */
export const discoveryChainEndpoints = endpoints(
  { group: 'discovery-chains', noun: 'discovery-chain', family: 'registry' },
  {
    read: {
      ...compile,
      methods: ['GET'],
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
