import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  {
    path: '/configuration',
    title: 'Configuration',
    load: () => import('./ConfigurationPage.svelte'),
  },
  // No kind is named "new".
  {
    path: '/configuration/new/:kind',
    title: 'Create a configuration entry',
    load: () => import('./NewEntryPage.svelte'),
  },
  {
    path: '/configuration/:kind/:name',
    title: 'Configuration entry',
    load: () => import('./EntryPage.svelte'),
  },
];
