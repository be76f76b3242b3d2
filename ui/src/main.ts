import './style/style.css';
import { mount } from 'svelte';
import App from './app/App.svelte';
import { startEnvironment } from './app/environment.svelte.ts';
import { routes } from './app/routes.ts';
import { startRouter } from './app/router.svelte.ts';
import { startSession, takeLink } from './app/session.svelte.ts';
import { startSettings } from './app/settings.svelte.ts';
import { startShortcuts } from './app/shortcuts.svelte.ts';

const target = document.getElementById('app');
if (target === null) throw new Error('the page has no element for the interface');
startSettings();
startRouter(routes);
startShortcuts();
const link = takeLink();
void startEnvironment();
if (link === undefined) void startSession();
mount(App, { target, props: { link } });
