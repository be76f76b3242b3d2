import type { Permission } from '../model/permission/permission.ts';
import { denies, type Entry, holds } from './name-index.ts';
import { resources } from './resources.ts';
import type { RuleTable, View } from './rule-table.ts';

/** A single question to the rules. */
export interface Question {
  readonly resource: string;
  readonly access: string;
  readonly name: string;
  /** `one`: this name; `any`: at least one name; `under`: all names that begin with this one. */
  readonly extent: 'one' | 'any' | 'under';
  readonly namespace: string;
  readonly partition: string;
}

/** Permissions that rules decide. The others depend on the caller alone. */
export type RulePermission = Extract<Permission, { kind: 'namespace' | 'resource' | 'named' }>;

export interface Verdict {
  readonly allowed: boolean;
  /** The rules that decided; `undefined`: no rule applies, and the default policy decided. */
  readonly entry: Entry | undefined;
}

/** The access of a question that any capability answers. */
export const anyAccess = 'any';

export function questionOf(permission: RulePermission): Question {
  const { partition = 'default' } = permission;
  if (permission.kind === 'namespace') {
    const { namespace: name, capability: access } = permission;
    const question = { resource: 'namespace', access, name, extent: 'one' } as const;
    return { ...question, namespace: 'default', partition };
  }
  const { resource, access, namespace = 'default' } = permission;
  if (permission.kind === 'resource') {
    // Access to the whole resource is access to every name in it.
    return { resource, access, name: '', extent: 'under', namespace, partition };
  }
  const { name, extent = 'one' } = permission;
  const place = { resource, access, namespace, partition };
  if (resource === 'intention' && name === '*' && extent === 'one') {
    // To read "*", access to any service is enough; to write it, access to all is needed.
    return { ...place, name: '', extent: access === 'read' ? 'any' : 'under' };
  }
  return extent === 'every' ? { ...place, name: '', extent: 'under' } : { ...place, name, extent };
}

/**
 * Decides by rules. Decisions and explanations both call this function.
 * Source: docs/behaviour/access-control.md#how-rules-come-together.
 */
export function decide(table: RuleTable, question: Question, defaultAllows: boolean): Verdict {
  const { resource, partition, namespace } = question;
  const view = table.view(resource, partition, namespace);
  const found = ask(view, question);
  const { fallback, fallbackAdds = false, followsDefault } = resources[resource]!;
  if (found !== undefined && !(fallbackAdds && givesTooLittle(found))) return found;
  if (fallback === undefined) return { allowed: defaultAllows && followsDefault, entry: undefined };
  const other = decide(table, { ...question, resource: fallback }, defaultAllows);
  return other.allowed ? other : (found ?? other);
}

const givesTooLittle = ({ allowed, entry }: Verdict): boolean =>
  !allowed && entry !== undefined && !denies(entry);

function ask(view: View, { extent, name, access }: Question): Verdict | undefined {
  switch (extent) {
    case 'one':
      for (const index of view) {
        const entry = index.find(name);
        if (entry !== undefined) return verdict(entry, access);
      }
      return undefined;
    case 'any':
      for (const { entries } of view) {
        const entry = entries.find((one) => holds(one, access));
        if (entry !== undefined) return { allowed: true, entry };
      }
      return undefined;
    case 'under':
      for (const [at, index] of view.entries()) {
        const weakest = index.weakest(access, name, view.slice(0, at));
        if (weakest !== undefined) return { allowed: false, entry: weakest };
        // A prefix that covers all the names hides the farther indexes.
        const covering = index.covering(name);
        if (covering !== undefined) return verdict(covering, access);
      }
      return undefined;
  }
}

const verdict = (entry: Entry, access: string): Verdict => ({
  allowed: access === anyAccess ? entry.holds.size > 0 : holds(entry, access),
  entry,
});
