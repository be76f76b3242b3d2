/**
 * The addresses at which other clusters reach a server that listens at `listening`. If it listens
 * at every address of its machine, the machine's own address is advertised.
 * @param listening `host:port`; `undefined`: it does not listen
 */
export function advertisedAddresses(listening: string | undefined, machineIp: string): string[] {
  if (listening === undefined) return [];
  const everywhere = /^(0\.0\.0\.0|\[::\]|\[::0\]):(\d+)$/.exec(listening);
  return [everywhere === null ? listening : `${machineIp}:${everywhere[2]}`];
}
