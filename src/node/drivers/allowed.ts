/**
 * A node decides itself which drivers it has, whatever servers ask of it.
 *
 * 1. A driver that is not allowed starts nothing, and is reported as absent, with the reason.
 * 2. Its runs from an earlier agent are found, commanded and ended like others.
 */
import { unguardedDriver } from '../../model/node/drivers.ts';
import { type Driver, DriverFailure } from './driver.ts';

export interface DriverSettings {
  /** Names of the allowed drivers. Default: all but `raw_exec`. */
  readonly allow?: readonly string[];
}

/** The driver as the node may use it. */
export function asAllowed(driver: Driver, { allow }: DriverSettings): Driver {
  const isAllowed = allow?.includes(driver.name) ?? driver.name !== unguardedDriver;
  return isAllowed ? driver : disallowed(driver);
}

const reason = 'not allowed on this node: drivers.allow';

function disallowed(driver: Driver): Driver {
  const { name, capabilities, defaultKillSignal, defaultUser } = driver;
  return {
    name,
    capabilities,
    defaultKillSignal,
    ...(defaultUser !== undefined && { defaultUser }),
    fingerprint: async () => ({
      detected: false,
      healthy: false,
      description: reason,
      attributes: {},
    }),
    validate: (config) => driver.validate(config),
    start: async () => {
      throw new DriverFailure(`the driver "${name}" is ${reason}`, false);
    },
    recover: (runId, tell) => driver.recover(runId, tell),
    endUnclaimed: (claimed) => driver.endUnclaimed(claimed),
    ...(driver.exec && { exec: (runId, command) => driver.exec!(runId, command) }),
    ...(driver.usage && { usage: (runId) => driver.usage!(runId) }),
    ...(driver.killAll && { killAll: () => driver.killAll!() }),
    ...(driver.close && { close: () => driver.close!() }),
  };
}
