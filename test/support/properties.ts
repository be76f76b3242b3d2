import fc from 'fast-check';

/**
 * Properties use a fixed seed, so that unchanged code does not fail. `PROPERTY_SEED=N` uses another
 * seed. A failing seed becomes a test of its own.
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_261_121) });
