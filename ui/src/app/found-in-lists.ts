/**
 * What has no place in the search of the server, which is within a partition and knows names alone: found by the lists. A list
 * shows what the token may see; where the API would refuse, nothing is asked.
 */
import GitMerge from '@lucide/svelte/icons/git-merge';
import Rocket from '@lucide/svelte/icons/rocket';
import Server from '@lucide/svelte/icons/server';
import Shield from '@lucide/svelte/icons/shield';
import Split from '@lucide/svelte/icons/split';
import type { Component } from 'svelte';
import { havingText, quoted } from '../parts/filter.ts';
import { live } from './connection.svelte.ts';
import type { Found } from './found.svelte.ts';
import { href, router } from './router.svelte.ts';
import { scope } from './scope.svelte.ts';

/** The reads that the token may do as a whole or not at all. */
export interface MayFind {
  readonly templates: boolean;
  readonly servers: boolean;
}

interface FoundRow {
  readonly key: string;
  readonly title: string;
  readonly detail: string;
  readonly address: string;
}

interface List {
  readonly group: string;
  readonly icon: Component;
  readonly rows: (text: string, may: MayFind) => Promise<readonly FoundRow[]>;
}

export const matchesMax = 6;
const most = { perPage: matchesMax };

/** The beginning of an id. */
export const short = (id: string): string => (/^[0-9a-f-]{36}$/.test(id) ? id.slice(0, 8) : id);

const isIn =
  (text: string) =>
  (name: string): boolean =>
    name.toLowerCase().includes(text.toLowerCase());

/** Records with the text in one of the fields, or at the beginning of the id if it may be one. */
const having = (text: string, fields: readonly string[]): string => {
  const named = havingText(text, fields);
  return /^[0-9a-f-]+$/.test(text) ? `${named} or ID matches ${quoted(`^${text}`)}` : named;
};

const lists: readonly List[] = [
  {
    group: 'Deployments',
    icon: Rocket,
    rows: async (text) => {
      const filter = having(text, ['JobID']);
      const { namespace } = scope;
      const options = { ...most, filter, namespace, sort: 'CreateTime', reverse: true };
      const { value } = await live().client.deployments.list(options);
      return value.map(({ ID, JobID, Namespace, Status }) => ({
        key: ID,
        title: JobID,
        detail: `${Namespace} › ${short(ID)}, ${Status}`,
        address: href(
          '/jobs/:namespace/:id',
          { namespace: Namespace, id: JobID },
          { tab: 'deployments' },
        ),
      }));
    },
  },
  {
    group: 'Binding rules',
    icon: GitMerge,
    rows: async (text) => {
      const filter = having(text, ['Description', 'BindName', 'AuthMethod']);
      const { namespace, partition } = scope;
      const { value } = await live().client.bindingRules.list({
        ...most,
        filter,
        namespace,
        partition,
      });
      return value.map(({ ID, AuthMethod, BindType, BindName, Description }) => ({
        key: ID,
        title: Description || `${BindType} ${BindName}`,
        detail: `${AuthMethod} › ${short(ID)}`,
        address: href('/access/rules', {}, { filter: `ID == ${quoted(ID)}` }),
      }));
    },
  },
  {
    group: 'Templates of policies',
    icon: Shield,
    rows: async (text, may) => {
      if (!may.templates) return [];
      const { value } = await live().client.acl.templatedPolicies.list();
      const names = Object.values(value).map(({ TemplateName }) => TemplateName);
      return names.filter(isIn(text)).map((name) => ({
        key: name,
        title: name,
        detail: '',
        address: href('/access/templates', {}, { template: name }),
      }));
    },
  },
  {
    group: 'Servers',
    icon: Server,
    rows: async (text, may) => {
      if (!may.servers) return [];
      const { value } = await live().client.status.health();
      const named = value.Servers.filter(({ ID, Address }) => [ID, Address].some(isIn(text)));
      return named.map(({ ID, Address, Leader }) => ({
        key: ID,
        title: Address === '' ? ID : Address,
        detail: `${short(ID)}${Leader ? ', leads' : ''}`,
        address: href('/servers', {}, { server: ID }),
      }));
    },
  },
  {
    group: 'Partitions',
    icon: Split,
    rows: async (text) => {
      const filter = havingText(text, ['Name']);
      const { value } = await live().client.partitions.list({ ...most, filter });
      return value.map(({ Name }) => ({
        key: Name,
        title: Name,
        detail: '',
        address: href('/partitions', {}, { filter: Name }),
      }));
    },
  },
];

/** A refusal finds nothing. */
export async function foundInLists(text: string, may: MayFind): Promise<readonly Found[]> {
  const found = await Promise.all(
    lists.map(async ({ group, icon, rows }) => {
      const matches = await rows(text, may).catch(() => []);
      return matches.slice(0, matchesMax).map(({ key, address, ...shown }) => ({
        ...shown,
        key: `${group} ${key}`,
        group,
        icon,
        choose: () => router.go(address),
      }));
    }),
  );
  return found.flat();
}
