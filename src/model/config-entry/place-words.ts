import type { ServiceName } from './kind.ts';

type Place = Pick<ServiceName, 'partition' | 'namespace'>;

/** For refusals: where a user of an entry is, without what goes without saying there. */
export function placeWords(user: Place, used: Place): string {
  const places = [
    user.namespace === used.namespace ? '' : ` of the namespace "${user.namespace}"`,
    user.partition === used.partition ? '' : ` of the partition "${user.partition}"`,
  ];
  return places.join('');
}
