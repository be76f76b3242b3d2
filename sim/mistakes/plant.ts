import { registerHooks } from 'node:module';
import type { Mistake } from './mistake.ts';

/** Plants the mistake in all modules that are loaded from now on. */
export function plant({ places }: Mistake): void {
  const byUrl = new Map(
    places.map((place) => [new URL(`../../${place.file}`, import.meta.url).href, place]),
  );
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const place = byUrl.get(url);
      if (place === undefined) return loaded;
      const { file, right, wrong } = place;
      const source = String(loaded.source);
      if (source.split(right).length !== 2) throw new Error(`${file} does not have once: ${right}`);
      return { ...loaded, source: source.replace(right, () => wrong) };
    },
  });
}
