import { type Asker, describeLack } from '../../acl/authorizer.ts';
import { isBuiltinPolicy } from '../../model/acl-policy/builtin.ts';
import type { StoredLink } from '../../model/acl-token/identities.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { defaultNamespace, type Scope } from '../../model/namespace/namespace.ts';
import { below, faultAt, quote } from '../../model/path.ts';
import { describeCaller } from '../../model/permission/caller.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import { aclPolicies, aclRoles, inScope } from '../../state/tables.ts';
import type { Snapshot, Stamps, TableReader } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';

/** A link as a caller writes it: an id, a name, or both. If both are there, the id counts. */
export interface WrittenLink {
  readonly ID: string;
  readonly Name: string;
}

interface Linkable extends Stamps {
  readonly ID: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Partition: string;
}

/** The caller whose request writes the links. */
export type Linker = Asker;

/**
 * Resolves links to ids, each once and in order. A link reaches policies and roles of the same
 * namespace and of `default`, and builtin policies from everywhere. A caller can only link what the
 * caller may grant: a new link takes `acl:write` where the linked policy or role lives.
 * Source: docs/behaviour/access-control.md#links.
 */
export class LinkResolver {
  readonly #snapshot: Snapshot;
  readonly #scope: Scope;
  readonly #linker: Linker;
  readonly #kept: ReadonlySet<string>;
  readonly #faults: Fault[] = [];

  constructor(
    snapshot: Snapshot,
    scope: Scope,
    linker: Linker,
    kept: readonly StoredLink[] | undefined = [],
  ) {
    this.#snapshot = snapshot;
    this.#scope = scope;
    this.#linker = linker;
    this.#kept = new Set(kept.map(({ ID }) => ID));
  }

  policies(links: readonly WrittenLink[], keys: readonly string[] = ['Policies']): StoredLink[] {
    return this.#resolveLinks('policy', this.#snapshot.table(aclPolicies), links, keys);
  }

  roles(links: readonly WrittenLink[], keys: readonly string[] = ['Roles']): StoredLink[] {
    return this.#resolveLinks('role', this.#snapshot.table(aclRoles), links, keys);
  }

  /** The faults of the links, without the links. */
  faultsOf(given: {
    readonly Policies: readonly WrittenLink[];
    readonly Roles?: readonly WrittenLink[];
  }) {
    this.policies(given.Policies);
    this.roles(given.Roles ?? []);
    return this.#faults;
  }

  /** @throws RosterError `invalid-body` with every link that leads nowhere */
  check(): void {
    if (this.#faults.length > 0) throw invalid('invalid-body', this.#faults);
  }

  #resolveLinks<R extends Linkable>(
    noun: string,
    table: TableReader<R, 'id' | 'name'>,
    links: readonly WrittenLink[],
    keys: readonly string[],
  ): StoredLink[] {
    const place = below(null, ...keys);
    if (links.length > limits.acl.linksMax) {
      this.#fault(faultAt(place, `must hold at most ${limits.acl.linksMax} links`));
      return [];
    }
    const ids = new Set<string>();
    links.forEach((link, index) => {
      const { ID, Name } = link;
      if (ID === '' && Name === '') {
        this.#fault(faultAt(below(place, index), 'must have an ID or a Name'));
        return;
      }
      const id = ID === '' ? this.#idOfName(table, Name) : this.#knownId(table, ID.toLowerCase());
      if (id !== undefined) {
        this.#demand(rowWithId(table, id));
        ids.add(id);
      } else {
        const what = ID === '' ? `named ${quote(Name)}` : `with the id ${quote(ID)}`;
        this.#fault(faultAt(below(place, index), `leads nowhere: there is no ${noun} ${what}`));
      }
    });
    return [...ids].sort().map((ID) => ({ ID }));
  }

  /** @throws RosterError `permission-denied` */
  #demand(row: Linkable | undefined): void {
    if (row === undefined || this.#kept.has(row.ID)) return;
    const { Namespace: namespace, Partition: partition } = row;
    const permission = resourceAccess('acl', 'write', { namespace, partition });
    const { caller, allows } = this.#linker;
    if (allows(permission)) return;
    throw refusal('permission-denied', {
      caller: describeCaller(caller),
      permission: `${describeLack(this.#linker, permission)}, which linking "${row.Name}" takes`,
    });
  }

  #fault(fault: Fault): void {
    if (this.#faults.length < limits.fault.listedMax) this.#faults.push(fault);
  }

  #idOfName<R extends Linkable>(table: TableReader<R, 'name'>, name: string): string | undefined {
    if (name.includes('\0')) return undefined;
    for (const scope of this.#reachedScopes()) {
      for (const row of table.by('name').scan({ prefix: inScope(scope, name) })) return row.ID;
    }
    return undefined;
  }

  #knownId<R extends Linkable>(table: TableReader<R, 'id'>, id: string): string | undefined {
    if (id.includes('\0')) return undefined;
    if (isBuiltinPolicy(id)) return rowWithId(table, id)?.ID;
    return this.#reachedScopes().some((scope) => table.has(...inScope(scope, id))) ? id : undefined;
  }

  #reachedScopes(): readonly Scope[] {
    const { partition, namespace } = this.#scope;
    if (namespace === defaultNamespace) return [this.#scope];
    return [this.#scope, { partition, namespace: defaultNamespace }];
  }
}

/** Names of linked policies and roles. Each is looked up once for an answer. */
export interface LinkNames {
  policy(id: string): string | undefined;
  role(id: string): string | undefined;
}

export function linkNames(snapshot: Snapshot): LinkNames {
  const memory = <R extends Linkable>(table: TableReader<R, 'id'>) => {
    const known = new Map<string, string | undefined>();
    return (id: string): string | undefined => {
      if (!known.has(id)) known.set(id, rowWithId(table, id)?.Name);
      return known.get(id);
    };
  };
  return { policy: memory(snapshot.table(aclPolicies)), role: memory(snapshot.table(aclRoles)) };
}
