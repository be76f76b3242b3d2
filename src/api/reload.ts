import type { agentReloadEndpoints } from '../contract/agent-reload.ts';
import type { AnswerOf } from '../contract/endpoint.ts';

/** The settings that a reload has changed, by their names in the configuration file. */
export type Reloaded = AnswerOf<(typeof agentReloadEndpoints)['reload']>;

/** Reads the configuration of the agent again. @throws RosterError `configuration-faulty`; then nothing has changed */
export type Reload = () => Promise<Reloaded>;

/** An agent whose options are fixed by a program has nothing to read again. */
export const nothingToReload: Reload = async () => ({ Changed: [], NeedRestart: [] });

/** The changes for the log and the audit log. */
export const auditedReload = ({ Changed, NeedRestart }: Reloaded) => ({
  changed: Changed.join(', '),
  needRestart: NeedRestart.join(', '),
});
