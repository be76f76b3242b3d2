import type { Peering } from '../../sdk/client.ts';
import { argument, type OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';

export const nameArgument = argument('NAME', 'Name of the peer in this cluster.', 'peering', false);

export const nameOption: OptionDefinition = {
  name: 'name',
  value: 'NAME',
  description: 'Name of the peer in this cluster; the same as NAME.',
  completes: 'peering',
};

export const metaOption: OptionDefinition = {
  name: 'meta',
  value: 'KEY=VALUE',
  isRepeatable: true,
  description: 'A label; may be repeated.',
};

/** @throws CliError */
export function peerName(word: string | undefined, options: Options): string {
  const option = options.text('name');
  if (word !== undefined && option !== undefined && word !== option) {
    throw new CliError('The name of the peer is given twice, and differs.');
  }
  const name = word ?? option ?? '';
  if (name !== '') return name;
  throw new CliError('The name of the peer is missing.', { hint: 'Give it with -name NAME.' });
}

/** Advice about a peering that is not active; `undefined` if nothing has to be done. */
export function advice({ Name, State, DeletedAt, StreamStatus }: Peering): string | undefined {
  switch (State) {
    case 'INITIAL':
      return 'It waits for the other cluster to use its token: "roster peering establish" there.';
    case 'FAILING':
      return failing(Name, StreamStatus.LastError);
    case 'TERMINATED':
      if (DeletedAt !== null) return undefined;
      return `The other cluster has deleted it. Take it away with "roster peering delete -name ${Name}", or peer anew with a new token.`;
    default:
      return undefined;
  }
}

function failing(name: string, reason: string): string {
  if (reason.includes('is unknown there')) {
    return `The other cluster does not know it any more. Delete it here with "roster peering delete -name ${name}", or peer anew: a new token from there, and "roster peering establish -name ${name}".`;
  }
  if (reason.includes('belongs to the peer')) {
    return 'Another cluster answers at the address of the peer. Check where that address leads.';
  }
  return 'It is tried again and again by the side that dials. Check that the agents of both clusters run, and that the one that dials reaches the address of the other.';
}
