import './style/style.css';
import { mount } from 'svelte';
import App from './app/App.svelte';
import { renewConnection } from './app/connection.svelte.ts';
import { environment, startEnvironment } from './app/environment.svelte.ts';
import { startRouter } from './app/router.svelte.ts';
import { routes } from './app/routes.ts';
import { onToken, startSession, takeLink } from './app/session.svelte.ts';
import { startSettings } from './app/settings.svelte.ts';
import { startShortcuts } from './app/shortcuts.svelte.ts';
import { titleTruncated } from './app/truncated.ts';

const target = document.getElementById('app');
if (target === null) throw new Error('the page has no element for the interface');
startSettings();
startRouter(routes);
startShortcuts();
titleTruncated(document);
onToken(renewConnection);
const link = takeLink();
const settingsRead = startEnvironment();
if (link === undefined) {
  void settingsRead.then(() => startSession(environment.current.ACLEnabled ?? true));
}
mount(App, { target, props: { link } });
