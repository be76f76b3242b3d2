import type { Exchange, ExchangeLink } from '../../src/server/peering/exchange.ts';

/** An exchange that records its calls and sends the test's frames. */
export function recording() {
  const links: ExchangeLink[] = [];
  const noted: string[] = [];
  let blocked: Promise<void> | undefined;
  const exchange: Exchange = {
    open(link) {
      links.push(link);
      noted.push(`open ${link.peering.name}`);
      return {
        receive: (frame) => void noted.push(`receive ${JSON.stringify(frame)}`),
        close: () => void noted.push(`close ${link.peering.name}`),
      };
    },
    status: () => ({ imported: ['db'], exported: ['web', 'api'] }),
    async forget({ name }) {
      noted.push(`forget ${name}`);
      await blocked;
      noted.push(`forgot ${name}`);
    },
  };
  const block = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    blocked = promise;
    return () => {
      blocked = undefined;
      resolve();
    };
  };
  return { exchange, links, noted, block };
}
