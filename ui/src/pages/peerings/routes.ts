import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/peerings', title: 'Peerings', load: () => import('./PeeringsPage.svelte') },
  { path: '/peerings/:name', title: 'Peering', load: () => import('./PeeringPage.svelte') },
];
