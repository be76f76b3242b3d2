import type { Peering } from '../../sdk/client.ts';
import { type ArgumentDefinition, argument, type OptionDefinition } from '../definition.ts';

export const nameArgument: ArgumentDefinition = {
  ...argument('NAME', 'Name of the peer in this cluster.', 'peering'),
  flags: ['name'],
};

export const metaOption: OptionDefinition = {
  name: 'meta',
  value: 'KEY=VALUE',
  isRepeatable: true,
  description: 'A label; may be repeated.',
};

/** Advice about a peering that is not active; `undefined` if nothing has to be done. */
export function advice({ Name, State, DeletedAt, StreamStatus }: Peering): string | undefined {
  switch (State) {
    case 'INITIAL':
      return 'It waits for the other cluster to use its token: "roster peering establish" there.';
    case 'FAILING':
      return failing(Name, StreamStatus.LastError);
    case 'TERMINATED':
      if (DeletedAt !== null) return undefined;
      return `The other cluster has deleted it. Take it away with "roster peering delete ${Name}", or peer anew with a new token.`;
    default:
      return undefined;
  }
}

function failing(name: string, reason: string): string {
  if (reason.includes('is unknown there')) {
    return `The other cluster does not know it any more. Delete it here with "roster peering delete ${name}", or peer anew: a new token from there, and "roster peering establish ${name}".`;
  }
  if (reason.includes('belongs to the peer')) {
    return 'Another cluster answers at the address of the peer. Check where that address leads.';
  }
  return 'It is tried again and again by the side that dials. Check that the agents of both clusters run, and that the one that dials reaches the address of the other.';
}
