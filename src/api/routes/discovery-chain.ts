import { discoveryChainEndpoints as contract } from '../../contract/discovery-chain.ts';
import { complete } from '../../model/complete.ts';
import { compileChain } from '../../model/discovery-chain/compile.ts';
import {
  type ChainOverrides,
  ChainOverridesSchema,
  type ChainStep,
  noOverrides,
} from '../../model/discovery-chain/discovery-chain.ts';
import { presentChain } from '../../model/discovery-chain/present.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Input as Given } from '../../model/schema.ts';
import { requireScope } from '../../server/acl/scope.ts';
import { entryViewOf } from '../../server/config-entries/view.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveRead } from '../serve.ts';

type Asked = InputOf<typeof contract.read>;

/**
 * The method with a body exists for overrides and changes nothing.
 * Source: docs/behaviour/discovery.md#reading-a-chain.
 */
export function discoveryChainRoutes({ datacenter }: Pick<Server, 'datacenter'>): Route[] {
  const handle = (input: Omit<Asked, 'body'>, overrides: ChainOverrides) => {
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
    ...serveRead(contract.read, (input) => handle(input, noOverrides)),
    ...serveRead(contract.readWith, (input) => handle(input, overridesIn(input.body))),
  ];
}

function overridesIn(body: Given<ChainOverrides>): ChainOverrides {
  const overrides = complete(ChainOverridesSchema, body);
  return { ...overrides, OverrideProtocol: overrides.OverrideProtocol.toLowerCase() };
}

/** @throws RosterError `invalid-path` */
function serviceIn({ parameters }: Pick<Asked, 'parameters'>): string {
  const name = parameters.service;
  const { lengthMax } = limits.names;
  if (name.length <= lengthMax) return name;
  const reason = `must end in the name of a service, of at most ${lengthMax} characters`;
  throw refusal('invalid-path', { reason });
}
