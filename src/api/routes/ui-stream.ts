import { uiStreamEndpoints as contract } from '../../contract/ui-stream.ts';
import { refusal } from '../../model/errors.ts';
import type { Route } from '../route.ts';
import { serveSocket } from '../serve.ts';

/** The connection of the web interface, which `UiSockets` takes over before it becomes a request. */
export const uiStreamRoutes = (): Route[] =>
  serveSocket(contract.stream, () => Promise.reject(refusal('upgrade-required')));
