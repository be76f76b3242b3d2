import Activity from '@lucide/svelte/icons/activity';
import Boxes from '@lucide/svelte/icons/boxes';
import Braces from '@lucide/svelte/icons/braces';
import FilePen from '@lucide/svelte/icons/file-pen';
import Folder from '@lucide/svelte/icons/folder';
import HardDrive from '@lucide/svelte/icons/hard-drive';
import House from '@lucide/svelte/icons/house';
import Layers from '@lucide/svelte/icons/layers';
import Link2 from '@lucide/svelte/icons/link-2';
import Network from '@lucide/svelte/icons/network';
import Route from '@lucide/svelte/icons/route';
import Server from '@lucide/svelte/icons/server';
import Settings from '@lucide/svelte/icons/settings-2';
import Shield from '@lucide/svelte/icons/shield';
import Waypoints from '@lucide/svelte/icons/waypoints';
import type { Component } from 'svelte';

export interface Place {
  readonly title: string;
  readonly path: string;
  readonly icon: Component;
  /** After `g`. */
  readonly key?: string;
  /** Further beginnings of paths that belong to it. */
  readonly covers?: readonly string[];
}

export interface PlaceGroup {
  readonly title: string;
  readonly places: readonly Place[];
}

/** In the order in which operators look. Places whose page is not there are left out. */
export const navigation: readonly PlaceGroup[] = [
  {
    title: 'Work',
    places: [
      { title: 'Overview', path: '/', icon: House, key: 'o' },
      { title: 'Jobs', path: '/jobs', icon: Boxes, key: 'j', covers: ['/allocations'] },
      { title: 'Plan', path: '/plan', icon: FilePen, key: 'p', covers: ['/plans'] },
      { title: 'Nodes', path: '/nodes', icon: HardDrive, key: 'n' },
      { title: 'Topology', path: '/topology', icon: Layers, key: 't' },
    ],
  },
  {
    title: 'Connect',
    places: [
      { title: 'Services', path: '/services', icon: Waypoints, key: 's' },
      { title: 'Intentions', path: '/intentions', icon: Route, key: 'i' },
      {
        title: 'Configuration',
        path: '/configuration',
        icon: Braces,
        key: 'c',
        covers: ['/chains'],
      },
      { title: 'Peerings', path: '/peerings', icon: Link2, key: 'r' },
    ],
  },
  {
    title: 'Govern',
    places: [
      { title: 'Access', path: '/access/tokens', icon: Shield, key: 'a', covers: ['/access'] },
      { title: 'Variables', path: '/variables', icon: Folder, key: 'v' },
      {
        title: 'Namespaces',
        path: '/namespaces',
        icon: Network,
        key: 'm',
        covers: ['/partitions'],
      },
    ],
  },
  {
    title: 'Operate',
    places: [
      { title: 'Events', path: '/events', icon: Activity, key: 'e' },
      { title: 'Servers', path: '/servers', icon: Server, key: 'u' },
      { title: 'Settings', path: '/settings', icon: Settings, key: ',' },
    ],
  },
];

export function isWithin(place: Place, path: string): boolean {
  const under = (beginning: string): boolean =>
    path === beginning || (beginning !== '/' && path.startsWith(`${beginning}/`));
  return [place.path, ...(place.covers ?? [])].some(under);
}
