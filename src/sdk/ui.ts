import type { AnswerOf } from '../contract/endpoint.ts';
import type { uiSettingsEndpoints } from '../contract/ui-settings.ts';
import type { ServerOptions } from './agent.ts';
import { callsOf } from './calls.ts';
import type { Requester } from './requester.ts';

/** The settings of the web interface, which everybody may read. */
export type UiSettings = AnswerOf<(typeof uiSettingsEndpoints)['settings']>;

export type UiApi = ReturnType<typeof uiOf>;

export function uiOf(requester: Requester) {
  const { read } = callsOf<typeof uiSettingsEndpoints>(requester);
  return {
    settings: ({ server, ...options }: ServerOptions = {}) =>
      read('GET /v1/ui/settings', {}, options, { server_id: server || undefined }),
  };
}
