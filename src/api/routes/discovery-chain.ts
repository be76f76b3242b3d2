import { complete } from '../../model/complete.ts';
import { shownSchema } from '../../model/config-entry/present.ts';
import { compileChain } from '../../model/discovery-chain/compile.ts';
import {
  type ChainOverrides,
  ChainOverridesSchema,
  type ChainStep,
  ChainStepSchema,
  DiscoveryChainSchema,
  noOverrides,
} from '../../model/discovery-chain/discovery-chain.ts';
import { presentChain } from '../../model/discovery-chain/present.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { namedAccess } from '../../model/permission/permission.ts';
import { About, FullList, type Input as Given, Type } from '../../model/schema.ts';
import { requireScope } from '../../server/acl/scope.ts';
import { entryViewOf } from '../../server/config-entries/view.ts';
import type { Server } from '../../server/server.ts';
import { type Input, type Route, readRoute } from '../route.ts';

const query = {
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
} as const;
type Asked = Input<typeof query>;

const answer = Type.Object({
  Chain: Type.Unsafe(shownSchema(DiscoveryChainSchema)),
  Steps: Type.Optional(
    About(
      'What was decided, in the order in which it was; only with `explain`.',
      FullList(ChainStepSchema),
    ),
  ),
});

/**
 * What the routing entries of a service come to. Asking with a body changes nothing: it is for
 * overrides. Source: docs/behaviour/discovery.md#reading-a-chain.
 */
export function discoveryChainRoutes({ datacenter }: Pick<Server, 'datacenter'>): Route[] {
  const common = {
    path: '/v1/discovery-chain/:service',
    noun: 'discovery-chain',
    family: 'registry',
    query,
    answer,
    blocking: true,
    permission: ({ parameters, namespace, partition }: Asked) =>
      namedAccess('service', 'read', parameters.service!, { namespace, partition }),
  } as const;
  const handle = (input: Asked, overrides: ChainOverrides) => {
    const steps: ChainStep[] | undefined = input.query.explain ? [] : undefined;
    const { namespace, partition, snapshot } = input;
    requireScope(snapshot, { namespace, partition });
    const name = serviceIn(input);
    const request = {
      service: { partition, namespace, name },
      datacenter: input.query['compile-dc'] || datacenter,
      overrides,
    };
    const { chain, refusal: reason } = compileChain(entryViewOf(snapshot), request, steps);
    if (chain === undefined) throw refusal('discovery-chain-refused', { service: name, reason });
    return { Chain: presentChain(chain), ...(steps && { Steps: steps }) };
  };
  return [
    readRoute({
      ...{ ...common, method: 'GET' },
      summary: 'Compile the discovery chain of a service',
      handle: (input) => handle(input, noOverrides),
    }),
    readRoute({
      ...{ ...common, method: 'POST' },
      summary: 'Compile the discovery chain of a service with overrides',
      body: { schema: ChainOverridesSchema, unknown: 'refuse', optional: true },
      handle: (input) => handle(input, overridesIn(input.body as Given<ChainOverrides>)),
    }),
  ];
}

function overridesIn(body: Given<ChainOverrides>): ChainOverrides {
  const overrides = complete(ChainOverridesSchema, body);
  return { ...overrides, OverrideProtocol: overrides.OverrideProtocol.toLowerCase() };
}

/** @throws RosterError `invalid-path` */
function serviceIn({ parameters }: Asked): string {
  const name = parameters.service!;
  const { lengthMax } = limits.names;
  if (name.length <= lengthMax) return name;
  const reason = `must end in the name of a service, of at most ${lengthMax} characters`;
  throw refusal('invalid-path', { reason });
}
