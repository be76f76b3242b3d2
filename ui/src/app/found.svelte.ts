/** What the palette offers for a text: pages, acts of this page, and everything that the server finds by its name. */

import Boxes from '@lucide/svelte/icons/boxes';
import Braces from '@lucide/svelte/icons/braces';
import Container from '@lucide/svelte/icons/container';
import CornerDownRight from '@lucide/svelte/icons/corner-down-right';
import Folder from '@lucide/svelte/icons/folder';
import HardDrive from '@lucide/svelte/icons/hard-drive';
import Link2 from '@lucide/svelte/icons/link-2';
import Shield from '@lucide/svelte/icons/shield';
import Waypoints from '@lucide/svelte/icons/waypoints';
import Zap from '@lucide/svelte/icons/zap';
import type { Component } from 'svelte';
import { live } from './connection.svelte.ts';
import { foundInLists, type MayFind, matchesMax, short } from './found-in-lists.ts';
import { navigation } from './navigation.ts';
import { hindranceOf, page } from './page.svelte.ts';
import { href, router } from './router.svelte.ts';
import { scope } from './scope.svelte.ts';

export interface Found {
  readonly key: string;
  readonly group: string;
  readonly title: string;
  readonly detail: string;
  readonly icon: Component;
  readonly choose: () => void;
}

interface Match {
  readonly ID: string;
  readonly Scope: readonly string[];
}

type Matches = Readonly<Record<string, readonly Match[] | undefined>>;

interface Kind {
  readonly group: string;
  readonly icon: Component;
  /** `scope` has the namespace, if there is one, and the parts of the address. */
  readonly address: (match: Match) => string;
  readonly path: string;
}

/** Not in limits: those of the search. */
const textLengthMin = 2;
const textLengthMax = 128;

const ofLast =
  (path: string) =>
  ({ ID, Scope }: Match): string =>
    href(path, { id: Scope.at(-1) ?? ID });

const ofJob = ({ ID, Scope: [namespace = 'default', id = ID] }: Match): string =>
  href('/jobs/:namespace/:id', { namespace, id });

const kinds: Readonly<Record<string, Kind>> = {
  jobs: { group: 'Jobs', icon: Boxes, path: '/jobs/x/x', address: ofJob },
  groups: { group: 'Groups of jobs', icon: Boxes, path: '/jobs/x/x', address: ofJob },
  tasks: { group: 'Tasks', icon: Boxes, path: '/jobs/x/x', address: ofJob },
  allocs: {
    group: 'Allocations',
    icon: Container,
    path: '/allocations/x',
    address: ofLast('/allocations/:id'),
  },
  nodes: { group: 'Nodes', icon: HardDrive, path: '/nodes/x', address: ofLast('/nodes/:id') },
  services: {
    group: 'Services',
    icon: Waypoints,
    path: '/services/x',
    address: ({ ID, Scope: [namespace] }) => href('/services/:name', { name: ID }, { namespace }),
  },
  peerings: {
    group: 'Peerings',
    icon: Link2,
    path: '/peerings/x',
    address: ({ ID }) => href('/peerings/:name', { name: ID }),
  },
  namespaces: {
    group: 'Namespaces',
    icon: Folder,
    path: '/namespaces',
    address: ({ ID }) => href('/namespaces', {}, { filter: ID }),
  },
  policies: {
    group: 'Policies',
    icon: Shield,
    path: '/access/policies/x',
    address: ofLast('/access/policies/:id'),
  },
  auth_methods: {
    group: 'Auth methods',
    icon: Shield,
    path: '/access/methods/x',
    address: ({ ID }) => href('/access/methods/:name', { name: ID }),
  },
  node_pools: {
    group: 'Node pools',
    icon: HardDrive,
    path: '/nodes',
    address: ({ ID }) => href('/nodes', {}, { filter: `NodePool == ${JSON.stringify(ID)}` }),
  },
  roles: {
    group: 'Roles',
    icon: Shield,
    path: '/access/roles/x',
    address: ofLast('/access/roles/:id'),
  },
  tokens: {
    group: 'Tokens',
    icon: Shield,
    path: '/access/tokens/x',
    address: ofLast('/access/tokens/:id'),
  },
  vars: {
    group: 'Variables',
    icon: Folder,
    path: '/variables/item',
    address: ({ ID, Scope: [namespace] }) => href('/variables/item', {}, { namespace, path: ID }),
  },
  config_entries: {
    group: 'Configuration',
    icon: Braces,
    path: '/configuration/x/x',
    address: ({ ID, Scope }) =>
      href('/configuration/:kind/:name', { kind: Scope.at(-2) ?? '', name: Scope.at(-1) ?? ID }),
  },
};

/** Pages and acts whose words begin with the words of the text. */
export function foundHere(text: string): readonly Found[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const isMatch = (title: string): boolean => {
    const parts = title.toLowerCase().split(/\s+/);
    return words.every((word) => parts.some((part) => part.startsWith(word)));
  };
  const acts = page.acts
    .filter((act) => isMatch(act.title) && hindranceOf(act) === undefined)
    .map((act) => ({
      key: `act ${act.title}`,
      group: 'On this page',
      title: act.title,
      detail: page.title,
      icon: act.icon ?? Zap,
      choose: () => (act.href === undefined ? act.run?.() : router.go(act.href)),
    }));
  const places = navigation
    .flatMap((group) => group.places)
    .filter(({ title, path }) => router.has(path) && isMatch(title))
    .map(({ title, path, key }) => ({
      key: `page ${path}`,
      group: 'Pages',
      title,
      detail: key === undefined ? '' : `g ${key}`,
      icon: CornerDownRight,
      choose: () => router.go(href(path)),
    }));
  return [...acts, ...places];
}

/** Names that contain the text, and ids that begin with it. A refusal finds nothing. */
export async function foundByServer(text: string, may: MayFind): Promise<readonly Found[]> {
  if (text.length < textLengthMin || text.length > textLengthMax) return [];
  const found = await Promise.all([searched(text), foundInLists(text, may)]);
  return found.flat();
}

async function searched(text: string): Promise<readonly Found[]> {
  return live()
    .client.search.fuzzy(text, 'all', { namespace: scope.namespace })
    .then(({ value }) => foundIn(value.Matches))
    .catch(() => []);
}

function foundIn(matches: Matches): readonly Found[] {
  return Object.entries(matches).flatMap(([context, list]) => {
    const kind = kinds[context];
    if (kind === undefined || !router.has(kind.path)) return [];
    return (list ?? []).slice(0, matchesMax).map((match) => ({
      key: `${context} ${match.ID} ${match.Scope.join(' ')}`,
      group: kind.group,
      title: match.ID,
      detail: match.Scope.filter((part) => part !== match.ID)
        .map(short)
        .join(' › '),
      icon: kind.icon,
      choose: () => router.go(kind.address(match)),
    }));
  });
}
