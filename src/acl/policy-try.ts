import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import type { Subject } from './authorizer.ts';
import type { Linked } from './links.ts';
import { rulesOfLinks } from './token-rules.ts';

/** The policies of a token with one more, or with one in another form. */
export function triedLinks(links: readonly Linked[], tried: AclPolicy): readonly Linked[] {
  const isReplaced = links.some(({ policy }) => policy.ID === tried.ID);
  if (!isReplaced) {
    const link: Linked = {
      policy: tried,
      role: undefined,
      from: 'token',
      synthetic: false,
      elsewhere: false,
    };
    return [...links, link];
  }
  return links.map((link) => (link.policy.ID === tried.ID ? { ...link, policy: tried } : link));
}

/** The token with these policies, and the same caller. @throws HclError */
export function triedSubject(subject: Subject, links: readonly Linked[]): Subject {
  const { table, management } = rulesOfLinks(links.filter(({ elsewhere }) => !elsewhere));
  const { caller } = subject;
  return {
    ...subject,
    rules: table,
    caller: caller.kind === 'token' ? { ...caller, management } : caller,
  };
}
