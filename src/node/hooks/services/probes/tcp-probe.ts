import { connect } from 'node:net';
import { addressText, type Probed, type ProbeWish, passed, requireTarget } from './probe.ts';

export function tcpProbe(wish: ProbeWish): Promise<Probed> {
  const { host, port } = requireTarget(wish);
  const { signal } = wish;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve(passed(`connected to ${addressText({ host, port })}`));
    });
    socket.on('error', reject);
  });
}
