import type { Scope } from '../namespace/namespace.ts';

/** For refusals: namespace and partition of the user of an entry, if they differ from the entry's own. */
export function scopeWords(user: Scope, used: Scope): string {
  const words = [
    user.namespace === used.namespace ? '' : ` of the namespace "${user.namespace}"`,
    user.partition === used.partition ? '' : ` of the partition "${user.partition}"`,
  ];
  return words.join('');
}
