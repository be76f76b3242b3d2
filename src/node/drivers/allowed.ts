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

/** The driver as the node may use it. The settings may change while it runs. */
export function asAllowed(driver: Driver, settings: () => DriverSettings): Driver {
  const { name, capabilities, defaultKillSignal, defaultUser, usesOwnUser, refreshMs } = driver;
  const isAllowed = () => settings().allow?.includes(name) ?? name !== unguardedDriver;
  const refusal = () => new DriverFailure(`the driver "${name}" is ${reason}`, false);
  return {
    name,
    capabilities,
    defaultKillSignal,
    ...(defaultUser !== undefined && { defaultUser }),
    ...(usesOwnUser !== undefined && { usesOwnUser }),
    ...(refreshMs !== undefined && { refreshMs }),
    fingerprint: () => (isAllowed() ? driver.fingerprint() : absent),
    validate: (config) => driver.validate(config),
    ...(driver.expectStart && { expectStart: () => driver.expectStart!() }),
    start: (task) => (isAllowed() ? driver.start(task) : Promise.reject(refusal())),
    recover: (runId, tell) => driver.recover(runId, tell),
    endUnclaimed: (claimed) => driver.endUnclaimed(claimed),
    ...(driver.exec && { exec: (runId, command) => driver.exec!(runId, command) }),
    ...(driver.usage && { usage: (runId) => driver.usage!(runId) }),
    ...(driver.killAll && { killAll: () => driver.killAll!() }),
    ...(driver.close && { close: () => driver.close!() }),
  };
}

const reason = 'not allowed on this node: drivers.allow';

const absent = Promise.resolve({
  detected: false,
  healthy: false,
  description: reason,
  attributes: {},
});
