/**
 * Where a server that listens there is reached by others. One that listens at every address of its
 * machine tells the machine's own, since nobody reaches it at "every address".
 * @param listening `host:port`; `undefined`: it listens nowhere
 */
export function advertisedAddresses(listening: string | undefined, machineIp: string): string[] {
  if (listening === undefined) return [];
  const everywhere = /^(0\.0\.0\.0|\[::\]|\[::0\]):(\d+)$/.exec(listening);
  return [everywhere === null ? listening : `${machineIp}:${everywhere[2]}`];
}
