import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/access/tokens', title: 'Tokens', load: () => import('./TokensPage.svelte') },
  { path: '/access/tokens/:id', title: 'Token', load: () => import('./TokenPage.svelte') },
  { path: '/access/roles', title: 'Roles', load: () => import('./RolesPage.svelte') },
  { path: '/access/roles/:id', title: 'Role', load: () => import('./RolePage.svelte') },
  { path: '/access/policies', title: 'Policies', load: () => import('./PoliciesPage.svelte') },
  {
    path: '/access/policies/new',
    title: 'Create a policy',
    load: () => import('./PolicyEditor.svelte'),
  },
  { path: '/access/policies/:id', title: 'Policy', load: () => import('./PolicyPage.svelte') },
  {
    path: '/access/policies/:id/edit',
    title: 'Edit a policy',
    load: () => import('./PolicyEditor.svelte'),
  },
  { path: '/access/methods', title: 'Auth methods', load: () => import('./MethodsPage.svelte') },
  {
    path: '/access/methods/:name',
    title: 'Auth method',
    load: () => import('./MethodPage.svelte'),
  },
  {
    path: '/access/rules',
    title: 'Binding rules',
    load: () => import('./BindingRulesPage.svelte'),
  },
  { path: '/access/templates', title: 'Templates', load: () => import('./TemplatesPage.svelte') },
  {
    path: '/access/denied',
    title: 'Why was this denied',
    load: () => import('./DeniedPage.svelte'),
  },
];
