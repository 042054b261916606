export const isLong = process.env.LONG === '1';

/** `npm run test:long` repeats what races and what is random as often as promised; `npm test` less often, to stay short. */
export function times(often: number, seldom: number): number {
  return isLong ? often : seldom;
}

/** Random programs are the same in every `npm test`: who changes nothing sees nothing fail. The long forms look for new ones. */
export const SEEDED: { readonly seed?: number } = isLong ? {} : { seed: 20_261_115 };
