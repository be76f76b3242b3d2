/** Which environment this is, as the configuration of the agent says, so that nobody takes production for a test. */
import { request } from './session.svelte.ts';

export interface Environment {
  readonly Label?: string;
  readonly Color?: string;
  readonly Version?: string;
  readonly ACLEnabled?: boolean;
}

let current = $state.raw<Environment>({});

export const environment = {
  get current(): Environment {
    return current;
  },
};

export async function startEnvironment(): Promise<void> {
  const { value } = await request('ui/settings', {});
  if (typeof value === 'object' && value !== null) current = value as Environment;
}
