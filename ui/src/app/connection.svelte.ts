/** The one connection of this tab. Pages read it with `query(…)`, and act with `live().client`. */
import type { Live } from '../live/live.ts';
import { fetchLive } from '../live/temporary.svelte.ts';
import { session } from './session.svelte.ts';

const connection: Live = fetchLive(() => session.token);

export const live = (): Live => connection;
